#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a hit to a stock Debian guest on KVM: by code of ours in the guest (-x inject), by an exit, and by bpftrace
in the same guest. Prints each goal, the figure (median, least and most) and MET or MISSED. See docs/benchmarks.md.

    scripts/bench kvm --inject      sets up and runs this; in the KVM lab, unless the host's own KVM is good

Each figure is the time of a getppid call in the guest, less that of calls with nothing traced just before.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import guest_image  # noqa: E402
import tracing  # noqa: E402
from lib.host_kvm import why_not_kvm  # noqa: E402
from lib.vmm_guest import VmmGuest  # noqa: E402
from stats import Report, Sample  # noqa: E402

VMM = os.path.join(tracing.BUILD, "bin", "outsight-vmm")
PROBE = "fbt::__x64_sys_getppid:entry "
# Rounds of about a millisecond, which few interrupts of guest and host fall into; where each call exits, of fewer calls.
TURNS, CALLS, EXITING = 200, 500, 20
# The lab shares its CPUs: messages about a vCPU that did not run are no harm.
APPEND = "rcupdate.rcu_cpu_stall_suppress=1 nosoftlockup"
SLOW_HOST = re.compile(r"hrtimer: interrupt took|perf: interrupt took too long|clocksource: |sched: RT throttling")

# What, the most that it may cost in ns, a clause.
WAYS = [
    ("count()", 50, PROBE + "{ @ = count(); }"),
    ("predicate on pid, false", 50, PROBE + "/pid == 1/ { @ = count(); }"),
    ("count() under a predicate on execname, true", 50, PROBE + '/execname == "getppid_ns"/ { @ = count(); }'),
    ("sum(arg0 & 1), min and max", None, PROBE + "{ @s = sum(arg0 & 1); @l = min(arg0); @m = max(arg0); }"),
    ("quantize(arg0)", None, PROBE + "{ @ = quantize(arg0); }"),
    ("@[execname] = count()", 50, PROBE + "{ @[execname] = count(); }"),
    # A record has 128 bytes. What is lost costs less than what is written: the figure says how much was.
    ("a record: @[execname, pid] = count()", 100, PROBE + "{ @[execname, pid] = count(); }"),
]
BPFTRACE = [
    ("kprobe { @ = count(); }", "kprobe:__x64_sys_getppid { @ = count(); }"),
    ("kfunc { @ = count(); }", "kfunc:vmlinux:__x64_sys_getppid { @ = count(); }"),
    ("kprobe /pid == 1/ { @ = count(); }", "kprobe:__x64_sys_getppid /pid == 1/ { @ = count(); }"),
]


def time_calls(guest, calls):
    """ns a call: the first decile of the rounds, as whatever else runs can only add."""
    return statistics.quantiles([float(x) for x in guest.check(f"getppid_ns {TURNS} {calls}", 600).split()], n=10)[0]


class Costs:
    """Of one way to trace, in turns with nothing traced."""

    def __init__(self, guest, rounds, calls, traced):
        self.base, self.hits = [], []
        for _ in range(rounds):
            self.base.append(time_calls(guest, calls))
            with traced() as during:
                self.hits.append(time_calls(guest, calls) - self.base[-1])
            self.said = getattr(during, "said", [])

    @property
    def sample(self):
        return Sample(self.hits)


def places(costs):
    """What the session said of its resident probes; "" where it had none."""
    found = re.search(r"resident probes: [^:\n]*", "".join(costs.said))
    return found.group() if found else ""


def losses(costs):
    lost = sum(int(n) for n in re.findall(r"(\d+) records? of resident probes lost", "".join(costs.said)))
    return f" ({lost} records lost in the last turn)" if lost else ""


def bench_ways(report, guest, args):
    for what, limit, program in WAYS:
        inject = Costs(guest, args.rounds, CALLS, lambda p=program: tracing.Tracing(guest, p, "-x", "inject=force"))
        leave = Costs(guest, args.rounds, EXITING, lambda p=program: tracing.Tracing(guest, p))
        figure = f"{inject.sample.text('ns')}{losses(inject)}; by an exit {leave.sample.text('ns')}"
        if not places(inject):
            raise RuntimeError(f"there was no resident probe: {inject.said}")
        if limit is None:
            report.figure(f"hit: {what}", figure)
        else:
            report.goal(f"hit: {what}", f"{limit} ns", figure, inject.sample.median <= limit)
    report.figure("getppid with nothing traced", Sample(inject.base).text("ns"))


