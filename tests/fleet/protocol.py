# SPDX-License-Identifier: GPL-2.0-or-later
"""An operator's end of a fleet's link, over the pipes of `outsight-serve --stdio`: written from fleet/wire/message.h and
fleet/link/packet.h, and sharing no line with either side."""
import os
import select
import struct
import subprocess
import time

KINDS = ("", "HELLO", "RUN", "REFUSED", "PROGRAM", "ENABLED", "READY", "START", "STARTED", "NAMES", "AGGREGATES", "RECORDS",
         "FAULTS", "DROPS", "OVERLOAD", "GUEST", "SAY", "STOP", "ENDED")
PROTOCOL = 2
MAGIC = 0x316C464F
MAGIC_PACKED = 0x7A6C464F
HEADER = struct.Struct("<IIQQQQ")
WINDOW = 16
STRETCH_MAX = 200 << 10  # bytes of a message in one packet


def text(s):
    data = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<I", len(data)) + data


def hello(name="tester@test", protocol=PROTOCOL):
    return struct.pack("<I", protocol) + text(name) + struct.pack("<QQQQ", 0, 0, 0, 0)


def run(guests, *programs, options=(), args=(), script=None):
    """programs: probe specifiers; script: (name, text) of one script before them."""
    sources = [(True, *script)] if script else []
    sources += [(False, "", p) for p in programs]
    out = text(guests) + struct.pack("<I", len(sources))
    for is_script, name, program in sources:
        out += struct.pack("<BB", is_script, 0) + text(name) + text(program)
    out += struct.pack("<I", len(options))
    for name, value in options:
        out += text(name) + (b"\0" if value is None else b"\1" + text(value))
    out += struct.pack("<I", len(args))
    return out + b"".join(text(a) for a in args)


