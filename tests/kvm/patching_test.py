#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A small guest that patches its own text under our probes: patching_test.py OUTSIGHT SMALL-GUEST.

It compares and patches as Linux does, in functions of Linux's names (guest/patching.c), and ends with FAIL if it finds
bytes that are not its own. Ends with 77 where there is no KVM.
"""
import os
import random
import re
import subprocess
import time
import unittest

from small_guest import CALLS, GUEST, TRAPPED, Vm, counts_of, elf_text, main
from lib.pace import limit, rounds

PATCHING = os.path.join(os.path.dirname(GUEST), "patching-guest")
WINDOWS = re.compile(r"probes were removed (\d+) times?, for ([\d.]+) ms in all, while the guest patched its own text")
LOST = re.compile(r"(\d+) probe sites? lost: the guest changed its text there")
ENTRIES = ",".join(f"fbt::probed_{f}:entry" for f in (*TRAPPED, "keyed"))
RETURNS = ",".join(f"fbt::probed_{f}:return" for f in (*TRAPPED, "keyed"))
ROUNDS = """
	fbt::round_begin:entry /arg1/ { on = 1; }
	%s
	fbt::round_end:entry /on/ { on = 0; rounds++; }
	fbt::round_end:entry /rounds == %d/ { exit(0); }"""


class PatchingVm(Vm):
    """It patches from go() to quiet()."""

    def __init__(self, cpus, extra=""):
        super().__init__(cpus, extra, kernel=PATCHING, told=True)

    def go(self):
        self.tell(b"g")

    def quiet(self):
        before = self.console().count("QUIET")
        self.tell(b"s")
        end = time.monotonic() + limit(60)
        while self.console().count("QUIET") == before:
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"not quiet: {self.console()!r}, status {self.process.poll()}")
            time.sleep(0.02)

    def started(self, program):
        """A trace after its probes were planted."""
        trace = subprocess.Popen(self.command('BEGIN { printf("begun\\n"); } ' + program, "-x", "switchrate=20hz"),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        trace.stdout.readline()
        time.sleep(0.2)
        return trace


class Patching(unittest.TestCase):
    def vm(self, cpus, extra=""):
        vm = PatchingVm(cpus, extra)
        self.addCleanup(vm.close)
        return vm

    def ended(self, vm, trace, timeout=limit(120)):
        out, err = trace.communicate(timeout=timeout)
        self.assertEqual(trace.returncode, 0, err + vm.console())
        return out, err

    def check_unharmed(self, vm):
        vm.quiet()
        self.assertEqual(vm.text(), elf_text(PATCHING)[1])
        self.assertNotIn("FAIL", vm.console())

    def test_counts(self):
        """Whatever it turned on and off between, the calls of each round's first half are counted, all of them."""
        passes = rounds(5, 8)
        for cpus in rounds((4,), (1, 2, 4)):
            with self.subTest(cpus=cpus):
                vm = self.vm(cpus)
                trace = vm.started(ROUNDS % (f"{ENTRIES},{RETURNS} /on/ {{ @[probefunc, probename] = count(); }}", passes))
                vm.go()
                out, err = self.ended(vm, trace)
                each = CALLS * cpus * passes
                want = {(f"probed_{f}", end): each * (2 if f == "load" else 1)
                        for f in (*TRAPPED, "keyed") for end in ("entry", "return")}
                self.assertEqual(counts_of(out), want, err)
                # Two of function tracing, four of BPF, more of kprobes in each round that was patched.
                windows = WINDOWS.search(err)
                self.assertTrue(windows, err)
                self.assertGreaterEqual(int(windows.group(1)), 3 * (passes - 2), err)
                # A kprobe of the guest was at the address of an entry probe, again and again. If two vCPUs patch, it
                # may be added and removed while the other vCPU keeps the probes removed: then it is not detected.
                lost = sum(int(n) for n in LOST.findall(err))
                self.assertGreaterEqual(lost, passes - 2 if cpus == 1 else 1, err)
                self.check_unharmed(vm)
                vm.close()

    def test_counter(self):
        """A counter in KVM can only be on the nop: no hit is missed when the guest puts its own call there and removes
        it."""
        cpus, passes = 4, rounds(3, 12)
        vm = self.vm(cpus)
        trace = vm.started("fbt::quiet_call:entry { @c = count(); } fbt::quiet_call:return { @r = sum(1); } "
                           f"fbt::round_end:entry {{ rounds++; }} fbt::round_end:entry /rounds == {passes}/ {{ exit(0); }}")
        vm.go()
        out, err = self.ended(vm, trace)
        self.assertNotIn("FAIL", vm.console(), err)
        counted, returned = (int(line) for line in out.split())
        # Up to one call of each vCPU was in progress when it began, and when it ended.
        self.assertLessEqual(abs(counted - returned), 2 * cpus, out + err)
        self.assertGreaterEqual(returned, (passes - 1) * CALLS * cpus, out + err)
        self.check_unharmed(vm)

    def test_static_key(self):
        """A tracepoint that the guest turns on and off while all vCPUs pass it. All events while it is on or off are
        counted, and those right behind each toggle, on the vCPU that made it. Each place is a nop of 2 or 5 bytes, or a
        jump."""
        passes, keys = 2, rounds(30, 400)
        program = """
            fbt::round_begin:entry /arg1/ { on = 1; active = 1; }
            fbt::round_end:entry /on/ { on = 0; rounds++; }
            rawtp:::keyed /on/ { @in = count(); }
            sdt:::keyed /active && arg0 >> 32/ { @behind = count(); }
            rawtp:::keyed /active/ { @all = count(); }
            fbt::round_begin:entry /rounds == %d/ { exit(0); }""" % passes
        for cpus in rounds((2,), (1, 2, 4)):
            with self.subTest(cpus=cpus):
                vm = self.vm(cpus, f"keys={keys}")
                trace = vm.started(program)
                vm.go()
                out, err = self.ended(vm, trace, limit(300))
                inside, behind, total = (int(line) for line in out.split())
                self.assertEqual(inside, 2 * CALLS * cpus * passes, out + err)
                self.assertEqual(behind, 2 * 2 * keys * passes, out + err)
                self.assertGreaterEqual(total, inside + behind, out + err)
                self.assertGreaterEqual(int(WINDOWS.search(err).group(1)), 2 * keys * passes, err)
                self.check_unharmed(vm)
                vm.close()

    def test_enabled_and_disabled(self):
        """While it patches. An attempt may be refused while a patch is incomplete, but not for long."""
        vm = self.vm(2)
        vm.go()
        done, times = 0, rounds(10, 40)
        for _ in range(times):
            trace = subprocess.run(vm.command(ROUNDS % ("fbt::probed_*:entry,fbt::probed_*:return { @ = count(); }", 2)),
                                   capture_output=True, text=True, timeout=limit(120), check=False)
            if trace.returncode:
                self.assertNotIn("FAIL", vm.console())
                self.assertRegex(trace.stderr, "try again|has its own breakpoint|can't be|is no instruction")
            else:
                done += 1
        self.assertGreaterEqual(done, times // 2)
        self.check_unharmed(vm)

    def test_two_sessions(self):
        """They share sentinels; after the end of one, the other still sees the guest's own bytes."""
        vm = self.vm(2)
        long = vm.started(ROUNDS % ("fbt::probed_nop:entry /on/ { @ = count(); }", 12))
        vm.go()
        for _ in range(4):
            other = subprocess.run(vm.command(ROUNDS % ("fbt::probed_nop:return,fbt::probed_frame:entry { @ = count(); }", 1)),
                                   capture_output=True, text=True, timeout=limit(120), check=False)
            self.assertIn(other.returncode, (0, 1), other.stderr)
        out, err = self.ended(vm, long)
        self.assertEqual(counts_of(out), {(): CALLS * 2 * 12}, err)
        self.check_unharmed(vm)

    def test_plan(self):
        """Sentinels that would be planted besides the probes are listed too; there are none if no text changes."""
        vm = self.vm(1)
        for trap, kinds in (("auto", {"native", "sentinel"}), ("hw", {"hw"})):
            out = vm.trace("fbt::probed_nop:entry", "--plan", "-x", f"trap={trap}")
            lines = [line.split() for line in out.splitlines()[1:]]
            self.assertEqual({line[1] for line in lines}, kinds, out)
            if trap == "auto":
                self.assertIn("vmlinux`ftrace_modify_all_code", {line[-1].split("+")[0] for line in lines})
                self.assertTrue(all(int(line[2]) >= 2 for line in lines), out)
        self.assertEqual(vm.text(), elf_text(PATCHING)[1])

    def test_task_dies(self):
        """A task that never leaves a patching function does not keep the probes removed for ever."""
        vm = self.vm(2)
        trace = vm.started("fbt::probed_nop:entry { @ = count(); } fbt::round_begin:entry /arg1 == 2/ { exit(0); }")
        vm.tell(b"d")
        _, err = self.ended(vm, trace, timeout=limit(60))
        self.assertEqual(WINDOWS.search(err).group(1), "1", err)
        self.assertEqual(vm.text(), elf_text(PATCHING)[1])
        self.assertNotIn("FAIL", vm.console())

    def test_killed(self):
        """kill -9 of the tracer at any moment of it."""
        vm = self.vm(4)
        rnd = random.Random(1)
        vm.go()
        for _ in range(rounds(6, 25)):
            tracer = subprocess.Popen(vm.command("fbt::probed_*:entry,fbt::probed_*:return { @[probefunc] = count(); }"),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rnd.uniform(0, 0.7))
            tracer.kill()
            tracer.wait()
        vm.quiet()
        vm.wait_clean()
        self.assertNotIn("FAIL", vm.console())


if __name__ == "__main__":
    main()
