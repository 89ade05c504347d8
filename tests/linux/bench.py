#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tracing costs the guest, and what it takes to attach: a Markdown report with goals.

Every figure is a median with the lowest and highest in brackets. The guest has one vCPU, so that two host cores
hold it and outsight; the loop makes getppid system calls and times itself.
"""
import argparse
import os
import platform
import re
import shlex
import shutil
import socket
import statistics
import struct
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import MIB, Guest, GuestError, why_no_guest
from lib.outsight import Outsight
from lib.scenario import parse_symbols

CALLS = 300000
ROUNDS = 7
BOOTS = 3
ATTACHES = 7
GDB_SECONDS = 5
PROBE = "fbt::__x64_sys_getppid:entry"
# name, clause, bpftrace's equivalent, goal in ns (None: not measurable)
COSTS = [
    ("`count()` alone", PROBE + " { @ = count(); }", "kprobe:__x64_sys_getppid { @ = count(); }", None),
    ("`count()` under a predicate on pid", PROBE + " /pid == $1/ { @ = count(); }",
     "kprobe:__x64_sys_getppid /pid == $1/ { @ = count(); }", 100),
    ("`count()` keyed by execname", PROBE + " { @[execname] = count(); }",
     "kprobe:__x64_sys_getppid { @[comm] = count(); }", 200),
    ("`printf` of two arguments", PROBE + ' { printf("%x %x\\n", arg0, arg1); }',
     'kprobe:__x64_sys_getppid { printf("%lx %lx\\n", arg0, arg1); }', 300),
]


class Figures:
    """Measurements of one thing."""

    def __init__(self, values):
        self.values = sorted(values)

    @property
    def median(self):
        return statistics.median(self.values)

    def text(self, digits=0, scale=1.0):
        low, high = self.values[0] * scale, self.values[-1] * scale
        return f"{self.median * scale:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"

    @property
    def spread(self):
        return (self.values[-1] - self.values[0]) / 2


def verdict(met):
    return "MET" if met else "MISSED"


def times_in(text):
    """ns a call, one value a round, of getppid_bench's output."""
    return [float(m.group(1)) for m in re.finditer(r"^ns ([\d.]+)$", text, re.M)]


def loop(guest, calls=CALLS, rounds=ROUNDS):
    return times_in(guest.check(f"getppid_bench {calls} {rounds}", timeout=900))


