#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Semaphores of static probes: raised while a session wants them, in each copy that a program has of them, and afterwards
as they were, whatever ends the session."""
import random
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import numbers
from lib.pace import rounds
from lib.program_scenario import StaticProbes
from lib.scenario import main, only_full

GUARDED = "probed$target:::guarded { @ = count(); }"


class Semaphores(StaticProbes):
    names = "probed python3"

    def value(self, pid, name="a"):
        """What the program itself has in its semaphore."""
        return int(re.findall(r"^semaphore (\d+)$", self.work_once(pid, name), re.M)[-1])

    def child(self, pid, nth=1, name="a"):
        """The PID of a new child."""
        self.vm.check(f"kill -USR2 {pid}")
        self.wait_lines("^child [0-9]", nth, name)
        return int(re.findall(r"^child (\d+)$", self.vm.check(f"cat /tmp/said.{name}"), re.M)[-1])

    def value_of_child(self, pid, nth=1, name="a"):
        self.vm.check(f"kill -USR1 {pid}")
        self.wait_lines("^child.s", nth, name)
        return int(re.findall(r"^child's (\d+)$", self.vm.check(f"cat /tmp/said.{name}"), re.M)[-1])

    def test_raised(self):
        """The program passes the probe while it is enabled; another process of the same file does not; one that had
        raised it itself goes on with its own."""
        one, other, on = self.start("one"), self.start("other"), self.start("on", "on")
        trace = self.outsight.trace(self.vm, f"probed{one}:::guarded, probed{on}:::guarded "
                                             "{ @n[pid] = count(); @s[pid, arg0 >= 0] = sum(arg0); }")
        self.assertEqual((self.value(one, "one"), self.value(other, "other"), self.value(on, "on")), (1, 0, 2))
        trace.stop()
        self.assertEqual(trace.err, "")
        total = sum(range(self.times))
        found = sorted(line.split() for line in trace.out.splitlines()[1:] if line)
        self.assertEqual(found, sorted([str(pid), *rest] for pid in (one, on)
                                       for rest in ([str(self.times)], ["1", str(total)])), trace.story())
        self.assertEqual((self.value(one, "one"), self.value(other, "other"), self.value(on, "on")), (0, 0, 1))

    def test_not_raised(self):
        """-x semaphores=no: said when it is enabled; nothing is written."""
        one = self.start()
        trace = self.outsight.trace(self.vm, GUARDED, "-p", str(one), "-x", "semaphores=no")
        self.assertEqual(self.value(one), 0)
        trace.stop()
        self.assertEqual(sum(numbers(trace.out)), 0)
        self.assertRegex(trace.err, rf"probed{one}:probed:guarded:guarded: the program skips .* -x semaphores=no")

    def test_listed(self):
        """-lv says what a semaphore holds, and that it would be raised; listing raises nothing."""
        one, on = self.start("one"), self.start("on", "on")
        for pid, name, state in ((one, "one", 0), (on, "on", 1)):
            _, out, _ = self.outsight.run(self.vm, "-lv", "-n", f"probed{pid}:::guarded")
            self.assertRegex(out, rf"semaphore: 0x[0-9a-f]+, {state}: raised while the probe is enabled")
            self.assertEqual(self.value(pid, name), state)
        _, out, _ = self.outsight.run(self.vm, "-lv", "-x", "semaphores=no", "-n", f"probed{one}:::guarded")
        self.assertRegex(out, r"semaphore: 0x[0-9a-f]+, 0: the program skips .*-x semaphores=no")

    def test_children(self):
        """Children from before and after, with the page in common and with their own: all end with 0, and not below."""
        for words in ((), ("copy",)):
            name = "copy" if words else "common"
            with self.subTest(name):
                one = self.start(name, *words)
                before = self.child(one, 1, name)
                trace = self.outsight.trace(self.vm, GUARDED, "-p", str(one))
                meanwhile = self.child(one, 2, name)
                self.assertEqual(self.value(one, name), 1)
                trace.stop()
                self.assertEqual(sum(numbers(trace.out)), self.times, trace.story())
                self.assertEqual(self.value(one, name), 0)
                for nth, pid in enumerate((before, meanwhile), 1):
                    self.assertEqual(self.value_of_child(pid, nth, name), 0)

    @only_full
    def test_ended(self):
        """The process itself ends under the session: its child's copy is lowered."""
        one = self.start()
        trace = self.outsight.trace(self.vm, GUARDED, "-p", str(one), "-x", "switchrate=1hz")
        child = self.child(one)
        self.vm.check(f"kill -9 {one}")
        self.assertEqual(trace.finish(), 0)
        self.assertEqual(self.value_of_child(child), 0)

    @only_full
    def test_sessions(self):
        """Two sessions want it: it is raised until both have ended."""
        one = self.start()
        first = self.outsight.trace(self.vm, GUARDED, "-p", str(one))
        second = self.outsight.trace(self.vm, GUARDED, "-p", str(one))
        self.assertEqual(self.value(one), 1)
        first.stop()
        self.assertEqual(self.value(one), 1)
        second.stop()
        self.assertEqual(self.value(one), 0)

    @only_full
    def test_killed(self):
        """kill -9 at any moment of a session."""
        one = self.start()
        for _ in range(rounds(4, 100)):
            trace = self.outsight.start(self.vm, "-q", "-p", str(one), "-n", GUARDED)
            time.sleep(random.uniform(0, 1.5))
            trace.kill()
            while self.value(one):
                pass  # the engine notices at once, but this program may be faster
        trace = self.outsight.trace(self.vm, GUARDED, "-p", str(one))
        self.assertEqual(self.value(one), 1)
        trace.stop()

    @only_full
    def test_storm(self):
        """Programs that begin, fork and end all the time, under sessions that mean every one of them and are killed: none is
        left raised."""
        one = self.start("one", "copy")
        self.vm.check("echo 'while true; do probed 1 copy >/dev/null & p=$!; kill -USR2 $p; true; kill -USR1 $p; kill -9 $p; done' "
                      ">/tmp/storm; sh /tmp/storm >/dev/null 2>&1 & echo $! >/tmp/storm.pid")
        children = []
        for n in range(rounds(2, 30)):
            trace = self.outsight.trace(self.vm, "probed*:::guarded { @[pid] = count(); }")
            children.append(self.child(one, len(children) + 1, "one"))
            self.assertGreaterEqual(self.value(one, "one"), 1)
            time.sleep(random.uniform(0, 2))
            if n % 2:
                trace.kill()
            else:
                trace.stop()
            while self.value(one, "one"):
                pass
        self.vm.check("kill -9 $(cat /tmp/storm.pid)")
        for nth, pid in enumerate(children, 1):
            self.assertEqual(self.value_of_child(pid, nth, "one"), 0)

    @only_full
    def test_python(self):
        """An interpreter as its distribution has built it, all of whose probes have semaphores: its functions' returns. The
        probe of each line is raised for its name alone."""
        if not self.programs.python:
            self.skipTest("this host's Python has no static probes")
        pid = self.start_idle("/usr/bin/python3 -IS /bin/calling.py")
        trace = self.outsight.trace(
            self.vm, 'python$target:::function-return /copyinstr(arg1) == "leaf"/ { @[basename(copyinstr(arg0)), arg2] = count(); } '
                     'python$target:::line { @lines = count(); } python$target:::gc* { @gc = count(); }', "-p", str(pid))
        self.work_once(pid)
        trace.stop()
        self.assertRegex(trace.out, r"calling\.py +9 +1000\n", trace.story())
        trace = self.outsight.trace(self.vm, "python*:::l* { @lines = count(); } python*:::function-* { @[probename] = count(); }",
                                    "-p", str(pid))
        self.work_once(pid)
        trace.stop()
        self.assertRegex(trace.err, rf"python{pid}:python3:\S+:line: the program skips .* give the probe's name, line")
        self.assertRegex(trace.out, r"function-return +1001\b", trace.story())


if __name__ == "__main__":
    sys.exit(main())