class Reader:
    """Values of a message in order."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError(f"a message of {len(self.data)} bytes ends at {self.at}")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def bytes(self):
        return self.take(self.number("I"))

    def text(self):
        return self.bytes().decode()

    def values(self, form):
        """i u8, I u32, n i32, Q u64, t text, b bytes."""
        get = {"i": lambda: self.number("B"), "I": lambda: self.number("I"), "n": lambda: self.number("i"),
               "Q": lambda: self.number("Q"), "t": self.text, "b": self.bytes}
        return tuple(get[c]() for c in form)

    def list(self, form):
        found = []
        while self.at < len(self.data):
            found.append(self.values(form))
        return found


# The values of each message; of a list, those of its elements.
FORMS = {"HELLO": "ItQQQQ", "REFUSED": "It", "PROGRAM": "bIIIII", "OVERLOAD": "IIII", "GUEST": "ItiItQt", "SAY": "it",
         "ENDED": "init", "STARTED": ""}
LISTS = {"ENABLED": "IIIItttt", "NAMES": "IQtt", "AGGREGATES": "IIbb", "FAULTS": "IIInIQ", "DROPS": "IIQ"}


def decode(kind, data):
    r = Reader(data)
    if kind in LISTS:
        return r.list(LISTS[kind])
    if kind == "READY":
        matched, texts = r.values("QI")
        return (matched, *r.values("Q" * texts))
    if kind == "RECORDS":
        r.values("QQQQ")
        return r.list("IIQb")
    values = r.values(FORMS[kind])
    if r.at != len(data):
        raise ValueError(f"{kind} with {len(data) - r.at} bytes too many")
    return values


def unpack(data):
    """The bytes that some stand for whose zeros are left out."""
    out, at = b"", 0
    while at < len(data):
        end = at + 1 + data[at]
        out += data[at + 1:end] + bytes(data[end])
        at = end + 1
    return out


class Worker:
    """A worker in a process of its own, and the operator's end of its link."""

    def __init__(self, serve, env=None):
        self.process = subprocess.Popen([serve, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, **(env or {})})
        self.raw = self.stream = b""
        self.number = self.turn = self.taken = self.heard = 0
        self.acknowledged = 0  # of this side's packets
        self.held = {}
        self.said_ns = 0
        self.got = []      # every message, (kind, values)
        self.closed = False

    # --- packets

    def packet(self, number, payload=b""):
        self.turn += 1
        mask = sum(1 << (n - self.taken - 1) for n in self.held if 0 < n - self.taken <= 32)
        packet = HEADER.pack(MAGIC, mask, number, self.turn, self.taken, self.heard) + payload
        self.said_ns = time.monotonic_ns()
        try:
            self.process.stdin.write(struct.pack("<I", len(packet)) + packet)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def send(self, kind, data=b""):
        stream = struct.pack("<II", KINDS.index(kind), len(data)) + data
        for at in range(0, len(stream), STRETCH_MAX):
            while self.number - self.acknowledged >= WINDOW and not self.closed:
                self.poll()
            self.number += 1
            self.packet(self.number, stream[at:at + STRETCH_MAX])

    def read_packet(self, packet):
        magic, _, number, turn, acknowledged, _ = HEADER.unpack_from(packet)
        assert magic in (MAGIC, MAGIC_PACKED), packet[:HEADER.size]
        self.acknowledged = max(self.acknowledged, acknowledged)
        self.heard = max(self.heard, turn)
        if number > self.taken:
            payload = packet[HEADER.size:]
            self.held[number] = unpack(payload) if magic == MAGIC_PACKED else payload
        while self.taken + 1 in self.held:
            self.taken += 1
            self.stream += self.held.pop(self.taken)
        while len(self.stream) >= 8:
            kind, size = struct.unpack_from("<II", self.stream)
            if len(self.stream) < 8 + size:
                break
            self.got.append((KINDS[kind], decode(KINDS[kind], self.stream[8:8 + size])))
            self.stream = self.stream[8 + size:]
        return number

    def poll(self, seconds=0.2):
        """Take what comes within that time, and say that it came."""
        if select.select([self.process.stdout], [], [], seconds)[0]:
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            self.closed |= not data
            self.raw += data
        new = False
        while len(self.raw) >= 4 and len(self.raw) >= 4 + struct.unpack_from("<I", self.raw)[0]:
            size = struct.unpack_from("<I", self.raw)[0]
            new |= self.read_packet(self.raw[4:4 + size]) > 0
            self.raw = self.raw[4 + size:]
        if new or time.monotonic_ns() - self.said_ns > 500_000_000:
            self.packet(0)

    # --- conversations

    def all(self, kind):
        return [values for k, values in self.got if k == kind]

    def await_(self, kind, seconds=60):
        """The first message of that kind, once it has come; of several kinds any."""
        kinds = (kind,) if isinstance(kind, str) else kind
        end = time.monotonic() + seconds
        while True:
            for k, values in self.got:
                if k in kinds:
                    return values
            if self.closed or time.monotonic() > end:
                raise AssertionError(f"no {kind}: {[k for k, _ in self.got]}, status {self.process.poll()}, {self.all('REFUSED')}, "
                                     f"{self.all('ENDED')}")
            self.poll()

    def begin(self, *args, **kwargs):
        """To READY: how many probes matched."""
        self.send("HELLO", hello())
        self.await_("HELLO")
        self.send("RUN", run(*args, **kwargs))
        return self.await_("READY")[0]

    def start(self):
        self.send("START")
        self.await_("STARTED")

    def stop(self, seconds=60):
        self.send("STOP")
        return self.await_("ENDED", seconds)

    def wait(self, seconds=60):
        """For its end; its status."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError("it does not end")
            self.poll()
        return self.process.returncode

    def close(self):
        self.process.kill()
        self.process.wait()
        for f in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                f.close()
            except BrokenPipeError:
                pass

    # --- data

    def names(self):
        """number → (text, note)"""
        return {number: (name, note) for names in self.all("NAMES") for _, number, name, note in names}

    def enabled(self):
        """EPID → "provider:module:function:name" """
        return {e[0]: ":".join(e[4:]) for enabled in self.all("ENABLED") for e in enabled}

    def sums(self):
        """(EPID, tuple behind the aggregation's number) → the sum of the first words."""
        sums = {}
        for aggregates in self.all("AGGREGATES"):
            for epid, _, key, words in aggregates:
                at = epid, key[4:]
                sums[at] = sums.get(at, 0) + struct.unpack_from("<q", words)[0]
        return sums
