#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the live view of 100 guests costs this host: outsight top on a terminal, beside processes that look like QEMU's. See
docs/benchmarks.md.

    scripts/bench top [--guests N] [--seconds N] [--rounds N]
"""
import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.environ.get("OUTSIGHT_BUILD", os.path.join(TOP, "build", "release"))
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "linux")]

from lib import screen  # noqa: E402
from stats import Report, Sample  # noqa: E402

GOAL = 0.05
# A guest: four threads with the names of vCPUs', and four others, which wake up now and then.
GUEST = """
import ctypes, threading, time
def run(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
    while True:
        time.sleep(0.5)
for name in [f"CPU {i}/KVM" for i in range(4)] + ["IO", "worker", "vnc", "rcu"]:
    threading.Thread(target=run, args=(name,), daemon=True).start()
print("ready", flush=True)
time.sleep(1 << 20)
"""


def start_guests(folder, count):
    """Python under the name of a VMM."""
    vmm = os.path.join(folder, "qemu-system-x86_64")
    shutil.copy(os.path.realpath("/usr/bin/python3"), vmm)
    env = dict(os.environ, PYTHONHOME="/usr")
    guests = [subprocess.Popen([vmm, "-c", GUEST, "-name", f"guest=bench{i:03}", "-smp", "4"], env=env, stdout=subprocess.PIPE, text=True)
              for i in range(count)]
    for guest in guests:
        assert guest.stdout.readline() == "ready\n"
    return guests


def cpu_seconds(pid):
    """Of its only thread, as the scheduler counts: what it does is too short for a clock that ticks."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e9


def measure(count, seconds, folder):
    """CPU seconds a second of the view."""
    env = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", XDG_RUNTIME_DIR=folder)
    with screen.Screen([f"{BUILD}/bin/outsight", "top", "-g", "bench*"], env) as top:
        top.wait_for(f"{count} guests, {4 * count} vCPUs")
        began, before = time.monotonic(), cpu_seconds(top.process.pid)
        while time.monotonic() - began < seconds:
            top.read(1)
        share = (cpu_seconds(top.process.pid) - before) / (time.monotonic() - began)
        top.process.send_signal(signal.SIGTERM)
        top.end()
    return share


def main():
    parser = argparse.ArgumentParser(description="what the live view costs")
    parser.add_argument("--guests", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=12, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if screen.WHY_NOT:
        print(screen.WHY_NOT)
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    report, guests = Report(), []
    with tempfile.TemporaryDirectory() as folder:
        try:
            guests = start_guests(folder, args.guests)
            shares = Sample([100 * measure(args.guests, args.seconds, folder) for _ in range(args.rounds)])
        finally:
            for guest in guests:
                guest.kill()
                guest.wait()
    report.goal(f"outsight top of {args.guests} guests of 8 threads: part of a core", f"under {GOAL:.0%}", shares.text("%", 2),
                shares.median < 100 * GOAL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
