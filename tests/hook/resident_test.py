#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Resident probes in a QEMU: resident_test.py OUTSIGHT SMALL-GUEST. Ends with 77 where that can't be.

They are forced: the host may be one on which they lose, and the small guest has no list of tasks, by which their memory
could be given back before that kernel ends.
"""
import os
import re
import subprocess
import sys
import unittest

import qemu
from lib import namespaces
from lib.pace import limit, rounds
from qemu import CALLS, ROUND, Disk, Qemu, counts_of

RESIDENT = os.path.join(os.path.dirname(qemu.GUEST), "resident-guest-pvh")
# Those of probed.S whose entry is the nop of function tracing.
NOPS = ("nop", "endbr")
ENTRIES = ",".join(f"fbt::probed_{f}:entry" for f in NOPS)
LOAD = f"{ENTRIES} {{ @[probefunc] = count(); }}"
ENTRY = 2 << 20  # bytes that an entry of its page table maps


class Small(Qemu):
    """With the guest that has per-CPU areas."""

    def __init__(self, cpus=2, **kwargs):
        super().__init__(cpus, kernel=RESIDENT, **kwargs)

    def trace_command(self, program, *options):
        command = super().trace_command(program)
        command[command.index(qemu.GUEST)] = RESIDENT
        return [*command[:-2], "-x", "inject=force", *options, *command[-2:]]

    def text(self):
        paddr, text = qemu.elf_text(RESIDENT)
        self.qmp("pmemsave", val=paddr, size=len(text), filename=self.path("text"))
        with open(self.path("text"), "rb") as f:
            return f.read()

    @staticmethod
    def symbol(name):
        out = subprocess.run(["nm", RESIDENT], capture_output=True, text=True, check=True).stdout
        return int(re.search(rf"^([0-9a-f]+) \S {name}$", out, re.M)[1], 16)

    def is_clean(self):
        return self.text() == qemu.elf_text(RESIDENT)[1]

    def wait_clean(self):
        self.wait_for(self.is_clean, "clean text")


class Resident(unittest.TestCase):
    maxDiff = None

    def vm(self, cpus=2, preload=True, **kwargs):
        vm = Small(cpus, preload=preload, **kwargs)
        self.addCleanup(vm.close)
        vm.wait_ready()
        return vm.wait_engine() if preload else vm

    def trace(self, vm, program, *options):
        """Its counts, and (places, exits among them, traps, why) as was said."""
        done = vm.outsight(*vm.trace_command(program, *options)[1:])
        self.assertEqual(done.returncode, 0, done.stderr + vm.console() + vm.errors())
        return counts_of(done.stdout), self.said(done.stderr)

    def said(self, stderr):
        said = re.search(r"resident probes: (\d+) places(?:, (\d+) of which write records)?(?:, (\d+) of which exit[^;]*)?"
                         r"(?:; (\d+) places are trapped: (.*))?$", stderr, re.M)
        self.assertTrue(said, stderr)
        self.records = int(said[2] or 0)
        return int(said[1]), int(said[3] or 0), int(said[4] or 0), said[5]

    def start(self, vm, program=LOAD):
        tracer = subprocess.Popen(vm.trace_command(program), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env=vm.env)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        vm.wait_for(lambda: tracer.poll() is not None or not vm.is_clean(), "jump in the guest")
        self.assertIsNone(tracer.poll(), tracer.poll() is not None and tracer.stderr.read() + vm.errors())
        return tracer

    def check_resident(self, vm, places=2):
        """A session more, with as many resident places, or none; it counts."""
        counts, said = self.trace(vm, ROUND % LOAD)
        self.assertEqual(said[0], places, said)
        for f in NOPS:
            self.assertGreaterEqual(counts[(f"probed_{f}",)], CALLS * vm.cpus)
        return said[3]

    def counts_of_rounds(self, vm, clauses):
        """Of a guest that ends after n rounds: with /arg1 == 7/ probed_nop() counts in n - 1 whole ones."""
        tracer = self.start(vm, f"fbt::round_end:entry {{ @never = count(); }} {clauses} END {{ clear(@never); trunc(@never); }}")
        vm.wait_for(lambda: vm.qmp("query-status")["status"] == "shutdown", "end of the rounds")
        tracer.terminate()
        out, err = tracer.communicate(timeout=limit(60))
        self.assertEqual(tracer.returncode, 0, err)
        return counts_of(out), self.said(err)

    def check_unharmed(self, vm):
        self.assertTrue(vm.is_clean())
        self.assertNotIn("FAIL", vm.console())
        vm.check_running()


class Counting(Resident):
    def ending(self, cpus, **kwargs):
        return self.vm(cpus, extra="await=20 rounds=6", args=["-no-shutdown"], **kwargs)

    def test_counts(self):
        """Each call, on several vCPUs; with the library from the start, and injected."""
        for cpus, preload in rounds(((2, True), (1, False)), ((1, True), (4, True), (2, False))):
            with self.subTest(cpus=cpus, preload=preload):
                counts, said = self.counts_of_rounds(
                    self.ending(cpus, preload=preload), "fbt::probed_nop:entry /arg1 == 7/ "
                    "{ @n[\"n\"] = count(); @s[\"s\"] = sum(arg0); @l[\"l\"] = min(arg0); @m[\"m\"] = max(arg0); }")
                self.assertEqual(said[:3], (2, 0, 0), said)
                self.assertEqual(counts, {("n",): 5 * CALLS * cpus, ("s",): 5 * cpus * sum(range(CALLS)), ("l",): 0,
                                          ("m",): CALLS - 1})

    def test_records(self):
        """What only the host can do with what a record has."""
        counts, said = self.counts_of_rounds(self.ending(2), "fbt::probed_nop:entry /arg1 == 7 && arg0 >= 40/ "
                                             "{ @[arg0, vcpu < 2] = count(); }")
        self.assertEqual((said[:3], self.records), ((2, 0, 0), 1), said)
        self.assertEqual(counts, {(str(i), "1"): 10 for i in range(40, CALLS)})

    def test_filter(self):
        """What needs more exits where the predicate holds."""
        counts, said = self.counts_of_rounds(self.ending(2), "fbt::probed_nop:entry /arg1 == 7 && arg0 >= 40/ "
                                             "{ @[arg0, stackdepth < 2000] = count(); }")
        self.assertEqual((said[:3], self.records), ((2, 1, 0), 0), said)
        self.assertEqual(counts, {(str(i), "1"): 10 for i in range(40, CALLS)})

    def test_toggled(self):
        """On and off under the guest's feet, in one engine; its results are checked by itself."""
        vm = self.vm()
        for _ in range(rounds(5, 30)):
            self.check_resident(vm)
        self.check_unharmed(vm)

    def test_killed(self):
        """kill -9 of outsight: the jumps are removed, the guest runs on, and has them again."""
        vm = self.vm()
        for _ in range(rounds(3, 30)):
            tracer = self.start(vm)
            tracer.kill()
            tracer.communicate()
            vm.wait_clean()
        self.check_resident(vm)
        self.check_unharmed(vm)

    def test_where(self):
        """A machine whose places for devices are not known has none; its probes are traps."""
        vm = self.vm(1, args=["-M", "microvm,acpi=on,rtc=on,isa-serial=on"])
        self.assertIn("its machine is neither pc nor q35", self.check_resident(vm, 0))
        self.check_unharmed(vm)


