#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The D suite once more, in jsonl: suite_test.py OUTSIGHT [Class.test…]. By default each sixth program of it.

Each line is an object, the last one is the end, and what they hold are the numbers and texts that the same program prints
as text, all of them and no others (account.py).
"""
import concurrent.futures
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import account
import cli_test
from lib.pace import limit, rounds

SUITE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "d")
OPTION = re.compile(r"@@(\w+)(?::[ \t]*(.*?))?[ \t]*(?:\*/)?[ \t]*$", re.M)
# Their output is another program's, or goes to another file, or is none of tracing.
LEFT_OUT = re.compile(r"\b(system|freopen|ftruncate)\b|@@args:.*(-[a-zA-Z]*[lhev]\b|-o|oformat|-c )")
# A line of aggpack has the ends and the sum of buckets that the lines list.
IN_ANOTHER_FORM = re.compile(r"\baggpack\b")


class Suite(cli_test.Case):
    def programs(self):
        for path in sorted(glob.glob(os.path.join(SUITE, "*", "tst.*.d"))):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            if not LEFT_OUT.search(text):
                yield path, text

    def run_program(self, path, text):
        """What is wrong with its lines; None: nothing."""
        options = dict(OPTION.findall(text))
        command = [cli_test.OUTSIGHT, "-g", "none", "--json", *(["-C"] if "cpp" in options else []), "-s",
                   os.path.basename(path), *shlex.split(options.get("args", ""))]
        done = subprocess.run(command, cwd=os.path.dirname(path), env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=limit(float(options.get("timeout", 60))), check=False)
        if done.returncode != int(options.get("exit", 0)):
            return f"exit status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}"
        if done.returncode and not done.stdout:  # refused before it traced
            return None
        with open(path[:-2] + ".out", encoding="utf-8", errors="replace") as f:
            return self.judge(done.stdout.decode("utf-8"), f.read(), IN_ANOTHER_FORM.search(text))

    @staticmethod
    def judge(printed, expected, parsed_only):
        try:
            lines = [json.loads(line) for line in printed.splitlines()]
        except ValueError as e:
            return f"no JSON: {e}: {printed[:300]!r}"
        if not lines or lines[-1]["type"] != "end" or any(line["type"] == "end" for line in lines[:-1]):
            return "the end is not the last line"
        if lines[-1]["records"] != sum(line["type"] == "record" for line in lines):
            return f"the end counts {lines[-1]['records']} records"
        return None if parsed_only else account.complaint(lines, expected)

    def test_all(self):
        programs = list(self.programs())
        self.assertGreater(len(programs), 300)
        self.assertLess(sum(bool(IN_ANOTHER_FORM.search(text)) for _, text in programs), 10)
        programs = programs[::rounds(12, 1)]
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
            complaints = list(pool.map(lambda p: self.run_program(*p), programs))
        wrong = [f"{os.path.relpath(p[0], SUITE)}: {c}" for p, c in zip(programs, complaints) if c]
        self.assertEqual(wrong, [])


class Account(unittest.TestCase):
    """What must be complained about is."""
    ROWS = [{"keys": ["k"], "buckets": [{"value": 4, "count": 0}, {"value": 8, "count": 2}]}]
    LINES = [{"type": "record", "cpu": 0, "id": 1, "probe": "dtrace:::BEGIN",
              "output": [{"value": 12}, {"value": "text"}, {"message": "3 x\n"}, {"value": 3}, {"value": "x"}]},
             {"type": "aggregation", "aggregation-data": ROWS, "aggregation-name": "a"}]
    TEXT = ("CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN       12  text 3 x\n\n"
            "  k \n           value  ------------- Distribution ------------- count    \n"
            "               4 |                                         0        \n"
            "               8 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 2        \n\n")

    def test_the_same(self):
        self.assertIsNone(account.complaint(self.LINES, self.TEXT))
        self.assertIsNone(account.complaint(self.LINES, self.TEXT.split("BEGIN", 1)[1]))

    def test_another_character(self):
        for at, c in enumerate(self.TEXT):
            if c.isalnum():
                self.assertTrue(account.complaint(self.LINES, self.TEXT[:at] + "7" + self.TEXT[at + 1:]), at)

    def test_one_of_them_has_more(self):
        self.assertTrue(account.complaint(self.LINES, self.TEXT + "1"))
        self.assertTrue(account.complaint(self.LINES[:1], self.TEXT))
        self.assertTrue(account.complaint(self.LINES + self.LINES[1:], self.TEXT))
        self.assertTrue(account.complaint(self.LINES[::-1], self.TEXT))

    def test_bytes(self):
        line = {**self.LINES[0], "output": [{"tracemem": "0x41ff"}]}
        dump = "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n         0: 41 {} {:34}A.\n"
        self.assertIsNone(account.complaint([line], dump.format("ff", "")))
        self.assertTrue(account.complaint([line], dump.format("fe", "")))

    def test_no_bytes(self):
        line = {**self.LINES[0], "output": [{"tracemem": "0x"}, {"value": 1}]}
        self.assertIsNone(account.complaint([line], " 1\n"))
        self.assertTrue(account.complaint([line], " 0x 1 2\n"))


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
