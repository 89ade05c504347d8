#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run lab_test.py and the small guest's tests where KVM is good: here, or in scripts/kvm-lab's host.

    run.py --build build/release [--kernels 6.1,6.12] [--part first|others] [--here|--lab] [--changes N] [Class.method…]

One boot of the lab serves all kernels, unless --part chooses the first of them or the others: the lab has one CPU, so
two of them run beside each other. $OUTSIGHT_LAB_KERNELS is what --kernels is by default.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "linux")]
# pylint: disable=wrong-import-position
from lib.guest import cache_dir
from lib.host_kvm import why_not_kvm
from lib.pace import limit
from lib.programs import Programs

LIMIT = 3600  # for machines that are busy or slow: an idle one takes about a third


def why_no_lab():
    if not shutil.which("qemu-system-x86_64"):
        return "qemu-system-x86_64 is not installed"
    if not glob.glob(os.path.join(cache_dir(), "kernels", "*-amd64", "lab-initrd.hash")):
        return "the lab's host is not made (scripts/kvm-lab makes it)"
    return None


def main():
    parser = argparse.ArgumentParser(description="stock Debian kernels on a good KVM")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--kernels", default=os.environ.get("OUTSIGHT_LAB_KERNELS", "6.1,6.12"))
    parser.add_argument("--part", choices=["first", "others"])
    parser.add_argument("--here", action="store_true", help="on this host, whatever its KVM is")
    parser.add_argument("--lab", action="store_true", help="in the lab, even where this host's KVM is good")
    parser.add_argument("--changes", type=int, help="how often the guest changes static keys under traps (10000: an hour)")
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    kernels = args.kernels.split(",")
    if args.part:
        kernels = kernels[:1] if args.part == "first" else kernels[1:]
    if not kernels:
        print("SKIP all: there is one kernel only")
        return 77
    tests = ["python3", "-B", os.path.join(HERE, "lab_test.py"), "--build", build, "--kernels", ",".join(kernels),
             *(["--behind"] if args.part == "others" else []),
             *(["--changes", str(args.changes)] if args.changes else [])]
    why_not = "the lab was asked for" if args.lab else why_not_kvm(os.path.join(build, "bin", "outsight"))
    if args.here or not why_not:
        print("in this host's own KVM", flush=True)
        command = tests
    else:
        reason = why_no_lab()
        if reason:
            print(f"SKIP all: {why_not}; {reason}")
            return 77
        print(f"in scripts/kvm-lab, as {why_not}", flush=True)
        command = [os.path.join(ROOT, "scripts", "kvm-lab"), "--", *tests, "--lab"]
    seconds = LIMIT + (args.changes or 0)
    with tempfile.TemporaryDirectory(prefix="outsight-kvm-lab-programs-") as folder:
        return run([*command, "--programs", Programs(folder).archive, *args.tests], seconds)


def run(command, seconds):
    """However this process ends, the lab ends with it."""
    process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command])
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        print(f"FAIL all: not at its end after {seconds} s")
        process.terminate()
        process.wait(limit(30))
        return 1


if __name__ == "__main__":
    sys.exit(main())