class WaitingLoop:
    """The loop as a process that waits, so that a trace can be set on its PID first."""

    def __init__(self, guest):
        self.job = guest.spawn(f"getppid_bench {CALLS} {ROUNDS} wait")
        deadline = time.monotonic() + 60
        self.pid = ""
        while not self.pid and time.monotonic() < deadline:
            self.pid = guest.run("pidof getppid_bench")[1].strip()

    def go(self):
        self.job.send("go")
        return Figures(times_in(self.job.done(900)))


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, outsight, kernel, bpftrace):
        self.outsight, self.kernel, self.bpftrace = outsight, kernel, bpftrace
        self.rows = []
        self.costs = {}

    def row(self, what, goal, figure, result, note=""):
        self.rows.append((what, goal, figure, result, note))
        say(f"bench: {what}: {figure} {result}")

    def guest(self, engine=True, **options):
        options.setdefault("smp", 1)
        return Guest(self.kernel, plugin=self.outsight.plugin if engine else None, **options)

    def idle(self):
        """The engine loaded and nothing enabled, against plain QEMU: boots take turns."""
        plain, loaded = [], []
        for _ in range(BOOTS):
            with self.guest(engine=False) as guest:
                plain += loop(guest)
            with self.guest() as guest:
                loaded += loop(guest)
        plain, loaded = Figures(plain), Figures(loaded)
        ratio = loaded.median / plain.median
        # Within noise: the medians differ by less than the rounds of one kind among themselves.
        noise = max(plain.spread, loaded.spread) / plain.median
        self.row("engine loaded, nothing enabled: time ratio to plain QEMU", "1.00 within noise",
                 f"{ratio:.3f}; plain {plain.text()} ns a call, loaded {loaded.text()} ns", verdict(ratio - 1 <= noise),
                 f"noise ±{noise:.3f}")

    def traced(self, guest, program):
        """The loop under a trace: (figures, what went wrong or "")."""
        waiting = WaitingLoop(guest)
        trace = self.outsight.trace(guest, program.replace("$1", waiting.pid), "-x", "bufsize=64m")
        figures = waiting.go()
        status = trace.interrupt().finish()
        problems = [] if status == 0 else [f"outsight ended with {status}"]
        if "drop" in trace.err:
            problems.append("drops")
        if "printf" in program:
            seen = len(trace.lines) - 2  # "tracing", and the blank line at the end
        else:
            seen = sum(int(line.split()[-1]) for line in trace.lines if re.search(r" \d+$", line))
        if seen < CALLS * (ROUNDS + 1):
            problems.append(f"{seen} of {CALLS * (ROUNDS + 1)} hits seen")
        return figures, ", ".join(problems)

    def hits(self):
        """The cost of one hit; bpftrace's beside it, from a guest of its own."""
        theirs = self.bpftrace_costs()
        with self.guest() as guest:
            for name, program, _, goal in COSTS:
                base = Figures(loop(guest))
                figures, problem = self.traced(guest, program)
                cost = figures.median - base.median
                noise = max(base.spread, figures.spread)
                met = not problem and (cost <= noise if goal is None else cost <= goal)
                notes = [f"bpftrace in the guest: {theirs[name]}"] if name in theirs else []
                self.row(f"one fbt hit, {name}", "not measurable" if goal is None else f"{goal} ns",
                         f"{cost:.0f} ns (loop {figures.text()} ns, without {base.text()} ns)", verdict(met),
                         "; ".join(notes + ([problem] if problem else [])))
                self.costs[name] = max(cost, noise, 1.0)

    def bpftrace_costs(self):
        """{name: text} of bpftrace's cost on a guest of its own, without the engine."""
        out = {}
        if not self.bpftrace:
            return out
        with self.guest(engine=False, memory=2048 * MIB, more_files=self.bpftrace) as guest:
            for name, _, program, _ in COSTS:
                base = Figures(loop(guest))
                waiting = WaitingLoop(guest)
                program = program.replace("$1", waiting.pid)
                job = guest.spawn(f"/usr/bin/bpftrace -o /dev/null -e {shlex.quote(program)}")
                deadline = time.monotonic() + 60
                while guest.run("grep -q getppid /sys/kernel/debug/kprobes/list")[0] != 0:
                    if time.monotonic() > deadline:
                        raise GuestError(f"bpftrace did not attach: {job.output()}")
                    time.sleep(0.2)
                figures = waiting.go()
                guest.run("killall -INT bpftrace")
                job.wait()
                out[name] = f"{figures.median - base.median:.0f} ns"
                say(f"bench: bpftrace {name}: {out[name]}")
        return out

    def gdb(self):
        """The same count by breakpoints over QEMU's gdb stub."""
        with self.guest(engine=False) as guest:
            path = guest.path("gdb")
            guest.qemu_command(f"gdbserver unix:{path},server=on,wait=off")
            symbols = parse_symbols(guest.read_file("/proc/kallsyms").decode(), typed=True)
            guest.spawn(f"getppid_bench {CALLS} 1000")
            figure = Figures(gdb_loop(path, {n: a for a, n, _ in symbols}["__x64_sys_getppid"]))
        ours = self.costs[COSTS[0][0]]
        ratio = figure.median / ours
        self.row("the same count by gdb breakpoints", "at least 500 times ours",
                 f"{figure.text(0, 1e-3)} µs a hit: {ratio:.0f} times", verdict(ratio >= 500),
                 f"ours taken as {ours:.0f} ns, the noise where that is more")

    def attach(self):
        """From the start of outsight to its first output, on a busy guest of 1 GiB."""
        with self.guest(memory=1024 * MIB) as guest:
            guest.spawn("mixed 1000")
            times = {"cold": [], "warm": []}
            for kind in ["cold"] * ATTACHES + ["warm"] * ATTACHES:
                if kind == "cold":
                    shutil.rmtree(guest.path("cache"), ignore_errors=True)
                begun = time.monotonic()
                trace = self.outsight.start(guest, "-q", "-x", "switchrate=100hz", "-n",
                                            'syscall:::entry { printf("%s\n", probefunc); exit(0); }')
                trace.wait_for("")
                times[kind].append(time.monotonic() - begun)
                trace.finish()
        for kind, limit, what in (("cold", 2, "empty cache"), ("warm", 0.3, "with the cache")):
            figures = Figures(times[kind])
            self.row(f"attach to first output, {what}, 1 GiB guest", f"under {limit} s", f"{figures.text(2)} s",
                     verdict(figures.median < limit))

    def memory(self):
        """Private memory that QEMU has more with the engine in use; the trace's buffers are shared memory."""
        use = []
        for _ in range(BOOTS):
            sizes = []
            for engine in (False, True):
                with self.guest(engine=engine) as guest:
                    trace = None
                    if engine:
                        trace = self.outsight.trace(guest, "fbt:::entry /pid == 1/ { @[probefunc] = count(); }")
                    loop(guest, 20000, 1)
                    with open(f"/proc/{guest.pid}/status", encoding="ascii") as f:
                        sizes.append(int(re.search(r"RssAnon:\s+(\d+)", f.read()).group(1)) / 1024)
                    if trace:
                        trace.stop()
            use.append(sizes[1] - sizes[0])
        use = Figures(use)
        self.row("memory of the engine beside its buffers, every function probed", "under 16 MiB",
                 f"{use.text(1)} MiB", verdict(use.median < 16))

    def report(self):
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            cpu = re.search(r"model name\s*: (.*)", f.read()).group(1)
        print(f"Measured {time.strftime('%Y-%m-%d', time.gmtime())}: {os.cpu_count()} × {cpu}, host Linux "
              f"{platform.release()}, guest Debian's {self.kernel} cloud kernel under QEMU's TCG, one vCPU.\n"
              f"Medians, lowest and highest in brackets; {ROUNDS} rounds of {CALLS} calls.\n")
        print("| what | goal | figure | | notes |\n|---|---|---|---|---|")
        for row in self.rows:
            print("| " + " | ".join(row) + " |")


