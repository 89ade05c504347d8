#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of probes in a guest's programs under outsight on the tcg backend, beside the guest's own uprobe at the same
function, in turn; and on KVM, beside a probe in the kernel. Prints each goal, the figure (median, least and most; CPU time
of QEMU) and MET or MISSED. See docs/benchmarks.md.

    scripts/bench user     sets up and runs this
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "linux")]

import guest_image  # noqa: E402
from lib.guest import image_dir, why_no_guest  # noqa: E402
from lib.programs import add_python, pack  # noqa: E402
from lib.vmm_guest import VmmGuest  # noqa: E402
from stats import Report, Sample, median_within  # noqa: E402
from tracing import BUILD, OUTSIGHT, Tracing, boot, cost, cpu_ns  # noqa: E402

KERNEL = "6.1"
CALLS = 2000000
KVM_CALLS = 20000  # each an exit
KVM_GOAL = 1.5  # times a kernel hit
UPROBES = 50000  # under the guest's own, a thousand times slower
TRACING = "/sys/kernel/tracing"
PEER_GOAL = 100  # times as cheap as the guest's own

FEW = 50000  # where each call is an error, of which each is a record and a line
PYTHON_CALLS = 50000
EXECS, EXECS_RATE = 100, 100  # and how many a second
FOLLOWERS_GOAL = 1.03  # times as long
PAIRS_LEAST, PAIRS_MOST = 20, 60  # of rounds, until they decide
PROCESSES, FILES = 200, 300
ATTACH_GOAL, ATTACH_AGAIN_GOAL = 1.0, 0.2  # s

COUNTED = "pid::called:entry, counted"
COPYIN = "pidP::called:entry { @ = sum(*(uint64_t *)copyin(arg0, 8)); }"

# What is traced, its signal to the program, the D program (P: the process's number), the goal in ns.
ROWS = [
    ("user:user:called:entry, counted", "USR1", "user:user:called:entry { @ = count(); }", None),
    (COUNTED, "USR1", "pidP::called:entry { @ = count(); }", 20),
    ("pid::called:entry, keyed by execname", "USR1", "pidP::called:entry { @[execname] = count(); }", 250),
    ("pid::called:return, counted", "USR1", "pidP::called:return { @ = count(); }", None),
    ("bench:::passed, counted", "USR2", "benchP:::passed { @ = count(); }", None),
    ("bench:::passed, sum of its argument", "USR2", "benchP:::passed { @ = sum(arg0); }", None),
    ("pid::called:entry, ustack(20), of a few frames", "USR1", "pidP::called:entry { @[ustack(20)] = count(); }", None),
    ("pid::called:entry, ustack(20), of 20 frames", "HUP", "pidP::called:entry { @[ustack(20)] = count(); }", 3000),
    ("copyin() of 8 bytes that were touched", "ALRM", COPYIN, None),
    ("copyin() of 8 bytes of the page cache, untouched", "TERM", COPYIN, None),
]
# The same where each call is an error.
ERRORS = [("copyin() of 8 bytes that are nowhere", "PIPE", COPYIN, None)]
# Of a Python program, ten functions deep.
PYTHON = [
    ("Python: syscall::getppid:entry, counted", "USR1", "syscall::getppid:entry /pid == P / { @ = count(); }", None),
    ("Python: syscall::getppid:entry, ustack(50)", "USR1", "syscall::getppid:entry /pid == P / { @[ustack(50)] = count(); }", None),
    ("Python: syscall::getppid:entry, jstack()", "USR1", "syscall::getppid:entry /pid == P / { @[jstack()] = count(); }", None),
]


# On KVM, each with a clause that no counter of KVM's can replace.
KVM_KERNEL = ("KVM: syscall::getppid:entry", "VTALRM", "syscall::getppid:entry /pid == P / { @ = sum(1); }", None)
KVM_USER = ("KVM: pid::called:entry, by a debug register", "USR1", "pidP::called:entry { @ = sum(1); }", None)


# Sessions that look for programs that begin.
FOLLOWERS = [("bench*:::", "bench*:::passed { @ = count(); }"), ("user:", "user:user:called:entry { @ = count(); }"),
             ("execs*:::, which each has,", "execs*:::begun { @ = count(); }")]
