# SPDX-License-Identifier: GPL-2.0-or-later
"""A hostile broker: a relay before a real one, that drops, repeats, keeps back and forges messages of a fleet's sessions. What it
does is drawn from a seed, so that a run can be had again."""
import contextlib
import random
import socket
import threading


class Relay:
    """loss, repeat, late and forge: shares of messages, 0 to 1. withhold: hosts of whose packets nothing goes on."""

    def __init__(self, to_port, loss=0.0, repeat=0.0, late=0.0, forge=0.0, seed=1):
        self.to_port, self.loss, self.repeat, self.late, self.forge = to_port, loss, repeat, late, forge
        self.random = random.Random(seed)
        self.withhold = set()
        self.counts = {"passed": 0, "dropped": 0, "repeated": 0, "late": 0, "forged": 0, "withheld": 0}
        self.old = []  # messages of before, to be sent again as forgeries
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = [self.listener]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to_port))
                self.sockets += [client, server]
                threading.Thread(target=self.pump, args=(server, client), daemon=True).start()
                threading.Thread(target=self.pump_messages, args=(client, server), daemon=True).start()

    def pump(self, source, to):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                to.sendall(data)
        self.end(source, to)

    @staticmethod
    def end(*sockets):
        for s in sockets:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def pump_messages(self, source, to):
        """From a client: what it publishes about sessions is changed, all else goes on."""
        kept = []
        with contextlib.suppress(OSError, ValueError), source.makefile("rb") as f:
            while line := f.readline():
                words = line.split()
                if words[:1] != [b"PUB"]:
                    to.sendall(line)
                    continue
                data = f.read(int(words[-1]) + 2)
                if not words[1].startswith((b"os.v1.in.", b"os.v1.out.")):
                    to.sendall(line + data)
                    continue
                with self.lock:
                    out = self.treat(words, line + data, kept)
                for message in out:
                    to.sendall(message)
        self.end(source, to)

    def chance(self, share):
        return self.random.random() < share

    def forged(self, words, message):
        """A bit of it changed, or another session's, or another moment's, under this subject."""
        head, _, data = message.partition(b"\r\n")
        data = bytearray(data[:-2])
        kind = self.random.randrange(3)
        if kind == 0 and data:
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
        elif kind == 1 and self.old:
            data = self.random.choice(self.old)
        else:
            data = self.random.randbytes(self.random.randrange(1, 300))
        return b"PUB " + words[1] + b" %d\r\n" % len(data) + bytes(data) + b"\r\n"

    def treat(self, words, message, kept):
        host = words[1].rsplit(b".", 1)[1].decode()
        if host in self.withhold:
            self.counts["withheld"] += 1
            return []
        out = []
        if self.chance(self.forge):
            self.counts["forged"] += 1
            out.append(self.forged(words, message))
        if len(self.old) < 200:
            self.old.append(message.partition(b"\r\n")[2][:-2])
        if self.chance(self.loss):
            self.counts["dropped"] += 1
            return out
        if self.chance(self.late):
            self.counts["late"] += 1
            kept.append(message)
            return out
        self.counts["passed"] += 1
        out.append(message)
        if self.chance(self.repeat):
            self.counts["repeated"] += 1
            out.append(message)
        out += reversed(kept)
        kept.clear()
        return out

    def close(self):
        for s in self.sockets:
            self.end(s)
            s.close()
