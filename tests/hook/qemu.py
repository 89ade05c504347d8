# SPDX-License-Identifier: GPL-2.0-or-later
"""The small guest in QEMU on /dev/kvm, for tests of the hook."""
import contextlib
import functools
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit

OUTSIGHT, GUEST = (os.path.abspath(p) for p in sys.argv[1:3])
HOOK = os.path.join(os.path.dirname(OUTSIGHT), "..", "lib", "liboutsight-kvm.so")
QEMU = "qemu-system-x86_64"
SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
FUNCTIONS = ("nop", "endbr", "push", "push1", "load", "flags", "frame", "tail")
CALLS = 50
RESTS = "rest=2000000"  # as small_guest.py of tests/kvm has it
MIB = 64
# One round: every function CALLS times on each vCPU.
ROUND = "fbt::round_begin:entry { on = arg0; } %s fbt::round_end:entry /on/ { exit(0); }"
ALL = ROUND % "fbt::probed_*:entry,fbt::probed_*:return /on/ { @[probefunc, probename] = count(); }"


def reason_to_skip():
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "there is no /dev/kvm here that can be opened"
    if not shutil.which(QEMU):
        return f"there is no {QEMU} here"
    return None


# A file of tests sets it before its first guest.
boots_default_firmware = False


@functools.cache
def firmware():
    """A KVM that interprets takes seconds for SeaBIOS, QEMU's default, and none for qboot, where QEMU has that."""
    dirs = subprocess.run([QEMU, "-L", "help"], capture_output=True, text=True, check=True).stdout.split()
    found = any(os.path.exists(os.path.join(d, "qboot.rom")) for d in dirs)
    return ["-bios", "qboot.rom"] if found and not boots_default_firmware else []


def elf_text(path=GUEST):
    """(physical address, bytes) of the guest's text: its first loadable segment."""
    with open(path, "rb") as f:
        data = f.read()
    phoff, = struct.unpack_from("<Q", data, 32)
    _, _, offset, _, paddr, filesz = struct.unpack_from("<IIQQQQ", data, phoff)
    return paddr, data[offset:offset + filesz]


def counts_of(output):
    return {tuple(m[:-1]): int(m[-1]) for m in (line.split() for line in output.splitlines()) if m}


def round_counts(cpus):
    return {(f"probed_{f}", end): CALLS * cpus * (2 if f == "load" else 1)
            for f in FUNCTIONS for end in ("entry", "return")}


def empty_qcow2():
    """An empty disk of 256 MiB that snapshots can be kept in: header, refcounts, L1 table, each a cluster."""
    cluster = 0x10000
    header = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, 256 << 20, 0, 1, 3 * cluster, cluster, 1, 0, 0)
    return b"".join(part.ljust(cluster, b"\0") for part in
                    (header, struct.pack(">Q", 2 * cluster), struct.pack(">4H", 1, 1, 1, 1), b""))


class Disk:
    """A disk for snapshots, as long as the test lasts."""

    def __init__(self, test):
        self.file = tempfile.NamedTemporaryFile(suffix=".qcow2")
        test.addCleanup(self.file.close)
        self.file.write(empty_qcow2())
        self.file.flush()
        self.args = ["-drive", f"file={self.file.name},format=qcow2,if=none,id=d"]


def listens(sock, path):
    """Connect. QEMU creates the file a moment before it listens."""
    try:
        sock.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    return True


