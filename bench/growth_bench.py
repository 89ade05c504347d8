#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What Outsight's costs grow with. For each series a table of sizes: least, median and most of the rounds, the ratio to the
smallest size in the same round, instructions where callgrind is there to count them, and what was counted; then a slope. See
docs/benchmarks.md.

    scripts/bench growth [--rounds N] [--only vcpus,sessions,clauses,probes,keys,guests] [--most SIZE] [--no-count]

The instructions of a whole function with all that it calls do not depend on what else the machine does; CPU time does, by a
factor of two.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import growth_guests  # noqa: E402
from growth_fit import Growth, each_unit, last_power, per_doubling  # noqa: E402

BUILD = os.path.join(os.path.dirname(HERE), "build", "release")
PROGRAM = os.path.join(BUILD, "bin", "growth_bench")
COUNTED_MOST = {"clauses": 1000, "probes": 10000, "keys": 100000}  # callgrind takes fifty times as long
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6}
# Series of growth_bench: what costs, the unit, and whether the cost is of all ("each" more adds to it) or of one.
SERIES = {
    "vcpus.aggregation": ("a hit, { @[arg0] = count(); }", "ns", False),
    "vcpus.thread-local": ("a hit, { self->t = 1; self->t = 0; }", "ns", False),
    "vcpus.same-keys": ("a hit, { a[arg0]++; }, the same 8 keys", "ns", False),
    "vcpus.contended": ("a hit, { a[arg0] = 1; a[arg0] = 0; }, the same 8 keys", "ns", False),
    "sessions.hit": ("a hit, /pid == 1/ { @ = count(); }, false, in all sessions", "ns", True),
    "clauses.hit": ("a hit, /pid == 1/ { @ = count(); }, false, in all clauses at the probe", "ns", True),
    "clauses.compile": ("compiling and verifying them", "us", True),
    "clauses.compile-names": ("the same, a global and an aggregation of its own in each", "us", True),
    "clauses.open": ("opening a session of them in an engine, at one probe", "us", True),
    "clauses.match-exact": ("finding fbt::FUNCTION:entry among 41,760 probes", "us", True),
    "clauses.match-timer": ("finding profile:::tick-1s among them", "us", True),
    "clauses.match-glob": ("finding fbt::*_PART*:entry among them", "us", True),
    "probes.enable": ("enabling and planting them", "us", True),
    "probes.enable-again": ("the same in a second session", "us", True),
    "probes.hit": ("a hit, { @[probefunc] = count(); }, at each in turn", "ns", False),
    "keys.aggregation": ("a hit, { @[arg0] = count(); }, each key in turn", "ns", False),
    "keys.array": ("a hit, { a[arg0] = 1; }, each key in turn", "ns", False),
    "keys.merge-new": ("the consumer, a key that is new", "ns", False),
    "keys.merge-again": ("the consumer, a key that is known", "ns", False),
    "keys.sort": ("the consumer, sorting, each key", "ns", False),
}
COUNTS = ("calls", "hits", "lost", "dropped", "retries")


def run(series, rounds, sizes):
    """{size: [ns of each round]}, {size: what was counted in all of them}."""
    out = subprocess.run([PROGRAM, series, str(rounds), *map(str, sizes)], capture_output=True, text=True, check=True).stdout
    costs, counts = {}, {}
    for line in out.splitlines():
        size, ns, *values = line.split()
        costs.setdefault(int(size), []).append(float(ns))
        total = counts.setdefault(int(size), dict.fromkeys(COUNTS, 0))
        for name, value in zip(COUNTS, values):
            total[name] += int(value)
    return costs, counts


def instructions(series, function, size):
    """Of a call of the function, by callgrind."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={function}",
                           PROGRAM, series, "0", str(size)], capture_output=True, text=True, check=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    calls = int(done.stdout.split()[2])
    if not collected or not int(collected[1]):
        raise RuntimeError(f"{series}: callgrind has not seen {function}(): {done.stderr}")
    return int(collected[1]) / calls


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(what, unit, is_total, rounds, counts, counted):
    """Print a series, and its slope."""
    growth, scale = Growth(rounds), UNITS[unit]
    medians, ratios = growth.medians(), growth.ratios()
    is_fit = bool(counted) and max(counted) >= 4 * min(counted)
    print(f"\n{what}, {unit}")
    for size, costs in sorted(rounds.items()):
        happened = "".join(f", {counts[size][name]} {name}" for name in COUNTS[2:] if counts and counts[size][name])
        print(f"  {size:>10,}  {short(min(costs) / scale):>9} {short(medians[size] / scale):>9} {short(max(costs) / scale):>9}"
              f"  {short(ratios[size]):>7} times  {short(counted[size]) + ' instructions' if size in counted else ''}{happened}")
    if max(rounds) < 4 * min(rounds):
        print("  no slope: the sizes are too near", flush=True)
    elif is_total:
        print(f"  slope: {short(each_unit(medians) / scale)} {unit} for each more; at the end by the power {last_power(medians):.2f}",
              end="")
        print(f", its instructions {last_power(counted):.2f}" if is_fit else "", flush=True)
    else:
        print(f"  slope: {per_doubling(medians):.3f} times for each doubling", end="")
        print(f", its instructions {per_doubling(counted):.3f}" if is_fit else "", flush=True)


def engine(names, args):
    """The series of growth_bench in these tables."""
    for line in subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines():
        series, function, *sizes = line.split()
        sizes = [int(s) for s in sizes if int(s) <= args.most]
        if not sizes or (series.split(".")[0] not in names and series not in names):
            continue
        counted = {}
        if function != "-" and args.count and shutil.which("valgrind"):
            few = [size for size in sizes if size <= COUNTED_MOST.get(series.split(".")[0], size)]
            few = few[::-1][::max(len(few) // 4, 1)]
            counted = {size: instructions(series, function, size) for size in few}
        what, unit, is_total = SERIES[series]
        table(f"{series}: {what}", unit, is_total, *run(series, args.rounds, sizes), counted)


def main():
    parser = argparse.ArgumentParser(description="What costs grow with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="vcpus,sessions,clauses,probes,keys,guests", help="tables, or series of them (keys.sort)")
    parser.add_argument("--most", type=int, default=10000000, help="no size above this one")
    parser.add_argument("--no-count", dest="count", action="store_false", help="no instructions")
    args = parser.parse_args()
    names = args.only.split(",")
    print(f"# load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    engine(names, args)
    if "guests" in names:
        growth_guests.guests(args.rounds, args.most, lambda what, unit, is_total, rounds: table(what, unit, is_total, rounds, {}, {}))
    print(f"# load of this machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
