#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of the guest's agent: an event from inside, compared with the same from outside and with bpftrace in the
guest, and the events a second through a ring. Prints each goal, the figure (median, least and most) and MET or MISSED.

    scripts/bench agent     sets up and runs this
"""
import argparse
import os
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "linux")]

import guest_image  # noqa: E402
from lib import agent as ga  # noqa: E402
from lib.guest import image_dir, why_no_guest  # noqa: E402
from stats import Report, Sample  # noqa: E402
from tracing import Bpftrace, Tracing, boot, cost, time_calls  # noqa: E402

KERNEL = "6.1"
INSIDE = "sdt:raw_syscalls::sys_enter { @ = count(); }"
WAYS = [
    ("inside: sdt:raw_syscalls::sys_enter { @ = count(); }", INSIDE, []),
    ("inside, a predicate on pid", "sdt:raw_syscalls::sys_enter /pid == 1/ { @ = count(); }", []),
    ("inside: syscall::getppid:entry, -x view=inside", "syscall::getppid:entry /pid == 1/ { @ = count(); }",
     ["-x", "view=inside"]),
    ("outside: syscall::getppid:entry, the same", "syscall::getppid:entry /pid == 1/ { @ = count(); }", []),
]
BPFTRACE = "tracepoint:raw_syscalls:sys_enter { @ = count(); }"


def make_initrd(path):
    """The benchmark's, and the module behind it; True with bpftrace."""
    has_bpftrace = guest_image.make(os.path.join(image_dir(KERNEL), "initrd"), path)
    with tempfile.TemporaryDirectory() as folder:
        archive = ga.archive(KERNEL, os.path.join(folder, "agent.cpio"))
        with open(archive, "rb") as f, open(path, "ab") as out:
            out.write(bytes(-out.tell() % 512) + f.read())
    return has_bpftrace


def once(guest):
    return statistics.median(time_calls(guest))


def bench_idle(report, guest, rounds):
    """With the module and without, in turn."""
    without, loaded = [], []
    for _ in range(rounds):
        without.append(once(guest))
        guest.check("insmod /modules/outsight.ko")
        loaded.append(once(guest))
        guest.check("rmmod outsight")
    noise = (max(without) - min(without)) / statistics.median(without)
    sample = Sample([b / a for a, b in zip(without, loaded)])
    report.goal("module loaded, nothing enabled: ratio", "1.00 within noise",
                f"{sample.text('', 3)}, without it spreads {noise:.1%}", sample.median - 1 <= max(noise / 2, 0.02))


def bench_event(report, guest, rounds):
    """Cost of one event each way; the first way's is returned."""
    samples = []
    for what, program, options in WAYS:
        base, traced = [], []
        for _ in range(rounds):
            base.append(once(guest))
            with Tracing(guest, program, *options):
                traced.append(once(guest))
        samples.append(cost(base, traced))
        report.figure(f"event {what}", samples[-1].text("ns"))
    return samples


def bench_bpftrace(report, guest, rounds, ours, outside):
    base, traced = [], []
    for _ in range(rounds):
        base.append(once(guest))
        with Bpftrace(guest, BPFTRACE):
            traced.append(once(guest))
    theirs = cost(base, traced)
    report.figure(f"event bpftrace in the guest: {BPFTRACE}", theirs.text("ns"))
    report.goal("an event of the agent's against bpftrace's", "less", f"{ours.median / theirs.median:.2f} of it",
                ours.median < theirs.median)
    report.goal("an event from outside against bpftrace's", "less", f"{outside.median / theirs.median:.2f} of it",
                outside.median < theirs.median)


def bench_rate(report, guest, rounds):
    """A loop that makes nothing but events. Tracing() ends with an error when any was lost."""
    base, traced = [], []
    for _ in range(rounds):
        base.append(once(guest))
        with Tracing(guest, INSIDE):
            traced.append(once(guest))
    rate = Sample([1000 / t for t in traced])
    slower = Sample([t / b for b, t in zip(base, traced)])
    report.goal("events through one ring, none lost", "1 million/s", rate.text("million/s", 2), rate.median >= 1)
    report.figure("… and the loop that makes them takes", f"{slower.text('', 2)} times as long")


def main():
    parser = argparse.ArgumentParser(description="What the guest's agent costs.")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    reason = why_no_guest(KERNEL) or ga.why_no_agent(KERNEL)
    if reason:
        sys.exit(f"bench: {reason}")
    report = Report()
    with tempfile.TemporaryDirectory() as workdir:
        initrd = os.path.join(workdir, "initrd")
        has_bpftrace = make_initrd(initrd)
        guest = boot("agent", initrd, True, workdir)
        try:
            bench_idle(report, guest, args.rounds)
            guest.check("insmod /modules/outsight.ko")
            samples = bench_event(report, guest, args.rounds)
            bench_rate(report, guest, args.rounds)
            if has_bpftrace:
                bench_bpftrace(report, guest, args.rounds, samples[0], samples[3])
            else:
                report.skip("bpftrace", "not installed: no comparison")
        finally:
            guest.close()
    print(f"{report.missed} missed" if report.missed else "all met")


if __name__ == "__main__":
    main()