# Sessions that read all processes when they begin.
CROWDED = [("bench*:::passed", "bench*:::passed { @ = count(); }", True), ("user:user:called:entry", "user:user:called:entry { @ = count(); }", True),
           ("profile-97, ustack()", "profile-97 { @[ustack()] = count(); }", False)]


class Program:
    """bench/guest/user in the guest, or another program that does as it does, waiting for its signals."""

    def __init__(self, guest, name, calls=CALLS, command="user"):
        self.guest, self.said, self.calls = guest, f"/tmp/{name}.said", calls
        # A pipe that stays open, so that what is said waits for its reader.
        guest.check(f"mkfifo {self.said}; sleep 1000000 <>{self.said} >/dev/null 2>&1 &")
        self.pid = int(guest.check(f"{command} {calls} >{self.said} & echo $!"))
        self._wait("ready")

    def _wait(self, word):
        """The shell sleeps meanwhile: what it did would be counted as the program's."""
        self.guest.check(f"while read line; do [ \"$line\" = {word} ] && break; done <{self.said}", 300)

    def work(self, signal):
        self.guest.check(f"kill -{signal} {self.pid}")
        self._wait("done")

    def time(self, signal):
        """ns a call, of QEMU's CPU time. It runs once before: a change of probes drops QEMU's translations."""
        self.work(signal)
        before = cpu_ns(self.guest.pid)
        self.work(signal)
        return (cpu_ns(self.guest.pid) - before) / self.calls


def bench_row(report, program, rounds, row):
    what, signal, text, goal = row
    bare, ours = [], []
    for _ in range(rounds):
        bare.append(program.time(signal))
        with Tracing(program.guest, re.sub(r"P(?=[: ])", str(program.pid), text), "-x", "bufsize=32m"):
            ours.append(program.time(signal))
    mine = cost(bare, ours)
    if goal:
        report.goal(what, f"at most {goal} ns", mine.text("ns", 1), mine.median <= goal)
    else:
        report.figure(what, mine.text("ns", 1))
    return mine


def bench_foreign(report, program, other, rounds):
    """The same function in a process that is not meant."""
    bare, ours = [], []
    for _ in range(rounds):
        bare.append(other.time("USR1"))
        with Tracing(program.guest, f"pid{program.pid}::called:entry {{ @ = count(); }}"):
            ours.append(other.time("USR1"))
    mine = cost(bare, ours)
    report.goal("another process at that place", "at most 60 ns", mine.text("ns", 1), mine.median <= 60)


class Round:
    """One round of a program: CPU time of the vCPU and of QEMU's other threads, and how often QEMU has dropped its translations."""

    def __init__(self, program, signal):
        guest = program.guest
        self.vcpu_thread = guest.qmp("query-cpus-fast")[0]["thread-id"]
        program.work(signal)  # a change of probes drops them
        before = self._now(guest)
        program.work(signal)
        self.vcpu, self.others, self.dropped = (now - then for now, then in zip(self._now(guest), before, strict=True))

    def _now(self, guest):
        vcpu = cpu_ns(guest.pid, [str(self.vcpu_thread)])
        dropped = re.search(r"TB flush count +(\d+)", guest.qemu_command("info jit")).group(1)
        return vcpu, cpu_ns(guest.pid) - vcpu, int(dropped)


def bench_followers(report, guest):
    """Programs that run, a hundred a second, while it is looked for others. The vCPU's time differs from round to round by more than
    the goal allows, so that pairs are measured, each in the other order than the one before, until their median is known. What
    can be said exactly is said of its own: what other threads do, and whether code is translated again."""
    program = Program(guest, "execs", EXECS, f"execs {EXECS_RATE}")
    for what, text in FOLLOWERS:
        name, ratios, others, dropped, within = f"{EXECS_RATE} exec()/s while {what} is followed", [], [], 0, None
        while len(ratios) < PAIRS_MOST and (len(ratios) < PAIRS_LEAST or within[0] <= FOLLOWERS_GOAL < within[1]):
            bare = Round(program, "USR1") if len(ratios) % 2 else None
            with Tracing(guest, text):
                traced = Round(program, "USR1")
            bare = bare or Round(program, "USR1")
            ratios.append(traced.vcpu / bare.vcpu)
            others.append((traced.others - bare.others) / bare.vcpu * 100)
            dropped += traced.dropped
            within = median_within(ratios)
        report.at_most(name, FOLLOWERS_GOAL, ratios, within)
        report.figure("  QEMU's other threads take, of the vCPU's time", Sample(others).text("%", 2))
        report.figure("  translations were dropped in these rounds", f"{dropped} times")


