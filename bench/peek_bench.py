#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of external sampling to a guest: samples at two rates, against the same guest untraced, in
the same run. See docs/benchmarks.md.

    scripts/bench peek [--rounds N]
"""
import argparse
import glob
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.environ.get("OUTSIGHT_BUILD", os.path.join(TOP, "build", "release"))
ARGV, sys.argv = sys.argv, ["", f"{BUILD}/bin/outsight", f"{BUILD}/tests/kvm/small-guest-pvh"]
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "hook")]

import qemu  # noqa: E402
from qemu import Qemu  # noqa: E402
from stats import Report, Sample  # noqa: E402

SECONDS = 4
RATES = (99, 997)


def busiest_thread_ns(pid):
    """The CPU time of the thread that used most of it: the vCPU's. Unlike elapsed time, it covers the guest and its
    exits only, however busy the machine is."""
    most = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as f:
            most = max(most, int(f.read().split()[0]))
    return most


def ns_a_round(vm):
    rounds, start = vm.rounds(), busiest_thread_ns(vm.pid)
    time.sleep(SECONDS)
    more, end = vm.rounds(), busiest_thread_ns(vm.pid)
    return (end - start) / (more - rounds)


def looked_at(vm, rate):
    """(ns a round, samples a second)"""
    tracer = subprocess.Popen([qemu.OUTSIGHT, "-g", f"peek:{vm.pid}", "--no-cache", "--vmlinux", qemu.GUEST, "-q", "-n",
                               f'BEGIN {{ printf("on\\n"); }} profile-{rate} {{ @n = count(); @[func(arg0)] = count(); }} '
                               f'tick-1s {{ s++; }} END {{ printa("%@d", @n); printf(" %d\\n", s); }}'],
                              stdout=subprocess.PIPE, text=True, env=vm.env)
    while tracer.stdout.readline() != "on\n":
        pass
    cost = ns_a_round(vm)
    tracer.terminate()
    out, _ = tracer.communicate(timeout=60)
    samples, seconds = (int(word) for word in out.split()[:2])
    return cost, samples / max(seconds, 1)


def main():
    parser = argparse.ArgumentParser(description="the cost of external sampling")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(ARGV[1:])
    if qemu.reason_to_skip():
        print(qemu.reason_to_skip())
        return 0
    report = Report()
    ratios = {rate: [] for rate in RATES}
    per_second = {rate: [] for rate in RATES}
    vm = Qemu(1).wait_ready()
    try:
        for _ in range(args.rounds):
            for rate in RATES:
                alone = ns_a_round(vm)
                cost, samples = looked_at(vm, rate)
                ratios[rate].append(cost / alone)
                per_second[rate].append(samples)
    finally:
        vm.close()
    for rate in RATES:
        report.figure(f"profile-{rate} by external sampling: the vCPU's time for a round, against an untraced one",
                      Sample(ratios[rate]).text("", 3))
        report.figure("samples received, a second and vCPU", Sample(per_second[rate]).text("", 0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
