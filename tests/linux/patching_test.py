#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's own breakpoints in QEMU's TCG: a translated int3 is executed only while there is one."""
import mmap
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import Guest
from lib.pace import limit
from lib.programs import Programs
from lib.scenario import Scenario, main

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


class Int3(Scenario):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="outsight-programs-")
        self.addCleanup(shutil.rmtree, self.folder)

    def test_gone(self):
        """An int3 whose translation QEMU has failed to drop, as it does when a patch races with a translation: here the
        byte is replaced behind QEMU's back. With one vCPU QEMU drops translations at once, with several later."""
        archive = Programs(self.folder).archive
        for vcpus in (1, 2):
            with self.subTest(vcpus=vcpus), Guest(self.kernel, plugin=self.outsight.plugin, smp=vcpus,
                                                  more_files=archive) as guest:
                job = guest.spawn(f"timeout {limit(25)} trapping")
                job.wait_output("traps")
                self.assertTrue(replace(guest.ram_path(), MARK + INT3, MARK + NOP))
                self.assertEqual(job.done(), "traps\ngone\n")
                self.assertEqual(guest.check("echo runs"), "runs\n")


if __name__ == "__main__":
    sys.exit(main())
