#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU with the hook from its start, by LD_PRELOAD: preload_test.py OUTSIGHT SMALL-GUEST. Ends with 77 where that can't be."""
import random
import shutil
import subprocess
import sys
import time
import unittest

import qemu
from lib import namespaces
from lib.pace import FULL, limit, rounds
from qemu import ALL, CALLS, ROUND, Disk, Qemu, counts_of, round_counts

# The hook is there while SeaBIOS runs, and moves memory.
qemu.boots_default_firmware = FULL
LOAD = "fbt::probed_*:entry,fbt::probed_*:return { @[probefunc] = count(); }"


class Preload(unittest.TestCase):
    def vm(self, *args, **kwargs):
        vm = Qemu(*args, preload=True, **kwargs)
        self.addCleanup(vm.close)
        return vm.wait_ready().wait_engine()

    def start_load(self, vm):
        tracer = subprocess.Popen(vm.trace_command(LOAD), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env=vm.env)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        vm.wait_for(lambda: tracer.poll() is not None or vm.text() != qemu.elf_text()[1], "trap in the guest")
        self.assertIsNone(tracer.poll(), tracer.poll() is not None and tracer.stderr.read() + vm.errors())
        return tracer

    def test_counts(self):
        for cpus in rounds((1, 4), (1, 2, 4)):
            with self.subTest(cpus=cpus):
                vm = self.vm(cpus, name=f"small{cpus}")
                self.assertEqual([(g["name"], g["vcpus"], g["backend"]) for g in vm.guests()],
                                 [(f"small{cpus}", cpus, "kvm")])
                for _ in range(rounds(1, 3)):
                    self.assertEqual(counts_of(vm.trace(ALL)), round_counts(cpus))
                    vm.check_unharmed(self)

    def test_memory_in_pieces(self):
        """RAM that the tracer reads by a descriptor of its own, and such of another node that it reads in the process."""
        vm = self.vm(2, args=["-object", f"memory-backend-memfd,id=low,size={qemu.MIB // 2}M,share=on",
                              "-object", f"memory-backend-ram,id=high,size={qemu.MIB // 2}M",
                              "-numa", "node,memdev=low,cpus=0", "-numa", "node,memdev=high,cpus=1"])
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        vm.check_unharmed(self)

    def test_arguments(self):
        vm = self.vm(2)
        out = vm.trace(ROUND % "fbt::probed_nop:entry /on/ { @[\"a\", arg1] = count(); @s[\"s\"] = sum(arg0); } "
                       "fbt::probed_push1:return /on/ { @r[\"r\"] = sum(arg1); }")
        total = sum(range(CALLS)) * 2
        self.assertEqual(counts_of(out), {("a", "7"): CALLS * 2, ("s",): total, ("r",): total + 3 * CALLS * 2})

    def test_profile(self):
        vm = self.vm(2)
        start = time.monotonic()
        counts = counts_of(vm.trace("profile-97 { @[cpu] = count(); } profile-97 /cpu == 0/ { a++; } profile-97 /cpu == 1/ { b++; } "
                                    "profile-97 /a > 50 && b > 50/ { exit(0); }"))
        most = 97 * (time.monotonic() - start) + 2
        self.assertEqual(set(counts), {("0",), ("1",)})
        # a vCPU that waits for a CPU is not sampled
        self.assertTrue(all(50 < n < most for n in counts.values()), counts)
        vm.check_unharmed(self)

    def test_pause_and_resume(self):
        """QEMU's own stop and cont under load: the registers that it reads are those between two instructions."""
        vm = self.vm(2)
        tracer = self.start_load(vm)
        for _ in range(rounds(10, 100)):
            vm.qmp("stop")
            self.assertEqual(vm.qmp("query-status")["status"], "paused")
            vm.hmp("info registers -a")
            vm.qmp("cont")
        self.assertIsNone(tracer.poll())
        vm.check_running()
        tracer.terminate()
        out, _ = tracer.communicate(timeout=limit(60))
        self.assertTrue(counts_of(out))
        vm.check_unharmed(self)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))

    def test_killed(self):
        vm = self.vm(4)
        rnd = random.Random(1)
        for _ in range(rounds(5, 20)):
            tracer = subprocess.Popen(vm.trace_command(LOAD), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      env=vm.env)
            time.sleep(rnd.uniform(0, 0.7))
            tracer.kill()
            tracer.wait()
        vm.wait_clean()
        vm.check_unharmed(self)

    def test_migration(self):
        """The saved guest has no traps; the session ends, and the next one finds an engine again."""
        vm = self.vm(2)
        tracer = self.start_load(vm)
        vm.qmp("migrate", uri=f"file:{vm.path('saved')}")
        vm.wait_for(lambda: vm.qmp("query-migrate")["status"] == "completed", "end of the migration")
        self.assertEqual(vm.text(), qemu.elf_text()[1])
        self.assertEqual(tracer.wait(limit(60)), 1)
        with open(vm.path("saved"), "rb") as f:
            saved = f.read()
        text = qemu.elf_text()[1]
        page = text[:4096]  # whole pages are saved one by one
        self.assertIn(page, saved)
        vm.qmp("cont")
        vm.wait_engine()
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        vm.check_unharmed(self)

    def test_snapshots(self):
        """savevm and loadvm; and the background snapshot, which protects memory instead of logging it."""
        vm = self.vm(2, args=Disk(self).args)
        tracer = self.start_load(vm)
        self.assertEqual(vm.hmp("savevm one"), "")
        self.assertEqual(tracer.wait(limit(60)), 1)
        vm.wait_engine()
        tracer = self.start_load(vm)
        self.assertEqual(vm.hmp("loadvm one"), "")
        vm.check_running()
        tracer.kill()
        tracer.communicate()
        vm.wait_clean()
        vm.wait_engine()
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        try:
            vm.qmp("migrate-set-capabilities", capabilities=[{"capability": "background-snapshot", "state": True}])
        except AssertionError:
            return  # this kernel's userfaultfd can't
        tracer = self.start_load(vm)
        vm.qmp("migrate", uri=f"file:{vm.path('saved')}")
        vm.wait_for(lambda: vm.qmp("query-migrate")["status"] in ("completed", "failed"), "end of the snapshot")
        self.assertEqual(vm.qmp("query-migrate")["status"], "completed")
        self.assertEqual(tracer.wait(limit(60)), 1)
        with open(vm.path("saved"), "rb") as f:
            self.assertIn(qemu.elf_text()[1][:4096], f.read())
        vm.qmp("cont")
        vm.wait_engine()
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        vm.check_unharmed(self)

    def test_hotplug(self):
        """Another vCPU, and another DIMM: the engine is created again for them."""
        vm = self.vm(2, smp="2,sockets=3,maxcpus=3", args=["-m", f"{qemu.MIB},slots=2,maxmem=1G"])
        tracer = self.start_load(vm)
        vm.qmp("device_add", driver="kvm64-x86_64-cpu", **{"socket-id": 2, "core-id": 0, "thread-id": 0})
        self.assertEqual(tracer.wait(limit(60)), 1)
        vm.wait_for(lambda: [g["vcpus"] for g in vm.guests()] == [3], "engine for 3 vCPUs")
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        vm.qmp("object-add", **{"qom-type": "memory-backend-ram", "id": "more", "size": 128 << 20})
        vm.qmp("device_add", driver="pc-dimm", id="dimm", memdev="more")
        time.sleep(0.5)
        vm.wait_engine()
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        vm.check_unharmed(self)

    def test_reset(self):
        vm = self.vm(2)
        tracer = self.start_load(vm)
        vm.qmp("system_reset")
        vm.wait_for(lambda: vm.console().count("READY") == 2, "second boot")
        tracer.terminate()
        tracer.communicate(timeout=limit(60))
        vm.wait_engine()
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        vm.check_unharmed(self)

    @unittest.skipUnless(shutil.which("gdb"), "there is no gdb here")
    def test_gdbstub(self):
        """QEMU's debugger at the same time, by a debug register."""
        vm = self.vm(2)
        tracer = self.start_load(vm)
        vm.check_breakpoint(self)
        self.assertIsNone(tracer.poll())
        tracer.terminate()
        tracer.communicate(timeout=limit(60))
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        vm.check_unharmed(self)


if __name__ == "__main__":
    if qemu.reason_to_skip():
        print(f"SKIP: {qemu.reason_to_skip()}")
        sys.exit(77)
    namespaces.enter()
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
