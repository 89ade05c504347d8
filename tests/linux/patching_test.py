#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's own breakpoints in QEMU's TCG: a translated int3 is executed only while there is one."""
import mmap
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import limit
from lib.program_scenario import ProgramScenario
from lib.scenario import main, only_full

MARK = bytes((i * 37 + 11) & 0xff for i in range(16))
INT3, NOP = b"\xcc", b"\x90"


def replace(path, old, new):
    """Replace bytes that occur once in a file, without the knowledge of those who have it mapped."""
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as memory:
        at = memory.find(old)
        found = at >= 0 and memory.find(old, at + 1) < 0
        if found:
            memory[at:at + len(new)] = new
    return found


class Int3(ProgramScenario):
    """Its guest's pages must not have been moved yet: what was moved is in RAM twice."""
    names = "trapping"

    def check_gone(self, guest):
        job = guest.spawn(f"timeout {limit(25)} trapping")
        job.wait_output("traps")
        self.assertTrue(replace(guest.ram_path(), MARK + INT3, MARK + NOP))
        self.assertEqual(job.done(), "traps\ngone\n")
        self.assertEqual(guest.check("echo runs"), "runs\n")

    @only_full
    def test_gone(self):
        """An int3 whose translation QEMU has failed to drop, as it does when a patch races with a translation: here the
        byte is replaced behind QEMU's back. With several vCPUs QEMU drops translations later."""
        self.check_gone(self.vm)

    @only_full
    def test_gone_on_one_vcpu(self):
        """With one it drops them at once."""
        with self.own_guest(smp=1, more_files=self.programs.archive) as guest:
            self.check_gone(guest)


if __name__ == "__main__":
    sys.exit(main())
