#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each allocation and each call into the system of an outsight fails, once and from then on: it ends with a message or
as if nothing had been, never by a signal, never without end, and the guest is as before.

sys.argv is TEST OUTSIGHT SMALL-GUEST FAIL-LIBRARY [NAME…]; a NAME may be CASE:KIND:N to run one of them again."""
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.abspath(sys.argv.pop(3))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("kvm", "linux")]
# pylint: disable=wrong-import-position
from lib.pace import limit, rounds
from small_guest import GUEST, OUTSIGHT, Vm

TRIED = int(os.environ.get("OUTSIGHT_FAULTS", rounds(8, 100)))  # places of each kind
SEED = int(os.environ.get("OUTSIGHT_FAULTS_SEED", 14))
PROGRAM = ('BEGIN { x = 1; a[x, "one"] = 2; self->t = timestamp; s = speculation(); printf("%d %s\\n", x, execname); '
           'trace(stringof("text")); } tick-50ms { @[probename, n++] = quantize(n); @k[stack()] = count(); } '
           'tick-50ms /n > 2/ { printa(@); exit(0); } END { trace(n); }')
LIMIT = limit(60)
VMA = 0xffffffff80000000  # where the small guest's symbols are linked


def symbol(name):
    out = subprocess.run(["nm", GUEST], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in out.splitlines() if line.split()[-1] == name)


def core_of(ram):
    """A core as QEMU writes it: memory, and a note with the registers of a CPU in probed_nop()."""
    segments = [(0x10, 0), *[(0, 0)] * 8, (0, symbol("idt"))]
    cpu = (struct.pack("<2I16Q2Q", 1, 440, *[0] * 16, symbol("probed_nop"), 2)
           + b"".join(struct.pack("<4IQ", selector, 0, 0, 0, base) for selector, base in segments)
           + struct.pack("<6Q", 0x80050033, 0, 0, symbol("init_top_pgt") - VMA, 0x20, 0))
    note = struct.pack("<3I", 5, len(cpu), 0) + b"QEMU\0\0\0\0" + cpu
    ident = struct.pack("<16s2HI3QI6H", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    programs = (struct.pack("<2I6Q", 4, 0, 176, 0, 0, len(note), len(note), 4)
                + struct.pack("<2I6Q", 1, 7, 4096, 0, 0, len(ram), len(ram), 4096))
    return (ident + programs + note).ljust(4096, b"\0") + ram


class Faults(unittest.TestCase):
    failures_lived = 0

    @classmethod
    def tearDownClass(cls):
        print(f"{Faults.failures_lived} failures were lived through")

    def setUp(self):
        self.cache = tempfile.TemporaryDirectory(prefix="outsight-faults-")
        self.addCleanup(self.cache.cleanup)

    def once(self, command, kind, at):
        """Run @command with the @at-th @kind failing: what it had in all, and the name of what failed."""
        with tempfile.NamedTemporaryFile(prefix="outsight-fail-") as told:
            env = {**os.environ, "LD_PRELOAD": LIBRARY, "OUTSIGHT_FAIL": f"{kind}:{at}", "OUTSIGHT_FAIL_TOLD": told.name,
                   "XDG_CACHE_HOME": self.cache.name}
            done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", timeout=LIMIT, check=False)
            counts, failed = told.read().decode().splitlines() or ("", "?")
        story = f"{kind}:{at} ({failed}): status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        self.assertIn(done.returncode, (0, 1), story)
        if done.returncode:
            self.assertRegex(done.stderr, "(?m)^(dtrace|outsight): ", story)
        words = counts.split()
        return {words[0]: int(words[1]), words[2]: int(words[3])}

    def each(self, command, after=None):
        """Every place that fails, or as many of them as there is time for, by a fixed seed."""
        chance = random.Random(SEED)
        counts = self.once(command, "alloc", 0)
        for kind, count in counts.items():
            self.assertGreater(count, 10)
            places = range(1, count + 1)
            for at in places if count <= TRIED else sorted(chance.sample(places, TRIED)):
                for onwards in ("", "+"):
                    with self.subTest(kind=kind, at=f"{at}{onwards}"):
                        self.once(command, kind, f"{at}{onwards}")
                        Faults.failures_lived += 1
                        if after:
                            after()

    def test_no_guest(self):
        self.each([OUTSIGHT, "-g", "none", "-n", PROGRAM])

    def test_compile(self):
        self.each([OUTSIGHT, "-g", "none", "-e", "-v", "-n", PROGRAM])

    @unittest.skipUnless(os.access("/dev/kvm", os.R_OK | os.W_OK), "no access to /dev/kvm")
    def test_guest(self):
        """The guest's text is as before each time, and it runs on."""
        vm = Vm(1)
        self.addCleanup(vm.close)
        self.each(vm.command("fbt::probed_*:entry { @[probefunc] = count(); @s[stack()] = count(); } "
                             "tick-100ms /n++ > 0/ { exit(0); }"), vm.wait_clean)
        before = vm.barriers()
        while vm.barriers() == before:
            self.assertIsNone(vm.process.poll())

    @unittest.skipUnless(os.access("/dev/kvm", os.R_OK | os.W_OK), "no access to /dev/kvm")
    def test_list(self):
        vm = Vm(1)
        self.addCleanup(vm.close)
        self.each([OUTSIGHT, "-g", vm.socket, "--vmlinux", GUEST, "-l", "-n", "fbt:::"])

    @unittest.skipUnless(os.access("/dev/kvm", os.R_OK | os.W_OK), "no access to /dev/kvm")
    def test_dump(self):
        vm = Vm(1)
        self.addCleanup(vm.close)
        with tempfile.NamedTemporaryFile(prefix="outsight-core-") as core:
            with open(vm.memory_path(), "rb") as ram:
                core.write(core_of(ram.read()))
            core.flush()
            command = [OUTSIGHT, "-g", f"dump:{core.name}", "--vmlinux", GUEST]
            read = subprocess.run([*command, "-qn", "BEGIN { printf(\"%a\", &`probed_nop); exit(0); }"], capture_output=True,
                                  text=True, timeout=LIMIT, check=False)
            self.assertEqual((read.returncode, read.stdout.strip()), (0, "vmlinux`probed_nop"), read.stderr)
            self.each([*command, "--dump-symbols"])


if __name__ == "__main__":
    sys.argv[1:3] = []
    unittest.main()
