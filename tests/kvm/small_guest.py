# SPDX-License-Identifier: GPL-2.0-or-later
"""The small guest in a monitor of its own, for the tests here; sys.argv is TEST OUTSIGHT SMALL-GUEST [NAME…]."""
import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit
from lib.scenario import run_module

OUTSIGHT, GUEST = (os.path.abspath(p) for p in sys.argv[1:3])
MANY = os.path.join(os.path.dirname(GUEST), "many-guest")
VMM = os.path.join(os.path.dirname(OUTSIGHT), "outsight-vmm")
FUNCTIONS = ("nop", "endbr", "push", "push1", "load", "flags", "frame", "tail")
CALLS = 50
# For tests that wait for something else than its rounds: it leaves the host its CPUs for 2 ms after each.
RESTS = "rest=2000000"


def doctor():
    return subprocess.run([OUTSIGHT, "doctor", "-v"], capture_output=True, text=True, timeout=limit(60), check=False)


# Where int3 causes no exit, a place of one byte can have no trap: the entry of probed_push1, and its return.
INT3 = "int3=never" not in doctor().stdout
TRAPPED = [f for f in FUNCTIONS if INT3 or f != "push1"]


def elf_text(path):
    """(physical address, bytes) of the guest's text: its first loadable segment."""
    with open(path, "rb") as f:
        data = f.read()
    phoff, = struct.unpack_from("<Q", data, 32)
    _, _, offset, _, paddr, filesz = struct.unpack_from("<IIQQQQ", data, phoff)
    return paddr, data[offset:offset + filesz]


class Vm:
    """A small guest in a monitor of its own. told: tell() sends to its serial port. prefix: a command that becomes the
    monitor. popen: as subprocess has it, where else it is to run."""

    def __init__(self, cpus, extra="", kernel=GUEST, told=False, prefix=(), name="small", popen=subprocess.Popen):
        self.kernel = kernel
        self.name = name
        self.dir = tempfile.TemporaryDirectory(prefix="outsight-kvm-")
        self.socket = os.path.join(self.dir.name, "socket")
        self.console_path = os.path.join(self.dir.name, "console")
        command = [*prefix, VMM, "--kernel", kernel, "--smp", str(cpus), "--memory", "64", "--name", name, "--socket", self.socket,
                   "--append", f"cpus={cpus} calls={CALLS} {extra}"]
        if told:
            with open(self.console_path, "wb") as console:
                self.process = popen(command, stdin=subprocess.PIPE, stdout=console, stderr=subprocess.PIPE)
        else:
            self.process = popen([*command, "--console", self.console_path], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.pid = getattr(self.process, "inside", self.process.pid)
        self.wait_for("READY")

    def tell(self, what):
        self.process.stdin.write(what)
        self.process.stdin.flush()

    def console(self):
        with contextlib.suppress(FileNotFoundError), open(self.console_path, encoding="ascii") as f:
            return f.read()
        return ""

    def wait_for(self, text, seconds=limit(60)):
        end = time.monotonic() + seconds
        while text not in self.console():
            if self.process.poll() is not None or time.monotonic() > end:
                said = self.process.stderr.read() if self.process.poll() is not None else b""
                raise AssertionError(f"no {text}: {self.console()!r}, status {self.process.poll()}: {said.decode()}")
            time.sleep(0.05)

    def command(self, program, *options):
        """Without an overload limit: these counts are exact."""
        return [OUTSIGHT, "-g", self.socket, "--no-cache", "--vmlinux", self.kernel, "-q", "-x", "maxcost=0", *options,
                "-n", program]

    def list(self, description):
        return subprocess.run([OUTSIGHT, "-g", self.socket, "--no-cache", "--vmlinux", GUEST, "-ln", description],
                              capture_output=True, text=True, timeout=limit(60), check=True).stdout

    def barriers(self):
        """How often its vCPUs have met: three times a round."""
        symbols = subprocess.run(["nm", self.kernel], capture_output=True, text=True, check=True).stdout
        at = int(re.search(r"(?m)^(\S+) b generation$", symbols)[1], 16)
        with open(self.memory_path(), "rb") as f:
            f.seek(at - 0xffffffff80000000)
            return int.from_bytes(f.read(4), "little")

    def trace(self, program, *options, timeout=limit(120)):
        done = subprocess.run(self.command(program, *options), capture_output=True, text=True, timeout=timeout, check=False)
        if done.returncode:
            raise AssertionError(f"status {done.returncode}: {done.stderr}{self.console()}")
        return done.stdout

    def memory_path(self):
        """The memory file of its monitor."""
        fds = f"/proc/{self.pid}/fd"
        for fd in os.listdir(fds):
            with contextlib.suppress(OSError):
                if "memfd:outsight-ram" in os.readlink(f"{fds}/{fd}"):
                    return f"{fds}/{fd}"
        raise AssertionError("no guest memory")

    def text(self):
        """The guest's text as it is now."""
        paddr, text = elf_text(self.kernel)
        with open(self.memory_path(), "rb") as f:
            f.seek(paddr)
            return f.read(len(text))

    def wait_clean(self):
        """After kill -9 of a tracer: the engine removes its traps."""
        end = time.monotonic() + limit(60)
        while self.text() != elf_text(self.kernel)[1]:
            if time.monotonic() > end:
                raise AssertionError("traps stay in the guest's text")
            time.sleep(0.02)

    def close(self):
        """May be called again."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(limit(10))
        self.process.stderr.close()
        if self.process.stdin:
            self.process.stdin.close()
        self.dir.cleanup()


ROUND = "fbt::round_begin:entry { on = arg0; } %s fbt::round_end:entry /on/ { exit(0); }"


def counts_of(output):
    return {tuple(m[:-1]): int(m[-1]) for m in (line.split() for line in output.splitlines()) if m}


class GuestTest(unittest.TestCase):
    """A test with small guests of its own."""
    maxDiff = None

    def vm(self, cpus, extra=""):
        vm = Vm(cpus, extra)
        self.addCleanup(vm.close)
        return vm

    def check_unharmed(self, vm):
        self.assertEqual(vm.text(), elf_text(GUEST)[1])
        self.assertNotIn("FAIL", vm.console())
        # It still makes complete rounds.
        out = vm.trace(ROUND % "")
        self.assertEqual(out.strip(), "")


def main(why=None):
    """The tests of the file that is run, or those named after its arguments. Ends with 77 where there is no KVM, and for a reason
    of the caller's."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        why = "there is no /dev/kvm here that can be opened"
    run_module(sys.argv[3:], why)
