#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of the kernel's providers from outside: context switches, block I/O and TCP under outsight on the tcg
backend, beside bpftrace in the same guest, in turn; and all of the guest's tracepoints at once. Prints each goal, the
figure (median, least and most; CPU time of QEMU) and MET or MISSED. See docs/benchmarks.md.

    scripts/bench providers     sets up and runs this
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "linux")]

import guest_image  # noqa: E402
from lib.guest import image_dir, why_no_guest  # noqa: E402
from stats import Report, Sample  # noqa: E402
from tracing import OUTSIGHT, Bpftrace, Tracing, boot, cost, cpu_ns  # noqa: E402

KERNEL = "6.1"
DISK = "/dev/loop7"
GOAL = 0.25        # of bpftrace's cost
ENABLING_GOAL = 2  # seconds
SWITCHES = 1000    # a second, while all tracepoints are enabled

# What happens, the load that makes it, ours, bpftrace's.
PAIRS = [
    ("sdt:sched::sched_switch, counted", ("switch", 200000),
     "sdt:sched::sched_switch { @ = count(); }",
     "tracepoint:sched:sched_switch { @ = count(); }"),
    ("sched:::off-cpu, keyed by the next thread's name", ("switch", 200000),
     "sched:::off-cpu { @[args[1]->pr_fname] = count(); }",
     "tracepoint:sched:sched_switch { @[args->next_comm] = count(); }"),
    ("sched:::on-cpu and off-cpu, time on CPU", ("switch", 200000),
     "sched:::on-cpu { self->ts = timestamp; } sched:::off-cpu /self->ts/ { @ = sum(timestamp - self->ts); }",
     "kprobe:finish_task_switch.isra.0 { @ts[tid] = nsecs; } "
     "tracepoint:sched:sched_switch /@ts[args->prev_pid]/ { @ = sum(nsecs - @ts[args->prev_pid]); }"),
    ("io:::start, bytes by device", ("io", 8000),
     "io:::start { @[args[1]->dev_statname] = sum(args[0]->b_bcount); }",
     "tracepoint:block:block_bio_queue { @[args->dev] = sum(args->nr_sector); }"),
    ("io:::start and done, latency", ("io", 8000),
     "io:::start { ts[arg0] = timestamp; } "
     "io:::done /ts[arg0]/ { @ = quantize(timestamp - ts[arg0]); ts[arg0] = 0; }",
     "kprobe:submit_bio_noacct_nocheck { @ts[arg0] = nsecs; } "
     "kprobe:bio_endio /@ts[arg0]/ { @ = hist(nsecs - @ts[arg0]); delete(@ts[arg0]); }"),
    ("tcp:::send and receive, counted", ("tcp", 20000),
     "tcp:::send, tcp:::receive { @[probename] = count(); }",
     "kprobe:__tcp_transmit_skb, kprobe:tcp_v4_rcv { @[probe] = count(); }"),
    ("tcp:::send, segments by port", ("tcp", 20000),
     "tcp:::send { @[args[4]->tcp_dport] = count(); }",
     "kprobe:__tcp_transmit_skb { @[((struct sock *)arg0)->__sk_common.skc_dport] = count(); }"),
]


def run_load(guest, name, operations):
    guest.check(f"events {name} 1 {operations} {DISK}", 300)


def time_load(guest, load):
    """ns an operation, of QEMU's CPU time: the guest has one vCPU, and time that others' processes take from it is none
    of its cost. The load runs before it is timed: a change of probes drops QEMU's translations."""
    name, operations = load
    run_load(guest, name, operations // 10)
    before = cpu_ns(guest.pid)
    run_load(guest, name, operations)
    return (cpu_ns(guest.pid) - before) / operations


def bench_pair(report, guest, rounds, pair):
    """Untraced, ours, untraced, bpftrace's, in turn."""
    what, load, program, theirs = pair
    bare, ours, bare_again, others = [], [], [], []
    for _ in range(rounds):
        bare.append(time_load(guest, load))
        with Tracing(guest, program):
            ours.append(time_load(guest, load))
        if theirs:
            bare_again.append(time_load(guest, load))
            with Bpftrace(guest, theirs):
                others.append(time_load(guest, load))
    mine = cost(bare, ours)
    report.figure(f"{what}: an operation untraced", Sample(bare).text("ns"))
    report.figure("  outsight adds", mine.text("ns"))
    if theirs:
        peer = cost(bare_again, others)
        report.figure("  bpftrace adds", peer.text("ns"))
        report.goal("  relative to bpftrace", f"at most {GOAL}", f"{mine.median / peer.median:.2f}",
                    mine.median <= GOAL * peer.median)


def enabled_in(guest):
    """Seconds from exec to the first firing with every tracepoint of the guest enabled; the probes."""
    start = time.monotonic()
    process = subprocess.Popen([OUTSIGHT, "-g", guest.socket_path, "-x", "maxcost=0", "-n",
                                'sdt::: { @ = count(); } tick-100hz { printf("ticks\\n"); exit(0); }'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stdout:
        if "ticks" in line:
            break
    took = time.monotonic() - start
    told = process.communicate(timeout=60)[1]
    matched = re.search(r"matched (\d+) probes", told)
    if not matched:
        raise RuntimeError(f"outsight: {told}")
    return took, int(matched.group(1))


def bench_all(report, guest, rounds):
    times, probes = [], 0
    enabled_in(guest)  # fills the cache
    for _ in range(rounds):
        took, probes = enabled_in(guest)
        times.append(took)
    report.goal(f"all {probes} tracepoints, from exec to the first tick", f"under {ENABLING_GOAL} s",
                Sample(times).text("s", 2), Sample(times).median < ENABLING_GOAL)
    with Tracing(guest, "sdt::: { @[probename] = count(); }") as tracing:
        began = time.monotonic()
        guest.check("events pace 1 5000", 300)
        seconds = time.monotonic() - began
    counted = re.search(r"^\s*sched_switch\s+(\d+)$", tracing.text(), re.M)
    rate = int(counted.group(1)) / seconds
    report.goal("all of them counted by name, none lost", f"{SWITCHES} switches/s", f"{rate:.0f} switches/s",
                rate >= SWITCHES)


def main():
    parser = argparse.ArgumentParser(description="What the kernel's providers cost a guest.")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    reason = why_no_guest(KERNEL)
    if reason:
        sys.exit(f"bench: {reason}")
    report = Report()
    with tempfile.TemporaryDirectory() as workdir:
        initrd = os.path.join(workdir, "initrd")
        has_bpftrace = guest_image.make(os.path.join(image_dir(KERNEL), "initrd"), initrd)
        guest = boot("providers", initrd, True, workdir)
        try:
            guest.check(f"dd if=/dev/zero of=/tmp/disk7 bs=1M count=2 2>/dev/null && losetup {DISK} /tmp/disk7")
            if not has_bpftrace:
                report.skip("bpftrace", "not installed: no comparison")
            for pair in PAIRS:
                bench_pair(report, guest, args.rounds, pair if has_bpftrace else (*pair[:3], None))
            bench_all(report, guest, args.rounds)
        finally:
            guest.close()
    print(f"{report.missed} missed" if report.missed else "all met")


if __name__ == "__main__":
    main()
