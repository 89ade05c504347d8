# SPDX-License-Identifier: GPL-2.0-or-later
"""Counting with breakpoints over QEMU's gdbstub, for comparison. The breakpoint is on a function's 5-byte fentry nop,
so resuming takes no single step: one register write moves RIP past the nop, the fastest way that this protocol allows.
"""
import socket
import struct
import time

RIP = 16  # register number in QEMU's x86-64 target description


class Gdb:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(path)
        self.buffer = b""

    def send(self, body):
        data = body.encode()
        self.sock.sendall(b"$" + data + b"#%02x" % (sum(data) & 255))

    def receive(self):
        while True:
            start = self.buffer.find(b"$")
            end = self.buffer.find(b"#", start)
            if start >= 0 and end >= 0 and len(self.buffer) >= end + 3:
                body = self.buffer[start + 1:end]
                self.buffer = self.buffer[end + 3:]
                self.sock.sendall(b"+")
                return body.decode("latin-1")
            chunk = self.sock.recv(65536)
            if not chunk:
                raise RuntimeError("the gdbstub closed the connection")
            self.buffer += chunk

    def ask(self, body):
        self.send(body)
        return self.receive()


def hit_loop(path, address, seconds, kind=0):
    """Stop at address for so long, by a breakpoint of gdb's kind (0: software, 1: hardware); seconds a hit."""
    gdb = Gdb(path)
    gdb.ask("?")
    if gdb.ask(f"Z{kind},{address:x},1") != "OK":
        raise RuntimeError("the gdbstub sets no such breakpoint")
    value = struct.pack("<Q", address + 5).hex()
    hits, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        gdb.ask("c")
        gdb.ask(f"P{RIP:x}={value}")
        hits += 1
    took = time.monotonic() - start
    gdb.ask(f"z{kind},{address:x},1")
    gdb.ask("D")
    return took / hits
