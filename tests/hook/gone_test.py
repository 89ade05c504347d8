#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's RAM that is a file, cut or with a hole in it while it is traced: gone_test.py OUTSIGHT SMALL-GUEST.

The VMM must not die by a load of ours: the small guest does not touch what is taken away, a D program does. Ends with
77 where that can't be."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import qemu
from lib import namespaces
from lib.pace import limit
from qemu import MIB, Qemu, counts_of

TCG = os.path.join(os.path.dirname(qemu.HOOK), "liboutsight-tcg.so")
IMAGE = 0x1000000             # where the guest is
KEPT = IMAGE + 0x180000       # a file of this size has all that it touches; its last large page goes on
AT = 0xffffffff80000000 + KEPT + 0x1000
# The address is read every time. The word counts are printed when both were seen, or the wanted one.
READS = ("fbt::probed_nop:entry { n++; this->x = *(uint64_t *)%#x; @[\"read\"] = sum(1 + this->x); seen++; } "
         "ERROR { @f[\"fault\", arg4] = count(); faults++; }") % AT
BADADDR = 1


def memory_file(folder, size=MIB << 20):
    path = os.path.join(folder, "ram")
    with open(path, "wb") as f:
        f.truncate(size)
    return path


def backed_by(path):
    return ["-object", f"memory-backend-file,id=ram,size={MIB}M,mem-path={path},share=on", "-machine", "memory-backend=ram"]


