#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The monitor's console on a pipe whose reader is slow, or away. console_test.py OUTSIGHT SMALL-GUEST, on /dev/kvm."""
import os
import re
import subprocess
import tempfile
import unittest

from small_guest import CALLS, GUEST, ROUND, VMM, Vm, main
from lib.pace import limit

PIPE = 4096
SAID = 80000  # more than is queued and the pipe together
NOT_AT_ALL, TRANSMITTER, INTERRUPT = range(3)
WAYS = (NOT_AT_ALL, TRANSMITTER, INTERRUPT)
LOST = re.compile(rb"\r\n\[outsight-vmm: (\d+) bytes were not read in time and were dropped\]\r\n")


def digits(n):
    return (b"0123456789" * (n // 10 + 1))[:n]


class PipedVm(Vm):
    """Its console is read only on request."""

    def __init__(self, extra):  # pylint: disable=super-init-not-called
        self.kernel = GUEST
        self.dir = tempfile.TemporaryDirectory(prefix="outsight-kvm-")
        self.socket = os.path.join(self.dir.name, "socket")
        # stderr is the pipe too: the last messages must not wait for the reader either
        self.process = subprocess.Popen(
            [VMM, "--kernel", GUEST, "--memory", "64", "--name", "small", "--socket", self.socket,
             "--append", f"calls={CALLS} {extra}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0, pipesize=PIPE)
        try:
            self.wait_for("READY\n")
        except AssertionError:
            self.close()
            raise

    def wait_for(self, text, seconds=limit(60)):
        got = b""
        while text.encode().startswith(got) and len(got) < len(text):
            got += self.process.stdout.read(len(text) - len(got)) or b"(its end)"
        if got != text.encode():
            raise AssertionError(got)

    def console(self):
        return ""

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.dir.cleanup()


class Console(unittest.TestCase):
    def vm(self, extra):
        vm = PipedVm(extra)
        self.addCleanup(vm.close)
        return vm

    def test_nobody_reads(self):
        """The guest continues, is traced as always, and ends; a late reader gets a note about lost output."""
        for wait in WAYS:
            with self.subTest(wait=wait):
                vm = self.vm(f"say={SAID} wait={wait}")
                self.assertEqual(vm.trace(ROUND % ""), "\n")
                got = b""
                while not LOST.search(got):
                    got += vm.process.stdout.read(65536) or self.fail(f"ended: {got[-100:]}")
                kept, lost, rest = LOST.split(got)
                self.assertEqual(kept, digits(len(kept)))
                self.assertEqual((len(kept) + int(lost), rest), (SAID, b""))

    def test_ends(self):
        """By itself, and by SIGTERM: its output was not read."""
        vm = self.vm(f"say={SAID} rounds=1")
        self.assertEqual(vm.process.wait(limit(60)), 0)
        vm = self.vm(f"say={SAID}")
        self.assertEqual(vm.trace(ROUND % ""), "\n")
        vm.process.terminate()
        self.assertEqual(vm.process.wait(limit(60)), 0)

    def test_slow(self):
        """A guest that waits for the chip loses nothing while its console is read; output that is queued at its end
        arrives."""
        for wait in (TRANSMITTER, INTERRUPT):
            with self.subTest(wait=wait):
                vm = self.vm(f"say={SAID} wait={wait} rounds=1")
                out, _ = vm.process.communicate(timeout=limit(60))
                self.assertEqual(out.split(b"DONE\n"), [digits(SAID), b""])


if __name__ == "__main__":
    main()
