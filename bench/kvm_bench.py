#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a probe to a guest on KVM, in ratios within one run. Prints each goal, the figure (median, least and
most) and MET or MISSED. See docs/benchmarks.md.

    scripts/bench kvm       sets up and runs this, here and in the KVM lab

The guest (bench/guest/kvm_loop.c) calls functions in turns and times each by its own time stamp counter. The floor is
an exit that it makes itself, by the same instruction as our traps, to a port that the monitor ignores: the same
monitor, vCPU and loop as a hit, in the same rounds, a few milliseconds before it. The part of an exit that tracing adds
(synchronised registers, identifying the exit's owner) is a separate figure.
"""
import argparse
import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import gdb_loop  # noqa: E402
from stats import Report, Sample  # noqa: E402

BUILD = os.path.join(os.path.dirname(HERE), "build", "release")
BARE, FLOOR, ENTRY, RETURN = range(4)
KEYED = "fbt::bench_entry:entry /arg0 != 5/ { @[arg1] = count(); }"
RETURNS = "fbt::bench_return:return /arg0 != 5/ { @[arg0 & 1] = count(); }"
ROUNDS_LEAST = 8


class Vm:
    """The guest in a monitor of its own."""

    def __init__(self, args, cpus=1, socket=True):
        self.args, self.dir = args, tempfile.TemporaryDirectory(prefix="outsight-bench-")
        self.folder = os.path.join(self.dir.name, "outsight")
        os.mkdir(self.folder)
        self.socket = os.path.join(self.folder, "bench.sock")
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.dir.name)
        self.console = os.path.join(self.dir.name, "console")
        command = [args.vmm, "--kernel", args.guest, "--smp", str(cpus), "--memory", "64", "--console", self.console,
                   "--append", f"cpus={cpus} calls={args.calls}", "--name", "bench"]
        self.process = subprocess.Popen(command + (["--socket", self.socket] if socket else []),
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.lines(1, 60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.dir.cleanup()

    def text(self):
        with contextlib.suppress(FileNotFoundError), open(self.console, encoding="ascii") as f:
            return f.read()
        return ""

    def lines(self, more, seconds):
        """Wait for so many more rounds; return all of them."""
        end, want = time.monotonic() + seconds, None
        while True:
            lines = [m.group(1) for m in re.finditer(r"^R (.*)\n", self.text(), re.M)]
            want = want or len(lines) + more
            if len(lines) >= want:
                return [[int(x, 16) for x in line.split()] for line in lines]
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the guest makes no rounds: {self.text()[-200:]!r}")
            time.sleep(0.02)

    def rounds(self, seconds):
        """Turns of the rounds in the next seconds, cycles a call; without the current round."""
        begun = len(self.lines(1, 60))
        time.sleep(seconds)
        return [[turn / self.args.calls for turn in line[:4]] for line in self.lines(ROUNDS_LEAST, 120)[begun + 1:]]

    def cycles_a_ns(self):
        first, then = self.lines(1, 60)[-1][4], time.monotonic()
        time.sleep(3)
        last, now = self.lines(1, 60)[-1][4], time.monotonic()
        return (last - first) / ((now - then) * 1e9)

    def held_ms(self):
        done = subprocess.run([self.args.outsight, "guests", "--json"], env=self.env, capture_output=True, text=True,
                              check=True)
        return next(g["held_ms"] for g in json.loads(done.stdout) if g["pid"] == self.process.pid)

    def command(self, program, *options):
        return [self.args.outsight, "-g", self.socket, "--no-cache", "--vmlinux", self.args.guest, "-q", "-x",
                "maxcost=0", *options, "-n", program]

    @contextlib.contextmanager
    def tracing(self, program, *options):
        """While a program traces: its sites are planted once its first tick has fired."""
        with subprocess.Popen(self.command(program + ' tick-10ms /!begun++/ { printf("on\\n"); }', *options, "-x",
                                           "switchrate=20hz"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.env, text=True) as tracer:
            if "on" not in tracer.stdout.readline():
                raise RuntimeError(f"outsight: {tracer.communicate()[1].strip()}")
            try:
                yield
            finally:
                tracer.send_signal(signal.SIGINT)
                said = tracer.communicate(timeout=60)[1]
            # With -x trap=hw, outsight prints its note about debug registers.
            said = "".join(line for line in said.splitlines(True) if "-x trap=hw: the guest's own" not in line)
            if said:
                raise RuntimeError(f"outsight: {said.strip()}")


def quartile(values):
    """The first quartile: other load on the host can only make a measurement longer."""
    return statistics.quantiles(values, n=4)[0]


def over_bare(rounds, turn):
    """The cost of a call over a bare one, cycles."""
    return quartile(r[turn] for r in rounds) - quartile(r[BARE] for r in rounds)


class Costs:
    """The cost of hits and floors, cycles, by measurement. Idle and traced in turn; the traced floor is the hit's
    own."""

    def __init__(self, vm, args, program, *options, turns=(ENTRY,)):
        self.per_ns = vm.cycles_a_ns()
        self.idle, self.floors = [], []
        self.hits = {turn: [] for turn in turns}
        for _ in range(args.rounds):
            self.idle.append(over_bare(vm.rounds(args.seconds / 2), FLOOR))
            with vm.tracing(program, *options):
                rounds = vm.rounds(args.seconds)
            self.floors.append(over_bare(rounds, FLOOR))
            for turn in turns:
                self.hits[turn].append(over_bare(rounds, turn))

    def ratios(self, turn):
        return Sample([hit / floor for hit, floor in zip(self.hits[turn], self.floors)])

    def us(self, values):
        return Sample([v / self.per_ns / 1000 for v in values])


def bench_hits(report, vm, args):
    costs = Costs(vm, args, KEYED + RETURNS, turns=(ENTRY, RETURN))
    report.figure("an exit to the monitor and back, nothing traced", costs.us(costs.idle).text("us", 2))
    report.figure("the floor: the same while a probe is in", costs.us(costs.floors).text("us", 2))
    report.figure("the floor against nothing traced",
                  Sample([f / i for f, i in zip(costs.floors, costs.idle)]).text("", 2))
    for what, turn, limit in (("entry, predicate and keyed count", ENTRY, 1.25), ("return, the same", RETURN, 1.3)):
        report.figure(f"hit: {what}", costs.us(costs.hits[turn]).text("us", 2))
        ratio = costs.ratios(turn)
        report.goal(f"hit: {what}, against the floor", f"at most {limit}", ratio.text("", 2), ratio.median <= limit)
    return statistics.median(costs.hits[ENTRY]) / costs.per_ns


def bench_counter(report, vm, args):
    costs = Costs(vm, args, "fbt::bench_entry:entry { @ = count(); }")
    ratio = costs.ratios(ENTRY)
    report.figure("counter that KVM keeps", costs.us(costs.hits[ENTRY]).text("us", 2))
    report.goal("counter that KVM keeps, against the floor", f"at most {args.counter_goal}", ratio.text("", 2),
                ratio.median <= args.counter_goal)


def bench_other_traps(report, vm, args):
    for what, trap in (("single-step", "step"), ("debug register", "hw")):
        try:
            costs = Costs(vm, args, KEYED, "-x", f"trap={trap}")
        except RuntimeError as e:
            report.skip(f"hit: {what}", str(e))
            continue
        report.figure(f"hit: {what}", costs.us(costs.hits[ENTRY]).text("us", 2))
        # Under these every exit is slower, a floor too: so against one that is not.
        report.figure(f"hit: {what}, against an exit untraced",
                      Sample([h / i for h, i in zip(costs.hits[ENTRY], costs.idle)]).text("", 2))


@contextlib.contextmanager
def alone(vm, vms):
    """The other guests are paused meanwhile."""
    for other in vms:
        other.process.send_signal(signal.SIGCONT if other is vm else signal.SIGSTOP)
    try:
        yield vm
    finally:
        for other in vms:
            other.process.send_signal(signal.SIGCONT)


def bench_vcpus(report, args):
    """Guests of 1, 2 and 4 vCPUs in turn; on a host with fewer CPUs, the floor increases as well."""
    numbers = (1, 2, 4)
    with contextlib.ExitStack() as stack:
        vms = [stack.enter_context(Vm(args, n)) for n in numbers]
        hits, ratios, per_ns = {n: [] for n in numbers}, {n: [] for n in numbers}, vms[0].cycles_a_ns()
        for _ in range(args.rounds):
            for n, vm in zip(numbers, vms):
                with alone(vm, vms), vm.tracing(KEYED):
                    rounds = vm.rounds(args.seconds)
                hits[n].append(over_bare(rounds, ENTRY))
                ratios[n].append(hits[n][-1] / over_bare(rounds, FLOOR))
    for n in numbers:
        us = Sample([h / per_ns / 1000 for h in hits[n]])
        growth = Sample([h / one for h, one in zip(hits[n], hits[1])])
        report.figure(f"hit: {n} vCPU{'s' if n > 1 else ''} at once, each", us.text("us", 2))
        report.figure(f"hit: {n} vCPU{'s' if n > 1 else ''} at once, against their floor",
                      Sample(ratios[n]).text("", 2) + f"; against one vCPU {growth.text('', 2)}")


def bench_idle(report, args):
    """A pair of fresh guests each time, both taken in turns, as boots differ."""
    ratios, spread = [], []
    for _ in range(args.rounds):
        with Vm(args, socket=False) as plain, Vm(args) as loaded:
            sums = {plain: [], loaded: []}
            for vm in (plain, loaded) * 3:
                with alone(vm, sums):
                    sums[vm] += [sum(r) for r in vm.rounds(args.seconds / 2)]
        ratios.append(quartile(sums[loaded]) / quartile(sums[plain]))
        spread.append(quartile(sums[plain]))
    sample, noise = Sample(ratios), (max(spread) - min(spread)) / statistics.median(spread)
    report.goal("engine loaded, nothing enabled: a round's time", "1.00 within noise",
                f"{sample.text('', 3)}, plain spreads {noise:.1%}", abs(sample.median - 1) <= min(max(noise / 2, 0.02), 0.05))


def bench_enabling(report, vm, args):
    took, held = [], []
    program = 'fbt::many_[1-3]????:entry { @[probefunc] = count(); } tick-1ms { printf("on\\n"); exit(0); }'
    for _ in range(args.rounds):
        before, start = vm.held_ms(), time.monotonic()
        with subprocess.Popen(vm.command(program, "-x", "switchrate=1ms"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=vm.env, text=True) as tracer:
            line = tracer.stdout.readline()
            took.append(time.monotonic() - start)
            said = tracer.communicate(timeout=60)[1]
        if "on" not in line or said:
            raise RuntimeError(f"outsight: {said.strip()}")
        held.append(vm.held_ms() - before)
    done = subprocess.run(vm.command("", "-l", "-n", "fbt::many_[1-3]????:entry")[:-2], env=vm.env,
                          capture_output=True, text=True, check=True)
    probes = len(done.stdout.splitlines()) - 1
    seconds, ms = Sample(took), Sample(held)
    report.goal(f"enabling {probes} fbt probes, from exec to the first tick", "under 2 s", seconds.text("s", 2),
                seconds.median < 2)
    report.goal("vCPUs held for it, planting and taking out", "under 50 ms", ms.text("ms", 1), ms.median < 50)


def symbol(path, name):
    out = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^([0-9a-f]+) \w {name}$", out, re.M).group(1), 16)


def bench_gdb(report, args, hit_ns):
    """The same guest in QEMU, with breakpoints of the kind that this host supports."""
    what = "gdb-protocol breakpoint loop against ours"
    with tempfile.TemporaryDirectory() as work:
        gdb, console = os.path.join(work, "gdb"), os.path.join(work, "console")
        qemu = subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "kvm", "-cpu", args.qemu_cpu, "-m", "64", "-nodefaults", "-display", "none",
             "-kernel", args.guest, "-append", "only=1", "-serial", f"file:{console}", "-gdb",
             f"unix:{gdb},server=on,wait=off"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            end = time.monotonic() + 60
            while not os.path.exists(console) or "READY" not in open(console, encoding="ascii", errors="replace").read():
                if qemu.poll() is not None or time.monotonic() > end:
                    qemu.kill()
                    report.skip(what, f"QEMU did not start the guest: {qemu.communicate()[1].strip()[:200]}")
                    return
                time.sleep(0.1)
            kind = 1 if args.hardware else 0
            hits = [gdb_loop.hit_loop(gdb, symbol(args.guest, "bench_entry"), args.seconds, kind) * 1e6
                    for _ in range(args.rounds)]
        except (OSError, RuntimeError) as e:
            report.skip(what, str(e))
            return
        finally:
            qemu.kill()
            qemu.communicate()
    sample = Sample(hits)
    report.figure("hit: breakpoint loop over QEMU's gdbstub", sample.text("us"))
    times = sample.median * 1000 / hit_ns
    report.goal(what, "at least 20 times", f"{times:.1f} times", times >= 20)


def main():
    parser = argparse.ArgumentParser(description="What a probe costs a guest on KVM.")
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--calls", type=int, default=100, help="in a turn of the guest's")
    parser.add_argument("--counter-goal", type=float, default=0.15)
    parser.add_argument("--qemu-cpu", default="host")
    parser.add_argument("--only", default="", help="hits, counter, traps, vcpus, idle, enabling, gdb; the hits always")
    args = parser.parse_args()
    args.outsight, args.vmm = (os.path.join(args.build, "bin", name) for name in ("outsight", "outsight-vmm"))
    args.guest = os.path.join(args.build, "bench", "kvm-guest")
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        sys.exit("bench: there is no /dev/kvm that can be opened")
    doctor = subprocess.run([args.outsight, "doctor"], capture_output=True, text=True, check=False).stdout
    args.hardware = "int3=debug-exit" not in doctor
    only = set(filter(None, args.only.split(",")))

    def wanted(name):
        return not only or name in only

    report = Report()
    with Vm(args) as vm:
        hit_ns = bench_hits(report, vm, args)
        if wanted("counter"):
            bench_counter(report, vm, args)
        if wanted("traps"):
            bench_other_traps(report, vm, args)
        if wanted("enabling"):
            bench_enabling(report, vm, args)
    if wanted("vcpus"):
        bench_vcpus(report, args)
    if wanted("idle"):
        bench_idle(report, args)
    if wanted("gdb"):
        bench_gdb(report, args, hit_ns)
    print(f"{report.missed} missed" if report.missed else "all met")


if __name__ == "__main__":
    main()
