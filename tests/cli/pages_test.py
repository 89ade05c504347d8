#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Flame graph and heat map in headless Chromium: pages_test.py OUTSIGHT [Class.test…]. What they show is what the session has
counted, whatever the names are; nothing is loaded from anywhere."""
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import heatmap_test
from lib import browser, flame_page

# Keys are frames of a flame graph too: three levels below the first, and names that a page must not take for its own.
STACKS = r"""BEGIN {
	@["web", "</script><script>document.title = 1</script>", "read", stack()] = sum(40);
	@["web", "</script><script>document.title = 1</script>", "<!--<script>", stack()] = sum(30);
	@["web", "\"'\\&amp;&lt;", "read", stack()] = sum(20); @["\303\244\342\200\256 \360\237\220\247", "\\u003c/script>", "x", stack()] = sum(10);
	exit(0);
}"""

# Choose a distribution; point at the middle of each cell; look at the colour there.
POINT_AT = """(() => {
    const at = id => document.getElementById(id), columns = COLUMNS;
    at("series").value = "NUMBER";
    at("series").dispatchEvent(new Event("change"));
    const rows = [...at("rows").children].map(d => d.textContent), said = [];
    const graph = at("graph"), box = graph.getBoundingClientRect(), context = graph.getContext("2d");
    let painted = 0;
    for (let row = 0; row < rows.length; row++)
        for (let column = 0; column < columns; column++) {
            const x = (column + 0.5) * graph.clientWidth / columns, y = row * 16 + 8;
            graph.dispatchEvent(new MouseEvent("mousemove", {
                clientX: box.left + graph.clientLeft + x, clientY: box.top + graph.clientTop + y }));
            said.push(at("details").textContent);
            painted += context.getImageData(Math.floor(x), y, 1, 1).data[3] > 0;
        }
    return [rows, said, painted];
})()"""


@unittest.skipIf(browser.MISSING, f"SKIP: {browser.MISSING}")
class Pages(heatmap_test.Case):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(browser.Browser())

    def test_flame(self):
        """As frames of the kernel and of a process too: the same rows with other numbers of keys and of a process's frames."""
        folded = self.run_it("-x", "oformat=folded", "-n", STACKS).splitlines()
        self.assertEqual(len(folded), 4)
        self.run_it("-x", "oformat=flame", "-o", self.page, "-n", STACKS)
        with open(self.page, encoding="utf-8") as f:
            text = f.read()
        for numbers in (None, "0, 0", "0, 3", "1, 1"):
            if numbers:
                other, count = re.subn(r", 3, 0, ([0-9]+)\]", rf", {numbers}, \1]", text)
                self.assertEqual(count, 4)
                with open(self.page, "w", encoding="utf-8") as f:
                    f.write(other)
            with self.subTest(numbers=numbers):
                flame_page.check(self, self.browser, self.page, folded)

    def test_flame_of_nothing(self):
        self.run_it("-x", "oformat=flame", "-o", self.page, "-n", "BEGIN { exit(0); }")
        self.browser.open(self.page)
        self.assertEqual(self.browser.value('document.getElementById("title").textContent'), "Flame graph: no stack was recorded")
        self.assertEqual(self.browser.errors, [])

    def test_heat_map(self):
        """What is said at the cells that the pointer meets adds up, and as many are painted as have a count."""
        data = self.make(heatmap_test.LOAD.replace("FUNCTION", "quantize(n)"))
        self.browser.open(self.page)
        self.assertEqual(self.browser.value('[...document.getElementById("series").options].map(o => o.textContent)'),
                         [f"{s['title']}: 300" for s in data["series"]])
        for number, series in enumerate(data["series"]):
            rows, said, painted = self.browser.value(POINT_AT.replace("NUMBER", str(number)).replace("COLUMNS", str(len(data["ends"]))))
            self.assertEqual(rows, series["rows"][::-1])
            counts = [int(re.search(r": (\d+) of 300$", line).group(1)) for line in said]
            self.assertEqual((sum(counts), sum(n > 0 for n in counts)), (300, len(series["cells"])))
            self.assertEqual(painted, len(series["cells"]))
        self.assertEqual((self.browser.requests, self.browser.errors), ([f"file://{self.page}"], []))


if __name__ == "__main__":
    heatmap_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
