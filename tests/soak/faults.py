#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Allocations and calls into the system that fail, at other places in each run of tests/faults, for long.

    faults.py OUTSIGHT SMALL-GUEST FAIL-LIBRARY [--minutes M] [--total FILE]

FILE keeps how many places of all runs have failed; --minutes is what their time comes to.
"""
import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# pylint: disable=wrong-import-position
from total import Total

TEST = os.path.join(os.path.dirname(HERE), "faults", "faults_test.py")
PLACES = 5


def main():
    parser = argparse.ArgumentParser(description="allocations and system calls that fail, for long")
    parser.add_argument("programs", nargs=3, metavar="PROGRAM")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--total", metavar="FILE")
    args = parser.parse_args()
    total = Total(args.total)
    while total.now() < args.minutes * 60:
        seed = total.counts.get("runs", 0) + 1
        env = {**os.environ, "OUTSIGHT_FAULTS": str(PLACES), "OUTSIGHT_FAULTS_SEED": str(seed)}
        done = subprocess.run([sys.executable, "-B", TEST, *args.programs], env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"faults: FAILED with seed {seed}:\n{(done.stdout + done.stderr)[-6000:]}")
            return 1
        total.add("runs")
        total.add("failures", sum(int(n) for n in re.findall(r"(?m)^(\d+) failures were lived through", done.stdout)))
        total.write()
    print(f"faults: {total}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
