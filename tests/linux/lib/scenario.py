# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario tests: unittest cases that get a build directory and a kernel from the command line.

    class Counts(Scenario):
        def test_one(self): with self.guest(smp=4) as guest: …

    if __name__ == "__main__": main()

Prints "ok NAME", "FAIL NAME" or "SKIP NAME: reason" for each, and ends with 77 when all were skipped.
"""
import argparse
import os
import re
import sys
import unittest

from lib.guest import Guest, image_dir, why_no_guest
from lib.outsight import Outsight

# Names that stand in /proc/kallsyms as modules and are none.
PSEUDO_MODULES = re.compile(r"bpf$|__builtin__")


class Scenario(unittest.TestCase):
    maxDiff = 4000
    kernel = "6.1"
    build = "build/release"
    outsight = None

    def guest(self, **options):
        """A guest with the engine loaded; use it in a with statement."""
        return Guest(self.kernel, plugin=self.outsight.plugin, **options)

    def shared_guest(self, **options):
        """A guest that lives until the end of this test case's method."""
        return self.enterContext(self.guest(**options))

    def vmlinux(self):
        path = os.path.join(image_dir(self.kernel), "vmlinux")
        if not os.path.exists(path):
            self.skipTest("no vmlinux of this kernel was extracted")
        return path


def parse_symbols(text):
    """[(address, name, module)] of /proc/kallsyms or --dump-symbols ("address type name [module]" lines).

    Module is "" for the kernel; pseudo-modules are left out.
    """
    out = []
    for line in text.splitlines():
        address, _, name, *module = line.split()
        module = module[0].strip("[]") if module else ""
        if not PSEUDO_MODULES.match(module):
            out.append((int(address, 16), name, module))
    return out


class LineResult(unittest.TestResult):
    """One line a test, as soon as it ends."""

    def __init__(self):
        super().__init__()
        self.passed = 0

    def name(self, test):
        return f"{type(test).__name__}.{getattr(test, '_testMethodName', test)}"

    def report(self, text):
        print(text, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self.report(f"ok   {self.name(test)}")

    def addError(self, test, err):
        super().addError(test, err)
        self.report(f"FAIL {self.name(test)}\n{self.errors[-1][1]}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.report(f"FAIL {self.name(test)}\n{self.failures[-1][1]}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.report(f"SKIP {self.name(test)}: {reason}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.report(f"FAIL {self.name(test)} {subtest.params}\n{(self.failures + self.errors)[-1][1]}")


def main():
    parser = argparse.ArgumentParser(description="scenario tests on a stock Debian kernel")
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("tests", nargs="*", help="Class.method, instead of all")
    args = parser.parse_args()
    Scenario.kernel, Scenario.build = args.kernel, os.path.abspath(args.build)
    Scenario.outsight = Outsight(Scenario.build)
    reason = Scenario.outsight.why_not() or why_no_guest(args.kernel)
    if reason:
        print(f"SKIP all: {reason}")
        return 77
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(args.tests, module) if args.tests else loader.loadTestsFromModule(module)
    result = LineResult()
    suite.run(result)
    print(f"{result.passed} passed, {len(result.failures) + len(result.errors)} failed, {len(result.skipped)} skipped")
    if not result.wasSuccessful() or not result.testsRun:
        return 1
    return 77 if not result.passed else 0
