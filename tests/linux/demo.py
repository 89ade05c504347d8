#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Five questions to a stock kernel and two to a program of this host's distribution that runs on it, the answers as outsight
prints them, each checked against the guest itself.

    tests/linux/demo.py --build build/release 6.1 6.12

Ends with 0 only when every check held on every kernel.
"""
import argparse
import os
import re
import shlex
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import Guest, GuestError, why_no_guest
from lib.host_kvm import why_not_kvm
from lib.outsight import Outsight, TraceError, distribution, keyed
from lib.programs import HERE, LIBRARIES, add_python, library_symbols, pack, python_with_probes
from lib.scenario import parse_symbols
from lib.vmm_guest import VmmGuest

READS = 5000
SHOP = "/bin/shop.py"


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
        if not names:
            return []
        words = " ".join(f"-e {shlex.quote(name)}" for name in sorted(set(names)))
        lines = self.guest.check(f"grep -Fw {words} /proc/kallsyms; true")
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

    def returns(self):
        self.guest.check(f"mkfifo /tmp/orders; /usr/bin/python3 -IS {SHOP} <>/tmp/orders >/tmp/said 2>&1 & "
                         "until grep -q ready /tmp/said; do sleep 0.1; done")
        out, said, _ = self.ask(
            "From which of its functions does a program in Python return? (a static probe of its interpreter)",
            'BEGIN { printf("tracing\\n"); } python*:::function-return { @[basename(copyinstr(arg0)), copyinstr(arg1)] = count(); } '
            'syscall::write:entry /execname == "python3"/ { exit(0); }',
            "echo >/tmp/orders; until grep -q done /tmp/said; do sleep 0.1; done; cat /tmp/said")
        got = {name: int(n) for name, n in re.findall(r"(?m)^ +shop\.py +(\w+) +(\d+)$", out)}
        did = {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", said)}
        expect(did and all(got.get(name) == n for name, n in did.items()), f"the program says {did}")
        return f"{sum(did.values())} returns, each function's as the program counted itself"

    def whole_stacks(self):
        self.guest.check("echo on >/tmp/orders")
        out, _, _ = self.ask(
            "What does that program do in the kernel, and which of its functions ask for it?",
            'profile-997 /execname == "python3" && arg0/ { @[stack(), ustack(40)] = count(); } tick-1s { exit(0); } '
            "END { trunc(@, 1); }")
        frames = re.findall(r"(?m)^ {14}(\S+)`(\S+)$", out)
        kernel = [re.sub(r"\+0x[0-9a-f]+$", "", name) for module, name in frames if module == "vmlinux"]
        user = [(module, re.sub(r"\+0x[0-9a-f]+$", "", name)) for module, name in frames if module != "vmlinux"]
        strange = self.strange(kernel)
        expect(kernel and not strange, f"not in the guest's /proc/kallsyms: {strange}")
        known = {name for _, _, name in library_symbols(python_with_probes())} | {"_start"}
        mine = [name for module, name in user if module.startswith("python3") and not name.startswith("sub_")]
        expect(mine and set(mine) <= known, f"not in Python's table of symbols: {sorted(set(mine) - known)}")
        expect(user[-1][1] == "_start" and "Py_BytesMain" in mine, "the stack does not go up to where the program began")
        self.guest.check("killall -9 python3; rm -f /tmp/orders")
        return f"{len(kernel)} frames of the kernel and {len(user)} of the program, up to its first function, each in its symbols"

    def questions(self):
        asked = [self.system_calls, self.read_sizes, self.latency, self.stacks, self.profile]
        if self.guest.run(f"test -e {SHOP}")[0] == 0:
            asked += [self.returns, self.whole_stacks]
        return asked

    def run(self):
        """(questions asked, answers that were wrong)"""
        failed = 0
        questions = self.questions()
        for question in questions:
            try:
                show(f"  -> checked: {question()}")
            except (CheckFailed, TraceError) as e:
                failed += 1
                show(f"  -> WRONG: {e}")
        return len(questions), failed


def python_archive(folder):
    """This host's Python as it comes, and a program for it; None: it has none with static probes."""
    root, archive = os.path.join(folder, "root"), os.path.join(folder, "python.cpio")
    for name in ("bin", LIBRARIES, "lib64"):
        os.makedirs(os.path.join(root, name))
    if not add_python(root):
        return None
    shutil.copy(os.path.join(HERE, "shop.py"), os.path.join(root, "bin"))
    shutil.copy(os.path.realpath("/lib64/ld-linux-x86-64.so.2"), os.path.join(root, "lib64/ld-linux-x86-64.so.2"))
    pack(root, archive)
    return archive


def demo_on(outsight, kernel, on_kvm, archive):
    """(questions asked, answers that were wrong)"""
    show(f"\n==== Debian's kernel {kernel}, KASLR on, no symbols given")
    name = f"demo-{kernel}"
    with VmmGuest(kernel, outsight.vmm, name=name) if on_kvm else Guest(kernel, name=name, plugin=outsight.plugin,
                                                                        more_files=archive) as guest:
        version = guest.check("uname -srv").strip()
        expect("nokaslr" not in guest.check("cat /proc/cmdline"), "KASLR is off")
        show(f"{version}, {guest.smp} vCPUs on {guest.HOST}; nothing of Outsight in it")
        load = guest.spawn("mixed 600")
        asked, failed = Demo(outsight, guest).run()
        expect(load.output() == "", f"the guest's workload suffered: {load.output()}")
        expect(not re.search(r"BUG:|Oops|WARNING:", guest.check("dmesg")), "the guest's kernel complains")
    return asked, failed


def main():
    parser = argparse.ArgumentParser(description="questions to stock Debian kernels, and to a program")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("kernels", nargs="+")
    args = parser.parse_args()
    outsight = Outsight(os.path.abspath(args.build))
    asked = failed = 0
    folder = tempfile.mkdtemp(prefix="outsight-demo-")
    not_kvm = why_not_kvm(outsight.binary)
    show(f"demo: on QEMU (TCG), as {not_kvm}" if not_kvm else "demo: on this host's KVM")
    archive = python_archive(folder) if not_kvm else None
    if not archive:
        show("demo: two questions about a program are left out: they need QEMU (TCG), and a Python with static probes on this host")
    for kernel in args.kernels:
        reason = outsight.why_not() or why_no_guest(kernel)
        if reason:
            sys.exit(f"demo: {reason}")
        try:
            questions, wrong = demo_on(outsight, kernel, not not_kvm, archive)
            asked, failed = asked + questions, failed + wrong
        except (CheckFailed, GuestError) as e:
            show(f"  -> WRONG: {e}")
            failed += 1
    shutil.rmtree(folder)
    show(f"\ndemo: {len(args.kernels)} kernels, {asked} questions, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