class Gone(unittest.TestCase):
    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="outsight-gone-", dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        return folder.name

    def vm(self, path, cpus=2, **kwargs):
        vm = Qemu(cpus, args=backed_by(path) + kwargs.pop("args", []), **kwargs)
        self.addCleanup(vm.close)
        vm.wait_ready()
        return vm

    def preloaded(self, path):
        return self.vm(path, preload=True).wait_engine()

    def translated(self, path):
        """Under TCG, by the plugin."""
        return self.vm(path, accel="tcg,thread=multi", args=["-plugin", f"{TCG},name=small"]).wait_engine()

    def start(self, vm, program):
        tracer = subprocess.Popen([*vm.trace_command("BEGIN { printf(\"begun\\n\"); } " + program), "-x", "switchrate=20hz"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=vm.env)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        self.assertEqual(tracer.stdout.readline(), "begun\n", tracer.poll() is not None and tracer.stderr.read())
        return tracer

    def ended(self, vm, tracer):
        out, err = tracer.communicate(timeout=limit(120))
        story = f"QEMU: {vm.process.poll()} {vm.errors()}, outsight: {tracer.returncode} {out} {err}"
        self.assertIsNone(vm.process.poll(), story)
        self.assertEqual(tracer.returncode, 0, story)
        return out, err, story

    def faults_begin(self, vm, take_away):
        """Loads of what is taken away are faults from then on, and none was before; QEMU, guest and text are as before."""
        tracer = self.start(vm, READS + " profile-50 /!cut && seen > 10/ { cut = 1; printf(\"read\\n\"); } "
                                        "profile-50 /faults > 10/ { exit(0); }")
        self.assertEqual(tracer.stdout.readline(), "read\n", vm.errors())
        take_away()
        out, err, story = self.ended(vm, tracer)
        counts = counts_of(out)
        self.assertGreater(counts.get(("read",), 0), 10, story)
        self.assertGreater(counts.get(("fault", str(BADADDR)), 0), 10, story)
        self.assertIn(f"invalid address ({AT:#x})", err, story)
        vm.check_unharmed(self)

    def cut(self, path):
        return lambda: os.truncate(path, KEPT)

    def test_truncated(self):
        """The hook, under KVM."""
        path = memory_file(self.folder())
        self.faults_begin(self.preloaded(path), self.cut(path))

    def test_truncated_translated(self):
        path = memory_file(self.folder())
        self.faults_begin(self.translated(path), self.cut(path))

    def test_truncated_attached(self):
        """The hook is injected, and removed; the VMM's own handler of SIGBUS is put back."""
        path = memory_file(self.folder())
        vm = self.vm(path)
        before = self.handles_bus(vm)
        self.assertEqual(vm.outsight("attach", str(vm.pid)).returncode, 0)
        self.faults_begin(vm, self.cut(path))
        done = vm.outsight("detach", str(vm.pid))
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.handles_bus(vm), before)
        vm.check_running()

    def handles_bus(self, vm):
        """Does the process have a handler for SIGBUS (7)?"""
        with open(f"/proc/{vm.pid}/status", encoding="ascii") as f:
            return int(re.search(r"SigCgt:\s+(\S+)", f.read())[1], 16) >> 6 & 1

    def test_hole_and_no_room(self):
        """A hole reads as zeros while the file system has room for its page, and is a fault where it is full."""
        folder = self.folder()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MIB + 8}m", "tmpfs", folder], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "-l", folder], check=False))
        path = memory_file(folder)
        vm = self.preloaded(path)
        with open(path, "r+b") as f:
            f.seek(KEPT + 0x1000)
            f.write(b"\1")
        punch = ["fallocate", "--punch-hole", "--offset", str(KEPT), "--length", str(1 << 20), path]

        def fill():
            # in pieces of a page, until there is no room for one
            with open(os.path.join(folder, "rest"), "wb", buffering=0) as f:
                try:
                    while f.write(bytes(4096)):
                        pass
                except OSError:
                    pass
            subprocess.run(punch, check=True)
            with open(os.path.join(folder, "more"), "wb", buffering=0) as f:
                try:
                    while f.write(bytes(4096)):
                        pass
                except OSError:
                    pass

        subprocess.run(punch, check=True)
        tracer = self.start(vm, READS + " profile-50 /seen > 10/ { exit(0); }")
        out, err, story = self.ended(vm, tracer)
        self.assertNotIn("invalid address", err, story)
        subprocess.run(punch, check=True)  # what was read has pages now
        fill()
        done = vm.outsight(*vm.trace_command(READS + " profile-50 /faults > 10/ { exit(0); }")[1:])
        self.assertIn(f"invalid address ({AT:#x})", done.stderr, f"{done} {vm.process.poll()} {vm.errors()}")
        vm.check_unharmed(self)

    def test_all_of_it_while_paused(self):
        """Text, traps and page tables are gone: what the engine checks once a second, and removes at the end, must not end
        the VMM, which would end itself at once if it ran on."""
        for kind in (self.preloaded, self.translated):
            with self.subTest(kind=kind.__name__):
                path = memory_file(self.folder())
                vm = kind(path)
                tracer = self.start(vm, "fbt::probed_*:entry,fbt::probed_*:return { @[probefunc] = count(); n++; } "
                                        "profile-50 /!cut && n > 100/ { cut = 1; printf(\"hits\\n\"); } "
                                        "tick-1s { printf(\"tick\\n\"); }")
                while tracer.stdout.readline() not in ("hits\n", ""):
                    pass
                vm.qmp("stop")
                os.truncate(path, 0)
                for _ in range(3):
                    while tracer.stdout.readline() not in ("tick\n", ""):
                        pass
                self.assertIsNone(vm.process.poll(), vm.errors())
                tracer.terminate()
                tracer.communicate(timeout=limit(60))
                self.assertEqual(vm.qmp("query-status")["status"], "paused")
                # one that attaches now says what is the case
                done = vm.outsight("-g", str(vm.pid), "--no-cache", "--vmlinux", qemu.GUEST, "-l", "-n", "fbt::probed_nop:")
                self.assertEqual(done.returncode, 1, done)
                self.assertRegex(done.stderr, r"(?m)^dtrace: .*(truncated|memory file|memory)", done)
                self.assertIsNone(vm.process.poll(), vm.errors())

    def test_read_without_an_engine(self):
        """peek reads the file itself: a short one is an error line, and neither process ends."""
        path = memory_file(self.folder())
        vm = self.vm(path)
        base = ["-g", str(vm.pid), "-x", "noattach", "--no-cache", "--vmlinux", qemu.GUEST]
        self.assertIn("probed_nop", vm.outsight(*base, "-l", "-n", "fbt::probed_nop:entry").stdout)
        vm.qmp("stop")
        for size in (KEPT, IMAGE + 0x1000, 0):
            os.truncate(path, size)
            done = vm.outsight(*base, "-l", "-n", "fbt::probed_nop:entry")
            self.assertIn(done.returncode, (0, 1), done)
            self.assertEqual(bool(done.returncode), bool(done.stderr), done)
            self.assertIsNone(vm.process.poll(), vm.errors())


if __name__ == "__main__":
    if qemu.reason_to_skip():
        print(f"SKIP: {qemu.reason_to_skip()}")
        sys.exit(77)
    namespaces.enter()
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
