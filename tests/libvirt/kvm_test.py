#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A libvirt domain on KVM, the small guest in it: kvm_test.py OUTSIGHT SMALL-GUEST. Ends with 77 where that can't be."""
import os
import subprocess
import sys
import time
import unittest

import daemon
from daemon import Daemon, guests, paste, run, virsh

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hook"))
# pylint: disable=wrong-import-position
import qemu
from lib.pace import limit
from qemu import ALL, GUEST, OUTSIGHT, RESTS, counts_of, round_counts

LOAD = "fbt::probed_*:entry,fbt::probed_*:return { @[probefunc] = count(); }"
XML = """<domain type='kvm'>
  <name>{name}</name>
  <memory unit='MiB'>64</memory>
  <vcpu>2</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><kernel>{kernel}</kernel><cmdline>cpus=2 calls=50 {rests}</cmdline></os>
  <features><acpi/><apic/></features>
  <cpu mode='custom' match='exact' check='none'><model fallback='forbid'>kvm64</model></cpu>
  <on_reboot>restart</on_reboot>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='usb' model='none'/>
    <serial type='file'><source path='{console}'/></serial>
    <memballoon model='none'/>
  </devices>
</domain>
"""


class Kvm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(os.path.dirname(qemu.HOOK))
        cls.addClassCleanup(cls.daemon.close)
        cls.kernel = cls.daemon.copy(GUEST, "kernel")

    def xml(self, name):
        self.console = self.daemon.path(f"{name}.console")
        return XML.format(name=name, kernel=self.kernel, console=self.console, rests=RESTS)

    def write(self, xml):
        with open(self.daemon.path("domain.xml"), "w", encoding="utf-8") as f:
            f.write(xml)
        return f.name

    def read_console(self):
        with open(self.console, encoding="ascii", errors="replace") as f:
            return f.read()

    def wait_ready(self, times=1):
        end = time.monotonic() + limit(120)
        while self.read_console().count("READY") < times:
            self.assertLess(time.monotonic(), end, self.read_console())
            time.sleep(0.05)

    def start(self, name):
        virsh("create", self.write(self.xml(name)))
        self.addCleanup(run, "virsh", "-q", "destroy", name, status=None)
        self.wait_ready()

    def command(self, name, program):
        return [OUTSIGHT, "-g", name, "--no-cache", "--vmlinux", GUEST, "-q", "-n", program]

    def trace(self, name):
        self.assertEqual(counts_of(run(*self.command(name, ALL)).stdout), round_counts(2))

    def start_load(self, name):
        """A tracer that has seen hits."""
        tracer = subprocess.Popen(self.command(name, LOAD + " fbt::round_end:entry /!n++/ { printf(\"hit\\n\"); }"),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        self.assertEqual(tracer.stdout.readline(), "hit\n")
        return tracer

    def test_life(self):
        """One domain, to boot once only: its changes of state, and tracing after each."""
        self.start("small")
        row = guests(OUTSIGHT)["small"]
        self.assertEqual((row["state"], row["vcpus"], row["accel"], row["domain"], row["trace"], row["how"]),
                         ("running", 2, "kvm", True, "attach", "now: -g attaches"))
        self.trace("small")
        row = guests(OUTSIGHT)["small"]
        self.assertEqual((row["backend"], row["trace"], row["domain"]), ("kvm", "now", True))
        self.assertEqual(run(OUTSIGHT, "detach", "small").stdout, "small: detached\n")
        self.assertEqual(guests(OUTSIGHT)["small"]["trace"], "attach")
        self.assertRegex(run(OUTSIGHT, "attach", "small").stdout, "^small: attached in ")
        for step in (self.pause, self.save, self.reset, self.destroy):
            with self.subTest(step=step.__name__):
                step()

    def pause(self):
        virsh("suspend", "small")
        row = guests(OUTSIGHT)["small"]
        self.assertEqual((row["state"], row["how"]), ("paused", "once resumed"))
        done = run(*self.command("small", ALL), status=1)
        self.assertIn("domain small is paused: `virsh resume small` lets it run", done.stderr)
        virsh("resume", "small")
        self.trace("small")

    def save(self):
        """The saved guest has no traps; the trace reports why it ends."""
        tracer = self.start_load("small")
        virsh("save", "small", self.daemon.path("saved"))
        _, errors = tracer.communicate(timeout=limit(60))
        self.assertRegex(errors, "guest small")
        with open(self.daemon.path("saved"), "rb") as f:
            self.assertIn(qemu.elf_text()[1][:4096], f.read())
        virsh("restore", self.daemon.path("saved"))
        self.trace("small")

    def reset(self):
        tracer = self.start_load("small")
        before = self.read_console().count("READY")  # libvirt truncates the file on a restore
        virsh("reset", "small")
        self.wait_ready(before + 1)
        tracer.kill()
        tracer.communicate()
        self.trace("small")

    def destroy(self):
        tracer = self.start_load("small")
        virsh("destroy", "small")
        _, errors = tracer.communicate(timeout=limit(60))
        self.assertRegex(errors, "guest small: its VMM .* has ended")

    def test_preloaded(self):
        """The lines of --xml, pasted: the library is loaded from the start."""
        virsh("define", self.write(self.xml("plain")))
        self.addCleanup(run, "virsh", "-q", "undefine", "plain", status=None)
        row = guests(OUTSIGHT)["plain"]
        self.assertEqual((row["state"], row["how"], row["pid"]), ("shut off", "once started", 0))
        done = run(OUTSIGHT, "guests", "--xml", "plain")
        self.assertIn("add them below <domain> (virsh edit plain)", done.stderr)
        virsh("define", self.write(paste(virsh("dumpxml", "plain"), done.stdout)))
        self.assertIn("domain plain has them already", run(OUTSIGHT, "guests", "--xml", "plain").stderr)
        virsh("start", "plain")
        self.addCleanup(run, "virsh", "-q", "destroy", "plain", status=None)
        with open(f"/proc/{guests(OUTSIGHT)['plain']['pid']}/maps", encoding="ascii") as f:
            self.assertIn("liboutsight-kvm.so", f.read())
        self.wait_ready()
        self.trace("plain")

    def test_run(self):
        """run --libvirt: started, traced, ended."""
        xml = self.write(self.xml("run"))
        done = run(OUTSIGHT, "run", "--libvirt", xml, "--", "--no-cache", "--vmlinux", GUEST, "-q", "-n", ALL)
        self.assertEqual(counts_of(done.stdout), round_counts(2))
        self.assertNotIn("run", virsh("list", "--name").split())

    def test_not_running(self):
        """One that is shut off, or doesn't exist: one line, with the existing ones."""
        virsh("define", self.write(self.xml("off")))
        self.addCleanup(run, "virsh", "-q", "undefine", "off", status=None)
        for command in (self.command("off", ALL), [OUTSIGHT, "attach", "off"], [OUTSIGHT, "detach", "off"]):
            self.assertIn("domain off is shut off: `virsh start off` starts it", run(*command, status=1).stderr)
        done = run(*self.command("nosuch", ALL), status=1)
        self.assertIn("no guest nosuch is running here", done.stderr)
        done = run(OUTSIGHT, "guests", "--xml", "nosuch", status=1)
        # there is a libvirt for the user, too; virsh takes root to the system's
        self.assertIn("libvirt at qemu:///system has no domain nosuch; there are: off (shut off)", done.stderr)
        self.assertEqual(virsh("uri").strip(), "qemu:///system")
        with open(self.daemon.path("bad.xml"), "w", encoding="utf-8") as f:
            f.write("<domain type='lxc'><name>x</name></domain>")
        for xml, what in (("bad.xml", "only domains of the types kvm and qemu"), ("none.xml", "No such file")):
            done = run(OUTSIGHT, "run", "--libvirt", self.daemon.path(xml), "--", "-n", "BEGIN", status=1)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    daemon.enter_namespaces()
    if qemu.reason_to_skip():
        print(f"SKIP: {qemu.reason_to_skip()}")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, warnings="ignore")
