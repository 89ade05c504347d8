#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The toolkit without a guest: tools_test.py OUTSIGHT. tools_test.py --manual writes docs/tools.md from the headers."""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "tools")
MANUAL = os.path.join(ROOT, "docs", "tools.md")
FIELDS = ("Use:", "Example:", "Caveats:")
OUTSIGHT = None

sys.path.append(os.path.join(ROOT, "tests", "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit

LIMIT = limit(60)


def names():
    return sorted(name[:-2] for name in os.listdir(TOOLS) if name.endswith(".d"))


def text_of(name):
    with open(os.path.join(TOOLS, name + ".d"), encoding="utf-8") as f:
        return f.read()


def header(name):
    """The lines of the header, without the comment's marks."""
    match = re.search(r"\n/\*\n(.*?)\n \*/\n", text_of(name), re.S)
    return [re.sub(r"^ \* ?", "", line) for line in match.group(1).split("\n")] if match else []


def manual():
    """docs/tools.md."""
    out = ["# The toolkit", "",
           "Written by `tests/tools/tools_test.py --manual` from the headers of `tools/*.d`, which `outsight tool NAME --help`",
           "prints too. A tool runs until Ctrl-C, or for as long as its arguments say; `-g` and the other options of",
           "outsight(1) may stand anywhere behind its name.", "",
           "| tool | what it answers |", "|---|---|"]
    out += [f"| [{name}](#{name}) | {header(name)[0].split(': ', 1)[1]} |" for name in names()]
    for name in names():
        lines = header(name)
        answers = lines[0].split(": ", 1)[1]
        out += ["", f"## {name}", "", answers[0].upper() + answers[1:] + ".", "", "```", *lines[2:], "```"]
    return "\n".join(out) + "\n"


class Scripts(unittest.TestCase):
    def test_headers(self):
        """Each has its name, what it answers, and the fields, none of them empty."""
        self.assertGreaterEqual(len(names()), 45)
        for name in names():
            with self.subTest(tool=name):
                text, lines = text_of(name), header(name)
                self.assertTrue(text.startswith("#!/usr/bin/outsight -s\n/* SPDX-License-Identifier: GPL-2.0-or-later */\n"))
                self.assertRegex(lines[0], rf"^{name}: \S")
                at = [lines.index(field) for field in FIELDS]
                self.assertEqual(at, sorted(at))
                for here in at:
                    self.assertRegex(lines[here + 1], r"^ +\S")
                self.assertIn(f"  outsight tool {name} [-g GUEST]", "\n".join(lines))
                for option in ("quiet", "anydefs"):
                    self.assertIn(f"#pragma D option {option}\n", text)
                self.assertLessEqual(max(map(len, lines)), 125)

    def test_manual(self):
        """docs/tools.md is what the headers say."""
        with open(MANUAL, encoding="utf-8") as f:
            self.assertEqual(f.read(), manual(), "run tests/tools/tools_test.py --manual")

    def test_each_is_tested(self):
        """tests/linux/tools_test.py has a row for each."""
        with open(os.path.join(ROOT, "tests", "linux", "tools_test.py"), encoding="utf-8") as f:
            rows = re.findall(r'^    Row\("(\w+)"', f.read(), re.M)
        self.assertEqual(sorted(set(rows)), names())


class Verb(unittest.TestCase):
    def run_it(self, *args):
        done = subprocess.run([OUTSIGHT, *args], capture_output=True, text=True, timeout=LIMIT, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_list(self):
        """A line for each tool: its name, and what it answers."""
        lines = "".join(f"{name:<14} {header(name)[0].split(': ', 1)[1]}\n" for name in names())
        self.assertEqual(self.run_it("tool", "--list"), (0, lines, ""))

    def test_help_and_show(self):
        """NAME --help is the header, --show NAME the script."""
        for name in names():
            with self.subTest(tool=name):
                self.assertEqual(self.run_it("tool", name, "--help"), (0, "\n".join(header(name)) + "\n", ""))
                self.assertEqual(self.run_it("tool", "--show", name), (0, text_of(name), ""))

    def test_wrong_use(self):
        """What is missing or mistyped is said in a line."""
        for args, message in ((["tool"], "tool: a name is required; `outsight tool --list` lists them"),
                              (["tool", "opensnop"], "tool: there is no tool opensnop, did you mean opensnoop; "
                                                     "`outsight tool --list` lists them"),
                              (["tool", "../opensnoop"], "tool: there is no tool ../opensnoop"),
                              (["tool", "--lst"], "tool: there is no option --lst, did you mean --list; "
                                                  "see `outsight tool --help`")):
            status, out, err = self.run_it(*args)
            self.assertNotEqual(status, 0)
            self.assertEqual(out, "")
            self.assertTrue(err.startswith("dtrace: " + message), err)
        self.assertEqual(self.run_it("tool", "--help")[0], 0)

    def test_missing_probes(self):
        """Without a guest's kernel a tool names the probes that it needs one of."""
        status, out, err = self.run_it("tool", "forks", "-g", "none")
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, r"^dtrace: failed to compile script \S+/tools/forks\.d: line \d+: this clause needs one of "
                              r"these probes, and there is none: fbt::wake_up_new_task:entry\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--manual"]:
        with open(MANUAL, "w", encoding="utf-8") as f:
            f.write(manual())
        sys.exit(0)
    OUTSIGHT = sys.argv.pop(1)
    unittest.main()
