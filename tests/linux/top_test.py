#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The live view on a real guest: its processes, their functions and stacks, and what is counted inside."""
import contextlib
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib import screen as terminal
from lib.pace import LIMIT
from lib.scenario import Scenario, main, only_full
from lib.screen import ENTER, Screen

HOME = b"\x1bOH"


class Top(Scenario):
    def setUp(self):
        if terminal.WHY_NOT:
            self.skipTest(terminal.WHY_NOT)

    @contextlib.contextmanager
    def top(self, guest):
        """The view of this guest alone. What its probes cost the guest is no matter here."""
        env = dict(self.outsight.environment(guest), LC_ALL="C.UTF-8", TERM="xterm", DTRACE_OPT_MAXCOST="0")
        with Screen([self.outsight.binary, "top", "-d", "1", "-g", str(guest.pid)], env, columns=100) as top:
            top.wait_for(guest.name)
            yield top
            top.press("\x03")
            self.assertEqual(top.end(), 0)

    @contextlib.contextmanager
    def looping(self, guest):
        job = guest.spawn("getppid_loop 1 1000000000")
        try:
            yield
        finally:
            guest.run("killall getppid_loop")
            job.wait_end()

    def select(self, top, text):
        """Select the first row, once that is the one with this text."""
        top.wait(lambda screen: text in screen.lines[3], f"{text} in the first row")
        while not (text in top.lines[3] and top.screen.buffer[3][0].reverse):
            top.press(HOME)
            top.wait(lambda screen: screen.screen.buffer[3][0].reverse, "the first row selected")
            top.read()

    @staticmethod
    def calls(top, name):
        """The number in the column CALLS of a row; None: not known."""
        line = top.line_with(name)
        at = top.lines[2].replace("*", " ").find("CALLS") + len("CALLS")
        word = (line or "")[:at].split()[-1:]
        return None if not word or word == ["-"] else word[0]

    def test_down_to_stacks(self):
        """A process that calls getppid() all the time, down to the stacks through the function that it is in most."""
        with self.guest() as guest, self.looping(guest), self.top(guest) as top:
            top.press(ENTER)
            top.wait_for("processes, by samples")
            top.wait_for("getppid_loop")
            self.select(top, "getppid_loop")
            self.assertIsNone(self.calls(top, "getppid_loop"))
            top.press(ENTER)
            top.wait_for("getppid_loop (")
            top.wait_for("vmlinux`")
            top.press(HOME, ENTER)
            top.wait_for(": stacks")
            top.wait(lambda screen: screen.lines[3].startswith("stack ") and screen.lines[4].startswith("  "), "a stack")
            function = top.lines[0].split(" > ")[-1].split(": stacks")[0]
            self.assertTrue(top.line_with(f"  {function}"), top.text)
            top.press("q")
            top.wait_for(": functions")
            top.press("q", "q")
            top.wait_for("1 guest,")

    @only_full
    def test_counted_inside(self):
        """System calls of the guest and of its processes, after a "y" each; they end with the "e" that follows."""
        with self.guest() as guest, self.looping(guest), self.top(guest) as top:
            top.press("e")
            top.wait_for(f"Enable probes in {guest.name}")
            top.press("y")
            top.wait(lambda screen: self.calls(screen, guest.name) not in (None, "0"), "system calls of the guest")
            top.press("d")
            top.wait_for("syscall:::entry")
            top.press("q", ENTER)
            top.wait_for("by samples and probes")
            top.wait(lambda screen: self.calls(screen, "getppid_loop") not in (None, "0"), "system calls of the process")
            top.press("e")
            top.wait_for("by samples ")
            top.wait(lambda screen: screen.line_with("getppid_loop") and self.calls(screen, "getppid_loop") is None, "no calls")
            top.press("q")
            top.wait_for("1 guest,")
            top.press("e")
            top.wait(lambda screen: self.calls(screen, guest.name) is None, "no calls")

    @only_full
    def test_killed(self):
        """kill -9 of the view ends its sessions: nothing stays in the guest."""
        env = dict(self.outsight.environment(self.shared.get()), LC_ALL="C.UTF-8", TERM="xterm")
        with self.guest() as guest:
            with Screen([self.outsight.binary, "top", "-d", "1", "-g", str(guest.pid)], env) as top:
                top.wait_for(guest.name)
                top.press("e", "y")
                top.wait(lambda screen: self.calls(screen, guest.name) is not None, "system calls")
                with open(f"/proc/{top.process.pid}/task/{top.process.pid}/children", encoding="ascii") as f:
                    children = f.read().split()
                self.assertEqual(len(children), 1)
                top.process.kill()
                top.process.wait()
            self.wait_for_end(children[0])

    @staticmethod
    def runs(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                return f.read().rsplit(") ", 1)[1][0] != "Z"
        except OSError:
            return False

    def wait_for_end(self, pid):
        deadline = time.monotonic() + LIMIT
        while self.runs(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(self.runs(pid), f"process {pid} still runs")


if __name__ == "__main__":
    sys.exit(main())
