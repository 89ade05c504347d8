# SPDX-License-Identifier: GPL-2.0-or-later
"""What outsight's own CPU time grows with: the guests of a session."""
import os
import subprocess
import sys
import time
from contextlib import ExitStack, closing

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.path.join(TOP, "build", "release")
OUTSIGHT = os.path.join(BUILD, "bin", "outsight")
SMALL = os.path.join(BUILD, "tests", "kvm", "small-guest")
sys.path.insert(0, os.path.join(TOP, "tests", "kvm"))

GUESTS = (1, 2, 4, 8, 16, 32)  # a session has so many
SECONDS = 4
COUNT = "fbt::round_begin:entry { @[guest] = count(); }"


def cpu_to_end(command, env=None):
    """CPU time in ns of a command that ends well, its children included: these read the guest."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    said = process.stderr.read()
    _, status, use = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise RuntimeError(f"{command}: {said.decode()}")
    return (use.ru_utime + use.ru_stime) * 1e9


def own_cpu(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


def cpu_a_second(command):
    """CPU time in ns that a session takes for each second, once it runs."""
    process = subprocess.Popen([*command, "-n", 'BEGIN { printf("on\\n"); }'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        if process.stdout.readline() != b"on\n":
            raise RuntimeError(f"{command} has ended")
        time.sleep(1)
        start, began = own_cpu(process.pid), time.monotonic()
        time.sleep(SECONDS)
        return (own_cpu(process.pid) - start) / (time.monotonic() - began)
    finally:
        process.terminate()
        process.communicate(timeout=120)


def guests(rounds, most, table):
    """Small guests on KVM that do next to nothing, so that what is measured is the session."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        print("guests: SKIP: there is no /dev/kvm here that can be opened")
        return
    argv, sys.argv = sys.argv, ["", OUTSIGHT, SMALL]
    from small_guest import Vm  # pylint: disable=import-outside-toplevel
    sys.argv = argv
    sizes = [n for n in GUESTS if n <= most]
    attach, run = {n: [] for n in sizes}, {n: [] for n in sizes}
    with ExitStack() as stack:
        vms = [stack.enter_context(closing(Vm(1, "rest=200000000", name=f"small{i}"))) for i in range(sizes[-1])]
        for _ in range(rounds):
            for n in sizes:
                command = [OUTSIGHT, *(arg for vm in vms[:n] for arg in ("-g", vm.socket)), "--no-cache", "--vmlinux", SMALL, "-q",
                           "-n", COUNT]
                attach[n].append(cpu_to_end([*command, "-n", "BEGIN { exit(0); }"]))
                run[n].append(cpu_a_second(command))
    table("guests.attach: outsight's CPU time from exec() to its end, all of them attached and one probe in each", "ms", True, attach)
    table(f"guests.run: outsight's CPU time for each second of that session, {SECONDS} of them", "us", True, run)
