#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest can do to who traces it: guest_test.py OUTSIGHT SMALL-GUEST. Ends with 77 without KVM or QEMU.

What lies in its memory: tests/fuzz, guest_budget_test. Its agent: engine_agent_hostile_test. Patching of its text: kvm.patching."""
import contextlib
import ctypes
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("hook", "linux", "kvm")]
# pylint: disable=wrong-import-position
import qemu
from lib import namespaces
from lib.pace import limit, rounds
from qemu import CALLS, Qemu
from small_guest import Vm

LOAD = "fbt::probed_*:entry { @[probefunc] = count(); } BEGIN { printf(\"begun\\n\"); }"
NOBODY = 65534
TOTAL = re.compile(r"\d+")


class Memory(unittest.TestCase):
    """The chipset's PAM registers say what lies between 640 KiB and 1 MiB: whoever writes there moves the memory behind it
    too. The monitor makes the accesses that a guest's kernel would."""

    def setUp(self):
        self.vm = Qemu(preload=True)
        self.addCleanup(self.vm.close)
        self.vm.wait_ready().wait_engine()

    def move(self):
        """To RAM and back: whichever it was before, one of them moves it."""
        self.vm.hmp("o /w 0xcf8 0x80000058")
        for value in (0x33, 0x00, 0x33):
            for port in (0xcfd, 0xcfe, 0xcff):
                self.vm.hmp(f"o /b {port:#x} {value:#x}")

    def test_moved(self):
        """It ends a session, with the reason, and does nothing else: the text is clean, and the next session runs."""
        for _ in range(rounds(2, 20)):
            self.vm.wait_engine()
            trace = subprocess.Popen([*self.vm.trace_command(LOAD), "-x", "maxcost=0"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, env=self.vm.env)
            self.addCleanup(lambda t=trace: (t.kill(), t.communicate()))
            self.vm.wait_for(lambda t=trace: t.poll() is not None or self.vm.text() != qemu.elf_text()[1], "trap")
            self.move()
            out, err = trace.communicate(timeout=limit(60))
            self.assertRegex(err, r"\Adtrace: guest small was given other memory or vCPUs: its probes are removed, -g traces it "
                             r"again\n\Z")
            self.assertIn("begun", out)
            self.vm.wait_clean()
            self.vm.check_unharmed(self)


IN_CREATE, IN_ATTRIB, IN_NONBLOCK = 0x100, 0x4, 0x800


class Watch:
    """What happens to the names in a directory."""

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(IN_NONBLOCK)
        if self.libc.inotify_add_watch(self.fd, path.encode(), IN_CREATE | IN_ATTRIB) < 0:
            raise OSError(ctypes.get_errno(), path)

    def events(self):
        """[(name, mask)] so far."""
        found, data = [], b""
        with contextlib.suppress(BlockingIOError):
            data = os.read(self.fd, 65536)
        while data:
            _, mask, _, size = struct.unpack_from("iIII", data)
            found.append((data[16:16 + size].rstrip(b"\0").decode(), mask))
            data = data[16 + size:]
        os.close(self.fd)
        return found


class Attached(unittest.TestCase):
    """Another user against who attaches to a QEMU of root's."""

    def setUp(self):
        self.vm = Qemu()
        self.addCleanup(self.vm.close)
        self.vm.wait_ready()
        self.sockets = os.path.join(self.vm.dir.name, "outsight")

    def take(self):
        """In a process of nobody's: the name that once was a claim, and a lock on each file of the VMM's that opens."""
        kept = [socket.socket(socket.AF_UNIX)]
        kept[0].bind(f"\0outsight-claim-{self.vm.pid}")
        for name in os.listdir(f"/proc/{self.vm.pid}"):
            with contextlib.suppress(OSError):
                kept.append(open(f"/proc/{self.vm.pid}/{name}", "rb"))
                fcntl.flock(kept[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        return kept

    def claim(self):
        out, into = os.pipe()
        other = os.fork()  # nobody may not be able to start this Python
        if not other:
            try:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                kept = self.take()
                os.write(into, b"y" if len(kept) > 1 else b"n")
                signal.pause()
            finally:
                os._exit(1)
        self.addCleanup(lambda: (os.kill(other, signal.SIGKILL), os.waitpid(other, 0)))
        os.close(into)
        self.assertEqual(os.read(out, 1), b"y")
        os.close(out)

    def test_claimed(self):
        """It is attached to, sampled, and the socket's mode is set by no name."""
        self.claim()
        out = self.vm.outsight("-g", f"peek:{self.vm.pid}", "--no-cache", "--vmlinux", qemu.GUEST, "-qn", "tick-200ms { exit(0); }")
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        os.makedirs(self.sockets, 0o700, exist_ok=True)
        watch = Watch(self.sockets)
        done = self.vm.outsight("attach", str(self.vm.pid))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(watch.events(), [(f"{self.vm.pid}.sock", IN_CREATE)])
        self.assertEqual(os.stat(os.path.join(self.sockets, f"{self.vm.pid}.sock")).st_mode & 0o7777, 0o600)
        self.assertEqual(self.vm.outsight("detach", str(self.vm.pid)).returncode, 0)
        self.vm.check_unharmed(self)

    def test_the_log_is_first(self):
        """Who injects is in the log before the VMM has anything of ours, also where the injection fails."""
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(log.close)
        log.bind(self.vm.path("dev-log"))
        log.settimeout(limit(30))
        # the library can't be found: nothing is injected
        done = subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && ln -s "$1" /dev/log && shift && exec "$@"', "sh",
                               self.vm.path("dev-log"), *self.vm.trace_command("fbt::probed_nop:entry { exit(0); }")],
                              env={**self.vm.env, "OUTSIGHT_PLUGIN_DIR": self.vm.dir.name}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=limit(120), check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(": tracing starts: user=root uid=0 ", log.recv(4096).decode())
        with open(f"/proc/{self.vm.pid}/maps", encoding="utf-8") as f:
            self.assertNotIn("outsight", f.read())
        done = subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && ln -s "$1" /dev/log && shift && exec "$@"', "sh",
                               self.vm.path("dev-log"), *self.vm.trace_command("fbt::probed_nop:entry { exit(0); }")],
                              env=self.vm.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit(120), check=False)
        self.assertEqual(done.returncode, 0, done)
        said = [log.recv(4096).decode().split("]: ")[1].split(":")[0] for _ in range(4)]
        self.assertEqual(said, ["tracing ends", "tracing starts", "injecting", "tracing ends"])


