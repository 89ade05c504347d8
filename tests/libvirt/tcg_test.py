#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A libvirt domain that QEMU translates, a stock kernel in it: tcg_test.py OUTSIGHT. Ends with 77 where that can't be."""
import os
import sys
import time
import unittest

import daemon
from daemon import Daemon, guests, paste, qemu_log, run, virsh

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "linux"))
# pylint: disable=wrong-import-position
from lib.guest import BOOT_SECONDS, Guest, image_dir, some_kernel, why_no_guest
from lib.outsight import LIMIT, Trace
from lib.pace import FULL

OUTSIGHT = os.path.abspath(sys.argv[1])
KERNEL = some_kernel()
COUNT = 'syscall::getppid:entry /execname == "getppid_loop"/ { @ = count(); }'
XML = """<domain type='qemu'>
  <name>{name}</name>
  <memory unit='MiB'>512</memory>
  <vcpu>2</vcpu>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>{dir}/vmlinuz</kernel><initrd>{dir}/initrd</initrd><cmdline>console=ttyS0 quiet panic=-1 no_timer_check {append}</cmdline>
  </os>
  <features><acpi/><apic/></features>
  <cpu mode='maximum'/>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>restart</on_reboot>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <serial type='file'><source path='{dir}/{name}.console'/></serial>
    <channel type='unix'>
      <source mode='bind' path='{dir}/channel'/>
      <target type='virtio' name='channel'/>
    </channel>
    <memballoon model='none'/>
  </devices>
</domain>
"""


class DomainGuest(Guest):
    """A stock kernel as a domain of libvirt's, by name."""

    HOST = "libvirt, TCG"

    def __init__(self, name, directory):
        super().__init__(KERNEL, name=name)
        self.directory = directory
        self.path = lambda file: os.path.join(directory, file)

    def alive(self):
        return self.name in virsh("list", "--name").split()

    def connect(self):
        if self.channel:
            self.channel.close()
        self.pending = b""
        self.channel = self._connect("channel")
        return self

    def again(self):
        """After a reboot the channel stays, and its first message is the new init's."""
        self._read_until(b"READY\n", time.monotonic() + BOOT_SECONDS, "boot")

    def kill(self):
        pass

    def _story(self, what):
        return f"{super()._story(what)}\n{qemu_log(self.name)[-2000:]}"


