#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-o FILE.pftrace: perfetto_test.py OUTSIGHT [Class.test…].

Files are read by a decoder of its own (lib/perfetto.py), and by protoc (lib/protoc.py). This host's probes are of no guest: tests/unit and
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
from lib import protoc
from lib.perfetto import BEGIN, BOOTTIME, INSTANT, MONOTONIC, REALTIME, Trace


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number, value):
    """Of protobuf: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Case(cli_test.Case):
    def record(self, program, *args):
        """The file's bytes, and the messages."""
        status, out, err = self.run_it("-qo", "x.pftrace", "-n", program, *args)
        self.assertEqual((status, out), (0, ""), err)
        self.assertEqual(os.listdir(self.dir), ["x.pftrace"])
        with open(self.path("x.pftrace"), "rb") as f:
            return f.read(), err


class Traces(Case):
    def trace(self, program, *args):
        data, err = self.record(program, *args)
        return Trace(data), err

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

    def test_too_many_tracks(self):
        """Those that there is room for are there, and that the others are not is said."""
        program = "BEGIN { i = 0; } " + "".join(f"tick-1ms /i < 350/ {{ @[i, {k}] = count(); }} " for k in range(200)) + \
            "tick-1ms /i++ > 350/ { exit(0); }"
        trace, err = self.trace(program, "-x", "aggsize=64m", "-x", "aggrate=10s")
        self.assertEqual(len(trace.tracks), 65536)
        self.assertEqual(err, "dtrace: oformat=perfetto leaves out what would need more than 65536 tracks: aggregate by fewer keys, "
                              "or trace fewer threads\n")

    def test_hostile_names(self):
        trace, _ = self.trace(r'BEGIN { @["\xff\xc3\"<x>"] = count(); trace("\xff"); exit(0); }')
        self.assertEqual(trace.tracks[0].events[0].notes, {"value": "\ufffd"})
        self.assertEqual(trace.tracks[1].name, '@[\ufffd\ufffd"<x>]')

    def test_nothing(self):
        self.assertEqual(self.trace("tick-10ms { exit(0); }")[0].tracks[0].name, "outsight")


@unittest.skipIf(protoc.MISSING, f"SKIP: {protoc.MISSING}")
class Protoc(Case):
    """It finds the same tracks and events, and no field that the published files don't have."""
    PROGRAMS = {
        "records": 'BEGIN { trace(-7); trace(1ull << 63); trace(pid); trace("x\\ny"); } BEGIN { printf("%d-%s", 3, "z"); exit(0); } END { }',
        "stacks": "BEGIN { stack(); ustack(); exit(0); }",
        "counters": 'tick-10ms { @n = count(); @["a;b", -5] = sum(-3); @lo = min(-1); } tick-200ms { exit(0); }',
        "hostile": r'BEGIN { @["\xff\xc3\"<x>\\\n}"] = count(); trace("} \"a: 1\n\x01\xe2\x98\x83"); exit(0); }',
        "nothing": "BEGIN { exit(0); }",
    }

    def test_the_same(self):
        for name, program in self.PROGRAMS.items():
            with self.subTest(program=name):
                self.assertEqual(protoc.check_trace(self.record(program)[0]), 0)

    def test_it_would_see_it(self):
        """A field that nobody has described, a slice that does not end."""
        data = self.record("BEGIN { exit(0); }")[0]
        track = protoc.decode("perfetto", "Trace", data)["packet"][1]["track_descriptor"][0]["uuid"][0]
        for event, complaint in ((field(77, 1), "knows no field"), (field(9, BEGIN) + field(11, track), "Counter")):
            packet = field(10, 1) + field(8, 1) + field(58, MONOTONIC) + field(11, event)
            with self.assertRaisesRegex(AssertionError, complaint):
                protoc.check_trace(data + field(1, packet))


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
