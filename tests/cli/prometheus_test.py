#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-o FILE.prom: prometheus_test.py OUTSIGHT [Class.test…].

Files are read by a strict reader (lib/prometheus.py), and by promtool where it is installed.
"""
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import cli_test
from lib import prometheus
from lib.pace import limit

EVERYTHING = r"""
BEGIN {
	@reads["cat", 3] = count(); @reads["cat", 3] = count(); @bytes = sum(9); @balance = sum(-4); @a = avg(6);
	@lo = min(-1); @hi = max(9); @dev = stddev(4); @ = count(); @who[execname, pid, execname] = count();
	@q = quantize(-3); @q = quantize(0); @q = quantize(1); @q = quantize(5);
	@l["x"] = lquantize(-7, 0, 10, 2); @l["x"] = lquantize(5, 0, 10, 2); @l["x"] = lquantize(11, 0, 10, 2);
	@ll = llquantize(150, 10, 0, 3, 10);
	exit(0);
}
"""
HOSTILE = (r'BEGIN { @a["\"} 1\n# TYPE x y\n\\", 1] = count(); @a["\xff\xc3", 2] = count(); '
           r'@other["\xff"] = count(); @other["\xfe"] = count(); exit(0); }')
OWN = {"outsight_session_drops_total", "outsight_session_faults_total", "outsight_session_probes_taken_total",
       "outsight_session_rows_left_out"}


class Prometheus(cli_test.Case):
    def families(self, program, *args, name="x.prom"):
        status, out, err = self.run_it("-qo", name, "-n", program, *args)
        self.assertEqual((status, out), (0, ""), err)
        self.assertEqual(os.listdir(self.dir), [name])
        return self.parse(name)

    def parse(self, name):
        with open(self.path(name), "rb") as f:
            return prometheus.parse(f.read())


class Files(Prometheus):
    def test_every_function(self):
        found = self.families(EVERYTHING)
        self.assertEqual({f.name: (f.type, f.values()) for f in found.values() if f.type != "histogram"}, {
            "outsight_reads_total": ("counter", {("cat", "3"): 2}), "outsight_bytes_total": ("counter", {(): 9}),
            "outsight_balance": ("gauge", {(): -4}), "outsight_a": ("gauge", {(): 6}), "outsight_lo": ("gauge", {(): -1}),
            "outsight_hi": ("gauge", {(): 9}), "outsight_dev": ("gauge", {(): 0}), "outsight_count_total": ("counter", {(): 1}),
            "outsight_who_total": ("counter", found["outsight_who_total"].values()),
            **{name: ("counter" if name.endswith("_total") else "gauge", {(): 0}) for name in OWN}})
        self.assertEqual(list(found["outsight_reads_total"].samples[0][1]), ["key0", "key1"])
        self.assertEqual(list(found["outsight_who_total"].samples[0][1]), ["execname", "pid", "key2"])

    def test_histograms(self):
        """An edge is the greatest integer of its bucket: D's buckets are of integers."""
        found = self.families(EVERYTHING)
        self.assertEqual(found["outsight_q"].histogram(), {
            "-4": 0, "-2": 1, "-1": 1, "0": 2, "1": 3, "3": 3, "7": 4, "15": 4, "+Inf": 4})
        self.assertEqual(found["outsight_l"].histogram(key0="x"), {
            "-1": 1, "1": 1, "3": 1, "5": 2, "7": 2, "9": 2, "+Inf": 3})
        self.assertEqual(found["outsight_ll"].histogram(), {"99": 0, "199": 1, "299": 1, "+Inf": 1})

    def test_each_edge(self):
        """Values at the edges of quantize()'s buckets are where the labels say."""
        values = [-(1 << 62), -9, -8, -5, -4, -1, 0, 1, 2, 3, 4, 7, 8, (1 << 62) - 1, 1 << 62]
        program = "BEGIN { " + " ".join(f"@q = quantize({v}LL);" for v in values) + " exit(0); }"
        for le, count in self.families(program)["outsight_q"].histogram().items():
            self.assertEqual(count, len([v for v in values if le == "+Inf" or v <= int(le)]), le)

    def test_hostile_keys(self):
        found = self.families(HOSTILE)
        self.assertEqual(set(found["outsight_a_total"].values()), {('"} 1\n# TYPE x y\n\\', "1"), ("\ufffd\ufffd", "2")})
        self.assertEqual(set(found["outsight_other_total"].values()), {("\ufffd",), ("\ufffd", "2")})
        self.assertEqual(list(found["outsight_other_total"].samples[1][1]), ["key0", "same"])

    def test_names_that_would_be_one(self):
        found = self.families("BEGIN { @q = quantize(1); @q_count = max(1); @c = count(); @c_total = sum(-2); "
                              "@count = count(); @ = count(); @session_drops = count(); @session_faults = sum(1); exit(0); }")
        self.assertEqual(len(found), 12)

    def test_too_many_rows(self):
        """The greatest ones are kept."""
        found = self.families("BEGIN { i = 0; } tick-1ms /i < 120/ { i++; }" + "".join(
            f"tick-1ms /i < 120/ {{ @[i, {k}] = sum({k}); }}" for k in range(100)) + "tick-1ms /i >= 120/ { exit(0); }",
            "-x", "aggsize=8m")
        rows, left_out = found["outsight_sum_total"].values(), found["outsight_session_rows_left_out"].values()[()]
        self.assertEqual(len(rows), 10000)
        self.assertGreater(left_out, 1000)
        self.assertEqual({value for value in rows.values()} & {0, 1, 2}, set())

        found = self.families("BEGIN { @a[1] = sum(1); @a[2] = sum(2); @a[3] = sum(3); @b = count(); exit(0); }", "-x", "promseries=2")
        self.assertEqual(found["outsight_a_total"].values(), {("3",): 3, ("2",): 2})
        self.assertEqual((found["outsight_b_total"].values(), found["outsight_session_rows_left_out"].values()), ({}, {(): 2}))
        self.assertIn("Option cannot be used from within a D program",
                      self.run_it("-qo", "x.prom", "-n", "#pragma D option promseries=9\nBEGIN { exit(0); }")[2])

    def test_nothing_was_counted(self):
        self.assertEqual(set(self.families("BEGIN { exit(0); }")), OWN)

    def test_printa_and_records_are_not_in_it(self):
        found = self.families('BEGIN { trace(1); printf("text"); @a = count(); printa(@a); exit(0); }')
        self.assertEqual(set(found), OWN | {"outsight_a_total"})

    def test_drops(self):
        found = self.families("BEGIN { i = 0; } tick-1ms { i++; } tick-1ms { trace(i); trace(i); } tick-1ms /i > 200/ { exit(0); }",
                              "-x", "bufsize=96", "-x", "switchrate=20ms")
        self.assertGreater(found["outsight_session_drops_total"].values()[()], 0)

    def test_faults(self):
        """Each is counted, those of one message too."""
        status, out, err = self.run_it("-qo", "x.prom", "-n", "BEGIN { i = 0; } tick-1ms /i < 50/ { i++; @ = sum(*(int *)8); } "
                                       "tick-1ms /i >= 50/ { exit(0); }")
        self.assertEqual((status, out), (0, ""), err)
        self.assertEqual(self.parse("x.prom")["outsight_session_faults_total"].values(), {(): 50})

    @unittest.skipUnless(shutil.which("promtool"), "SKIP: promtool is not installed (package prometheus)")
    def test_promtool(self):
        for program in (EVERYTHING, HOSTILE, "BEGIN { @q = quantize(1); @q_count = max(1); @c = count(); @c_total = sum(-2); exit(0); }",
                        "BEGIN { exit(0); }"):
            self.families(program)
            with open(self.path("x.prom"), "rb") as f:
                done = subprocess.run(["promtool", "check", "metrics"], stdin=f, capture_output=True, text=True, timeout=limit(60),
                                      check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), program)


