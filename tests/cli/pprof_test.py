#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-o FILE.pprof: pprof_test.py OUTSIGHT [Class.test…].

Files are read by a decoder of its own (lib/pprof.py), and by protoc where that is installed, and compared with what
-x oformat=folded says of the same program. This host's probes have no frames: tests/kvm/small_test.py has a guest's.
"""
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import cli_test
from lib import npm, protoc
from lib.pprof import Profile


class Profiles(cli_test.Case):
    def profile(self, program, *args):
        status, out, err = self.run_it("-qo", "x.pprof", "-n", program, *args)
        self.assertEqual((status, out), (0, ""), err)
        self.assertEqual(os.listdir(self.dir), ["x.pprof"])
        with open(self.path("x.pprof"), "rb") as f:
            self.data = f.read()
        return Profile(self.data), err

    def test_as_folded(self):
        program = ('BEGIN { @a["one", 7, stack()] = count(); @a["two", 0, stack()] = count(); } '
                   'BEGIN { @b[-3, ustack()] = sum(1ull << 40); @c["c", stack()] = sum(-1); exit(0); }')
        profile, _ = self.profile(program)
        folded = self.run_it("-x", "oformat=folded", "-qn", program)[1].splitlines()
        self.assertEqual(profile.folded(), sorted(folded))
        self.assertEqual(profile.types, [("a", "count"), ("b", "count")])

    def test_columns_and_labels(self):
        profile, _ = self.profile("BEGIN { @[execname, pid, execname, stack()] = count(); @[execname, pid, execname, stack()] = count(); "
                                  "@max[stack()] = max(5); exit(0); }")
        self.assertEqual(profile.types, [("samples", "count"), ("max", "count")])
        self.assertEqual([(list(labels), values) for _, labels, values in profile.samples],
                         [(["execname", "pid", "key2"], [2, 0]), ([], [0, 5])])
        self.assertEqual(profile.period, 0)

    def test_recorded_stacks(self):
        profile, _ = self.profile("BEGIN { stack(); stack(); exit(0); }")
        self.assertEqual(profile.samples, [([], {}, [1])] * 2)

    def test_what_has_no_stack(self):
        """It is left out, and that is said."""
        profile, err = self.profile("BEGIN { @[1] = count(); @q[stack()] = quantize(1); exit(0); }")
        self.assertEqual((profile.samples, profile.types), ([], [("samples", "count")]))
        self.assertIn("oformat=pprof leaves out data without a stack", err)

    def test_hostile_labels(self):
        text = r'BEGIN {{ @["{0}", stack()] = count(); exit(0); }}'
        for given, shown in ((r'\"\n</a>', '"\n</a>'), (r"\xff\xc3x", "\ufffd\ufffdx"), ("", "")):
            profile, _ = self.profile(text.format(given))
            self.assertEqual(profile.samples, [([], {"key0": shown}, [1])])

    def test_time_and_period(self):
        before = time.time_ns()
        profile, _ = self.profile("profile-50 { @[stack()] = count(); } tick-300ms { exit(0); }")
        self.assertEqual(profile.period, 20_000_000)
        self.assertIn(profile.time, range(before, time.time_ns()))
        self.assertIn(profile.duration, range(200_000_000, time.time_ns() - profile.time))
        self.assertEqual(self.profile("profile-10ms { @[stack()] = count(); } profile-20ms { @[stack()] = count(); } "
                                      "tick-300ms { exit(0); }")[0].period, 0)

    def test_replaced(self):
        self.write("x.pprof", "old")
        self.assertEqual(len(self.profile("BEGIN { stack(); exit(0); }")[0].samples), 1)
        self.assertEqual(len(self.profile("BEGIN { stack(); exit(0); }")[0].samples), 1)

    @unittest.skipIf(protoc.MISSING, f"SKIP: {protoc.MISSING}")
    def test_protoc(self):
        for program in ('BEGIN { @a["one", 7, stack()] = count(); @b[-3, ustack()] = sum(1ull << 40); @c["c", stack()] = sum(-1); exit(0); }',
                        r'BEGIN { @["\"\n</a>\\", stack()] = count(); @m["\xff\xc3", stack()] = max(-5); exit(0); }',
                        "profile-50 { @[stack()] = count(); } tick-300ms { exit(0); }", "BEGIN { stack(); exit(0); }"):
            profile = self.profile(program)[0]
            protoc.check_profile(self.data, profile)

    @unittest.skipIf(npm.NO_PPROF_FORMAT, f"SKIP: {npm.NO_PPROF_FORMAT}")
    def test_pprof_format(self):
        for program in ('BEGIN { @a["one", 7, stack()] = count(); @b[-3, ustack()] = sum(1ull << 40); @c["c", stack()] = sum(-1); exit(0); }',
                        r'BEGIN { @["\"\n</a>\\", stack()] = count(); @m["\xff\xc3", stack()] = max(-5); exit(0); }',
                        "BEGIN { stack(); exit(0); }"):
            profile = self.profile(program)[0]
            npm.check_pprof_format(self.data, profile)

    @unittest.skipIf(npm.NO_SPEEDSCOPE, f"SKIP: {npm.NO_SPEEDSCOPE}")
    def test_speedscope_reads_folded(self):
        """Keys are frames there."""
        program = ('BEGIN { @["web", "read", stack()] = sum(40); @["web", "</script>", stack()] = sum(2); @["caf\\303\\251", "x", stack()] = sum(7); '
                   'exit(0); }')
        folded = self.run_it("-x", "oformat=folded", "-qn", program)[1]
        wanted = {tuple(line.rpartition(" ")[0].split(";")): int(line.rpartition(" ")[2]) for line in folded.splitlines()}
        self.assertEqual(len(wanted), 3)
        self.assertEqual(npm.folded_by_speedscope("x.folded", folded.encode()), wanted)


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
