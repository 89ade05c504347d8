#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What liboutsight exports is what its map names, its headers declare and its manual pages describe: exported_test.py BUILD"""
import glob
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = sys.argv.pop() if len(sys.argv) > 1 else ""
# What erltrace, node-libdtrace and python-dtrace call.
CALLED = """dtrace_open dtrace_close dtrace_setopt dtrace_errno dtrace_errmsg dtrace_program_strcompile dtrace_program_exec dtrace_go dtrace_stop
    dtrace_sleep dtrace_work dtrace_status dtrace_handle_buffered dtrace_aggregate_snap dtrace_aggregate_walk dtrace_aggregate_walk_valsorted
    dtrace_aggregate_clear dtrace_aggregate_print dtrace_lookup_by_addr dtrace_addr2str dtrace_uaddr2str""".split()


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


class Exported(unittest.TestCase):
    def setUp(self):
        run = subprocess.run(["nm", "-D", "--defined-only", f"{BUILD}/lib/liboutsight.so.1"], capture_output=True, text=True, check=True)
        self.exported = {line.split()[2] for line in run.stdout.splitlines() if line.split()[1] != "A"}

    def test_map(self):
        named = set(re.findall(r"(?m)^\t(\w+);", read("lib", "liboutsight.map")))
        self.assertEqual(self.exported, {f"{name}@@OUTSIGHT_1" for name in named})
        self.assertLessEqual(set(CALLED), named)
        self.assertEqual(len(CALLED), 21)

    def test_headers(self):
        text = read("lib", "outsight", "dtrace.h") + read("lib", "outsight", "outsight.h")
        text = re.sub(r"(?s)/\*.*?\*/|#define[^\n]*", "", text)
        declared = set(re.findall(r"(?m)^(?!typedef)[\w \t*]+?\b((?:dtrace|outsight)_\w+)\(", text))
        self.assertEqual({f"{name}@@OUTSIGHT_1" for name in declared}, self.exported)

    def test_manual(self):
        """Each function has a page by its name, and is in the synopsis of that page."""
        pages = {os.path.basename(path): read(path) for path in glob.glob(os.path.join(ROOT, "docs", "*.3"))}
        described = {}
        for page, text in pages.items():
            for name in re.findall(r"(?m)^\.Fo (\w+)|^\.Fn (\w+)", text.split(".Sh DESCRIPTION")[0]):
                described["".join(name)] = page
        self.assertEqual({f"{name}@@OUTSIGHT_1" for name in described}, self.exported)
        for name, page in described.items():
            names = re.search(r"(?s)\.Sh NAME\n(.*?)\.Nd", pages[page]).group(1)
            self.assertIn(f".Nm {name}", names, page)

    def test_no_own_output(self):
        """It neither writes to the standard streams nor ends the process by itself."""
        run = subprocess.run(["nm", "-D", "--undefined-only", f"{BUILD}/lib/liboutsight.so.1"], capture_output=True, text=True, check=True)
        used = {line.split()[-1].split("@")[0] for line in run.stdout.splitlines()}
        self.assertEqual(used & {"exit", "abort", "perror", "puts", "putchar", "printf"}, set())

    def test_cplusplus(self):
        run = subprocess.run(["c++", "-fsyntax-only", "-Wall", "-Werror", "-x", "c++", "-", f"-I{ROOT}/lib", f"-I{ROOT}/lib/outsight"],
                             input="#include <dtrace.h>\n#include <sys/dtrace.h>\n#include <outsight/outsight.h>\n#include <gelf.h>\n",
                             text=True, capture_output=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
