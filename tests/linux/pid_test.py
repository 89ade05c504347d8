#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The pid provider: functions of one process, counted against what the program itself says; no other process is."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib import pace
from lib.outsight import keyed, numbers
from lib.program_scenario import ProgramScenario
from lib.programs import run
from lib.scenario import main, only_full

CALLS = 3000


class Pid(ProgramScenario):
    def start(self, name="a"):
        """A counted that waits for its signal."""
        return self.start_program(f"counted {CALLS}", name)

    def work(self, pid, name="a"):
        """One more round of calls; how many the program has counted in all."""
        return int(re.findall(r"called (\d+)", self.work_once(pid, name))[-1])

    def count(self, pid, description, rounds, *options):
        """How often a probe fires while the process is told to work."""
        trace = self.outsight.trace(self.vm, f"{description} {{ @ = count(); }}", *options)
        rounds()
        trace.stop()
        return sum(numbers(trace.out))

    def test_entry(self):
        """Of two processes of one program only the named one is counted, on any page that the guest moves its code to."""
        one, other = self.start("one"), self.start("other")
        self.vm.check("echo 1 >/proc/sys/vm/compact_memory")
        trace = self.outsight.trace(self.vm, "pid$target:counted:work:entry { @ = count(); } "
                                             "pid$target:counted:work:entry /pid != $target/ { @wrong = count(); }",
                                    "-p", str(one))
        before = self.work(one, "one") - CALLS
        for _ in range(3):
            self.work(other, "other")
            self.vm.check("echo 1 >/proc/sys/vm/compact_memory; echo 3 >/proc/sys/vm/drop_caches")
            said = self.work(one, "one")
        trace.stop()
        self.assertEqual(numbers(trace.out), [said - before], trace.story())

    def test_vfork(self):
        """A child by vfork() has the process's memory, so that its calls are the process's; what it is then told of itself is true."""
        one = self.start("one")
        trace = self.outsight.trace(self.vm, "pid$target:counted:work:entry { @n = count(); } "
                                             "pid$target:counted:work:entry /pid != $target && ppid == $target/ { @of_child = count(); }",
                                    "-p", str(one))
        self.vm.check(f"kill -HUP {one}")
        self.rounds["one"] += 1
        self.wait_lines(self.last_line, self.rounds["one"], "one")
        trace.stop()
        self.assertEqual(numbers(trace.out), [CALLS, CALLS], trace.story())
        self.assertIn(f"called {2 * CALLS}\n", self.vm.check("cat /tmp/said.one"))

    def test_descriptions(self):
        """a.out, a library without its suffix, a glob; several processes in one program."""
        one, other = self.start("one"), self.start("other")

        def rounds():
            self.work(one, "one")
            self.work(other, "other")

        for description in (f"pid{one}:a.out:work:entry", f"pid{one}::work:entry", f"pid{one}:count*:wor?:entry",
                            f"pid{one}:libc:getppid:entry", f"pid{one}:libc.so.6:getppid:ent*"):
            self.assertEqual(self.count(one, description, rounds), CALLS, description)
        self.assertEqual(self.count(one, f"pid{one}:a.out:work:entry, pid{other}:a.out:work:entry", rounds), 2 * CALLS)

    @only_full
    def test_wildcard(self):
        """All functions of libc, each by its name."""
        one = self.start()
        trace = self.outsight.trace(self.vm, "pid$target:libc::entry { @[probefunc] = count(); }", "-p", str(one))
        self.work(one)
        trace.stop()
        found = keyed(trace.out)
        self.assertEqual(found.get("getppid"), CALLS, trace.story())
        self.assertEqual(found.get("dprintf"), 1, trace.story())

    def test_arguments(self):
        """Registers, the stack's arguments, memory, and the process's stack from its own first instruction on."""
        one = self.start()
        trace = self.outsight.trace(
            self.vm, 'pid$target:a.out:work:entry /arg1 == 17/ { printf("%s|%d %d %d %d|%s %s|", copyinstr(arg0), arg2, arg5, '
                     'arg6, arg7, execname, probemod); ufunc(uregs[R_PC]); printf("|"); usym(ucaller); ustack(2); '
                     'printf("seen\\n"); }', "-p", str(one))
        self.work(one)
        trace.wait_for("seen")
        trace.stop()
        texts = [text.strip() for text in trace.out.split("tracing")[1].split("|")]
        self.assertEqual(texts[:4], ["a text of the program", "3 6 7 8", "counted counted", "counted`work"], trace.story())
        self.assertRegex(texts[4], r"^counted`main\s+counted`work\s+counted`main\+0x[0-9a-f]+\s+seen$")

    def test_exec(self):
        """A process that calls exec() is another program, though it has the same number and addresses."""
        one = self.start()

        def rounds():
            self.work(one)
            self.vm.check(f"kill -USR2 {one}")
            self.wait_lines("ready", 2, "a")
            self.work(one)

        self.assertEqual(self.count(one, "pid$target:a.out:work:entry", rounds, "-p", str(one)), CALLS)

    def test_end(self):
        """Tracing ends with the process, whether or not its parent has asked for its status, and all data is there."""
        one = self.start()
        trace = self.outsight.trace(self.vm, "pid$target:a.out:work:entry { @ = count(); }", "-p", str(one))
        self.work(one)
        self.vm.check(f"kill -9 {one}")
        self.assertEqual(trace.finish(), 0, trace.story())
        self.assertEqual(numbers(trace.out), [CALLS], trace.story())
        # a parent that never waits
        one = int(self.vm.check("(counted 1 >/tmp/said.b 2>&1 & echo $!; exec sleep 1000) >/tmp/pid.b & "
                                "until grep -qs ready /tmp/said.b; do sleep 0.1; done; cat /tmp/pid.b"))
        trace = self.outsight.trace(self.vm, "syscall:::entry /pid == $target/ { @ = count(); }", "-p", str(one))
        self.vm.check(f"kill -9 {one}")
        self.assertEqual(trace.finish(), 0, trace.story())
        self.assertIn(" Z ", self.vm.check(f"cat /proc/{one}/stat"))
        self.vm.check("killall -q sleep")

    def test_names(self):
        """Each function of the C library that nm(1) lists has a probe by each of its names, of which the default asks for each
        eighth; a pattern has it once."""
        one = self.start()
        table = [row for row in re.findall(r"^([0-9a-f]+) [0-9a-f]+ [tTwW] ([^@\s]+)\S*$",
                                           run("nm", "-D", "-S", self.programs.libc), re.M)]
        self.assertGreater(len(table), 2000)
        names = sorted({name for _, name in table})
        some = names[::pace.rounds(8, 1)]
        self.assertEqual(self.listed(*(arg for name in some for arg in ("-n", f"pid{one}:libc:{name}:entry"))), set(some))
        found = self.listed("-n", f"pid{one}:libc::entry")
        self.assertLessEqual(found, set(names))
        self.assertEqual({at for at, name in table if name in found}, {at for at, _ in table})

    def listed(self, *options):
        """The functions that -l lists."""
        status, out, err = self.outsight.run(self.vm, "-l", *options)
        self.assertEqual((status, err), (0, ""))
        return {line.split()[-2] for line in out.splitlines()[1:]}

    def test_refused(self):
        """No such process, no such function; and what is listed."""
        one = self.start()
        for description, why in (("pid1000000:::entry", "failed to grab process 1000000: the guest has no process 1000000"),
                                 ("pid2:::entry", "process 2 has no memory of its own"),
                                 (f"pid{one}:a.out:nothing:entry", "does not match any probes"),
                                 (f"pid{one}:libnone:work:entry", "does not match any probes"),
                                 (f"pid{one}:a.out:work:beginning", "invalid probe name: beginning"),
                                 (f"pid{one}:a.out:work:0x4", "offsets of instructions in hexadecimal digits"),
                                 (f"pid{one}:a.out:-:4f0", "name a function")):
            status, out, err = self.outsight.run(self.vm, "-n", description)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(why, err)
        status, out, err = self.outsight.run(self.vm, "-l", "-n", f"pid{one}:a.out:work:")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, rf"(?m)^ *\d+ +pid{one} +counted +work entry$")


if __name__ == "__main__":
    sys.exit(main())
