#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules that the guest loads and unloads during a trace: their probes begin before the module runs, and end with it."""
import re
import signal
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib import agent as ga
from lib.outsight import numbers
from lib.pace import rounds
from lib.scenario import Scenario, main, only_full
from lib.shared_guest import TROUBLE

LOADS = rounds(2, 50)
BEAT = "/sys/module/pulse/parameters/"
LATE = re.compile(r"dtrace: (\d+) module loads? not seen from the beginning")


def late(trace):
    """Modules that ran before outsight, on a busy machine, had read them: their events were missed, and that was said."""
    return sum(int(n) for n in LATE.findall(trace.err))


class Modules(Scenario):
    def setUp(self):
        reason = ga.why_no_agent(self.kernel, "pulse")
        if reason:
            self.skipTest(reason)
        self.vm = self.enterContext(self.guest())

    def cycle(self, first, more):
        """Load, beat, unload: the guest's own number of beats."""
        self.vm.check(f"insmod /modules/pulse.ko first={first}; echo {more} >{BEAT}beats")
        total = int(self.vm.check(f"cat {BEAT}total"))
        self.vm.check("rmmod pulse")
        return total

    def stopped(self, trace):
        """End it; no drop but the one of late()."""
        self.assertEqual(trace.interrupt().finish(), 0, trace.story())
        self.assertEqual([line for line in trace.errors if not LATE.match(line) and "matched 0 probes" not in line], [])
        return trace

    def assert_counts(self, trace, counts, truth, each):
        missed = late(trace) * each
        for count in counts:
            self.assertLessEqual(count, truth, trace.story())
            self.assertGreaterEqual(count, truth - missed, trace.story())

    def assert_unharmed(self):
        self.assertEqual([line for line in self.vm.check("dmesg").splitlines() if TROUBLE.search(line)], [])

    def test_loaded_and_unloaded(self):
        """A function, its returns and a tracepoint of a module that is loaded anew each time count as the guest does."""
        trace = self.outsight.trace(self.vm, "fbt:pulse:pulse_beat:entry { @a = count(); @sum = sum(arg0); } "
                                             "fbt:pulse:pulse_beat:return { @b = count(); } "
                                             "sdt:pulse::pulse_beat { @c = count(); } "
                                             "rawtp:pulse:: { @d = count(); } "
                                             'END { printa("%@u %@u %@u %@u %@u\\n", @a, @b, @c, @d, @sum); }', "-Z")
        truth = sum(self.cycle(100 + i, 37) for i in range(LOADS))
        last = 100 + LOADS - 1 + 37
        self.stopped(trace)
        *counts, total = map(int, trace.out.split()[-5:])
        self.assert_counts(trace, counts, truth, last)
        if not late(trace):
            beats = sum(sum(range(100 + i)) + sum(range(37)) for i in range(LOADS))
            self.assertEqual(total, beats, trace.story())
        self.assert_unharmed()

    @only_full
    def test_globs(self):
        """A clause that has probes at the start gets those of the module too, each with an id of its own."""
        trace = self.outsight.trace(self.vm, 'fbt::pulse_b*:entry, fbt::__x64_sys_getppid:entry { @[probefunc] = count(); }',
                                    "-Z")
        truth = self.cycle(5, 6) + self.cycle(7, 8)
        self.vm.check("getppid_loop 1 9")
        self.stopped(trace)
        found = dict(re.findall(r"(\w+) +(\d+)", trace.out))
        self.assertGreaterEqual(int(found["__x64_sys_getppid"]), 9)
        self.assert_counts(trace, [int(found.get("pulse_beat", 0))], truth, 15)

    @only_full
    def test_another_at_its_place(self):
        """What is loaded where a module was is not taken for it."""
        trace = self.outsight.trace(self.vm, "fbt:pulse::entry { @ = count(); }", "-Z")
        truth = 0
        for _ in range(rounds(2, 20)):
            truth += self.cycle(3, 4)
            self.vm.check("rmmod dummy; insmod /modules/dummy.ko")
        self.stopped(trace)
        # pulse_set() and pulse_run() besides pulse_beat(), as the compiler has left them
        beats = self.outsight.trace(self.vm, "fbt:pulse::entry { @[probefunc] = count(); }", "-Z")
        one = self.cycle(3, 4)
        self.stopped(beats)
        if not late(trace) and not late(beats):
            per_cycle = sum(int(n) for n in re.findall(r"\w+ +(\d+)", beats.out))
            self.assertGreaterEqual(per_cycle, one)
            self.assertEqual(int(trace.out.split()[-1]), truth // one * per_cycle, trace.story() + beats.story())

    def test_loaded_before(self):
        """A module that was there at the start: its probes end with it, without a loss, and begin again."""
        self.vm.check("insmod /modules/pulse.ko")
        trace = self.outsight.trace(self.vm, "fbt:pulse:pulse_beat:entry { @ = count(); }")
        self.vm.check(f"echo 11 >{BEAT}beats; rmmod pulse")
        truth = 11 + self.cycle(13, 17)
        self.stopped(trace)
        self.assert_counts(trace, numbers(trace.out), truth, 30)

    @only_full
    def test_two_sessions(self):
        """Each session is told, and one that does not answer holds up the guest once, not the other session."""
        program = "fbt:pulse:pulse_beat:entry { @ = count(); }"
        stopped = self.outsight.trace(self.vm, program, "-Z")
        stopped.process.send_signal(signal.SIGSTOP)
        trace = self.outsight.trace(self.vm, program, "-Z")
        truth = sum(self.cycle(10, 20) for _ in range(3))
        stopped.process.send_signal(signal.SIGCONT)
        self.stopped(trace)
        stopped.kill()
        self.assert_counts(trace, numbers(trace.out), truth, 30)

    @only_full
    def test_killed(self):
        """kill -9 while modules come and go: nothing holds the guest up, and the next session sees them."""
        for _ in range(rounds(2, 12)):
            trace = self.outsight.trace(self.vm, "fbt:::entry /pid == 1/ { @ = count(); }")
            job = self.vm.spawn("for i in 1 2 3; do insmod /modules/pulse.ko first=9; rmmod pulse; done; echo finished")
            trace.kill()
            self.assertIn("finished", job.done())
        self.test_loaded_before()

    def test_args(self):
        """A clause with typed args[] leaves out a probe that has others, and says so once."""
        trace = self.outsight.trace(self.vm, "fbt::do_rmdir:entry /args[0] != 0/ { @ = count(); }")
        self.cycle(3, 3)
        self.cycle(3, 3)
        self.assertEqual(trace.interrupt().finish(), 0, trace.story())
        said = [line for line in trace.errors if "args[]" in line]
        self.assertEqual(len(said), 1, trace.story())
        self.assertIn("fbt:pulse:do_rmdir:entry came later and is left out", said[0])


if __name__ == "__main__":
    sys.exit(main())
