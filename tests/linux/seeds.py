#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The D programs of tests/d/seeds on a stock kernel: programs of a kind that everybody who knows D has seen, with
what they print checked against the guest.

    tests/linux/seeds.py --build build/release [KERNEL]

Ends with 0 only when every answer was right, and with 77 when there is no guest.
"""
import argparse
import calendar
import os
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from demo import CheckFailed, expect, show
from lib.guest import Guest, GuestError, why_no_guest
from lib.outsight import Outsight, TraceError, keyed, numbers
from lib.scenario import parse_symbols

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "d", "seeds")
SHOWN = 40  # lines of each output
WORKLOADS = ("reader", "writer", "looper")


class Seeds:
    def __init__(self, outsight, guest):
        self.outsight, self.guest = outsight, guest
        self.functions = {name for _, name, _ in parse_symbols(guest.read_file("/proc/kallsyms").decode())}

    def ask(self, name, workload=None):
        """Run a seed, with a workload once it traces; its output."""
        args = ["-x", "switchrate=20hz", "-s", os.path.join(FOLDER, name + ".d")]
        if workload:
            args += ["-n", 'BEGIN { printf("tracing\\n"); }']
        show(f"\n$ outsight -g {self.guest.name} -s {name}.d")
        trace = self.outsight.start(self.guest, *args)
        if workload:
            trace.wait_for("tracing")
            self.guest.check(workload)
        status = trace.finish()
        lines = [line for line in trace.lines if not workload or line != "tracing"]
        show("\n".join(lines[:SHOWN]) + ("\n…" if len(lines) > SHOWN else ""))
        expect(status == 0, f"outsight ended with {status}: {trace.err.strip()}")
        expect("drop" not in trace.err, f"records were lost: {trace.err.strip()}")
        return "\n".join(lines)

    def check_functions(self, names):
        strange = [name for name in names if name not in self.functions]
        expect(not strange, f"not in the guest's /proc/kallsyms: {strange}")

    # --- one for each program ------------------------------------------------------------------------

    def globals(self):
        out = self.ask("globals")
        date = r"\d{4} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
        m = re.fullmatch(rf"({date}): watching read\(2\)\n{date}: (\d+) reads, (\d+) bytes in (\d+) ms; "
                         r"the last by (\S+)\n*", out)
        expect(m, "the output is not of the program's form")
        began = calendar.timegm(time.strptime(m.group(1), "%Y %b %d %H:%M:%S"))
        expect(abs(time.time() - began) < 600, "the date is not today's")
        reads, size, ms = (int(m.group(i)) for i in (2, 3, 4))
        expect(reads > 0 and size > 0, "the guest reads all the time")
        expect(1900 <= ms < 60000, "tick-2s came at another time")
        return f"{reads} reads in {ms} ms"

    def traces(self):
        out = self.ask("traces")
        frames = re.findall(r"^ {14}(?:(\S+)`)?((?!\d+$)[^\s`+]+)(?:\+0x[0-9a-f]+)?$", out, re.M)
        counts = re.findall(r"^ +(\d+)$", out, re.M)
        expect(counts and all(int(n) > 0 for n in counts), "no stack was counted")
        expect(len(frames) >= 6 * len(counts), "the stacks are too short for a write(2)")
        self.check_functions({name for _, name in frames})
        expect(any("ksys_write" in name for _, name in frames), "no stack comes from write(2)")
        return f"{len(counts)} stacks of {len(frames)} frames, each in the guest's /proc/kallsyms"

    def profile(self):
        counts = keyed(self.ask("profile"))
        expect(len(counts) >= 2, "only one program has the CPUs")
        ours = [name for name in (*WORKLOADS, "spawner", "child") if name in counts]
        expect(ours, f"none of the guest's programs is in {sorted(counts)}")
        expect(list(counts.values()) == sorted(counts.values()), "the table is not sorted")
        return f"{sum(counts.values())} samples, {len(counts)} programs"

    def deep(self):
        out = self.ask("deep", workload="deepcall /mnt/deep 60")
        rows = re.findall(r"^( +)-> (\w+):(\S+)$", out, re.M)
        expect(len(rows) == len([line for line in out.splitlines() if line]), "the output is not of the program's form")
        expect(all(len(indent) > 40 for indent, _, _ in rows), "a call is shown at a lower level")
        if not rows:
            highest = self.highest_level()
            expect(0 < highest <= 40, f"no call is shown, and the highest level is {highest}")
            return f"no call has a level above 40, the highest is {highest}"
        self.check_functions({name for _, _, name in rows})
        return f"{len(rows)} calls above level 40, the highest at {max(len(indent) for indent, _, _ in rows)}"

    def highest_level(self):
        """Which level of the same calls is the highest: kernels differ in how many of them return."""
        trace = self.outsight.trace(self.guest, 'fbt:::entry /execname == "deepcall"/ { @ = max(++self->level); } '
                                                "fbt:::return /self->level > 0/ { self->level--; }")
        self.guest.check("deepcall /mnt/deep 60")
        trace.stop()
        return numbers(trace.out)[0]

    def error(self):
        out = self.ask("error", workload="getppid_loop 1 3")
        rows = re.findall(r"^syscall:(\w+):getppid:entry: fault 1 in action 1, address 0x([0-9a-f]+)$", out, re.M)
        expect(len(rows) >= 3, "the ERROR clause did not name the probe that faulted three times")
        return f"{len(rows)} faults named"

    def ticks(self):
        out = self.ask("ticks")
        lines = [line.split() for line in out.splitlines() if line]
        expect(lines and lines[0] == ["SECOND", "CALLS", "FORKS"], "no heading")
        expect([line[0] for line in lines[1:]] == ["1", "2", "3", "4"], "not one line for each of four seconds")
        expect(all(int(line[1]) > 0 for line in lines[1:]), "a second without system calls")
        expect(sum(int(line[2]) for line in lines[1:]) > 0, "the guest's spawner forks, and no fork was seen")
        return f"{sum(int(line[1]) for line in lines[1:])} calls in four seconds"

    def disk(self):
        device, size = "/dev/loop4", 1 << 20
        self.guest.check(f"dd if=/dev/zero of=/tmp/disk4 bs={size} count=1 2>/dev/null")
        try:
            out = self.ask("disk", workload=f"losetup {device} /tmp/disk4; /bin/dd if={device} of=/dev/null bs=64k "
                           "2>/dev/null; getppid_loop 1 1")
        finally:
            self.guest.check(f"losetup -d {device}; rm /tmp/disk4")
        expect(out.startswith("DEVICE   D    BYTES ARGS\n"), "no heading")
        rows = re.findall(r"^loop4 +R +(\d+) (\S+)", out, re.M)
        expect(sum(int(count) for count, _ in rows) == size, "not the bytes that the device has")
        expect("dd" in {program.rsplit("/", 1)[-1] for _, program in rows}, "dd is not named")
        return f"{len(rows)} requests, {size} bytes"

    def files(self):
        out = self.ask("files", workload="echo hello >/tmp/seed; dd if=/tmp/seed of=/tmp/copy bs=6 2>/dev/null; "
                       "rm /tmp/seed /tmp/copy; getppid_loop 1 1")
        rows = {tuple(line.split()[:3]): int(line.split()[3]) for line in out.splitlines() if line}
        for file, operation, size in (("seed", "open", 0), ("seed", "read", 6), ("copy", "write", 6)):
            found = rows.get((file, operation, "tmpfs"))
            expect(found == size, f"{operation} of {file}: {found}")
        return f"{len(rows)} operations on files"

    def calls(self):
        lines = self.ask("calls", workload="cat /proc/version >/dev/null; getppid_loop 1 1").splitlines()
        for line in ("open /proc/version", "exec getppid_loop 1 1"):
            expect(line in lines, f"no line {line!r}")
        return f"{len(lines)} lines"

    def names(self):
        lines = self.ask("names").splitlines()
        expect(lines[0] == self.guest.check("uname -sr").strip(), "not what uname(1) prints")
        expect(lines[1] == self.guest.check("cat /proc/cmdline").strip(), "not the kernel's command line")
        return lines[0]

    def packets(self):
        out = self.ask("packets", workload="netload 3; getppid_loop 1 1")
        rows = {tuple(line.split()[:2]): int(line.split()[2]) for line in out.splitlines() if line}
        expect(rows["ipv4", "4"] > 0 and rows["ipv6", "6"] > 0, "one version of IP is missing")
        expect(rows["ipv4", "4"] + rows["ipv6", "6"] == rows["all", "0"], "a packet has both versions, or none")
        expect(rows["connected", "0"] > rows["alone", "0"] > 0, "resets belong to no connection, most segments do")
        expect(rows["tcp", "0"] > rows["connected", "0"], "not all of tcp's probes fired")
        return f"{rows['all', '0']} packets"

    @staticmethod
    def all_names():
        return sorted(name[:-2] for name in os.listdir(FOLDER) if name.endswith(".d"))

    def run(self, names=None):
        """The number of programs, of all or of these, whose answers were wrong."""
        failed = 0
        for name in self.all_names() if names is None else names:
            try:
                show(f"  -> checked: {getattr(self, name)()}")
            except (CheckFailed, TraceError, AttributeError) as e:
                failed += 1
                show(f"  -> WRONG: {name}: {e}")
        return failed


def main():
    parser = argparse.ArgumentParser(description="well-known D programs on a stock Debian kernel")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("kernel", nargs="?", default="6.1")
    args = parser.parse_args()
    outsight = Outsight(os.path.abspath(args.build))
    reason = outsight.why_not() or why_no_guest(args.kernel)
    if reason:
        print(f"SKIP all: {reason}")
        return 77
    with Guest(args.kernel, name=f"seeds-{args.kernel}", plugin=outsight.plugin) as guest:
        show(f"==== {guest.check('uname -srv').strip()}, {guest.smp} vCPUs")
        load = guest.spawn("mixed 900")
        failed = Seeds(outsight, guest).run()
        expect(load.output() == "", f"the guest's workload suffered: {load.output()}")
        expect(not re.search(r"BUG:|Oops|WARNING:", guest.check("dmesg")), "the guest's kernel complains")
    show(f"\nseeds: {len(Seeds.all_names())} programs, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CheckFailed, GuestError) as problem:
        sys.exit(f"seeds: {problem}")
