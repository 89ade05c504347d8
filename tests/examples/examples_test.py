#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every example of README.md and of the manual pages, run as it stands there, its answer held against a known truth.

    examples_test.py d|hook|libvirt|linux|lab BUILD SMALL-GUEST [Class.test…]

An example that a document gets needs a test with @truth("its text"): d.examples fails without one. documents.py says
what counts as an example and prints them all.
"""
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
PART, BUILD, SMALL, *NAMES = sys.argv[1:]
BUILD, SMALL = os.path.abspath(BUILD), os.path.abspath(SMALL)
ARGV = list(sys.argv)
# What hook/qemu.py and kvm/small_guest.py take.
sys.argv[1:] = [os.path.join(BUILD, "bin", "outsight"), SMALL]
# pylint: disable=wrong-import-position
import truths
from lib.guest import why_no_guest
from lib.namespaces import be_init, can_make
from lib.scenario import LineResult, shortened

INSIDE = "OUTSIGHT_EXAMPLES_INSIDE"  # what this part runs in is there
LAB_SECONDS = 1200


def enter_namespaces():
    """As root: no other guest, and no other port 1234, than those of these examples."""
    import daemon
    if os.environ.get(INSIDE):
        be_init()
        subprocess.run(["busybox", "ifconfig", "lo", "up"], check=True)
        return
    if can_make(daemon.NAMESPACES):
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", *daemon.NAMESPACES, sys.executable, "-B", *ARGV])


def in_the_lab():
    """Run all of this in scripts/kvm-lab's host, unless this is there already, or this host's own KVM is good: the exit
    status, or None."""
    from lib.host_kvm import why_not_kvm
    from run import why_no_lab
    why_not_here = None if os.environ.get(INSIDE) else why_not_kvm(sys.argv[1])
    if not why_not_here:
        return None
    if why_no_lab():
        print(f"SKIP all: {why_not_here}; {why_no_lab()}")
        return 77
    print(f"in scripts/kvm-lab, as {why_not_here}", flush=True)
    command = [os.path.join(truths.ROOT, "scripts", "kvm-lab"), "--", "env", f"{INSIDE}=1", sys.executable, "-B", *ARGV]
    return subprocess.run(["setpriv", "--pdeathsig", "TERM", *command], timeout=LAB_SECONDS, check=False).returncode


def why_not():
    """Why a whole part can't run here."""
    if PART in ("linux", "lab"):
        import stock
        return why_no_guest(stock.KERNEL) or (stock.why_not() if PART == "linux" else None)
    if PART in ("hook", "libvirt"):
        import qemu
        return qemu.reason_to_skip()
    return None


def go_where_it_runs():
    """Into namespaces or the lab: does not return, or returns the exit status of all, or None: here."""
    if PART in ("hook", "linux"):
        enter_namespaces()
    elif PART == "lab":
        return in_the_lab()
    elif PART == "libvirt":
        import daemon
        taken, sys.argv = sys.argv, ARGV
        daemon.enter_namespaces()
        sys.argv = taken
    return None


def main():
    reason = why_not()
    if reason:
        print(f"SKIP all: {reason}")
        return 77
    status = go_where_it_runs()
    if status is not None:
        return status
    truths.Examples.build, truths.Examples.small_guest = BUILD, SMALL
    module = __import__({"d": "guestless", "hook": "small", "libvirt": "domains", "linux": "stock", "lab": "lab"}[PART])
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(NAMES, module) if NAMES else loader.loadTestsFromModule(module)
    result = LineResult()
    shortened(suite).run(result)
    if not result.wasSuccessful() or not (result.testsRun or result.skipped):
        return 1
    return 0 if result.passed else 77


if __name__ == "__main__":
    sys.exit(main())