def why_no_kvm():
    """Why no process of a guest on KVM can be probed here, or nothing."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "there is no /dev/kvm here that can be opened"
    said = subprocess.run([OUTSIGHT, "doctor", "-v"], capture_output=True, text=True, check=False).stdout
    if "hw_user=yes" not in said:
        return "no debug register works in user mode under this host's KVM; `scripts/bench user --only kvm` measures in the KVM lab too"
    return None


class KvmGuest(VmmGuest):
    """… with the benchmarks' programs."""

    def __init__(self, initrd):
        super().__init__(KERNEL, os.path.join(BUILD, "bin", "outsight-vmm"), smp=1, name="user-kvm")
        self.with_programs = initrd

    def initrd(self):
        return self.with_programs


def bench_kvm(report, initrd, rounds):
    what, reason = "KVM: a hit in a program, of one in the kernel", why_no_kvm()
    if reason:
        report.skip(what, reason)
        return
    guest = KvmGuest(initrd).boot()
    try:
        program = Program(guest, "program", KVM_CALLS)
        kernel, user = (bench_row(report, program, rounds, row) for row in (KVM_KERNEL, KVM_USER))
        ratio = user.median / kernel.median
        report.goal(what, f"at most {KVM_GOAL} times", f"{ratio:.2f} times", ratio <= KVM_GOAL)
    finally:
        guest.close()


def reads_of(pid):
    """System calls that read, by a process and the children that it has waited for. Nearly all of them read the guest."""
    with open(f"/proc/{pid}/io", encoding="ascii") as f:
        return int(re.search(r"syscr: (\d+)", f.read()).group(1))


def seconds_to_begin(guest, text):
    """From exec() of outsight to BEGIN: its CPU time, as the machine may be busy, and how often it has read, which does not depend on that."""
    with Tracing(guest, f'BEGIN {{ printf("begun"); }} {text}', "-x", "switchrate=50hz", settle=0) as trace:
        trace.wait_for("begun")
        with open(f"/proc/{trace.process.pid}/stat", encoding="ascii") as f:
            times = f.read().rsplit(")", 1)[1].split()[11:15]  # its own, and those of the children that it has had
        return sum(int(ticks) for ticks in times) / os.sysconf("SC_CLK_TCK"), reads_of(trace.process.pid)


def bench_attach(report, guest, rounds):
    """Among many processes. The second session of a row finds nothing in any cache: of programs none is kept. The machine's other load
    only adds to a round, so that the least of several is nearest to what it takes."""
    few = Sample([seconds_to_begin(guest, "syscall::getppid:entry { @ = count(); }")[0] for _ in range(rounds)])
    report.figure("outsight's CPU time to BEGIN, a system call's probe", few.text("s", 2))
    guest.check(f"crowd {PROCESSES} {FILES} /bin/getppid_ns >/tmp/crowd.out & until grep -q ready /tmp/crowd.out; do sleep 0.2; done", 300)
    for what, text, has_goal in CROWDED:
        took, reads = zip(*(seconds_to_begin(guest, text) for _ in range(rounds + 1)), strict=True)
        name, again = f"to BEGIN, {PROCESSES} processes, {FILES} files: {what}", Sample(took[1:])
        report.figure("  its reads", Sample(reads).text("reads"))
        if not has_goal:
            report.figure(name, Sample(took).text("s", 2))
            continue
        report.goal(name, f"at most {ATTACH_GOAL} s", f"{took[0]:.2f} s", took[0] <= ATTACH_GOAL)
        report.goal("  and again, the least", f"at most {ATTACH_AGAIN_GOAL} s", f"{again.text('s', 2)}, {few.values[0]:.2f} s without programs",
                    again.values[0] <= ATTACH_AGAIN_GOAL)
    guest.check("killall -9 crowd; rm -rf /tmp/crowd")


