# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples on a domain of libvirt's, in a libvirt of the tests' own."""
import contextlib
import os
import shlex
import time

import daemon
import qemu
from daemon import guests, paste, run, virsh
from truths import LIMIT, Examples, truth

XML = """<domain type='kvm'>
  <name>web01</name>
  <memory unit='MiB'>64</memory>
  <vcpu>2</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><kernel>{kernel}</kernel><cmdline>cpus=2 calls=50</cmdline></os>
  <features><acpi/><apic/></features>
  <cpu mode='custom' match='exact' check='none'><model fallback='forbid'>kvm64</model></cpu>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='usb' model='none'/>
    <serial type='file'><source path='{console}'/></serial>
    <memballoon model='none'/>
  </devices>
</domain>
"""


class Domains(Examples):
    def setUp(self):
        super().setUp()
        self.daemon = daemon.Daemon(f"{self.build}/lib")
        self.addCleanup(self.daemon.close)
        self.env["PATH"] = os.environ["PATH"] = f"{self.build}/bin:{os.environ['PATH']}"
        self.env["OUTSIGHT_PLUGIN_DIR"] = os.environ["OUTSIGHT_PLUGIN_DIR"]
        self.env.pop("XDG_RUNTIME_DIR")

    def define(self, xml):
        with open(self.daemon.path("domain.xml"), "w", encoding="utf-8") as f:
            f.write(xml)
        virsh("define", f.name)

    @truth("outsight guests --xml web01", "virsh edit")
    def test_lines(self, example, edit):
        """Put into the domain, they make libvirt start its QEMU with the engine in it; the editor is virsh's."""
        self.define(XML.format(kernel=self.daemon.copy(self.small_guest, "kernel"),
                               console=self.daemon.path("console")))
        lines = self.done(example)
        with open(self.path("lines"), "w", encoding="utf-8") as f:
            f.write(lines)
        # The operator's steps, with a non-interactive editor.
        with open(self.path("editor"), "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\nsed -i -e '/<.domain>/d' \"$1\"\ncat {shlex.quote(self.path('lines'))} >>\"$1\"\n"
                    "echo '</domain>' >>\"$1\"\n")
        os.chmod(self.path("editor"), 0o755)
        run(*edit.text.split(), "web01", env=dict(os.environ, EDITOR=self.path("editor"), VISUAL=self.path("editor")))
        self.assertEqual(paste("</domain>", lines).count("<domain"), 0)
        virsh("start", "web01")
        with open(f"/proc/{guests('outsight')['web01']['pid']}/maps", encoding="ascii") as f:
            self.assertIn("liboutsight-kvm.so", f.read())
        end = time.monotonic() + LIMIT
        while "READY" not in self.console():
            self.assertLess(time.monotonic(), end, self.daemon.domain_log("web01"))
            time.sleep(0.05)
        out = self.done(f"outsight -g web01 --no-cache --vmlinux {self.small_guest} -x maxcost=0 -qn '{qemu.ALL}'")
        self.assertEqual(qemu.counts_of(out), qemu.round_counts(2))

    def console(self):
        with contextlib.suppress(FileNotFoundError), open(self.daemon.path("console"), encoding="ascii") as f:
            return f.read()
        return ""
