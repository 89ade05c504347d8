#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of several files on one kernel, in one process: they share its guests.

    tests/linux/run.py --kernel 6.1 --build build/release counts reading

Without OUTSIGHT_FULL=1, those that are marked only_full are left out.
"""
import importlib
import sys
import unittest

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib import pace
from lib.scenario import parser_of, run_tests, shortened


def main():
    parser = parser_of("scenarios of several files on a stock Debian kernel")
    parser.add_argument("files", nargs="+", help="NAME of NAME_test.py")
    args = parser.parse_args()
    pace.of_kernel(args.kernel)
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(loader.loadTestsFromModule(importlib.import_module(f"{name}_test")) for name in args.files)
    return run_tests(shortened(suite), args.kernel, args.build)


if __name__ == "__main__":
    sys.exit(main())
