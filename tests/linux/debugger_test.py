#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A debugger in the guest sets its breakpoint where a probe is: it stops the program as often as it should, each call is
counted once, and the program computes what it should."""
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import numbers
from lib.pace import LIMIT
from lib.program_scenario import ProgramScenario, counts_by_word
from lib.programs import load_bias, places
from lib.scenario import main, only_full
from lib.userland import UserlandScenario

CALLS = 200


class Breakpoints(ProgramScenario):
    """By a program of ours that does what debuggers do: the breakpoint is in the process's own copy of the page."""
    aslr = True
    names = "counted stopper"

    def start_debugger(self, pid, stops):
        """It stops the process that often at the function's first instruction."""
        path = self.programs.path("bin/counted")
        at = load_bias(path, self.vm.check(f"cat /proc/{pid}/maps"), "counted") + places(path)["work"]
        self.vm.check(f"stopper {pid} {at:x} {stops} >/tmp/said.stopper 2>&1 &")
        self.wait_lines("^set$", 1, "stopper")

    def test_breakpoint(self):
        """The file's probe does not fire where the process has a copy of the page, and fires in another process."""
        one, other = self.start_program(f"counted {CALLS}", "one"), self.start_program(f"counted {CALLS}", "other")
        trace = self.outsight.trace(self.vm, f'pid{one}:a.out:work:entry {{ @["pid"] = count(); }} '
                                             f'pid{one}:a.out:work:return {{ @["return"] = count(); }} '
                                             f'user:counted:work:entry /pid == {one}/ {{ @["copy"] = count(); }} '
                                             f'user:counted:work:entry /pid == {other}/ {{ @["other"] = count(); }}')
        self.start_debugger(one, CALLS)
        self.assertIn(f"called {2 * CALLS}\n", self.work_once(one, "one"))
        self.wait_lines(f"^stopped {CALLS}$", 1, "stopper")
        self.assertIn(f"called {3 * CALLS}\n", self.work_once(one, "one"))
        self.work_once(other, "other")
        trace.stop()
        self.assertEqual(counts_by_word(trace.out), {"pid": 2 * CALLS, "return": 2 * CALLS, "other": CALLS}, trace.story())

    def test_was_there(self):
        """Its breakpoint is there when the session begins: refused, with the reason; the program is left alone."""
        one = self.start_program(f"counted {CALLS}", "one")
        self.start_debugger(one, CALLS)
        status, _, err = self.outsight.run(self.vm, "-n", f"pid{one}:a.out:work:entry {{ @ = count(); }}")
        self.assertEqual(status, 1)
        self.assertIn("a breakpoint of the guest's", err)
        self.assertIn(f"called {2 * CALLS}\n", self.work_once(one, "one"))
        self.wait_lines(f"^stopped {CALLS}$", 1, "stopper")


class Gdb(UserlandScenario):
    """The same by gdb itself, where there is a userland that has it."""

    def tearDown(self):
        if self.vm:
            self.vm.run("for p in gdb counted; do killall -q -9 $p; done; rm -f /tmp/said.counted /tmp/gdb.* /u/tmp/gdb.set")
        super().tearDown()

    @only_full
    def test_breakpoint(self):
        """The instruction under the breakpoint is executed in its place: gdb's own way, displaced stepping, has a copy of it
        executed elsewhere, and then nothing is executed where the probe is."""
        self.vm.check("cp /bin/counted /u/usr/local/bin/")
        self.vm.check(f"userland counted {CALLS} >/tmp/said.counted 2>&1 & until grep -q ready /tmp/said.counted; do sleep 0.2; done")
        pid = int(self.vm.check(f"userland pgrep -n -f '^counted {CALLS}'"))
        self.work_once(pid, 1)
        trace = self.outsight.trace(self.vm, f"pid{pid}:a.out:work:entry {{ @ = count(); }}")
        commands = ["set pagination off", "set debuginfod enabled off", "set displaced-stepping off", "handle SIGUSR1 nostop noprint pass", "break *work",
                    "ignore 1 1000000", "shell : >/tmp/gdb.set", "continue", "info breakpoints", "detach"]
        words = " ".join(f"-ex '{command}'" for command in commands)
        self.vm.check(f"userland timeout {LIMIT} gdb -nx -p {pid} -batch {words} >/tmp/gdb.out 2>&1 &")
        self.vm.check("until [ -e /u/tmp/gdb.set ]; do sleep 0.2; done")
        self.work_once(pid, 2)
        self.vm.check(f"kill -INT {pid}; until grep -q 'breakpoint already hit' /tmp/gdb.out; do sleep 0.2; done")
        trace.stop()
        self.assertRegex(self.vm.check("cat /tmp/gdb.out"), rf"breakpoint already hit {CALLS} times")
        self.assertEqual(numbers(trace.out), [CALLS], trace.story())
        self.assertRegex(self.vm.check("cat /tmp/said.counted"), rf"called {2 * CALLS}\n")

    def work_once(self, pid, rounds):
        self.vm.check(f"kill -USR1 {pid}; until [ $(grep -c '^called$' /tmp/said.counted) -ge {rounds} ]; do sleep 0.1; done")


if __name__ == "__main__":
    sys.exit(main())
