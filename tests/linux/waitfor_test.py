#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-x waitfor: the next process that begins to run a program is $target, and no other is."""
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import numbers
from lib.program_scenario import ProgramScenario
from lib.scenario import main, only_full

CALLS = 2000
# It forks all the time: children that have its name, and have not called exec().
SCRIPT = "#!/bin/sh\\nn=0; until [ -e /tmp/go ]; do ( : ); done; while [ $n -lt $1 ]; do kill -0 $$; n=$((n+1)); done; : >/tmp/done.$1; sleep 1000\\n"


class WaitFor(ProgramScenario):
    names = "counted thrower probed scripted sleep"

    def wait(self, name, *programs, option=None):
        """A trace that waits for a process of that name."""
        clauses = [word for program in ('BEGIN { printf("tracing\\n"); }', *programs) for word in ("-n", program)]
        trace = self.outsight.start(self.vm, "-x", "switchrate=20hz", "-x", "aggrate=20hz", *(option or ("-W", name)), *clauses)
        return trace.wait_for(f"dtrace: waiting for a process {name} in ")

    def calls(self, pid, name):
        return int(re.findall(r"called (\d+)", self.work_once(pid, name))[-1])

    def taken(self, trace):
        """The process that is $target."""
        return int(re.search(r"(?m)^dtrace: \S+ is process (\d+)$", trace.err).group(1))

    def test_functions(self):
        """Of programs with other names, one that ran before, and two with the name: the first of these, from a mark on."""
        before = self.start_idle(f"counted {CALLS}", "before")
        trace = self.wait("counted", "pid$target:a.out:work:entry, pid$target:libc:getppid:entry { @[probefunc, pid] = count(); }")
        self.start_idle("probed 1", "other")
        one = self.start_idle(f"counted {CALLS}", "one")
        trace.wait_for("tracing")
        two = self.start_idle(f"counted {CALLS}", "two")
        for name, pid in (("before", before), ("one", one), ("two", two), ("one", one)):
            said = self.calls(pid, name)
        self.assertEqual(said, 2 * CALLS)
        self.vm.check(f"kill -9 {one}")
        self.assertEqual(trace.finish(), 0, trace.story())
        self.assertEqual(self.taken(trace), one)
        self.assertIn(f"dtrace: pid {one} has exited", trace.err)
        self.assertEqual(re.findall(r"(?m)^ +(\w+) +(\d+) +(\d+)$", trace.out),
                         [("getppid", str(one), str(said)), ("work", str(one), str(said))], trace.story())

    def test_static(self):
        """A static probe of a library, which the program loads itself; the name is a path."""
        trace = self.wait("/bin/thrower", "libstdcxx$target:::throw { @ = count(); } pid$target:libstdc??.so*:__cxa_throw:entry "
                                          "{ @e = count(); }", "BEGIN { trace($target); }", option=("-q", "-x", "waitfor=/bin/thrower"))
        self.start_idle(f"counted {CALLS}", "other")
        one = self.start_idle(f"thrower {CALLS}", "one")
        trace.wait_for("tracing")
        self.last_line = "^done$"
        for _ in range(2):
            self.work_once(one, "one")
        trace.stop()
        self.assertIn(f"\n{one}", trace.out)
        self.assertEqual(numbers(trace.out)[-2:], [2 * CALLS, 2 * CALLS], trace.story())

    @only_full
    def test_script(self):
        """By what execname is: a script's name; what forks has not begun to run it."""
        self.vm.check(f"printf '{SCRIPT}' >/tmp/scripted; chmod +x /tmp/scripted; rm -f /tmp/go")
        before = int(self.vm.check("/tmp/scripted 1 >/dev/null & echo $!"))
        trace = self.wait("scripted", "syscall::kill:entry /pid == $target/ { @ = count(); }")
        time.sleep(1)
        self.assertNotIn("is process", trace.err)
        one = int(self.vm.check(f"/tmp/scripted {CALLS} >/dev/null & echo $!"))
        trace.wait_for("tracing")
        self.vm.check(f"touch /tmp/go; until [ -e /tmp/done.{CALLS} ]; do sleep 0.1; done")
        trace.stop()
        self.assertEqual(self.taken(trace), one)
        self.assertEqual(numbers(trace.out), [CALLS], trace.story())
        self.vm.check(f"kill -9 {before} {one}; rm -f /tmp/go /tmp/done.*")

    def test_ends(self):
        """Ctrl-C while it waits; errors that no process can change come first."""
        trace = self.wait("counted", "pid$target:::entry")
        self.assertEqual(trace.interrupt().finish(), 1)
        self.assertIn("dtrace: no process counted has begun", trace.err)
        for words, why in ((("-W", "counted", "-p", "1", "-n", "BEGIN"), "-x waitfor and -p both select $target"),
                           (("-x", "waitfor=", "-n", "BEGIN"), "waitfor takes a value"),
                           (("-W", "counted", "-n", "BEGIN { trace(1; }"), "syntax error"),
                           (("-c", "true", "-n", "BEGIN"), "-x waitfor=NAME takes the guest's next process")):
            status, out, err = self.outsight.run(self.vm, *words)
            self.assertNotEqual(status, 0)
            self.assertEqual(out, "")
            self.assertIn(why, err)
            self.assertNotIn("waiting for", err)

    def test_no_match(self):
        """What the process does not have is said once it has had the time to load it."""
        trace = self.wait("counted", "pid$target:libnone:work:entry")
        self.start_idle(f"counted {CALLS}", "one")
        self.assertEqual(trace.finish(), 1, trace.story())
        self.assertEqual(trace.err.count("does not match any probes"), 1, trace.story())


if __name__ == "__main__":
    sys.exit(main())
