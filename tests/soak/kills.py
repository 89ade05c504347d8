#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9, again and again: of outsight while it traces all that the small guest does, and of the VMM.

    kills.py OUTSIGHT SMALL-GUEST SMALL-GUEST-PVH [--rounds N | --minutes M] [--seed N] [--total FILE] [KIND…]

KIND is monitor (outsight-vmm), hook (QEMU on KVM with the library) or tcg (QEMU with the plugin); each is killed in
turn. After each kill of outsight the guest's text is its own, a trace counts exactly, and nothing is left of the dead
session: no process, and no thread, socket, shared memory or descriptor in the VMM. In every tenth round the VMM is
killed: outsight ends by itself and says so. With --total, FILE keeps the counts and seconds of all runs, and --minutes is
the sum to reach.

Ends with 77 where there is no /dev/kvm or no QEMU."""
import argparse
from collections import Counter
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("kvm", "hook", "linux")] + [HERE]
ARGUMENTS = argparse.ArgumentParser(description="kill -9 of outsight and of the VMM, again and again")
ARGUMENTS.add_argument("outsight")
ARGUMENTS.add_argument("guest")
ARGUMENTS.add_argument("pvh")
ARGUMENTS.add_argument("kinds", nargs="*", metavar="KIND")
ARGUMENTS.add_argument("--rounds", type=int, default=0)
ARGUMENTS.add_argument("--minutes", type=float, default=0)
ARGUMENTS.add_argument("--seed", type=int, default=1)
ARGUMENTS.add_argument("--total", metavar="FILE")
ARGS = ARGUMENTS.parse_intermixed_args()
# pylint: disable=wrong-import-position,wrong-import-order
from lib import namespaces
namespaces.enter()
sys.argv[1:] = [ARGS.outsight, ARGS.guest]
import small_guest
sys.argv[1:] = [ARGS.outsight, ARGS.pvh]
import qemu
from lib.pace import limit
from total import Total

TCG = os.path.join(os.path.dirname(qemu.HOOK), "liboutsight-tcg.so")
CPUS = 2
# All probes with all that a clause does: counts, keys, strings, stacks, variables of threads, records.
LOAD = ("fbt:::entry { @n[probefunc, cpu] = count(); self->t = timestamp; } "
        "fbt:::return /self->t/ { @q[probefunc] = quantize(timestamp - self->t); @s[stack()] = count(); self->t = 0; } "
        "fbt::probed_*:entry { trace(probefunc); a[probefunc, cpu]++; } "
        "profile-97 { @p[cpu] = count(); } tick-50ms { printa(@n); }")
VMM_EVERY = 10
# vCPUs that get no CPU of the host, or spin under TCG: their registers, or the change of probes, come too late.
BUSY = re.compile(r"no CR3 known|took the change within")
TRIES = 20
OURS = re.compile(r"memfd:outsight-(?!ram)|outsight-session")


class Failed(Exception):
    """Something was left, or was not as before."""


def wait_until(true, what, seconds=limit(60)):
    end = time.monotonic() + seconds
    last = true()
    while not last:
        if time.monotonic() > end:
            raise Failed(what() if callable(what) else what)
        time.sleep(0.02)
        last = true()


def of_session(sid):
    """Processes of the session that an outsight was started in, without those that only wait to be collected."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
            if int(fields[3]) == sid and fields[0] not in "ZX":
                found.append(int(pid))
    return found