def bench_bpftrace(report, guest, args):
    for what, program in BPFTRACE:
        try:
            costs = Costs(guest, args.rounds, CALLS, lambda p=program: tracing.Bpftrace(guest, p))
        except RuntimeError as e:
            report.skip(f"bpftrace in the guest: {what}", str(e).strip()[-200:])
            continue
        report.figure(f"bpftrace in the guest: {what}", costs.sample.text("ns"))


ALL = 'BEGIN { printf("all in\\n"); } fbt:::entry { @[probefunc] = count(); }'


def bench_traps(guest):
    """The same in, as traps: the rest is what resident probes take more."""
    start = time.monotonic()
    traced = tracing.Tracing(guest, ALL, "-x", "switchrate=50hz", settle=0)
    with traced:
        traced.wait_for("all in")
        return time.monotonic() - start


def bench_all(report, guest, args):
    """A counter for each function, in and out. BEGIN fires once all are in place."""
    took, ended, traps = [], [], []
    for _ in range(args.rounds):
        traps.append(bench_traps(guest))
        start = time.monotonic()
        traced = tracing.Tracing(guest, ALL, "-x", "inject=force", "-x", "switchrate=50hz", settle=0)
        with traced:
            traced.wait_for("all in")
            took.append(time.monotonic() - start)
            guest.check("getppid_ns 20 500")
            start = time.monotonic()
        ended.append(time.monotonic() - start)
        rows = dict(re.findall(r"^  (\w\S*) +(\d+)$", traced.text(), re.M))
        report.figure("all functions", f"{places(traced)}; {len(rows)} were called, "
                                       f"__x64_sys_getppid {rows.get('__x64_sys_getppid')} times")
    report.goal("all functions, a counter each: in", "2 s", Sample(took).text("s", 1), statistics.median(took) <= 2)
    report.figure("all functions, as traps: in", Sample(traps).text("s", 1))
    report.figure("all functions: out, and everything printed", Sample(ended).text("s", 1))


def bench(args):
    only = set(filter(None, args.only.split(",")))
    report = Report()
    with VmmGuest("6.1", VMM, smp=1, append=APPEND, more_files=args.programs, memory=1024 * tracing.MIB) as guest:
        known = set(guest.check("dmesg").splitlines())
        for name, part in (("ways", bench_ways), ("all", bench_all), ("bpftrace", bench_bpftrace)):
            if not only or name in only:
                part(report, guest, args)
        new = [line for line in guest.check("dmesg").splitlines() if line not in known and not SLOW_HOST.search(line)]
        report.goal("new lines in the guest's log", "0", f"{len(new)} {'; '.join(new)[:200]}", not new)
    print(f"{report.missed} missed" if report.missed else "all met")


def main():
    parser = argparse.ArgumentParser(description="What a resident probe costs a guest on KVM.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="ways, all, bpftrace")
    parser.add_argument("--programs", help="an archive of the guest's programs: run here, whatever this host's KVM is")
    args = parser.parse_args()
    if args.programs:
        bench(args)
        return
    why_not = why_not_kvm(tracing.OUTSIGHT)
    print(f"# {'in scripts/kvm-lab, as ' + why_not if why_not else 'on this host'}", flush=True)
    with tempfile.TemporaryDirectory(prefix="outsight-bench-") as folder:
        programs = os.path.join(folder, "programs.cpio")
        guest_image.archive(programs)
        command = [sys.executable, "-B", __file__, "--programs", programs, "--rounds", str(args.rounds), "--only", args.only]
        lab = [os.path.join(tracing.TOP, "scripts", "kvm-lab"), "--"] if why_not else []
        sys.exit(subprocess.run(lab + command, check=False).returncode)


if __name__ == "__main__":
    main()
