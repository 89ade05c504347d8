#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of tracing to a guest: outsight on the tcg backend, compared with plain QEMU, bpftrace in the guest, and a
gdbstub. Prints each goal, the figure (median, least and most) and MET or MISSED. See docs/benchmarks.md.

    scripts/bench           sets up and runs this
"""
import argparse
from contextlib import closing
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "linux")]

import gated  # noqa: E402
import gdb_loop  # noqa: E402
import guest_image  # noqa: E402
from lib.guest import image_dir, why_no_guest  # noqa: E402
from stats import Report, Sample  # noqa: E402
from tracing import OUTSIGHT, Bpftrace, Tracing, boot, cost, time_calls  # noqa: E402

PROBE = "fbt::__x64_sys_getppid:entry"


INLINE = PROBE + " { @ = count(); }"
WITH_PREDICATE = PROBE + " /pid == 1/ { @ = count(); }"
# What, the most that it may cost in ns, a clause, options. In gated slices (gated.py).
WAYS = [
    ("predicate on pid, false", 5, WITH_PREDICATE, []),
    ("predicate on execname, false", 5, PROBE + ' /execname == "nobody"/ { @ = count(); }', []),
    ("count() under a predicate on pid, true", 60, PROBE + " /pid > 1/ { @ = count(); }", []),
    ("quantize(arg0)", None, PROBE + " { @ = quantize(arg0); }", []),
    ("count() keyed by execname", 30, PROBE + " { @[execname] = count(); }", []),
    ("count() keyed by arg0 & 1", None, PROBE + " { @[arg0 & 1] = count(); }", []),
    ("printf of two arguments", 110, PROBE + ' { printf("%d %d\\n", arg0, arg1); }',
     ["-x", "switchrate=20hz", "-b", "64m", "-o", "/dev/null"]),
    ("self->t set and cleared", 120, PROBE + " { self->t = 1; self->t = 0; }", []),
    ("count() keyed by stack()", 200, PROBE + " { @[stack()] = count(); }", []),
]
SESSIONS = (1, 4, 16)
BPFTRACE_WAYS = [
    ("bpftrace kprobe { @ = count(); }", "kprobe:__x64_sys_getppid { @ = count(); }"),
    ("bpftrace kprobe { @[comm] = count(); }", "kprobe:__x64_sys_getppid { @[comm] = count(); }"),
]


def bench_idle(report, initrd, workdir, rounds):
    """Nothing enabled: plain QEMU and QEMU with the engine, in turn. The placement of QEMU's code and data changes its
    speed by several per cent from one start to the next, so every round boots a new pair."""
    plain, loaded, ratios = [], [], []
    for i in range(rounds):
        with closing(boot(f"idle-plain{i}", initrd, False, workdir)) as a, \
                closing(boot(f"idle-loaded{i}", initrd, True, workdir)) as b:
            pair = [], []
            for _ in range(3):
                pair[0].extend(time_calls(a))
                pair[1].extend(time_calls(b))
        plain.append(statistics.median(pair[0]))
        loaded.append(statistics.median(pair[1]))
        ratios.append(loaded[-1] / plain[-1])
    report.figure("plain QEMU, getppid", Sample(plain).text("ns", 1))
    report.figure("engine loaded, nothing enabled, getppid", Sample(loaded).text("ns", 1))
    noise = (max(plain) - min(plain)) / statistics.median(plain)
    sample = Sample(ratios)
    report.goal("engine loaded, nothing enabled: ratio", "1.00 within noise",
                f"{sample.text('', 3)}, plain spreads {noise:.1%}", sample.median - 1 <= max(noise / 2, 0.02))


def bench_inline(report, guest, rounds):
    base, traced = [], []
    for _ in range(rounds):
        base.append(statistics.median(time_calls(guest)))
        with Tracing(guest, INLINE):
            traced.append(statistics.median(time_calls(guest)))
    sample = cost(base, traced)
    report.goal("hit: count() alone: an inline counter", "not measurable (<15 ns)", sample.text("ns", 1), sample.median <= 15)


def bench_hits(report, guest, rounds):
    for what, limit, program, options in WAYS:
        sample, callback = gated.hit(guest, program, *options, runs=rounds)
        figure = f"{sample.text('ns', 1)}, callback {callback.median:.1f}"
        if limit is None:
            report.figure(f"hit: {what}", figure)
        else:
            report.goal(f"hit: {what}", f"{limit} ns", figure, sample.median <= limit)


def bench_sessions(report, guest, rounds):
    """What each further session at a site adds."""
    first = None
    for n in SESSIONS:
        sample, _ = gated.hit(guest, WITH_PREDICATE, sessions=n, runs=rounds)
        if n == 1:
            first = sample
            continue
        each = Sample([(s - first.median) / (n - 1) for s in sample.values])
        report.goal(f"hit: each further session, of {n}", "15 ns", each.text("ns", 1), each.median <= 15)


def bench_bpftrace(report, guest, rounds):
    for what, program in BPFTRACE_WAYS:
        base, traced = [], []
        for _ in range(rounds):
            base.append(statistics.median(time_calls(guest)))
            with Bpftrace(guest, program):
                traced.append(statistics.median(time_calls(guest)))
        report.figure(f"hit: {what}", cost(base, traced).text("ns", 1))


def bench_gdb(report, guest, rounds, ours):
    address = int(re.search(r"^(\w+) . __x64_sys_getppid$", guest.read_file("/proc/kallsyms").decode(),
                            re.M).group(1), 16)
    job = guest.spawn("getppid_loop 1 100000000")
    hits = [gdb_loop.hit_loop(guest.path("gdb"), address, 5) for _ in range(rounds)]
    guest.run("killall getppid_loop")
    job.wait()
    sample = Sample([h * 1e9 for h in hits])
    report.figure("hit: gdb-protocol breakpoint loop", sample.text("ns"))
    return sample


def first_output(guest, env):
    """Seconds from exec to the first line of output."""
    start = time.monotonic()
    process = subprocess.Popen([OUTSIGHT, "-g", guest.socket_path, "-q", "-n",
                                "syscall:::entry { printf(\"first\\n\"); exit(0); }"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True)
    line = process.stdout.readline()
    took = time.monotonic() - start
    rest = process.communicate(timeout=60)
    if "first" not in line:
        raise RuntimeError(f"outsight: {line}{rest[0]}{rest[1]}")
    return took


def bench_attach(report, guest, rounds):
    job = guest.spawn("getppid_loop 1 1000000000")
    cold, warm = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            env = dict(os.environ, XDG_CACHE_HOME=cache)
            cold.append(first_output(guest, env))
            warm.append(first_output(guest, env))
    guest.run("killall getppid_loop")
    job.wait()
    report.goal("attach to first output, empty cache, 1 GiB guest", "under 2 s", Sample(cold).text("s", 2),
                Sample(cold).median < 2)
    report.goal("attach to first output, with the cache", "under 0.3 s", Sample(warm).text("s", 2),
                Sample(warm).median < 0.3)


def private_mib(pid):
    """Private memory of a process, less executable mappings: QEMU's translation buffer grows with whatever
    the guest runs. Guest RAM and trace buffers are shared memfds and not in it."""
    total, counted = 0, False
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as f:
        for line in f:
            head = re.match(r"[0-9a-f]+-[0-9a-f]+ (\S{4}) ", line)
            if head:
                counted = "x" not in head.group(1)
            elif counted and line.startswith("Anonymous:"):
                total += int(line.split()[1])
    return total / 1024


def bench_memory(report, guests):
    before = private_mib(guests["traced"].pid)
    with Tracing(guests["traced"], 'fbt:::entry /execname == "nobody"/ { @[probefunc] = count(); }'):
        during = private_mib(guests["traced"].pid)
    report.goal("memory of the engine, all fbt entries enabled", "under 16 MiB", f"{during - before:.1f} MiB more",
                during - before < 16)


def main():
    parser = argparse.ArgumentParser(description="What tracing costs a guest.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["hits"], help="hits: what a hit of outsight costs, and nothing else")
    args = parser.parse_args()
    reason = why_no_guest("6.1")
    if reason:
        sys.exit(f"bench: {reason}")

    report = Report()
    with tempfile.TemporaryDirectory() as workdir:
        initrd = os.path.join(workdir, "initrd")
        has_bpftrace = guest_image.make(os.path.join(image_dir("6.1"), "initrd"), initrd)
        if args.only:
            with closing(gated.boot_gated(initrd, workdir)) as guest:
                bench_hits(report, guest, args.rounds)
                bench_sessions(report, guest, args.rounds)
            return
        bench_idle(report, initrd, workdir, args.rounds)
        guests = {}
        try:
            guests["plain"] = boot("plain", initrd, False, workdir)
            guests["traced"] = boot("traced", initrd, True, workdir)
            bench_inline(report, guests["traced"], args.rounds)
            guests["gated"] = gated.boot_gated(initrd, workdir)
            bench_hits(report, guests["gated"], args.rounds)
            bench_sessions(report, guests["gated"], args.rounds)
            if has_bpftrace:
                bench_bpftrace(report, guests["plain"], args.rounds)
            else:
                report.figure("bpftrace", "not installed: no comparison")
            gdb = bench_gdb(report, guests["plain"], args.rounds, None)
            base = [statistics.median(time_calls(guests["traced"]))]
            with Tracing(guests["traced"], WITH_PREDICATE):
                ours = cost(base, [statistics.median(time_calls(guests["traced"]))]).median
            times = gdb.median / max(ours, 1)
            report.goal("gdb-protocol loop against ours (predicate on pid)", "at least 500 times",
                        f"{times:.0f} times", times >= 500)
            bench_attach(report, guests["traced"], args.rounds)
            bench_memory(report, guests)
        finally:
            for guest in guests.values():
                guest.close()
    print(f"{report.missed} missed" if report.missed else "all met")


if __name__ == "__main__":
    if not shutil.which("qemu-system-x86_64"):
        sys.exit("bench: run scripts/bench, it sets up what is needed")
    main()
