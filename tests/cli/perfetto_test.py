#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-o FILE.pftrace: perfetto_test.py OUTSIGHT [Class.test…].

Files are read by a decoder of its own (lib/perfetto.py). This host's probes are of no guest: tests/unit and
tests/linux/perfetto_test.py have vCPUs, threads and slices.
"""
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import cli_test
from lib.perfetto import BOOTTIME, INSTANT, MONOTONIC, REALTIME, Trace


class Traces(cli_test.Case):
    def trace(self, program, *args):
        status, out, err = self.run_it("-qo", "x.pftrace", "-n", program, *args)
        self.assertEqual((status, out), (0, ""), err)
        self.assertEqual(os.listdir(self.dir), ["x.pftrace"])
        with open(self.path("x.pftrace"), "rb") as f:
            return Trace(f.read()), err

    def test_records(self):
        trace, err = self.trace('BEGIN { trace(7); trace(pid); trace("x\\ny"); } BEGIN { printf("%d-%s\\n", 3, "z"); exit(0); } END { }')
        self.assertEqual(err, "")
        self.assertEqual([track.name for track in trace.tracks], ["outsight"])
        events = trace.tracks[0].events
        self.assertEqual([(e.kind, e.name) for e in events], [(INSTANT, "BEGIN")] * 2 + [(INSTANT, "END")])
        self.assertEqual((list(events[0].notes), events[0].notes["value"], events[0].notes["value2"]),
                         (["value", "pid", "value2"], 7, "x\ny"))
        self.assertEqual(events[1].notes, {"printf": "3-z"})

    def test_times(self):
        before = time.monotonic_ns(), time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        trace, _ = self.trace("BEGIN { } tick-50ms { exit(0); }")
        after = time.monotonic_ns(), time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        for clock, least, most in zip((MONOTONIC, REALTIME, BOOTTIME), before, after):
            self.assertIn(trace.clocks[clock], range(least, most))
        begin, tick = trace.tracks[0].events
        self.assertIn(begin.time, range(before[0], after[0]))
        self.assertGreaterEqual(tick.time - begin.time, 40_000_000)

    def test_counters(self):
        """A value at each aggrate at which it is another one; histograms are left out, and that is said."""
        trace, err = self.trace("tick-10ms { @n = count(); @[\"a;b\", 5] = max(3); @q = quantize(1); } tick-500ms { exit(0); }",
                                "-x", "aggrate=20hz")
        self.assertIn("oformat=perfetto leaves out histograms", err)
        counters = {track.name: [e.value for e in track.events] for track in trace.tracks if track.is_counter}
        self.assertEqual(sorted(counters), ["@[a;b, 5]", "@n"])
        self.assertEqual(counters["@[a;b, 5]"], [3])
        self.assertGreater(len(counters["@n"]), 2)
        self.assertEqual(counters["@n"], sorted(set(counters["@n"])))

    def test_hostile_names(self):
        trace, _ = self.trace(r'BEGIN { @["\xff\xc3\"<x>"] = count(); trace("\xff"); exit(0); }')
        self.assertEqual(trace.tracks[0].events[0].notes, {"value": "\ufffd"})
        self.assertEqual(trace.tracks[1].name, '@[\ufffd\ufffd"<x>]')

    def test_nothing(self):
        self.assertEqual(self.trace("tick-10ms { exit(0); }")[0].tracks[0].name, "outsight")


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