class Tcg(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(os.path.join(os.path.dirname(OUTSIGHT), "..", "lib"))
        cls.addClassCleanup(cls.daemon.close)
        for name in ("vmlinuz", "initrd"):
            cls.daemon.copy(os.path.join(image_dir(KERNEL), name), name)

    def define(self, xml):
        with open(self.daemon.path("domain.xml"), "w", encoding="utf-8") as f:
            f.write(xml)
        virsh("define", f.name)

    def xml(self, name, append=""):
        return XML.format(name=name, dir=self.daemon.dir, append=append)

    def trace(self, *program):
        return Trace(OUTSIGHT, ["-g", "web", "-q", *program], dict(os.environ, LC_ALL="C"))

    def counts(self):
        """The guest's own count of its calls is the trace's."""
        tracer = self.trace("-n", COUNT, "-n", 'BEGIN { printf("tracing\\n"); }').wait_for("tracing")
        self.guest.check("getppid_loop 1 1000")
        tracer.stop()
        self.assertEqual([int(line) for line in tracer.lines if line.strip().isdigit()], [1000], tracer.story())

    def watch(self):
        return self.trace("-n", 'syscall:::entry { @[execname] = count(); } BEGIN { printf("tracing\\n"); }').wait_for(
            "tracing")

    def known(self):
        """The guest's row once its kernel is in it: `guests` gives each guest little time, and a busy machine takes more."""
        end = time.monotonic() + LIMIT
        while not (row := guests(OUTSIGHT)["web"])["kernel"] and time.monotonic() < end:
            pass
        return row

    def test_life(self):
        self.define(self.xml("web"))
        self.addCleanup(run, "virsh", "-q", "undefine", "web", status=None)
        self.addCleanup(run, "virsh", "-q", "destroy", "web", status=None)
        self.without_lines()
        done = run(OUTSIGHT, "guests", "--xml", "web")
        self.define(paste(virsh("dumpxml", "--inactive", "web"), done.stdout))
        self.assertEqual(guests(OUTSIGHT)["web"]["how"], "once started")
        virsh("start", "web")
        self.guest = DomainGuest("web", self.daemon.dir)
        self.guest.connect().wait_ready()
        row = self.known()
        self.assertEqual((row["backend"], row["domain"], row["vcpus"], row["kernel"], row["how"]),
                         ("tcg", True, 2, self.guest.check("uname -r").strip(), "now"))
        self.assertIn("was started with an engine: -g traces it", run(OUTSIGHT, "attach", "web", status=1).stderr)
        self.counts()
        for step in (self.pause, self.save, self.reboot, self.power_off):
            with self.subTest(step=step.__name__):
                self.say_at_error(step)

    def say_at_error(self, step):
        try:
            step()
        except Exception:
            print(self.daemon.domain_log("web"), file=sys.stderr)
            raise

    def without_lines(self):
        """Messages about a domain without the plugin, shut off and running."""
        row = guests(OUTSIGHT)["web"]
        self.assertEqual((row["state"], row["accel"], row["how"]),
                         ("shut off", "tcg", "start with the lines of --xml web"))
        virsh("start", "web")
        row = guests(OUTSIGHT)["web"]
        self.assertEqual((row["state"], row["how"]), ("running", "restart with the lines of --xml web"))
        done = run(OUTSIGHT, "-g", "web", "-n", "BEGIN { exit(0); }", status=1)
        self.assertIn("runs its guest without KVM", done.stderr)
        virsh("destroy", "web")

    def pause(self):
        virsh("suspend", "web")
        self.assertEqual(guests(OUTSIGHT)["web"]["how"], "once resumed")
        done = run(OUTSIGHT, "-g", "web", "-n", "BEGIN { exit(0); }", status=1)
        self.assertIn("domain web is paused: `virsh resume web` lets it run", done.stderr)
        virsh("resume", "web")
        self.counts()

    def save(self):
        tracer = self.watch()
        virsh("save", "web", self.daemon.path("saved"))
        self.assertEqual(tracer.finish(), 1, tracer.story())
        self.assertRegex(tracer.story(), r"guest web: its VMM \(PID \d+\) has ended")
        # Its init would shut down if the channel had no peer.
        virsh("restore", "--paused", self.daemon.path("saved"))
        self.guest.connect()
        virsh("resume", "web")
        self.counts()

    def reboot(self):
        tracer = self.watch()
        self.guest.channel.sendall(b"T0 !reboot -f\n")
        self.assertEqual(tracer.finish(), 0, tracer.story())
        self.assertIn("guest web rebooted: the kernel that was traced has ended", tracer.story())
        self.guest.again()
        self.counts()

    def power_off(self):
        tracer = self.watch()
        self.guest.channel.sendall(b"T0 !poweroff -f\n")
        self.assertEqual(tracer.finish(), 0, tracer.story())
        self.assertIn("guest web powered off", tracer.story())

    @unittest.skipUnless(FULL, "boots twice; kvm_test.py runs the same by default")
    def test_run(self):
        """run --libvirt: with a -- it ends with the trace; without, it keeps running, and -g NAME finds it."""
        xml = self.daemon.path("run.xml")
        with open(xml, "w", encoding="utf-8") as f:
            f.write(self.xml("run", "rdinit=/bin/getppid_loop -- 1 1000000000"))
        program = ["-q", "-n", "syscall::getppid:entry { @[execname] = count(); n++; } "
                               "syscall::getppid:entry /n == 1000/ { exit(5); }"]
        done = run(OUTSIGHT, "run", "--libvirt", xml, "--", *program, status=5)
        self.assertRegex(done.stdout, r"getppid_loop +1000\b")
        self.assertEqual(virsh("list", "--all", "--name"), "")
        self.assertEqual(run(OUTSIGHT, "run", "--libvirt", xml).stdout, "domain run runs: outsight -g run\n")
        self.addCleanup(run, "virsh", "-q", "destroy", "run", status=None)
        end = time.monotonic() + BOOT_SECONDS
        while (done := run(OUTSIGHT, "-g", "run", *program, status=None)).returncode != 5:
            self.assertLess(time.monotonic(), end, done)
            time.sleep(0.5)
        self.assertRegex(done.stdout, r"getppid_loop +1000\b")


if __name__ == "__main__":
    if why_no_guest(KERNEL):
        print(f"SKIP: {why_no_guest(KERNEL)}")
        sys.exit(77)
    daemon.enter_namespaces()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, warnings="ignore")
