# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest agent, and a host of our own for it: guest-agent/agent_abi.h by hand, on the guest's RAM.

It writes where and what it wants, also what no honest host would. One host at a time.
"""
import mmap
import os
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import time

from lib.guest import GuestError, cache_dir
from lib.pace import LIMIT

MAGIC, VERSION = 0x31746e6741744f, 3
TRACEPOINTS, KPROBES = 4096, 1024
SLOTS = TRACEPOINTS + KPROBES
OFF, TRACEPOINT, KPROBE, KRETPROBE = range(4)
LIVE, CLOSING = 1, 2
DOORBELL = 1

HEADER = struct.Struct("<QIIIIIIQQQQQQQIIIIIIIIQQ")
HEADER_FIELDS = ("magic version size state nrings record_size nslots token control_gpa control_size catalogue_gva "
                 "rings_gva doorbell_gva mark_gva catalogue_seq omitted applied armed tsc_khz lapses clock_seq pad "
                 "clock_before clock_after").split()
ENTRY = struct.Struct("<QQIi80s")
PLACE = struct.Struct("<QQII")
WANT = struct.Struct("<QIHH")
RECORD = struct.Struct("<QQQII16sIIIHH8Q")
VERSION_AT = 8
OWNER, BEAT, GENERATION, WANTS = 0, 64, 72, 128
LOST, TAIL, RECORDS = 0, 64, 4096


def module_path(kernel, module="outsight"):
    return os.path.join(cache_dir(), "agent", kernel, f"{module}.ko")


def why_no_agent(kernel, *more):
    """None when the module (and those that tests load beside it) is built for this kernel's guest, else the reason."""
    for module in ("outsight", *more):
        if not os.path.exists(module_path(kernel, module)):
            return f"no module {module} for {kernel} (scripts/guest-agent {kernel} builds it)"
    return None


def archive(kernel, path, *modules):
    """A cpio archive with the modules (the agent unless named) in /modules, for Guest(more_files=)."""
    modules = modules or ("outsight",)
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, "modules"))
        for module in modules:
            shutil.copy(module_path(kernel, module), os.path.join(root, "modules"))
        names = "".join(f"{name}\n" for name in ["modules", *(f"modules/{module}.ko" for module in modules)])
        with open(path, "wb") as out:
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=root, input=names.encode(),
                           stdout=out, check=True)
    return path


class Record:
    """One record of a ring."""

    def __init__(self, raw):
        (self.seq, self.tsc, self.task, self.pid, self.tgid, comm, self.slot, self.preempt, self.cpu, self.nargs,
         self.flags, *args) = RECORD.unpack(raw)
        self.comm = comm.split(b"\0")[0].decode("utf-8", "replace")
        self.args = args[:self.nargs]


