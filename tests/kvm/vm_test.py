#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The vm provider on /dev/kvm: vm_test.py OUTSIGHT SMALL-GUEST. Ends with 77 where there is no KVM."""
import time
import unittest

from small_guest import Vm, counts_of, main

IO = 20
ROUND = "fbt::round_begin:entry { on = 1; } %s fbt::round_end:entry /on/ { exit(0); }"


class VmProvider(unittest.TestCase):
    def vm(self, cpus=1):
        vm = Vm(cpus, f"io={IO}")
        self.addCleanup(vm.close)
        return vm

    def test_requests(self):
        """Every port and address that the guest accesses, with its value; a read has the VMM's value."""
        out = self.vm().trace(ROUND % """
            vm::pio:out,vm::pio:in /on/ { @[probefunc, probename, arg0, arg1, arg2, arg3] = count(); }
            vm::mmio:read,vm::mmio:write /on/ { @[probefunc, probename, arg0, arg1, arg2, arg3] = count(); }""")
        port, ram = str(0x2e0), str(0xfee10000)
        self.assertEqual(counts_of(out), {
            ("pio", "out", port, "2", str(0x1234), "1"): IO,
            ("pio", "in", str(0x2e1), "2", str(0xffff), "1"): IO,
            ("mmio", "write", ram, "4", str(0x55aa), "0"): IO,
            ("mmio", "read", ram, "4", str(0xffffffff), "0"): IO})

    def test_exits(self):
        """By reason; a hit of ours is none of the guest's. Each exit is followed by an entry."""
        out = self.vm().trace(ROUND % """
            vm::io:exit,vm::mmio:exit,vm::probe:exit /on/ { @[probefunc] = count(); }
            vm:::exit /on/ { @n["entered"] = sum(1); } vm:::entry /on/ { @n["entered"] = sum(-1); }""")
        counts = counts_of(out)
        # The round's last hit ends the tracing before its exit is reported; each earlier vm:::exit was followed by an
        # entry.
        self.assertEqual(counts, {("io",): 2 * IO, ("mmio",): 2 * IO, ("probe",): 1, ("entered",): 0})

    def test_times(self):
        """Time in the guest and in the host is all the time there is."""
        out = self.vm().trace("""
            vm:::exit { in_guest += arg1; n++; } vm:::entry { in_host += arg0; }
            fbt::round_begin:entry { @["rounds"] = count(); }
            BEGIN { start = timestamp; }
            tick-2s { printf("%d %d %d\\n", in_guest, in_host, timestamp - start); exit(0); }""")
        in_guest, in_host, whole = (int(word) for word in out.split()[:3])
        self.assertGreater(in_guest, 0)
        self.assertGreater(in_host, 0)
        self.assertLess(in_guest + in_host, 1.2 * whole)

    def test_statistics(self):
        vm = self.vm(2)
        start = time.monotonic()
        out = vm.trace("vm::exits:stat { @n[cpu] = count(); @[cpu] = sum(arg0); @m[cpu] = max(arg1 - arg0); } "
                               "vm::exits:stat /cpu == 0/ { a++; } vm::exits:stat /cpu == 1/ { b++; } "
                               "vm::exits:stat /a >= 2 && b >= 2/ { exit(0); }")
        # Of each vCPU: how often it fired (once a second), the growth, the total.
        numbers = [int(line.split()[1]) for line in out.splitlines() if line.strip()]
        self.assertEqual(len(numbers), 6, out)
        fired, growth, total = numbers[0:2], numbers[2:4], numbers[4:6]
        self.assertTrue(all(2 <= n <= time.monotonic() - start + 1 for n in fired), out)
        self.assertTrue(all(n >= 0 for n in growth + total), out)

    def test_listed(self):
        vm = self.vm()
        out = vm.list("vm:::")
        for word in ("io exit", "probe exit", "entry", "pio out", "mmio read", "exits stat"):
            self.assertRegex(out, rf"(?m)^ *\d+ +vm +.*{word}$")


if __name__ == "__main__":
    main()