class Counted(unittest.TestCase):
    """It writes to the ports at which KVM counts, as a process with ioperm(2) can too."""

    FORGED = 40

    def calls_per_round(self, vm, *options):
        """As counted, the first and the last round in part."""
        out = vm.trace("fbt::probed_nop:entry { @a = count(); } fbt::round_end:entry { @b = sum(1); n++; } "
                       "fbt::round_end:entry /n > 20/ { exit(0); }", *options)
        calls, done = (int(n) for n in TOTAL.findall(out))
        return calls / done

    def test_ports(self):
        """A count by KVM can be raised, which docs/limits.md says; one in a comparison can't."""
        vm = Vm(1, extra=f"ports={self.FORGED}")
        self.addCleanup(vm.close)
        most = CALLS * 22 / 20
        self.assertLessEqual(self.calls_per_round(vm, "-x", "view=both"), most)
        if "ioeventfd=yes" in subprocess.run([qemu.OUTSIGHT, "doctor", "-v"], capture_output=True, text=True, check=False).stdout:
            self.assertGreater(self.calls_per_round(vm), most)


class Told(unittest.TestCase):
    def test_addresses_are_not_looked_up(self):
        """%I of what a guest chooses asks no name server."""
        vm = Vm(1)
        self.addCleanup(vm.close)
        program = '%s { printf("%%I\\n", "127.0.0.1"); exit(0); }'
        self.assertEqual(vm.trace(program % "fbt::probed_nop:entry").strip(), "127.0.0.1")
        alone = subprocess.run([qemu.OUTSIGHT, "-g", "none", "-qn", program % "BEGIN"], capture_output=True, text=True, check=True)
        self.assertNotEqual(alone.stdout.strip(), "", "it is what the resolver says where there is no guest")


if __name__ == "__main__":
    reason = qemu.reason_to_skip()
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(77)
    namespaces.enter("--net")
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
