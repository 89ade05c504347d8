#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The complete program of liboutsight(3), compiled by the command that the page has, against an installed tree, and run: example_test.py BUILD"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = sys.argv.pop() if len(sys.argv) > 1 else ""


def blocks():
    """The literal displays of the page, without mdoc's escapes."""
    with open(os.path.join(ROOT, "docs", "liboutsight.3"), encoding="utf-8") as f:
        text = f.read()
    return [block.replace("\\e", "\\").replace("\\&", "") for block in re.findall(r"(?s)\.Bd -literal[^\n]*\n(.*?)\.Ed", text)]


class Example(unittest.TestCase):
    def test_it(self):
        source = next(block for block in blocks() if "main(int argc" in block)
        command = next(block for block in blocks() if block.startswith("cc "))
        with tempfile.TemporaryDirectory() as tree:
            subprocess.run(["cmake", "--install", BUILD, "--prefix", tree], check=True, stdout=subprocess.DEVNULL)
            with open(f"{tree}/calls.c", "w", encoding="utf-8") as f:
                f.write(source)
            (pc,) = [folder for folder, _, names in os.walk(tree) if "outsight.pc" in names]
            env = {**os.environ, "PKG_CONFIG_PATH": pc, "LD_LIBRARY_PATH": os.path.dirname(pc)}
            subprocess.run(["sh", "-ec", command.replace("cc ", "cc -Wall -Wextra -Werror ", 1)], check=True, cwd=tree, env=env)
            run = subprocess.run([f"{tree}/calls", "none", 'BEGIN { trace("begun"); @["b", 2] = sum(5); @["a", 1] = sum(1); } '
                                                           'tick-20ms { printf("tick %d\\n", 7); exit(0); }'],
                                 capture_output=True, text=True, check=False, env=env, timeout=600)
            self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
            self.assertEqual(run.stdout, "BEGIN: begun\ntick-20ms: tick 7\na 1 = 1\nb 2 = 5\n")
            run = subprocess.run([f"{tree}/calls", "none", "BEGIN {"], capture_output=True, text=True, check=False, env=env, timeout=600)
            self.assertEqual((run.returncode, run.stdout, run.stderr), (1, "", "line 1: syntax error near end of input\n"))


if __name__ == "__main__":
    unittest.main()