class Footprint:
    """What a VMM has, and what is in the folders that all see."""

    def __init__(self, pid, folder):
        self.threads = sorted(os.listdir(f"/proc/{pid}/task"))
        links = (self.link(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
        self.descriptors = sorted(re.sub(r"\d+", "N", link) for link in links if link)
        with open(f"/proc/{pid}/maps", encoding="ascii") as f:
            self.maps = [line.split()[-1] for line in f if OURS.search(line)]
        self.sockets = sorted(self.names(folder))
        self.shared = sorted(self.names("/dev/shm"))
        with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
            self.claims = [line.split()[-1] for line in f if "@outsight-claim" in line]

    @staticmethod
    def link(path):
        with contextlib.suppress(OSError):
            return os.readlink(path)
        return None

    @staticmethod
    def names(folder):
        return [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if "console" not in name]

    def more_than(self, before):
        """What there is more of, in words; "": nothing."""
        left = {what: list((Counter(now) - Counter(was)).elements()) for what, now, was in (
            ("descriptors", self.descriptors, before.descriptors),
            ("mapped", self.maps, before.maps),
            ("sockets and files", self.sockets, before.sockets),
            ("/dev/shm", self.shared, before.shared),
            ("claims", self.claims, before.claims))}
        left["threads"] = self.threads[len(before.threads):]
        return "; ".join(f"{what}: {more}" for what, more in left.items() if more)


# --- the guests ----------------------------------------------------------------------------------------------


class Monitor:
    """outsight-vmm."""
    name = "monitor"

    def __init__(self):
        self.vm = small_guest.Vm(CPUS)
        self.process, self.env, self.folder = self.vm.process, os.environ.copy(), self.vm.dir.name

    def command(self, program):
        return self.vm.command(program)

    def is_clean(self):
        return self.vm.text() == small_guest.elf_text(small_guest.GUEST)[1]

    def counted(self):
        functions = small_guest.TRAPPED
        out = self.vm.trace(small_guest.ROUND % (
            "fbt::probed_*:entry,fbt::probed_*:return /on/ { @[probefunc, probename] = count(); }"))
        want = {(f"probed_{f}", end): small_guest.CALLS * CPUS * (2 if f == "load" else 1)
                for f in functions for end in ("entry", "return")}
        return small_guest.counts_of(out), want

    def said(self):
        return self.vm.console()

    def close(self):
        if self.process.poll() is None:
            self.vm.close()
        else:
            self.process.stderr.close()
            self.vm.dir.cleanup()


class InQemu:
    """QEMU, with the library from its start or with the plugin."""
    args = {"hook": {"preload": True}, "tcg": {"accel": "tcg,thread=multi", "args": ["-plugin", f"{TCG},name=small"]}}

    def __init__(self, name):
        self.name = name
        self.vm = qemu.Qemu(CPUS, **self.args[name]).wait_ready().wait_engine()
        self.process, self.env, self.folder = self.vm.process, self.vm.env, os.path.join(self.vm.dir.name, "outsight")

    def command(self, program):
        return self.vm.trace_command(program)

    def is_clean(self):
        return self.vm.text() == qemu.elf_text()[1]

    def counted(self):
        for _ in range(TRIES):
            done = subprocess.run(self.command(qemu.ALL), env=self.env, capture_output=True, text=True, timeout=limit(120), check=False)
            if not done.returncode:
                return qemu.counts_of(done.stdout), qemu.round_counts(CPUS)
            if not BUSY.search(done.stderr):
                break
        raise Failed(f"outsight ended with {done.returncode}: {done.stderr}")

    def said(self):
        return self.vm.console() + self.vm.errors()

    def close(self):
        self.vm.close()


KINDS = {"monitor": Monitor, "hook": lambda: InQemu("hook"), "tcg": lambda: InQemu("tcg")}


# --- killing --------------------------------------------------------------------------------------------------


def start(guest):
    return subprocess.Popen(guest.command(LOAD), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env=guest.env, start_new_session=True, text=True)


def check(guest, before):
    """The guest is as it was, and is traced exactly. What it has then: it may be less, when a session of before has ended since."""
    wait_until(guest.is_clean, "traps stay in the guest's text")
    wait_until(lambda: not Footprint(guest.process.pid, guest.folder).more_than(before),
               lambda: "left: " + Footprint(guest.process.pid, guest.folder).more_than(before))
    now = Footprint(guest.process.pid, guest.folder)
    got, want = guest.counted()
    if got != want:
        raise Failed(f"counted {got}, not {want}")
    if "FAIL" in guest.said():
        raise Failed(f"the guest says {guest.said()[-500:]}")
    return now


def kill_outsight(guest, before, chance):
    tracer = start(guest)
    time.sleep(chance.choice((0.1, 0.5, 2)) * chance.random())
    tracer.kill()
    tracer.communicate()
    wait_until(lambda: not of_session(tracer.pid), lambda: f"processes of a dead outsight: {of_session(tracer.pid)}")
    return check(guest, before)


def kill_vmm(guest, chance):
    tracer = start(guest)
    time.sleep(chance.uniform(0, 2))
    guest.process.send_signal(signal.SIGKILL)
    _, said = tracer.communicate(timeout=limit(60))
    guest.process.wait()
    if tracer.returncode != 1 or not re.search(r"(?m)^dtrace: ", said):
        raise Failed(f"outsight ended with {tracer.returncode}: {said}")
    wait_until(lambda: not of_session(tracer.pid), "processes of outsight stay")
    done = subprocess.run([qemu.OUTSIGHT, "guests"], env=guest.env, capture_output=True, text=True, timeout=limit(60), check=True)
    if re.search(rf"(?m)^\S+ +{guest.process.pid} ", done.stdout):
        raise Failed(f"a dead guest is listed: {done.stdout}")


class Kind:
    """The guests of a kind, one after another: a killed one is replaced."""

    def __init__(self, name, total):
        self.name, self.total, self.guest, self.before = name, total, None, None

    def begin(self):
        self.guest = KINDS[self.name]()
        self.guest.counted()  # what the first session leaves for all of them is no leftover
        wait_until(self.guest.is_clean, "traps stay in the guest's text")
        time.sleep(0.5)
        self.before = Footprint(self.guest.process.pid, self.guest.folder)

    def round(self, n, chance):
        if not self.guest:
            self.begin()
        if n % VMM_EVERY == VMM_EVERY - 1:
            kill_vmm(self.guest, chance)
            self.end()
            self.total.add(f"VMM {self.name}")
        else:
            self.before = kill_outsight(self.guest, self.before, chance)
            self.total.add(f"outsight {self.name}")

    def end(self):
        if self.guest:
            self.guest.close()
        self.guest = None


def run(total):
    chance = random.Random(ARGS.seed + sum(total.counts.values()))
    kinds = [Kind(name, total) for name in ARGS.kinds or KINDS]
    until, n = ARGS.minutes * 60, 0  # what all runs are to come to
    try:
        while n < ARGS.rounds or total.now() < until:
            for kind in kinds:
                try:
                    # a short run has one kill of each VMM
                    kind.round(VMM_EVERY - 1 if n == ARGS.rounds - 1 else n % VMM_EVERY, chance)
                except (Failed, AssertionError, subprocess.TimeoutExpired) as err:
                    print(f"kills: FAILED: {kind.name}, round {n}, {total}: {err}")
                    total.forget()
                    return 1
            n += 1
            total.write()
    finally:
        for kind in kinds:
            with contextlib.suppress(AssertionError, OSError, subprocess.TimeoutExpired):
                kind.end()
    print(f"kills: {total}")
    return 0


def main():
    for name in ARGS.kinds:
        if name not in KINDS:
            sys.exit(f"kills: no {name}: there are {', '.join(KINDS)}")
    reason = qemu.reason_to_skip()
    if reason:
        print(f"SKIP: {reason}")
        return 77
    return run(Total(ARGS.total))


if __name__ == "__main__":
    sys.exit(main())
