#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Do the fuzzers still reach the code that they are for? Each one makes a number of executions from its seeds, and the
edges that it reached are held against the table of docs/fuzzing.md: a fifth fewer is a failure.

    edges.py --build build/fuzz [--table] [FUZZER…]

--table prints the table's rows as they are now.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENT = os.path.join(ROOT, "docs", "fuzzing.md")
EXECUTIONS = 5000
LEAST = 0.8
LIMIT = 1800  # seconds: it takes some on an idle machine


def expected():
    """{fuzzer: edges} of the document."""
    with open(DOCUMENT, encoding="utf-8") as f:
        return {name: int(edges) for name, edges in re.findall(r"(?m)^\| `(fuzz_\w+)` \| (\d+) edges \|", f.read())}


def seeds(build, name):
    made = os.path.join(build, "tests", "fuzz", "seeds", name)
    return made if os.path.isdir(made) else os.path.join(ROOT, "tests", "fuzz", "corpus", name)


def reached(build, name):
    """The edges after so many executions; None, with the fuzzer's words, when it failed."""
    with tempfile.TemporaryDirectory(prefix="outsight-fuzz-") as scratch:
        done = subprocess.run([os.path.join(build, "tests", "fuzz", name), f"-runs={EXECUTIONS}", "-seed=1", scratch,
                               seeds(build, name)], cwd=scratch, capture_output=True, text=True, errors="replace",
                              timeout=LIMIT, check=False)
    edges = re.findall(r"\bcov: (\d+)", done.stderr)
    if done.returncode or not edges:
        print(done.stderr[-4000:])
        return None
    return int(edges[-1])


def main():
    parser = argparse.ArgumentParser(description="edges that the fuzzers reach")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "fuzz"))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    build, table, failed = os.path.abspath(args.build), expected(), 0
    programs = sorted(name[:-2] for name in os.listdir(os.path.join(ROOT, "tests", "fuzz"))
                      if name.startswith("fuzz_") and name.endswith(".c"))
    for name in args.names or programs:
        edges = reached(build, name)
        if args.table:
            print(f"| `{name}` | {edges} edges |")
        elif name not in table:
            print(f"FAIL {name}: docs/fuzzing.md has no row \"| `{name}` | {edges} edges |\"")
            failed += 1
        elif edges is None or edges < table[name] * LEAST:
            print(f"FAIL {name}: {edges} edges after {EXECUTIONS} executions, docs/fuzzing.md says {table[name]}")
            failed += 1
        else:
            print(f"ok   {name}: {edges} edges, docs/fuzzing.md says {table[name]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
