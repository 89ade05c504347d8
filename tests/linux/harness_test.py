#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The harness itself, on a guest without the engine: what the scenarios build on."""
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import Guest, GuestError
from lib.outsight import distribution, keyed, numbers
from lib.scenario import Scenario, main, only_full, parse_symbols


class Parsing(unittest.TestCase):
    def test_tables(self):
        text = ("              4\n\n  reader                                                           17\n"
                "           value  ------------- Distribution ------------- count    \n"
                "               0 |                                         0        \n"
                "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 3        \n")
        self.assertEqual(numbers(text), [4])
        self.assertEqual(keyed(text), {"reader": 17})
        self.assertEqual(distribution(text), {1: 3})

    def test_symbols(self):
        text = "ffffffff81000000 T _text\nffffffffc0001000 t veth_xmit\t[veth]\nffffffffc0002000 t p [bpf]\n"
        self.assertEqual(parse_symbols(text), [(0xffffffff81000000, "_text", ""),
                                               (0xffffffffc0001000, "veth_xmit", "veth")])


class Died(Guest):
    """Of which there is no QEMU: its boots end as they are told to."""

    def __init__(self, *fates):
        super().__init__("6.1")
        self.fates = list(fates)
        self.qemu_args = ["-gdb", f"unix:{self.path('stub')}"]

    def start(self):
        with open(self.path("console"), "x", encoding="utf-8"):  # a folder without what was there before
            pass

    def wait_ready(self):
        fate = self.fates.pop(0)
        if fate:
            raise GuestError(fate)
        return self

    def alive(self):
        return False

    def where(self):
        return "nowhere"


class Boots(unittest.TestCase):
    QEMUS = "QEMU ended with -6\nqemu-system-x86_64: physmem.c:2678: iotlb_to_section: Assertion `…' failed."

    def test_started_once_more(self):
        """What QEMU's own assertion has ended is booted again, with the same paths, and no more than once."""
        with Died(self.QEMUS, None) as guest:
            self.assertTrue(guest.qemu_args[1].startswith(f"unix:{guest.dir}/"))
            self.assertEqual(guest.fates, [])
        for fates in ((self.QEMUS, self.QEMUS, None), ("QEMU ended with -11", None)):
            guest = Died(*fates)
            with self.assertRaises(GuestError):
                guest.__enter__()
            self.assertEqual(guest.fates, [None])
            self.assertFalse(os.path.exists(guest.dir))


class Harness(Scenario):
    @only_full
    def test_guest(self):
        with self.plain_guest() as guest:
            self.assertEqual(guest.run("echo one; exit 3"), (3, "one\n"))
            self.assertEqual(guest.check("nproc").strip(), "2")
            self.assertNotIn("nokaslr", guest.check("cat /proc/cmdline"))
            data = guest.read_file("/proc/kallsyms")
            self.assertGreater(data.count(b"\n"), 80000)
            self.assertIn(b"[veth]", data)
            with self.assertRaises(GuestError):
                guest.check("false")
            job = guest.spawn("getppid_loop 2 1000 wait")
            job.wait_output("waiting")
            job.send("go")
            self.assertRegex(job.done(), r"^waiting\ncalls 2000 parent \d+$")
            # A built-in makes no process: the next PID is the one that follows.
            before = int(guest.check("echo $$"))
            self.assertEqual(guest.builtin("[ -e /nosuch ]"), 1)
            self.assertEqual(guest.builtin("[ -e /init ]"), 0)
            self.assertEqual(int(guest.check("echo $$")), before + 1)
            text = guest.check("reads 500")
            self.assertEqual(sum(int(n) for n in re.findall(r"^bucket \d+ (\d+)$", text, re.M)), 500)
            self.assertEqual(guest.check("deepcall /mnt/x 3"), "writes 3\n")
            with open(guest.ram_path(), "rb") as ram:
                self.assertEqual(len(ram.read(4096)), 4096)
            self.assertEqual(guest.qmp("query-status")["status"], "running")


if __name__ == "__main__":
    sys.exit(main())
