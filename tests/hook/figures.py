#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the hook costs: figures.py OUTSIGHT SMALL-GUEST-PVH. Goals, figures, MET or MISSED; the machine should be doing
nothing else."""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import qemu
from qemu import Qemu

SECONDS = 5
ROUNDS = "fbt::round_begin:entry { @ = count(); }"
HITS = "fbt::probed_*:entry /arg0 == -1/ { @x = count(); }"


def say(what, figure, unit, goal=None):
    verdict = "" if goal is None else f"   goal {goal} {unit}: {'MET' if figure <= goal else 'MISSED'}"
    print(f"{what:<58} {figure:10.2f} {unit}{verdict}", flush=True)


def outsight(env, *args):
    return subprocess.run([qemu.OUTSIGHT, *args], capture_output=True, text=True, check=True, env=env).stdout


def rounds_per_second(env, guest, program=""):
    """How many rounds the guest makes while traced."""
    out = outsight(env, "-g", guest, "--no-cache", "--vmlinux", qemu.GUEST, "-x", "maxcost=0", "-q", "-n",
                   f"{ROUNDS} {program} tick-{SECONDS}s {{ exit(0); }}")
    return int(out.split()[0]) / SECONDS


def cost_of_a_hit(env, guest):
    """ns of a vCPU's time, with one vCPU."""
    best = []
    for _ in range(3):
        plain, traced = rounds_per_second(env, guest), rounds_per_second(env, guest, HITS)
        hits = qemu.CALLS * (len(qemu.FUNCTIONS) + 1)
        best.append((1 / traced - 1 / plain) / hits * 1e9)
    return min(best)


def attaching():
    total, held, stopped = [], [], []
    for _ in range(5):
        vm = Qemu(2, args=["-m", "1024"]).wait_ready()
        try:
            m = re.search(r"attached in (\d+) ms.*held for ([\d.]+) ms, main thread stopped for ([\d.]+) ms",
                          outsight(vm.env, "attach", str(vm.pid)))
            for where, value in zip((total, held, stopped), m.groups()):
                where.append(float(value))
        finally:
            vm.close()
    say("attach to a running 1 GiB guest", statistics.median(total), "ms", 1000)
    say("  longest that its vCPUs were held", statistics.median(held), "ms", 5)
    say("  main thread stopped", statistics.median(stopped), "ms")


def hits():
    vm = Qemu(1, preload=True).wait_ready().wait_engine()
    try:
        under_hook = cost_of_a_hit(vm.env, str(vm.pid))
    finally:
        vm.close()
    with tempfile.TemporaryDirectory() as d:
        monitor = subprocess.Popen([os.path.join(os.path.dirname(qemu.OUTSIGHT), "outsight-vmm"), "--kernel", qemu.GUEST,
                                    "--memory", str(qemu.MIB), "--socket", f"{d}/socket", "--console", f"{d}/console",
                                    "--append", f"calls={qemu.CALLS}"], stdin=subprocess.DEVNULL)
        try:
            while not os.path.exists(f"{d}/console") or "READY" not in open(f"{d}/console", encoding="ascii").read():
                time.sleep(0.05)
            in_monitor = cost_of_a_hit(dict(os.environ, XDG_RUNTIME_DIR=d), f"{d}/socket")
        finally:
            monitor.kill()
            monitor.wait()
    say("a hit in our monitor", in_monitor, "ns")
    say("a hit under the hook", under_hook, "ns")
    say("  in proportion", under_hook / in_monitor, "x", 1.1)


def exits():
    """Rounds of 2000 exits to QEMU, nothing enabled."""
    rates = {False: [], True: []}
    for preload in (False, True) * 3:
        vm = Qemu(1, preload=preload, extra="io=500").wait_ready()
        try:
            start, at = vm.rounds(), time.monotonic()
            time.sleep(SECONDS)
            rates[preload].append((vm.rounds() - start) / (time.monotonic() - at))
        finally:
            vm.close()
    say("exits to QEMU with the hook loaded, time to plain QEMU's", max(rates[False]) / max(rates[True]), "x", 1.02)


if __name__ == "__main__":
    if qemu.reason_to_skip():
        sys.exit(qemu.reason_to_skip())
    attaching()
    hits()
    exits()
