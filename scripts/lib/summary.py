#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""summary.py FOLDER: count the test cases in ctest's JUnit reports there, and in the file "skipped".

A ctest is a program with cases of its own; they are counted by the lines that cmocka or our Python runners
print; their "NOTE" lines are shown again. A program that failed without a case that failed (a crash, a
time-out) counts as one failure.
"""
import glob
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

PASSED = re.compile(r"^(?:\[       OK \] |ok +)\S", re.M)
# cmocka names a failed case in its list and once more at the end: the first form is the list's.
FAILED = re.compile(r"^(?:\[  FAILED  \] (?=\w+$)|FAIL +\S)", re.M)
SKIPPED = re.compile(r"^(?:\[  SKIPPED \] (?=\w+$)|SKIP +)(.*)$", re.M)
NOTE = re.compile(r"^NOTE +(\S.*)$", re.M)


def cases(test):
    """(passed, failed, reasons of the skipped) of one <testcase>."""
    out = test.findtext("system-out") or ""
    passed, failed = len(PASSED.findall(out)), len(FAILED.findall(out))
    skipped = [m.strip() for m in SKIPPED.findall(out)]
    if test.find("skipped") is not None or test.get("status") in ("notrun", "disabled"):
        return 0, 0, skipped or [test.find("skipped").get("message") if test.find("skipped") is not None else "not run"]
    if test.find("failure") is not None or test.get("status") == "fail":
        return passed, max(failed, 1), skipped
    return (passed or (0 if skipped else 1)), failed, skipped


def main(argv):
    passed, failed, skipped, notes = 0, [], [], []
    for report in sorted(glob.glob(os.path.join(argv[1], "*.xml"))):
        build = os.path.basename(report)[:-4]
        for test in ElementTree.parse(report).getroot().iter("testcase"):
            name = f"{build} {test.get('name')}"
            p, f, reasons = cases(test)
            passed += p
            notes += [f"{name}: {note}" for note in NOTE.findall(test.findtext("system-out") or "")]
            failed += [name] * f
            skipped += [f"{name}: {reason}" for reason in reasons]
    try:
        with open(os.path.join(argv[1], "skipped"), encoding="utf-8") as f:
            skipped += f.read().splitlines()
    except FileNotFoundError:
        pass
    for note in notes:
        print(note)
    for name in sorted(set(failed)):
        print(f"FAILED  {name}: {failed.count(name)}")
    for reason in skipped:
        print(f"SKIPPED {reason}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
