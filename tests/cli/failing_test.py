#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Outputs that cannot be written, readers that do not read, files that are cut meanwhile: failing_test.py OUTSIGHT [Class.test…]."""
import fcntl
import json
import os
import pty
import resource
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import cli_test
from lib import prometheus
from lib.pace import limit


class FullDisk(cli_test.Case):
    VERBS = (["--help"], ["--version"], ["-V"], ["help", "flame"], ["guests"], ["guests", "--json"], ["examples", "disk"],
             ["tool", "--list"], ["top", "-b", "-n", "1", "-d", "1"], ["top", "--help"], ["-g", "none", "-l"])

    def on_full(self, *args):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([cli_test.OUTSIGHT, *args], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=cli_test.LIMIT, check=False)
        return done.returncode, done.stderr

    @unittest.skipUnless(os.path.exists("/dev/full"), "SKIP: no /dev/full")
    def test_verbs(self):
        """Whatever prints something: a report that nobody has got is no success, and the reason is said once."""
        for args in self.VERBS:
            with self.subTest(args=args):
                self.assertEqual(self.on_full(*args), (1, "dtrace: failed to write to <stdout>: No space left on device\n"))

    @unittest.skipUnless(os.path.exists("/dev/full"), "SKIP: no /dev/full")
    def test_doctor(self):
        """Its status is what scripts ask it for: 0 only if they could have read why."""
        if self.run_it("doctor", guest=())[0]:
            self.skipTest("SKIP: nothing can be traced on this host")
        self.assertEqual(self.on_full("doctor"), (1, "dtrace: failed to write to <stdout>: No space left on device\n"))

    def start_counting(self):
        """A session whose file Prometheus reads. Files that grow too large are an error to it, not a signal."""
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        process = subprocess.Popen([cli_test.OUTSIGHT, "-g", "none", "-qo", "x.prom", "-x", "aggrate=20ms", "-x", "switchrate=20ms", "-n",
                                    "tick-5ms { @n = count(); }"], cwd=self.dir, env=self.env, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=False)
        signal.signal(signal.SIGXFSZ, before)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def counted(self, more_than):
        """What the file says, once that is more."""
        end, value = time.monotonic() + limit(60), 0
        while value <= more_than:
            self.assertLess(time.monotonic(), end)
            if os.path.exists(self.path("x.prom")):
                with open(self.path("x.prom"), "rb") as f:
                    value = prometheus.parse(f.read())["outsight_n_total"].values().get((), 0)
            time.sleep(0.01)
        return value

    def test_full_for_a_while(self):
        """A file that is written again and again: it stays whole, that is said once, and then it goes on with all that was counted."""
        process = self.start_counting()
        value = self.counted(0)
        for _ in range(2):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
            line = process.stderr.readline()
            self.assertEqual(line, "dtrace: failed to write to x.prom: File too large: it stays as it is until it can be "
                                   "written again\n")
            self.assertGreaterEqual(self.counted(0), value)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            value = self.counted(value + 20)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stderr.read(), "")
        self.assertEqual(process.wait(), 0)
        self.assertEqual(os.listdir(self.dir), ["x.prom"])


class Stuck(cli_test.Case):
    """A reader that neither reads nor goes away, as less(1) does behind a page."""
    PROGRAM = 'tick-1ms { printf("%1000s\\n", "x"); printf("%1000s\\n", "y"); }'

    def stuck(self, *args, stderr=subprocess.PIPE):
        """A session whose pipe is full."""
        process = subprocess.Popen([cli_test.OUTSIGHT, "-g", "none", "-qx", "switchrate=10ms", *args, "-n", self.PROGRAM], text=True, env=self.env,
                                   cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        before, full, end = -1, 0, time.monotonic() + limit(60)
        while not 0 < before == full:
            self.assertLess(time.monotonic(), end)
            before = full
            time.sleep(0.2)
            full = struct.unpack("i", fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4)))[0]
        return process

    def test_second_signal(self):
        """It discards what is left, and says nothing; one does not, and all is there."""
        process = self.stuck()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(limit(60)), 1)
        self.assertEqual(process.stderr.read(), "")

    def test_one_signal(self):
        process = self.stuck()
        process.send_signal(signal.SIGINT)
        lines = process.stdout.read().rstrip("\n").split("\n")
        self.assertEqual((process.wait(), process.stderr.read()), (0, ""))
        self.assertGreater(len(lines), 60)
        self.assertEqual(lines, [f"{letter:>1000}" for letter in "xy"] * (len(lines) // 2))

    def test_time_limit(self):
        """It holds all the same: probes do not stay in a guest because nobody reads."""
        terminal, stderr = pty.openpty()
        process = self.stuck("-x", "ttl=2s", stderr=stderr)
        os.close(stderr)
        self.assertEqual(process.wait(limit(60)), 1)
        with open(terminal, "rb") as f:
            self.assertEqual(f.readline(), b"dtrace: the session's time limit has passed: -x ttl=2s\r\n")


class Rotated(cli_test.Case):
    def lines(self):
        return self.read("x.jsonl").splitlines() if os.path.exists(self.path("x.jsonl")) else []

    def wait_for_more(self):
        """Lines in the file that -o has begun, or that it goes on with."""
        end = time.monotonic() + limit(60)
        while len(self.lines()) < 20:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_cut(self):
        """What was written is taken elsewhere and the file cut, as logrotate(8) does with copytruncate: it goes on from its new end."""
        process = self.start("-q", "--json", "-x", "switchrate=10ms", "-o", "x.jsonl", "-n", "BEGIN { i = 0; } tick-2ms { trace(i++); }")
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.wait_for_more()
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        taken = self.lines()
        os.truncate(self.path("x.jsonl"), 0)
        process.send_signal(signal.SIGCONT)
        self.wait_for_more()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 0)
        found = [json.loads(line) for line in taken + self.lines()]
        numbers = [line["output"][0]["value"] for line in found if line["type"] == "record" and line["output"]]
        self.assertEqual(numbers, list(range(len(numbers))))
        self.assertEqual(found[-1]["type"], "end")


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