class Agent:
    """What the module in a guest offers; and, between own() and release(), its host."""

    def __init__(self, guest):
        self.guest = guest
        with open(guest.ram_path(), "r+b") as f:
            self.ram = mmap.mmap(f.fileno(), guest.memory)
        self.gva = self.find(guest)
        self.stop_beat = None
        self.beat_thread = None
        self.tails = {}
        self.owned = False

    @staticmethod
    def find(guest):
        """The header is at the same offset in each load's data: only the first one is looked up."""
        data = int(guest.check("cat /sys/module/outsight/sections/.data"), 16)
        if not hasattr(guest, "agent_offset"):
            guest.agent_offset = int(guest.check("grep -w outsight_agent /proc/kallsyms").split()[0], 16) - data
        return data + guest.agent_offset

    # --- reading --------------------------------------------------------------------------------------

    def physical(self, gva):
        """By QEMU's own walk of a vCPU's tables."""
        answer = self.guest.qemu_command(f"gva2gpa 0x{gva:x}")
        found = re.search(r"gpa: (?:0x)?([0-9a-f]+)", answer)
        if not found:
            raise GuestError(f"{gva:#x} is not mapped: {answer}")
        return int(found.group(1), 16)

    def read(self, gva, size):
        out = b""
        while len(out) < size:
            at = self.physical(gva + len(out))
            step = min(size - len(out), 4096 - at % 4096)
            out += self.ram[at:at + step]
        return out

    def header(self):
        if not hasattr(self, "header_gpa"):
            self.header_gpa = self.physical(self.gva)
        raw = self.ram[self.header_gpa:self.header_gpa + HEADER.size]
        return dict(zip(HEADER_FIELDS, HEADER.unpack(raw)))

    def catalogue(self):
        """{slot: (address, missed, armed, error, name)} of what there is."""
        h = self.header()
        raw = self.read(h["catalogue_gva"], SLOTS * ENTRY.size)
        out = {}
        for slot in range(SLOTS):
            address, missed, armed, error, name = ENTRY.unpack_from(raw, slot * ENTRY.size)
            if address:
                out[slot] = (address, missed, armed, error, name.split(b"\0")[0].decode())
        return out

    def rings(self):
        """[(cpu, gpa, records)]"""
        h = self.header()
        raw = self.read(h["rings_gva"], h["nrings"] * PLACE.size)
        places = [PLACE.unpack_from(raw, i * PLACE.size) for i in range(h["nrings"])]
        return [(cpu, gpa, records) for cpu, (gpa, _, records, _) in enumerate(places) if gpa]

    # --- owning ---------------------------------------------------------------------------------------

    def put(self, gpa, form, *values):
        struct.pack_into("<" + form, self.ram, gpa, *values)

    def get(self, gpa, form):
        return struct.unpack_from("<" + form, self.ram, gpa)[0]

    def own(self):
        h = self.header()
        self.control = h["control_gpa"]
        if self.get(self.control + OWNER, "Q") != h["token"]:
            raise GuestError("the agent has an owner")
        self.put(self.control + OWNER, "Q", h["token"] | 1)
        self.owned = True
        self.places = self.rings()
        self.tails = {cpu: self.get(gpa + TAIL, "Q") for cpu, gpa, _ in self.places}
        self.stop_beat = threading.Event()
        self.beat_thread = threading.Thread(target=self._beat, daemon=True)
        self.beat_thread.start()
        return self

    def _beat(self):
        while not self.stop_beat.wait(0.1):
            self.put(self.control + BEAT, "Q", self.get(self.control + BEAT, "Q") + 1)

    def stop_beating(self):
        if self.beat_thread:
            self.stop_beat.set()
            self.beat_thread.join()
            self.beat_thread = None

    def release(self):
        self.stop_beating()
        self.put(self.control + OWNER, "Q", self.header()["token"])
        self.owned = False

    def want(self, slot, address, kind, nargs=0, flags=0):
        at = self.control + WANTS + slot * WANT.size
        self.put(at + 8, "I", OFF)
        self.put(at, "Q", address)
        self.put(at + 12, "HH", nargs, flags)
        self.put(at + 8, "I", kind)

    def apply(self, timeout=LIMIT):
        """Ask the agent to read its commands, and wait until it has."""
        generation = (self.get(self.control + GENERATION, "I") + 1) & 0xffffffff or 1
        self.put(self.control + GENERATION, "I", generation)
        self.wait(lambda: self.header()["applied"] == generation, "the agent to apply its commands", timeout)

    @staticmethod
    def wait(condition, what, timeout=LIMIT):
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                raise GuestError(f"waited {timeout} s for {what}")
            time.sleep(0.02)

    # --- records --------------------------------------------------------------------------------------

    def lost(self):
        return sum(self.get(gpa + LOST, "Q") for _, gpa, _ in self.places)

    def drain(self):
        """Every record that is there, ring by ring."""
        out = []
        for cpu, gpa, records in self.places:
            tail = self.tails[cpu]
            while True:
                at = gpa + RECORDS + tail % records * RECORD.size
                if self.get(at, "Q") != tail + 1:
                    break
                record = Record(self.ram[at:at + RECORD.size])
                out.append(record)
                tail += 1
                if tail % 64 == 0:
                    self.put(gpa + TAIL, "Q", tail)
            self.put(gpa + TAIL, "Q", tail)
            self.tails[cpu] = tail
        return out
