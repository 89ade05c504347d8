# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario tests: unittest cases that get a build directory and a kernel from the command line.

    class Counts(Scenario):
        def test_one(self):
            '''What it shows.'''
            with self.guest() as guest: …

    if __name__ == "__main__": main()

Scenarios share one guest, and leave it as it was booted. Only a scenario that ends its guest, or needs another kind,
boots one with own_guest().

Prints "ok NAME", "FAIL NAME" or "SKIP NAME: reason" for each, and ends with 77 when all were skipped.
"""
import argparse
import contextlib
import os
import re
import sys
import time
import unittest

from lib import pace
from lib.guest import Guest, image_dir, why_no_guest
from lib.outsight import Outsight
from lib.shared_guest import ProgramGuest, SharedGuest

# Names that stand in /proc/kallsyms as modules and are none.
PSEUDO_MODULES = re.compile(r"bpf$|__builtin__")


def only_full(test):
    """Decorates a scenario that the default run of scripts/test leaves out."""
    test.only_full = True
    return test


class Scenario(unittest.TestCase):
    maxDiff = 4000
    kernel = "6.1"
    build = "build/release"
    outsight = None
    shared = plain = with_programs = None

    @contextlib.contextmanager
    def guest(self):
        """The shared guest: four vCPUs, the engine loaded, the modules of lib/agent.py in /modules. Use it in a with
        statement, behind which it must be as before."""
        with self._checked(self.shared) as guest:
            yield guest

    @contextlib.contextmanager
    def plain_guest(self):
        """The same without the engine, with two vCPUs and a gdb stub at path("stub")."""
        with self._checked(self.plain) as guest:
            yield guest

    @staticmethod
    @contextlib.contextmanager
    def _checked(shared):
        try:
            yield shared.get()
        finally:
            shared.check_clean()

    def own_guest(self, **options):
        """Another guest with the engine loaded; use it in a with statement."""
        return Guest(self.kernel, plugin=self.outsight.plugin, **options)

    def vmlinux(self):
        path = os.path.join(image_dir(self.kernel), "vmlinux")
        if not os.path.exists(path):
            self.skipTest("no vmlinux of this kernel was extracted")
        return path


def parse_symbols(text):
    """[(address, name, module)] of /proc/kallsyms or --dump-symbols ("address type name [module]" lines).

    Module is "" for the kernel; pseudo-modules are left out. ThinLTO's hashes are not of a name (guest/symtab.c).
    """
    out = []
    for line in text.splitlines():
        address, _, name, *module = line.split()
        module = module[0].strip("[]") if module else ""
        if not PSEUDO_MODULES.match(module):
            out.append((int(address, 16), re.sub(r"\.llvm\.\d+(?=\.|$)", "", name), module))
    return out


class LineResult(unittest.TestResult):
    """One line a test, as soon as it ends, with its duration."""

    def __init__(self):
        super().__init__()
        self.passed = 0
        self.began = 0.0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def name(self, test):
        return f"{type(test).__name__}.{getattr(test, '_testMethodName', test)}"

    def report(self, text):
        print(text, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self.report(f"ok   {self.name(test)} ({time.monotonic() - self.began:.1f} s)")

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


def flat(suite):
    """The tests of a suite of suites."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def shortened(suite):
    """Without the scenarios that the default run leaves out, which are named in the output."""
    kept, left_out = unittest.TestSuite(), []
    for test in flat(suite):
        method = getattr(test, test._testMethodName, None)  # pylint: disable=protected-access
        if pace.FULL or not getattr(method, "only_full", False):
            kept.addTest(test)
        else:
            left_out.append(test.id().replace("__main__.", ""))
    if left_out:
        print(f"left out without OUTSIGHT_FULL=1: {', '.join(left_out)}")
    return kept


def run_module(names, why=None):
    """The tests of the file that is run, or those named, and the end of the program. why: a reason not to."""
    if why:
        print(f"SKIP all: {why}")
        sys.exit(77)
    result = LineResult()
    loader, module = unittest.defaultTestLoader, sys.modules["__main__"]
    suite = loader.loadTestsFromNames(names, module) if names else shortened(loader.loadTestsFromModule(module))
    suite.run(result)
    sys.exit(not result.wasSuccessful() or not result.testsRun)


def run_tests(suite, kernel, build):
    """Run them on one kernel; the exit status."""
    Scenario.kernel, Scenario.build = kernel, os.path.abspath(build)
    Scenario.outsight = Outsight(Scenario.build)
    reason = Scenario.outsight.why_not() or why_no_guest(kernel)
    if reason:
        print(f"SKIP all: {reason}")
        return 77
    Scenario.shared = SharedGuest(kernel, Scenario.outsight)
    Scenario.plain = SharedGuest(kernel, Scenario.outsight, engine=False)
    Scenario.with_programs = ProgramGuest(kernel, Scenario.outsight)
    result = LineResult()
    try:
        suite.run(result)
    finally:
        Scenario.shared.close()
        Scenario.plain.close()
        Scenario.with_programs.close()
    print(f"{result.passed} passed, {len(result.failures) + len(result.errors)} failed, {len(result.skipped)} skipped")
    if not result.wasSuccessful() or not result.testsRun:
        return 1
    return 77 if not result.passed else 0


def parser_of(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--build", default="build/release")
    return parser


def main():
    """All scenarios of the file that is run, or those named."""
    parser = parser_of("scenario tests on a stock Debian kernel")
    parser.add_argument("tests", nargs="*", help="Class.method, instead of all")
    args = parser.parse_args()
    loader, module = unittest.defaultTestLoader, sys.modules["__main__"]
    suite = (loader.loadTestsFromNames(args.tests, module) if args.tests else
             shortened(loader.loadTestsFromModule(module)))
    return run_tests(suite, args.kernel, args.build)