def gdb_loop(path, address):
    """ns of each hit of a breakpoint at address: read the registers, go on behind the 5-byte entry nop."""
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    buffer = b""

    def packet(text):
        data = text.encode()
        sock.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))

    def answer():
        nonlocal buffer
        while True:
            m = re.search(rb"\$([^#]*)#..", buffer, re.S)
            if m:
                buffer = buffer[m.end():]
                sock.sendall(b"+")
                return m.group(1).decode()
            chunk = sock.recv(65536)
            if not chunk:
                raise ConnectionError("the gdb stub is gone")
            buffer += chunk

    def ask(text):
        packet(text)
        return answer()

    ask("?")
    if ask(f"Z0,{address:x},1") != "OK":
        raise ConnectionError("the gdb stub refused a breakpoint")
    packet("c")
    answer()
    times, end = [], time.monotonic() + GDB_SECONDS
    while time.monotonic() < end:
        begun = time.monotonic_ns()
        ask("g")
        ask("P10=" + struct.pack("<Q", address + 5).hex())
        packet("c")
        answer()
        times.append(time.monotonic_ns() - begun)
    sock.close()
    return times[len(times) // 10:]


def main():
    parser = argparse.ArgumentParser(description="what tracing costs")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--bpftrace", help="a cpio archive with bpftrace for the guest")
    args = parser.parse_args()
    outsight = Outsight(os.path.abspath(args.build))
    reason = outsight.why_not() or why_no_guest(args.kernel)
    if reason:
        sys.exit(f"bench: {reason}")
    bench = Bench(outsight, args.kernel, args.bpftrace)
    bench.idle()
    bench.hits()
    bench.gdb()
    bench.attach()
    bench.memory()
    bench.report()
    return 0


if __name__ == "__main__":
    sys.exit(main())
