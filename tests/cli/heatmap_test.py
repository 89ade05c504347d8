#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Heat maps of programs without a guest: heatmap_test.py OUTSIGHT [Class.test…]. Node runs the page's script, where it is installed."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit

OUTSIGHT = None
HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = limit(120)
# 900 values in about a second, three distributions; the same in each run.
LOAD = """BEGIN { n = 0; } tick-1ms /n < 900/ { @[n % 3 == 0 ? "</script><b>" : n % 3 == 1 ? "\\"' \\\\" : "plain"] = FUNCTION; n++; }
    tick-1ms /n == 900/ { exit(0); }"""
FUNCTIONS = ("quantize(n)", "quantize(0 - n)", "lquantize(n, 0, 500, 50)", "llquantize(n, 10, 0, 4, 10)")


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="outsight-heatmap-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.page = os.path.join(self.dir, "map.html")

    def run_it(self, *args):
        done = subprocess.run([OUTSIGHT, "-g", "none", "-q", *args], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), args)
        return done.stdout

    def read(self):
        with open(self.page, encoding="utf-8") as f:
            self.text = f.read()
        found = re.findall(r'(?s)<script id="data" type="application/json">(.*?)</script>', self.text)
        self.assertEqual(len(found), 1)
        return json.loads(found[0])

    def make(self, program, *args):
        self.run_it("-x", "oformat=heatmap", "-x", "aggrate=100ms", "-o", self.page, "-n", program, *args)
        return self.read()


class Counts(Case):
    def rows_of_text(self, program):
        """{label: count} of each distribution, as dtrace prints them."""
        tables = re.findall(r"(?s)\n +value  -+ Distribution -+ count *\n(.*?)\n(?=\n|$)", self.run_it("-n", program) + "\n\n")
        return sorted(sorted(int(count) for count in re.findall(r"\|@* +(\d+) *$", table, re.M) if int(count)) for table in tables)

    def test_sums(self):
        """A bucket's cells add up to its count in the aggregation, whatever its kind."""
        for function in FUNCTIONS:
            program = LOAD.replace("FUNCTION", function)
            data = self.make(program)
            self.assertGreater(len(data["ends"]), 3, function)
            self.assertEqual(data["ends"], sorted(data["ends"]))
            sums = []
            for series in data["series"]:
                rows = [0] * len(series["rows"])
                for column, row, count in series["cells"]:
                    self.assertLess(column, len(data["ends"]))
                    rows[row] += count
                self.assertEqual(sum(rows), 300, series["title"])
                sums.append(sorted(n for n in rows if n))
            self.assertEqual(sorted(sums), self.rows_of_text(program), function)

    def test_names(self):
        """A key is text, whatever it is."""
        data = self.make(LOAD.replace("FUNCTION", "quantize(n)"))
        self.assertEqual({series["title"] for series in data["series"]}, {"@[</script><b>]", "@[\"' \\]", "@[plain]"})
        self.assertEqual(self.text.count("</script>"), 2)
        self.assertNotIn("<b>", self.text)
        self.assertNotRegex(self.text, r"(?i)https?:|src=|@import|url\(")

    def test_ranges(self):
        data = self.make("BEGIN { @ = lquantize(5, 0, 20, 10); @ = lquantize(-1, 0, 20, 10); @ = lquantize(99, 0, 20, 10); exit(0); }")
        self.assertEqual([series["rows"] for series in data["series"]], [["up to -1", "0 to 9", "10 to 19", "20 or more"]])

    def test_what_is_no_distribution(self):
        done = subprocess.run([OUTSIGHT, "-g", "none", "-q", "-x", "oformat=heatmap", "-o", self.page, "-n",
                               "BEGIN { @ = count(); trace(1); exit(0); }"], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (0, "dtrace: oformat=heatmap shows distributions over time: use quantize(), lquantize() or llquantize()\n"))
        self.assertEqual(self.read()["series"], [])

    def test_no_session_no_file(self):
        """The verb's file is replaced by a session that ended well only."""
        with open(self.page, "w", encoding="utf-8") as f:
            f.write("before")
        done = subprocess.run([OUTSIGHT, "heatmap", "-g", "none", "-n", "nosuch", "-o", self.page], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 1)
        with open(self.page, encoding="utf-8") as f:
            self.assertEqual(f.read(), "before")
        self.assertEqual(os.listdir(self.dir), ["map.html"])

    def test_verb(self):
        """A program of one's own by the verb, whose columns are as wide as -i says."""
        self.run_verb("-d", "1", "-i", "50", "-n", LOAD.replace("FUNCTION", "quantize(n)").replace("exit(0)", "n++"))
        data = self.read()
        self.assertGreater(len(data["ends"]), 5)
        self.assertEqual([sum(count for *_, count in series["cells"]) for series in data["series"]], [300, 300, 300])

    def run_verb(self, *args):
        done = subprocess.run([OUTSIGHT, "heatmap", "-g", "none", *args, "-o", self.page], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


@unittest.skipUnless(shutil.which("node"), "SKIP: node is not installed here")
class Page(Case):
    def shown(self, width):
        done = subprocess.run(["node", os.path.join(HERE, "page.js"), self.page, str(width)], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_pointed_at(self):
        """What is said at the cells adds up to the distribution, on a wide page and on a narrow one, where columns share a pixel."""
        data = self.make(LOAD.replace("FUNCTION", "quantize(n)"))
        for width in (1200, 4):
            shown = self.shown(width)
            self.assertEqual([s["name"] for s in shown["series"]], [f"{s['title']}: 300" for s in data["series"]])
            for s, told in zip(data["series"], shown["series"]):
                self.assertEqual(told["title"], "Heat map: 300 in all")
                self.assertEqual(told["rows"], s["rows"][::-1])
                counts = [int(re.search(r": (\d+) of 300$", line).group(1)) for line in told["said"]]
                self.assertEqual(sum(counts), 300)
                self.assertEqual(sum(n > 0 for n in counts), told["painted"])
                if width == 1200:
                    self.assertEqual(told["painted"], len(s["cells"]))

    def test_nothing(self):
        self.make("BEGIN { exit(0); }")
        self.assertEqual(self.shown(100), {"title": "Heat map: nothing was recorded", "series": []})


if __name__ == "__main__":
    OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
