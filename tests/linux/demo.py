#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Five questions to a stock kernel, the answers as outsight prints them, each checked against the guest itself.

    tests/linux/demo.py --build build/release 6.1 6.12

Ends with 0 only when every check held on every kernel.
"""
import argparse
import os
import re
import shlex
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import Guest, GuestError, why_no_guest
from lib.host_kvm import why_not_kvm
from lib.outsight import Outsight, TraceError, distribution, keyed
from lib.scenario import parse_symbols
from lib.vmm_guest import VmmGuest

READS = 5000


class CheckFailed(Exception):
    """An answer that is not true."""


def expect(condition, what):
    if not condition:
        raise CheckFailed(what)


def show(text):
    print(text, flush=True)


class Demo:
    def __init__(self, outsight, guest):
        self.outsight, self.guest = outsight, guest

    def strange(self, names):
        """Those of @names that are not in the guest's own list of functions, which it searches itself: it is long."""
        pattern = "|".join(re.escape(name) for name in sorted(set(names)))
        lines = self.guest.check(f"grep -E {shlex.quote(f' ({pattern})([[:space:]]|$)')} /proc/kallsyms; true")
        known = {name for _, name, _ in parse_symbols(lines)}
        return [name for name in names if name not in known]

    def ask(self, title, program, workload=None):
        """Run one D program, with a workload once it traces; shows and returns (outsight's output, workload's)."""
        args = ["-x", "switchrate=20hz", "-q", "-n", program]
        show(f"\n# {title}\n$ outsight -g {self.guest.name} -q -n {shlex.quote(program)}")
        begun = time.monotonic()
        trace = self.outsight.start(self.guest, *args)
        said = ""
        if workload:
            trace.wait_for("tracing")
            said = self.guest.check(workload)
        status = trace.finish()
        show(trace.out.rstrip())
        expect(status == 0, f"outsight ended with {status}: {trace.err.strip()}")
        expect("drop" not in trace.err, f"records were lost: {trace.err.strip()}")
        return trace.out, said, time.monotonic() - begun

    def system_calls(self):
        out, _, _ = self.ask("Which programs make system calls?",
                             "syscall:::entry { @[execname] = count(); } tick-3s { exit(0); }")
        counts = keyed(out)
        for name in ("reader", "writer", "looper"):
            expect(counts.get(name, 0) > 0, f"{name} runs in the guest and is not in the table")
        return f"{len(counts)} programs, {sum(counts.values())} system calls"

    def read_sizes(self):
        out, said, _ = self.ask(
            "How large are the reads of one program?",
            'BEGIN { printf("tracing\\n"); } syscall::read:entry /execname == "reads"/ { @ = quantize(arg2); } '
            'syscall::exit_group:entry /execname == "reads"/ { exit(0); }', f"reads {READS}")
        did = {int(m.group(1)): int(m.group(2)) for m in re.finditer(r"^bucket (\d+) (\d+)$", said, re.M)}
        got = distribution(out)
        expect(sum(got.values()) == READS, f"{sum(got.values())} reads were seen, the program made {READS}")
        expect(got == did, f"the program says {did}")
        return f"all {READS} reads seen, each of {len(did)} rows as the program counted itself"

    def latency(self):
        out, _, _ = self.ask(
            "How long does vfs_read() take, in nanoseconds?",
            "fbt::vfs_read:entry { self->t = timestamp; } "
            "fbt::vfs_read:return /self->t/ { @[execname] = quantize(timestamp - self->t); self->t = 0; } "
            "tick-3s { exit(0); }")
        expect(re.search(r"^  reader ", out, re.M), "reader reads in the guest and is not in the answer")
        total = sum(distribution(out).values())
        expect(total > 0 and min(distribution(out)) > 0, "a latency that is not positive")
        return f"{total} calls timed"

    def stacks(self):
        out, _, _ = self.ask(
            "From where does the kernel write into tmpfs?",
            'fbt::shmem_write_begin:entry /execname == "writer"/ { @[stack()] = count(); } tick-3s { exit(0); }')
        frames = re.findall(r"^ +(?:(\S+)`)?([^\s`]+)$", out, re.M)
        frames = [re.sub(r"\+0x[0-9a-f]+$", "", name) for module, name in frames if module or name.startswith("0x")]
        expect(len(frames) >= 6, f"only {len(frames)} frames")
        strange = self.strange(frames)
        expect(not strange, f"not in the guest's /proc/kallsyms: {strange}")
        return f"{len(frames)} frames, each in the guest's /proc/kallsyms"

    def profile(self):
        out, _, _ = self.ask(
            "In which kernel functions is the CPU?",
            "profile-997 /arg0/ { @[func(arg0)] = count(); } tick-3s { exit(0); } END { trunc(@, 12); }")
        counts = keyed(out)
        expect(len(counts) >= 3, "fewer than three functions were sampled")
        strange = self.strange([name.split("`")[-1] for name in counts])
        expect(not strange, f"not in the guest's /proc/kallsyms: {strange}")
        return f"{sum(counts.values())} samples in {len(counts)} functions, each in the guest's /proc/kallsyms"

    def run(self):
        """The number of questions whose answers were wrong."""
        failed = 0
        for question in (self.system_calls, self.read_sizes, self.latency, self.stacks, self.profile):
            try:
                show(f"  -> checked: {question()}")
            except (CheckFailed, TraceError) as e:
                failed += 1
                show(f"  -> WRONG: {e}")
        return failed


def demo_on(outsight, kernel, on_kvm):
    show(f"\n==== Debian's kernel {kernel}, KASLR on, no symbols given")
    name = f"demo-{kernel}"
    with VmmGuest(kernel, outsight.vmm, name=name) if on_kvm else Guest(kernel, name=name, plugin=outsight.plugin) as guest:
        version = guest.check("uname -srv").strip()
        expect("nokaslr" not in guest.check("cat /proc/cmdline"), "KASLR is off")
        show(f"{version}, {guest.smp} vCPUs on {guest.HOST}; nothing of Outsight in it")
        load = guest.spawn("mixed 600")
        failed = Demo(outsight, guest).run()
        expect(load.output() == "", f"the guest's workload suffered: {load.output()}")
        expect(not re.search(r"BUG:|Oops|WARNING:", guest.check("dmesg")), "the guest's kernel complains")
    return failed


def main():
    parser = argparse.ArgumentParser(description="five questions to stock Debian kernels")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("kernels", nargs="+")
    args = parser.parse_args()
    outsight = Outsight(os.path.abspath(args.build))
    failed = 0
    not_kvm = why_not_kvm(outsight.binary)
    show(f"demo: on QEMU (TCG), as {not_kvm}" if not_kvm else "demo: on this host's KVM")
    for kernel in args.kernels:
        reason = outsight.why_not() or why_no_guest(kernel)
        if reason:
            sys.exit(f"demo: {reason}")
        try:
            failed += demo_on(outsight, kernel, not not_kvm)
        except (CheckFailed, GuestError) as e:
            show(f"  -> WRONG: {e}")
            failed += 1
    show(f"\ndemo: {len(args.kernels)} kernels, {5 * len(args.kernels)} questions, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