class Qemu:
    """A QEMU that runs the small guest. preload: with the hook from the start. prefix: a command that becomes it. popen: as
    subprocess has it, where else it is to run."""

    def __init__(self, cpus=2, preload=False, args=(), extra="", name="small", sandbox=SANDBOX, smp=None,
                 prefix=(), kernel=GUEST, accel="kvm", popen=subprocess.Popen):
        self.dir = tempfile.TemporaryDirectory(prefix="outsight-hook-")
        self.cpus = cpus
        self.console_path = self.path("console")
        self.env = {**os.environ, "XDG_RUNTIME_DIR": self.dir.name}
        env = {**self.env, "LD_PRELOAD": HOOK} if preload else self.env
        self.log = open(self.path("log"), "w+", encoding="utf-8")
        boot = [*firmware(), "-kernel", kernel, "-append", f"cpus={cpus} calls={CALLS} {extra}"] if kernel else []
        self.process = popen(
            [*prefix, QEMU, "-name", name, "-accel", accel, "-cpu", "kvm64", "-M", "pc", "-smp", smp or str(cpus), "-m", str(MIB),
             "-nodefaults", "-display", "none", "-serial", f"file:{self.console_path}", "-sandbox", sandbox,
             "-qmp", f"unix:{self.path('qmp')},server=on,wait=off", *boot, *args],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=env)
        self.pid = getattr(self.process, "inside", self.process.pid)
        self.qmp_in = self.qmp_out = None

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def console(self):
        with contextlib.suppress(FileNotFoundError), open(self.console_path, encoding="ascii") as f:
            return f.read()
        return ""

    def errors(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8") as f:
            return f.read()

    def wait_for(self, true, what, seconds=limit(240)):
        end = time.monotonic() + seconds
        while not true():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"no {what}: status {self.process.poll()}: {self.console()!r} {self.errors()}"
                                     f"{self.outsight('guests')}")
            time.sleep(0.02)

    def wait_ready(self):
        self.wait_for(lambda: "READY" in self.console(), "READY")
        return self

    def wait_engine(self):
        self.wait_for(lambda: self.guests(), "engine")
        return self

    def guests(self):
        done = self.outsight("guests", "--json")
        return [g for g in json.loads(done.stdout) if g["pid"] == self.pid and g["backend"]]

    def outsight(self, *args, timeout=limit(120)):
        return subprocess.run([OUTSIGHT, *args], capture_output=True, text=True, timeout=timeout, check=False,
                              env=self.env)

    def trace_command(self, program):
        """Without an overload limit: these counts are exact on a busy host too."""
        return [OUTSIGHT, "-g", str(self.pid), "--no-cache", "--vmlinux", GUEST, "-q", "-x", "maxcost=0", "-n", program]

    def trace(self, program, timeout=limit(120)):
        done = self.outsight(*self.trace_command(program)[1:], timeout=timeout)
        if done.returncode:
            raise AssertionError(f"status {done.returncode}: {done.stderr}{self.console()}{self.errors()}")
        return done.stdout

    # QMP

    def qmp(self, command, **arguments):
        if not self.qmp_in:
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(limit(30))
            self.wait_for(lambda: listens(sock, self.path("qmp")), "QMP")
            # two: a single one for both drops, at a write, its read-ahead (events)
            self.qmp_in, self.qmp_out = sock.makefile("r", encoding="utf-8"), sock.makefile("w", encoding="utf-8")
            sock.close()  # the files keep it
            self.qmp_in.readline()
            self.qmp("qmp_capabilities")
        print(json.dumps({"execute": command, "arguments": arguments}), file=self.qmp_out, flush=True)
        while True:
            reply = json.loads(self.qmp_in.readline())
            if "error" in reply:
                raise AssertionError(f"{command}: {reply}")
            if "return" in reply:
                return reply["return"]

    def hmp(self, line):
        return self.qmp("human-monitor-command", **{"command-line": line})

    # vCPU hotplug; a QEMU with smp=HOTPLUG

    HOTPLUG = "2,sockets=3,maxcpus=3"

    def plug(self):
        self.qmp("device_add", driver="kvm64-x86_64-cpu", id="third", **{"socket-id": 2, "core-id": 0, "thread-id": 0})

    def unplug(self):
        """What the guest's ACPI would write to eject CPU 2 (QEMU's docs/specs/acpi_cpu_hotplug), written by the monitor."""
        self.hmp("o /b 0xaf00 0")
        self.qmp("device_del", id="third")
        self.hmp("o /w 0xaf00 2")
        self.hmp("o /b 0xaf04 8")
        self.wait_for(lambda: len(self.qmp("query-cpus-fast")) == 2, "end of the third vCPU", limit(30))

    def text(self):
        """The guest's text as QEMU sees it now."""
        paddr, text = elf_text()
        self.qmp("pmemsave", val=paddr, size=len(text), filename=self.path("text"))
        with open(self.path("text"), "rb") as f:
            return f.read()

    @staticmethod
    def symbol(name):
        out = subprocess.run(["nm", GUEST], capture_output=True, text=True, check=True).stdout
        return int(re.search(rf"^([0-9a-f]+) \S {name}$", out, re.M)[1], 16)

    def rounds(self):
        """How often the guest's barrier was passed: the guest runs if this increases."""
        line = self.hmp(f"xp /1wx {self.symbol('generation') - 0xffffffff80000000:#x}")
        return int(line.split(":")[1], 16)

    def check_running(self):
        before = self.rounds()
        self.wait_for(lambda: self.rounds() != before, "progress of the guest", limit(20))

    def check_breakpoint(self, test):
        """QEMU's own debugger: a breakpoint by a debug register is hit, twice."""
        self.hmp(f"gdbserver unix:{self.path('gdb')},server=on,wait=off")
        at = self.symbol("round_begin")
        commands = [f"target remote {self.path('gdb')}", f"hbreak *{at:#x}", "continue", "print/x $rip", "continue",
                    "print/x $rip", "delete", "detach"]
        done = subprocess.run(["gdb", "-batch", "-nx", *(x for c in commands for x in ("-ex", c))], capture_output=True,
                              text=True, timeout=limit(120), check=False)
        test.assertEqual(done.stdout.count(f" = {at:#x}"), 2, done)
        self.hmp("gdbserver none")
        self.check_running()

    def wait_clean(self):
        """After kill -9 of a tracer: the engine removes its traps."""
        self.wait_for(lambda: self.text() == elf_text()[1], "clean text")

    def check_unharmed(self, test):
        test.assertEqual(self.text(), elf_text()[1])
        test.assertNotIn("FAIL", self.console())
        self.check_running()

    def stopped_threads(self):
        """Threads that are stopped or traced."""
        found = []
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{self.pid}/task/{tid}/status", encoding="ascii") as f:
                if re.search(r"^State:\s+[tT]", f.read(), re.M):
                    found.append(tid)
        return found

    def close(self):
        if self.qmp_in:
            self.qmp_in.close()
            self.qmp_out.close()
        self.process.terminate()
        try:
            self.process.wait(limit(20))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        self.dir.cleanup()
