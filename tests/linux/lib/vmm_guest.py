# SPDX-License-Identifier: GPL-2.0-or-later
"""A stock Debian kernel in outsight-vmm, driven over its serial port; else as tests/linux/lib/guest.py's."""
import os
import re
import socket
import subprocess
import time

from lib.guest import BOOT_SECONDS, MIB, Guest, GuestError, image_dir
from lib.pace import limit

# What a kernel says when its text, or what is done to it, is wrong.
TROUBLE = re.compile(r"BUG|Oops|WARNING|general protection|invalid opcode|int3|panic|RIP:|stall|lockup|ftrace bug", re.I)


class VmmGuest(Guest):
    """The channel is COM1: kernel messages are interleaved, and are kept as console output."""

    HOST = "outsight-vmm, KVM"
    STARTED_ANEW = False

    def __init__(self, kernel, vmm, log=None, **options):
        super().__init__(kernel, **options)
        self.vmm, self.log = vmm, log or self.path("console")
        self.socket_path = os.path.join(self.dir, "outsight", "guest.sock")

    def command(self):
        image = image_dir(self.kernel)
        append = f"console=ttyS0 quiet panic=-1 outsight.channel=/dev/ttyS0 {self.append}".strip()
        return [self.vmm, "--kernel", os.path.join(image, "vmlinuz"), "--initrd", self.initrd(), "--append", append,
                "--memory", str(self.memory // MIB), "--smp", str(self.smp), "--name", self.name,
                "--socket", self.socket_path]

    def start(self):
        os.makedirs(os.path.dirname(self.socket_path), mode=0o700, exist_ok=True)
        self.channel, theirs = socket.socketpair()
        with theirs, open(self.path("qemu.log"), "wb") as log:
            self.process = subprocess.Popen(self.command(), stdin=theirs, stdout=theirs, stderr=log,
                                            start_new_session=True)

    def wait_ready(self):
        # Once as its console, once as the channel.
        deadline = time.monotonic() + BOOT_SECONDS
        for _ in range(2):
            self._read_until(b"READY", deadline, "boot")
            self._read_until(b"\n", deadline, "boot")
        return self

    def _received(self, chunk):
        with open(self.log, "ab") as f:
            f.write(chunk)

    def console(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def power_off(self, timeout=limit(60)):
        """The guest's own end; the monitor's exit status."""
        self.channel.sendall(b"T0 !poweroff -f\n")
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise GuestError(self._story("it did not power off")) from None

    def trouble(self):
        """What in the kernel's own log points at damage."""
        return [line for line in self.check("dmesg").splitlines() if TROUBLE.search(line)]

    def control_socket(self):
        return self.socket_path
