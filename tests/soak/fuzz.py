#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every fuzzer in turn, for long.

    fuzz.py --build build/fuzz --corpus FOLDER [--minutes M] [--total FILE] [FUZZER…]

FOLDER keeps what each fuzzer has found interesting, so that the next run goes on from there. FILE keeps executions
and edges of all runs; --minutes is what these come to. An input that ends a fuzzer stays in FOLDER/FUZZER, and is named.
"""
import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "fuzz")]
# pylint: disable=wrong-import-position
import edges
from total import Total

TURN = 120  # seconds


def turn(args, name, total, seconds):
    """False: an input ended it."""
    folder = os.path.join(args.corpus, name)
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run([os.path.join(args.build, "tests", "fuzz", name), f"-max_total_time={max(int(seconds), 1)}",
                           "-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1", "-artifact_prefix=crash-of-", folder,
                           edges.seeds(args.build, name)], cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    runs = re.findall(r"stat::number_of_executed_units: (\d+)", done.stderr)
    total.add(f"executions of {name}", int(runs[-1]) if runs else 0)
    reached = [int(n) for n in re.findall(r"\bcov: (\d+)", done.stderr)]
    total.counts[f"edges of {name}"] = max(reached + [total.counts.get(f"edges of {name}", 0)])
    total.write()
    if done.returncode:
        print(f"fuzz: FAILED: {name}: see {folder}/crash-of-*\n{done.stderr[-3000:]}")
    return not done.returncode


def main():
    parser = argparse.ArgumentParser(description="every fuzzer in turn, for long")
    parser.add_argument("--build", default=os.path.join(edges.ROOT, "build", "fuzz"))
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--total", metavar="FILE")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.build, args.corpus, total = os.path.abspath(args.build), os.path.abspath(args.corpus), Total(args.total)
    names = args.names or sorted(name[:-2] for name in os.listdir(os.path.join(edges.ROOT, "tests", "fuzz"))
                                 if name.startswith("fuzz_") and name.endswith(".c"))
    while total.now() < args.minutes * 60:
        for name in names:
            left = args.minutes * 60 - total.now()
            if left > 0 and not turn(args, name, total, min(TURN, left)):
                return 1
    print(f"fuzz: {total}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
