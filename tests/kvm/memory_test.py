#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest whose VMM is in a memory cgroup with little room: the memory that is charged, and what is refused."""
import re
import resource
import subprocess

import small_guest
from lib.memory_group import MemoryGroup, NoGroup
from lib.pace import limit
from small_guest import GuestTest

MIB = 1 << 20
# Each record is 64 KiB: the rings, of 1,600 records each, are written over and over.
RECORDS = "fbt::probed_*:entry { trace(probefunc); n++; } fbt::round_end:entry /n > 7000/ { exit(0); }"


class Memory(GuestTest):
    def small_room(self, size, cpus=2):
        try:
            group = self.enterContext(MemoryGroup())
        except NoGroup as err:
            self.skipTest(str(err))
        vm = self.vm(cpus)
        group.add(vm.process.pid)
        group.leave_room(size)
        return vm, group

    def test_buffers_are_the_tracers(self):
        """400 MiB of buffers are written full by a VMM that may have 48 MiB."""
        vm, group = self.small_room(48 * MIB)
        out = vm.trace(RECORDS, "-b", "100m", "-x", "strsize=64k", "-x", "bufpolicy=ring")
        self.assertGreater(out.count("probed_"), 2 * 1000)
        self.assertLess(group.usage(), 40 * MIB)
        self.assertIsNone(vm.process.poll())
        self.check_unharmed(vm)

    def test_no_room(self):
        """A session that does not fit is refused with the figures, and nothing is changed."""
        vm, group = self.small_room(3 * MIB)
        done = subprocess.run(vm.command("fbt::probed_*:entry { @[probefunc] = count(); }", "-x", "strsize=64k"),
                              capture_output=True, text=True, timeout=limit(60), check=False)
        self.assertEqual(done.returncode, 1, done)
        found = re.search(r"would take up to (\d+\.\d) MiB of the memory of its VMM \(PID (\d+)\), whose cgroup (\S+) has "
                          r"(\d+\.\d) MiB left of (\d+\.\d) MiB: .*-b", done.stderr)
        self.assertTrue(found, done.stderr)
        need, pid, path, left, most = found.groups()
        self.assertEqual((int(pid), path), (vm.process.pid, group.path))
        self.assertLess(float(left), float(need))
        self.assertLessEqual(float(left), float(most))
        self.assertIsNone(vm.process.poll())

    def test_address_space(self):
        """A VMM that gets no more memory by any way: what does not fit is refused with a message, what fits is traced."""
        vm = self.vm(2)
        with open(f"/proc/{vm.process.pid}/status", encoding="ascii") as f:
            used = next(int(line.split()[1]) << 10 for line in f if line.startswith("VmSize:"))
        resource.prlimit(vm.process.pid, resource.RLIMIT_AS, (used + 96 * MIB, resource.RLIM_INFINITY))
        done = subprocess.run(vm.command("fbt::probed_*:entry { trace(probefunc); }", "-b", "100m", "-x", "bufresize=manual"),
                              capture_output=True, text=True, timeout=limit(60), check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"(?i)memory")
        self.assertIsNone(vm.process.poll())
        small = vm.trace(small_guest.ROUND % "fbt::probed_nop:entry /on/ { @ = count(); }", "-b", "64k")
        self.assertIn(str(2 * small_guest.CALLS), small.split())
        self.check_unharmed(vm)

    def test_less_scratch(self):
        """Scratch space can be reduced, which is reported."""
        vm, _ = self.small_room(10 * MIB)
        command = [a for a in vm.command(small_guest.ROUND % "fbt::probed_nop:entry /on/ { @ = count(); }") if a != "-q"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit(60), check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(str(2 * small_guest.CALLS), done.stdout.split())
        self.assertRegex(done.stderr, r"guest small: tracing takes up to \d+\.\d MiB of its VMM's memory, which has \d+\.\d MiB "
                                      r"left of \d+\.\d MiB")
        self.assertRegex(done.stderr, r"scratch size lowered to \d+[mk]")
        self.check_unharmed(vm)


if __name__ == "__main__":
    small_guest.main()