class Places(Prometheus):
    def running(self, *args):
        """A session that counts, and its file once that is there."""
        process = self.start("-x", "aggrate=20ms", "-x", "switchrate=20ms", "-q", *args,
                             "-n", "tick-5ms { @n = count(); }")
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, name, more_than):
        end = time.monotonic() + limit(60)
        while time.monotonic() < end:
            if os.path.exists(self.path(name)):
                value = self.parse(name)["outsight_n_total"].values().get((), 0)
                if value > more_than:
                    return value
            time.sleep(0.002)
        return self.fail("the file does not change")

    def test_renewed_at_each_interval(self):
        """Whoever reads it at any time reads a whole file, in which counters grow."""
        process, value = self.running("-o", "x.prom"), 0
        for _ in range(20):
            value = self.wait_for("x.prom", value)
        process.send_signal(signal.SIGINT)
        err = process.stderr.read()
        self.assertEqual(process.wait(), 0, err)
        self.assertGreaterEqual(self.parse("x.prom")["outsight_n_total"].values()[()], value)
        self.assertEqual(os.listdir(self.dir), ["x.prom"])

    def test_killed(self):
        """The file is the last whole one."""
        process = self.running("-o", "x.prom")
        value = self.wait_for("x.prom", 5)
        process.kill()
        process.wait()
        self.assertGreaterEqual(self.parse("x.prom")["outsight_n_total"].values()[()], value)

    def test_one_that_is_there(self):
        """It is replaced, not appended to; a link goes on to be one."""
        self.write("real", "old")
        os.symlink("real", self.path("x.prom"))
        self.assertEqual(self.run_it("-qo", "x.prom", "-n", "BEGIN { @a = count(); exit(0); }")[0], 0)
        self.assertTrue(os.path.islink(self.path("x.prom")))
        self.assertIn("outsight_a_total", self.parse("real"))
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("real")).st_mode), 0o666 & ~mask)

    def test_what_is_no_file_is_written_to(self):
        os.mkfifo(self.path("x.prom"))
        fifo = os.open(self.path("x.prom"), os.O_RDWR)
        self.addCleanup(os.close, fifo)
        self.assertEqual(self.run_it("-x", "aggrate=10ms", "-x", "switchrate=10ms", "-qo", "x.prom", "-n",
                                     "BEGIN { @a = count(); } tick-200ms { exit(0); }")[:2], (0, ""))
        self.assertEqual(prometheus.parse(os.read(fifo, 65536))["outsight_a_total"].values(), {(): 1})
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("x.prom")).st_mode))

    def test_stdout_gets_it_once(self):
        out = self.run_it("-x", "oformat=prom", "-x", "aggrate=10ms", "-x", "switchrate=10ms", "-qn",
                          "BEGIN { @a = count(); } tick-200ms { exit(0); }")[1]
        self.assertEqual(prometheus.parse(out.encode())["outsight_a_total"].values(), {(): 1})

    def test_oformat_comes_first(self):
        self.assertEqual(self.run_it("-x", "oformat=text", "-qo", "x.prom", "-n", "BEGIN { @a = count(); exit(0); }")[0], 0)
        self.assertEqual(self.read("x.prom").split(), ["1"])
        os.remove(self.path("x.prom"))
        self.assertIn("outsight_a_total", self.families("BEGIN { @a = count(); exit(0); }", "-x", "oformat=prom", name="y"))

    def test_a_list_is_text(self):
        self.assertEqual(self.run_it("-lo", "x.prom", "-n", "BEGIN")[0], 0)
        self.assertIn("PROVIDER", self.read("x.prom"))

    def test_one_that_does_not_compile_leaves_it(self):
        self.write("x.prom", "old")
        self.assertEqual(self.run_it("-qo", "x.prom", "-n", "BEGIN { nonsense(); }")[0], 1)
        self.assertEqual(self.read("x.prom"), "old")


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
