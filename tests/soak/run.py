#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of scripts/test --soak, in turns, until all runs of each come to so many hours. What each has come to is in
the folder --cache: a run that is stopped is continued by the next.

    run.py --hours H --cache FOLDER [--builds build] [--kernel 6.1] PART…

  soak    all tracepoints of a stock guest on and off under load (tests/linux/soak.py)
  kills   kill -9 of outsight and of VMMs under heavy tracing (kills.py)
  fuzz    every fuzzer (fuzz.py)
  faults  allocations and system calls that fail (faults.py)
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# pylint: disable=wrong-import-position
from total import Total

TURN = 20  # minutes
SKIPPED = 77


def commands(args):
    dev, tests = os.path.join(args.builds, "dev"), os.path.dirname(HERE)
    guest, outsight = os.path.join(dev, "tests", "kvm", "small-guest"), os.path.join(dev, "bin", "outsight")
    return {
        "soak": [os.path.join(tests, "linux", "soak.py"), "--kernel", args.kernel, "--build", os.path.join(args.builds, "release")],
        "kills": [os.path.join(HERE, "kills.py"), outsight, guest, f"{guest}-pvh"],
        "fuzz": [os.path.join(HERE, "fuzz.py"), "--build", os.path.join(args.builds, "fuzz"),
                 "--corpus", os.path.join(args.cache, "corpus")],
        "faults": [os.path.join(HERE, "faults.py"), outsight, guest, os.path.join(dev, "tests", "faults", "outsight-fail.so")],
    }


def file_of(args, part):
    """Of soak, one for each kernel, as it was before there were parts."""
    return os.path.join(args.cache, args.kernel if part == "soak" else part)


def turn(args, part):
    """The exit status of one turn."""
    total = Total(file_of(args, part))
    minutes = min(args.hours * 60, total.seconds / 60 + TURN)
    return subprocess.run([sys.executable, "-B", *commands(args)[part], "--minutes", f"{minutes:.2f}",
                           "--total", file_of(args, part)], check=False).returncode


def main():
    parser = argparse.ArgumentParser(description="the parts of scripts/test --soak")
    parser.add_argument("--hours", type=float, required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--builds", default="build")
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("parts", nargs="+", choices=("soak", "kills", "fuzz", "faults"), metavar="PART")
    args = parser.parse_args()
    todo = list(args.parts)
    while todo:
        for part in list(todo):
            if Total(file_of(args, part)).seconds >= args.hours * 3600 - 1:
                todo.remove(part)
                continue
            status = turn(args, part)
            if status == SKIPPED:
                todo.remove(part)
            elif status:
                return status
    for part in args.parts:
        print(f"{part}: {Total(file_of(args, part))}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("stopped: the next run continues")
        sys.exit(130)