def offset_of(path, function):
    """Where a function is in its file: uprobes name it so."""
    at = int(re.search(rf"^([0-9a-f]+) \w {function}$", subprocess.run(
        ["nm", path], capture_output=True, text=True, check=True).stdout, re.M).group(1), 16)
    for row in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", subprocess.run(
            ["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout):
        offset, start, size = (int(word, 16) for word in row)
        if start <= at < start + size:
            return at - start + offset
    raise RuntimeError(f"{function} is in no segment of {path}")


def bench_uprobe(report, guest, path, rounds, ours):
    """A trace event of the guest's own, written to its ring buffer."""
    program = Program(guest, "slow", UPROBES)
    bare, theirs = [], []
    guest.check(f"mount | grep -q {TRACING} || mount -t tracefs tracefs {TRACING}")
    for _ in range(rounds):
        bare.append(program.time("USR1"))
        guest.check(f"echo 'p:bench/called /bin/user:{offset_of(path, 'called'):#x}' >{TRACING}/uprobe_events && "
                    f"echo 1 >{TRACING}/events/bench/called/enable")
        theirs.append(program.time("USR1"))
        guest.check(f"echo 0 >{TRACING}/events/bench/called/enable && echo >{TRACING}/uprobe_events")
    peer = cost(bare, theirs)
    report.figure("the guest's own uprobe there", peer.text("ns"))
    report.goal("  ours, counted, is cheaper", f"{PEER_GOAL} times", f"{peer.median / max(ours.median, 0.1):.0f} times",
                peer.median >= PEER_GOAL * ours.median)


def make_python(workdir):
    """[an archive with this host's Python and frames.py], or nothing where it was not built with static probes."""
    root, archive = os.path.join(workdir, "python"), os.path.join(workdir, "python.cpio")
    for name in ("bin", "lib/x86_64-linux-gnu", "lib64"):
        os.makedirs(os.path.join(root, name))
    if not add_python(root):
        return []
    for path in guest_image.libraries("/usr/bin/python3"):
        if "/ld-linux" in path:
            shutil.copy(os.path.realpath(path), os.path.join(root, "lib64", os.path.basename(path)))
    shutil.copy(os.path.join(HERE, "guest", "frames.py"), os.path.join(root, "bin"))
    pack(root, archive)
    return [archive]


def bench_python(report, guest, rounds, there):
    if not there:
        report.skip("a Python program", "this host's Python has no static probes, so that it is not put into the guest")
        return
    program = Program(guest, "python", PYTHON_CALLS, "/usr/bin/python3 -IS /bin/frames.py")
    for row in PYTHON:
        bench_row(report, program, rounds, row)


def bench_hits(report, guest, program, rounds, path):
    samples = {row[0]: bench_row(report, program, rounds, row) for row in ROWS}
    few = Program(guest, "few", FEW)
    for row in ERRORS:
        bench_row(report, few, rounds, row)
    bench_foreign(report, program, Program(guest, "other"), rounds)
    bench_uprobe(report, guest, path, rounds, samples[COUNTED])


def bench_tcg(report, args, workdir, initrd, python):
    guest = boot("user", initrd, True, workdir)
    try:
        program = Program(guest, "program")
        for part, bench in (("hits", lambda: bench_hits(report, guest, program, args.rounds, os.path.join(workdir, "user"))),
                            ("python", lambda: bench_python(report, guest, args.rounds, python)),
                            ("followers", lambda: bench_followers(report, guest)),
                            ("attach", lambda: bench_attach(report, guest, args.rounds))):
            if args.only in (None, part):
                bench()
    finally:
        guest.close()


def main():
    parser = argparse.ArgumentParser(description="What probes in a guest's programs cost.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("hits", "python", "followers", "attach", "kvm"), help="one part")
    args = parser.parse_args()
    reason = why_no_guest(KERNEL)
    if reason:
        sys.exit(f"bench: {reason}")
    report = Report()
    with tempfile.TemporaryDirectory() as workdir:
        initrd = os.path.join(workdir, "initrd")
        python = make_python(workdir)
        guest_image.make(os.path.join(image_dir(KERNEL), "initrd"), initrd, keep=workdir, more=python)
        if args.only in (None, "kvm"):
            bench_kvm(report, initrd, args.rounds)
        if args.only != "kvm":
            bench_tcg(report, args, workdir, initrd, python)
    print(f"{report.missed} missed" if report.missed else "all met")


if __name__ == "__main__":
    main()
