#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with the names of other systems, as they are published, on a stock kernel: what they are here, how often that
happens, and what is said where there is no such thing."""
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.pace import rounds
from lib.scenario import Scenario, main, only_full

# What is described, and the function of the probe that it is here.
HERE = (("syscall::exece:entry", "execve"), ("syscall::rexit:entry", "exit_group"), ("syscall::stat64:entry", "newstat"),
        ("syscall::stat:entry", "newstat"), ("syscall::uname:return", "newuname"), ("syscall::open_nocancel:entry", "open"),
        ("syscall::sigaction:entry", "rt_sigaction"), ("syscall::forksys:return", "clone"),
        ("syscall:freebsd:read:entry", "read"),
        ("syscall:mach_kernel:write:return", "write"), ("syscall:ia32:sigaction:entry", "sigaction"))

# Programs that are refused, and what is said about that.
REFUSED = (("syscall::forksys:entry { }", "did you mean syscall::clone:entry?"),
           ("syscall::read:entry,syscall::pathconf:entry { }", "with -x anydefs a clause runs with those of its probes"),
           ("mib:::udpNoPorts { }", "with -Z the program does without"),
           ("BEGIN { trace(`hp_avenrun[0]); }", "`avenrun[0] / 2048"),
           ("BEGIN { trace(`freemem); }", "*(long *)&`vm_zone_stat"),
           ("io:::start { trace(args[1]->device_name); }", "did you mean dev_name?"),
           ("BEGIN { trace(curthread->t_cpu); }", "curcpu have the members that DTrace defines"),
           ("fbt::kmem_cache_free:entry { trace(args[0]->cache_name); }", "did you mean name?"))


class Published(Scenario):
    def listed(self, guest, what):
        status, out, err = self.outsight.run(guest, "-l", "-n", what)
        self.assertEqual(status, 0, err)
        return [line.split()[-2] for line in out.splitlines()[1:]]

    def test_names(self):
        """Each description lists the probe that it means, of both kinds of call; two names of one are one."""
        with self.guest() as guest:
            for what, function in HERE[::rounds(3, 1)]:
                with self.subTest(what=what):
                    self.assertEqual(set(self.listed(guest, what)), {function})
            both = self.listed(guest, "syscall::open:entry,syscall::open64:entry,syscall::open_nocancel:entry")
            self.assertEqual(both, self.listed(guest, "syscall::open:entry"))
            self.assertEqual(self.listed(guest, "mib:::udpHCOutDatagrams"), self.listed(guest, "mib:::udpOutDatagrams"))
            for what, alone in (("sched::resume:on-cpu", "sched:::on-cpu"), ("proc::proc_exit:exit", "proc:::exit")):
                self.assertEqual(self.listed(guest, what), self.listed(guest, alone))

    def test_counts(self):
        """Programs that are started, by Solaris's name and by Linux's: the same, and each once in a clause of several names."""
        program = ('syscall::exece:return /execname == "getppid_loop"/ { @["theirs"] = count(); } '
                   'syscall::execve:return /execname == "getppid_loop"/ { @["ours"] = count(); } '
                   'syscall::exece:return,syscall::execve:return /execname == "getppid_loop"/ { @["both"] = count(); } '
                   'proc::proc_exit:exit /execname == "getppid_loop"/ { @["ended"] = count(); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("for i in 1 2 3 4 5; do getppid_loop 1 1; done")
            trace.stop()
        seen = keyed(trace.out)
        self.assertEqual([seen.get(name) for name in ("theirs", "ours", "both", "ended")], [5] * 4, trace.story())

    @only_full
    def test_refused(self):
        """What is not there is refused with what there is instead; the variables that are named have the guest's values."""
        with self.guest() as guest:
            for program, said in REFUSED:
                with self.subTest(program=program):
                    status, _, err = self.outsight.run(guest, "-n", program)
                    self.assertEqual(status, 1, err)
                    self.assertIn(said, err)
            status, out, err = self.outsight.run(guest, "-q", "-n", (
                'BEGIN { printf("%d %d %d %d\\n", *(long *)&`_totalram_pages * 4, *(long *)&`vm_zone_stat * 4, '
                '*(int *)&`__num_online_cpus, `nr_threads); exit(0); }'))
            total, free, cpus, threads = (int(word) for word in out.split())
            known = dict(line.split(":") for line in guest.read_file("/proc/meminfo").decode().splitlines())
            running = int(guest.check("cat /proc/loadavg").split()[3].split("/")[1])
            self.assertEqual((status, total, cpus), (0, int(known["MemTotal"].split()[0]), int(guest.check("nproc"))), err)
        self.assertAlmostEqual(free, int(known["MemFree"].split()[0]), delta=total / 10)
        self.assertAlmostEqual(threads, running, delta=20)

    @only_full
    def test_paths(self):
        """A path that is read of openat's first argument is an error, and what is wrong is said once."""
        program = ('syscall::open*:entry /execname == "cat"/ { @[copyinstr(arg0)] = count(); } '
                   'syscall::open*:entry /execname == "cat"/ { trace(copyinstr(arg0)); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("cat /proc/version /proc/uptime >/dev/null")
            trace.stop()
        self.assertIn("invalid address (0xffffff9c)", trace.err, trace.story())
        self.assertEqual(trace.err.count("arg0 of openat is a directory's descriptor"), 1, trace.story())


if __name__ == "__main__":
    sys.exit(main())
