#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of tracing a running QEMU: attaching to it, a hit under the hook compared with one in our own monitor, the
hook with nothing enabled. Prints each goal, the figure (median, least and most) and MET or MISSED. See
docs/benchmarks.md.

    scripts/bench attach [--rounds N] [--only attach,hits,exits]
"""
import argparse
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.path.join(TOP, "build", "release")
ARGV, sys.argv = sys.argv, ["", f"{BUILD}/bin/outsight", f"{BUILD}/tests/kvm/small-guest-pvh"]
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "hook")]

import qemu  # noqa: E402
from qemu import Qemu  # noqa: E402
from stats import Report, Sample  # noqa: E402

SECONDS = 4
ROUNDS = "fbt::round_begin:entry { @ = count(); } tick-1s { printa(\"%@d\\n\", @); }"
HITS = "fbt::probed_*:entry /arg0 == -1/ { @x = count(); }"
HITS_A_ROUND = qemu.CALLS * (len(qemu.FUNCTIONS) + 1)


def busiest_thread_ns(pid):
    """The CPU time of the thread that used most of it: the vCPU's. Unlike elapsed time, it covers the guest and its
    exits only, however busy the machine is."""
    most = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as f:
            most = max(most, int(f.read().split()[0]))
    return most


def ns_a_round(env, guest, pid, program=""):
    """The vCPU's time for a round of the guest while it is traced, with one vCPU."""
    tracer = subprocess.Popen([qemu.OUTSIGHT, "-g", guest, "--no-cache", "--vmlinux", qemu.GUEST, "-x", "maxcost=0", "-q",
                               "-n", f"{ROUNDS} {program} tick-{SECONDS + 2}s {{ exit(0); }}"],
                              stdout=subprocess.PIPE, text=True, env=env)
    seen = []
    for line in tracer.stdout:
        if line.strip():
            seen.append((int(line.split()[0]), busiest_thread_ns(pid)))
    if tracer.wait() or len(seen) < 3:
        raise RuntimeError(f"{program}: {seen}")
    (rounds, start), (more, end) = seen[0], seen[-2]  # the last is printed at the end of the session
    return (end - start) / (more - rounds)


def hit_ns(env, guest, pid):
    plain = ns_a_round(env, guest, pid)
    return (ns_a_round(env, guest, pid, HITS) - plain) / HITS_A_ROUND


def attaching(report, rounds):
    figures = {"total": [], "held": [], "stopped": []}
    for _ in range(rounds):
        vm = Qemu(2, args=["-m", "1024"]).wait_ready()
        try:
            out = vm.outsight("attach", str(vm.pid)).stdout
            m = re.search(r"attached in (\d+) ms.*held for ([\d.]+) ms, main thread stopped for ([\d.]+) ms", out)
            for where, value in zip(figures.values(), m.groups()):
                where.append(float(value))
        finally:
            vm.close()
    total, held, stopped = (Sample(v) for v in figures.values())
    report.goal("attach to a running guest of 1 GiB, 2 vCPUs", "under 1 s", total.text("ms"), total.median < 1000)
    report.goal("longest that a vCPU was held for it", "under 5 ms", held.text("ms", 2), held.median < 5)
    report.figure("QEMU's main thread stopped by ptrace", stopped.text("ms", 2))


class Monitor:
    """The small guest in outsight-vmm."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="outsight-bench-")
        self.socket, console = (os.path.join(self.dir.name, name) for name in ("socket", "console"))
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.dir.name)
        self.process = subprocess.Popen([f"{BUILD}/bin/outsight-vmm", "--kernel", qemu.GUEST, "--memory", str(qemu.MIB),
                                         "--socket", self.socket, "--console", console, "--append",
                                         f"calls={qemu.CALLS}"], stdin=subprocess.DEVNULL)
        while not os.path.exists(console) or "READY" not in open(console, encoding="ascii").read():
            time.sleep(0.05)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.dir.cleanup()


def hits(report, rounds):
    # Our monitor has no seccomp filter: it is compared with the first; libvirt starts the second.
    guests = {name: Qemu(1, sandbox=sandbox).wait_ready() for name, sandbox in (("off", "off"), ("on", qemu.SANDBOX))}
    monitor = Monitor()
    ours, hooked = [], {name: [] for name in guests}
    try:
        # One runs while it is measured, and the others are stopped.
        for vm in guests.values():
            vm.outsight("attach", str(vm.pid))
            vm.qmp("stop")
        for _ in range(rounds):
            ours.append(hit_ns(monitor.env, monitor.socket, monitor.process.pid))
            monitor.process.send_signal(signal.SIGSTOP)
            for name, vm in guests.items():
                vm.qmp("cont")
                hooked[name].append(hit_ns(vm.env, str(vm.pid), vm.pid))
                vm.qmp("stop")
            monitor.process.send_signal(signal.SIGCONT)
    finally:
        monitor.close()
        for vm in guests.values():
            vm.close()
    report.figure("a hit in our monitor, the vCPU's time", Sample(ours).text("ns"))
    report.figure("a hit under the hook, QEMU without -sandbox", Sample(hooked["off"]).text("ns"))
    report.figure("a hit under the hook, QEMU with -sandbox on", Sample(hooked["on"]).text("ns"))
    for name, times in hooked.items():
        ratio = Sample([a / b for a, b in zip(times, ours)])
        report.goal(f"a hit against our monitor's, -sandbox {name}", "at most 1.1", ratio.text("", 2), ratio.median <= 1.1)


def exit_ns(preload):
    """The vCPU's time for a round of 2000 exits to QEMU."""
    vm = Qemu(1, preload=preload, extra="io=500").wait_ready()
    try:
        start, at = vm.rounds(), busiest_thread_ns(vm.pid)
        time.sleep(SECONDS)
        end = busiest_thread_ns(vm.pid)
        return (end - at) / (vm.rounds() - start)
    finally:
        vm.close()


def exits(report, rounds):
    ratio = Sample([exit_ns(True) / exit_ns(False) for _ in range(rounds)])
    twice = Sample([exit_ns(False) / exit_ns(False) for _ in range(rounds)])
    spread = max(abs(v - 1) for v in twice.values)
    report.goal("exits to QEMU, hook loaded and nothing enabled", "1.00 within noise", ratio.text("", 3),
                ratio.median <= 1 + spread)
    report.figure("  plain QEMU against plain QEMU", twice.text("", 3))


PARTS = {"attach": attaching, "hits": hits, "exits": exits}


def main():
    parser = argparse.ArgumentParser(description="What it costs to trace a QEMU that runs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    args = parser.parse_args(ARGV[1:])
    reason = qemu.reason_to_skip()
    if reason:
        print(f"SKIP: {reason}")
        return 77
    print(f"# load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    report = Report()
    for name in args.only.split(","):
        PARTS[name](report, args.rounds)
    print(f"# load of this machine: {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
