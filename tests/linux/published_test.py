#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with the names of other systems, as they are published, on a stock kernel: what they are here, how often that
happens."""
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.scenario import Scenario, main

# What is described, and the function of the probe that it is here.
HERE = (("syscall::exece:entry", "execve"), ("syscall::rexit:entry", "exit_group"), ("syscall::stat64:entry", "newstat"),
        ("syscall::stat:entry", "newstat"), ("syscall::uname:return", "newuname"), ("syscall::open_nocancel:entry", "open"),
        ("syscall::sigaction:entry", "rt_sigaction"), ("syscall::forksys:return", "clone"),
        ("syscall:freebsd:read:entry", "read"),
        ("syscall:mach_kernel:write:return", "write"), ("syscall:ia32:sigaction:entry", "sigaction"))


class Published(Scenario):
    def listed(self, guest, what):
        status, out, err = self.outsight.run(guest, "-l", "-n", what)
        self.assertEqual(status, 0, err)
        return [line.split()[-2] for line in out.splitlines()[1:]]

    def test_names(self):
        """Each description lists the probe that it means, of both kinds of call; two names of one are one."""
        with self.guest() as guest:
            for what, function in HERE:
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


if __name__ == "__main__":
    sys.exit(main())