class Saving(Resident):
    """What QEMU does with its guest while jumps are in."""
    LEFT = "a task may still be in those of an earlier session"

    def room(self):
        """Addresses of the guest's at which trampolines are."""
        end = Small.symbol("_end")
        first = (end + ENTRY - 1) // ENTRY * ENTRY + 8 * ENTRY
        return range(first, first + 4 * ENTRY)

    def test_stopped(self):
        """No vCPU that QEMU has stopped is in a trampoline, though they spend much of their time there."""
        vm, room, seen = self.vm(), self.room(), set()
        tracer = self.start(vm, "fbt::probed_nop:entry,fbt::probed_endbr:entry { @s = sum(arg0); @m = max(arg0); @l = min(arg0); "
                            "@q = quantize(arg0); @a = avg(arg0); @n = count(); }")
        for _ in range(rounds(40, 100)):
            vm.qmp("stop")
            text = vm.hmp("info registers -a")
            seen.update(int(rip, 16) for rip in re.findall(r"RIP=([0-9a-f]+)", text))
            vm.qmp("cont")
        self.assertGreater(len(seen), 2)
        self.assertEqual([hex(rip) for rip in seen if rip in room], [])
        self.assertIsNone(tracer.poll())
        tracer.terminate()
        _, err = tracer.communicate(timeout=limit(60))
        self.assertEqual(self.said(err)[0], 2)
        self.check_unharmed(vm)

    def saved(self, vm, act):
        """The session ends, and the guest's text is its own."""
        tracer = self.start(vm)
        act()
        self.assertEqual(tracer.wait(limit(60)), 1)
        self.assertTrue(vm.is_clean())
        self.assertRegex(tracer.stderr.read(), "being migrated or saved")
        self.assertIn("a task of the guest may be in code", vm.errors())  # this guest has no list of them

    def goes_on(self, *args):
        """What was saved runs in a QEMU that has nothing of ours."""
        vm = Small(args=args)
        self.addCleanup(vm.close)
        vm.wait_for(lambda: vm.qmp("query-status")["status"] == "running", "end of loading")
        vm.check_running()
        self.assertTrue(vm.is_clean())
        self.assertEqual(vm.qmp("query-status")["status"], "running")

    def test_savevm(self):
        disk = Disk(self)
        vm = self.vm(args=disk.args)
        self.saved(vm, lambda: self.assertEqual(vm.hmp("savevm one"), ""))
        vm.wait_engine()
        self.assertIn(self.LEFT, self.check_resident(vm, 0))
        self.assertEqual(vm.hmp("loadvm one"), "")
        vm.check_running()
        vm.wait_engine()
        self.assertIn("behind its image is in use", self.check_resident(vm, 0))  # as it was saved
        vm.qmp("system_reset")
        vm.wait_for(lambda: vm.console().count("READY") == 2, "second boot")
        vm.wait_engine()
        self.check_resident(vm)
        self.check_unharmed(vm)
        vm.close()
        self.goes_on(*disk.args, "-loadvm", "one")

    def test_migration(self):
        """No page of the image has a jump."""
        vm = self.vm()
        self.saved(vm, lambda: vm.qmp("migrate", uri=f"file:{vm.path('saved')}"))
        vm.wait_for(lambda: vm.qmp("query-migrate")["status"] in ("completed", "failed"), "end of the migration")
        self.assertEqual(vm.qmp("query-migrate")["status"], "completed")
        with open(vm.path("saved"), "rb") as f:
            image = f.read()
        text = qemu.elf_text(RESIDENT)[1]
        for at in range(0, len(text) // 4096 * 4096, 4096):
            self.assertIn(text[at:at + 4096], image, hex(at))
        self.goes_on("-incoming", f"file:{vm.path('saved')}")
        vm.qmp("cont")
        self.check_unharmed(vm)

    def test_reset(self):
        """The next kernel has memory of its own for them."""
        vm = self.vm()
        for boots in range(2, rounds(4, 6)):
            tracer = self.start(vm)
            for _ in range(2):  # the first round that ends may have begun before
                vm.check_running()
            vm.qmp("system_reset")
            vm.wait_for(lambda n=boots: vm.console().count("READY") == n, "next boot")
            out, err = tracer.communicate(timeout=limit(60))
            self.assertEqual(tracer.returncode, 0, err)
            self.assertIn("rebooted", err)
            self.assertEqual({name for name, in counts_of(out)}, {f"probed_{f}" for f in NOPS})
            vm.wait_engine()
        self.check_resident(vm)
        self.check_unharmed(vm)

    def test_place_taken(self):
        """A device's memory is moved to where ours is: ours goes, and QEMU, which would end if KVM refused it, lives."""
        vm = self.vm(args=["-object", "memory-backend-ram,id=shared,size=2M,share=on",
                           "-device", "ivshmem-plain,memdev=shared,addr=0x10"])
        tracer = self.start(vm)
        place = int(vm.hmp("qom-get /machine/i440fx pci-hole64-end"))
        for register, value in ((0x18, place & 0xffffffff | 0xc), (0x1c, place >> 32), (0x04, 2)):
            vm.hmp(f"o /w 0xcf8 {0x80000000 | 0x10 << 11 | register:#x}")
            vm.hmp(f"o /w 0xcfc {value:#x}")
        self.assertEqual(tracer.wait(limit(60)), 1)
        self.assertRegex(tracer.stderr.read(), "was given other memory")
        self.assertIn(f"{place:016x}-{place + (2 << 20) - 1:016x} (prio 1, ram)", vm.hmp("info mtree -f"))
        vm.wait_engine()
        self.check_resident(vm)
        self.check_unharmed(vm)


if __name__ == "__main__":
    if qemu.reason_to_skip():
        print(f"SKIP: {qemu.reason_to_skip()}")
        sys.exit(77)
    namespaces.enter()
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
