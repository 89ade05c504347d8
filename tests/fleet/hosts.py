# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of a fleet on this machine: a nats-server, keys, an outsight-serve for each host; and a client of NATS's protocol of the
tests' own, which listens to what goes by and sends what it likes."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit

NATS = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin")
NO_NATS = None if NATS else "there is no nats-server here (scripts/test gets one)"
CONNECT = b'CONNECT {"verbose":false,"pedantic":false,"lang":"tests","version":"1","protocol":1,"headers":false}\r\n'


def wait_until(condition, what, seconds=limit(60)):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.02)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Broker:
    """The distribution's nats-server on a port of an address of this machine: the one that it takes first, which it has again when it
    is started again. What it listens at it writes to a file in @folder."""

    def __init__(self, address, folder):
        self.address, self.folder, self.port = address, folder, -1
        self.start()

    def start(self):
        self.process = subprocess.Popen([NATS, "-a", self.address, "-p", str(self.port), "--ports_file_dir", self.folder],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = os.path.join(self.folder, f"{os.path.basename(NATS)}_{self.process.pid}.ports")

        def listens():
            if self.process.poll() is not None:
                raise AssertionError(f"nats-server ended with {self.process.returncode}")
            with contextlib.suppress(FileNotFoundError, ValueError), open(path, encoding="ascii") as f:
                self.port = urllib.parse.urlsplit(json.load(f)["nats"][0]).port
                return True
            return False
        wait_until(listens, "nats-server listens")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Client:
    """Of NATS: got has (subject, reply, data) of everything below os.v1."""

    def __init__(self, port, address="127.0.0.1"):
        self.socket = socket.create_connection((address, port))
        self.file = self.socket.makefile("rb")
        self.file.readline()
        self.got = []
        self.pongs = 0
        self.socket.sendall(CONNECT + b"SUB os.v1.> 1\r\n")
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        self.flush()

    def read(self):
        with contextlib.suppress(OSError, ValueError):
            while line := self.file.readline():
                words = line.split()
                if words[:1] == [b"MSG"]:
                    data = self.file.read(int(words[-1]) + 2)[:-2]
                    self.got.append((words[1].decode(), words[3].decode() if len(words) == 5 else "", data))
                elif words[:1] == [b"PING"]:
                    self.socket.sendall(b"PONG\r\n")
                elif words[:1] == [b"PONG"]:
                    self.pongs += 1

    def publish(self, subject, data, reply=""):
        self.socket.sendall(f"PUB {subject} {reply + ' ' if reply else ''}{len(data)}\r\n".encode() + data + b"\r\n")

    def flush(self):
        before = self.pongs
        self.socket.sendall(b"PING\r\n")
        wait_until(lambda: self.pongs > before, "the broker answers")

    def seen(self, prefix):
        return [m for m in list(self.got) if m[0].startswith(prefix)]

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.file.close()
        self.socket.close()


class Host:
    """An outsight-serve, and what it has logged. popen: as subprocess has it, where else it is to run."""
    ARGS = ()
    BEGUN = " serves "

    def __init__(self, fleet, name, operators, port, env=None, popen=subprocess.Popen):
        self.fleet, self.name, self.env, self.popen = fleet, name, env or {}, popen
        self.conf = fleet.path(f"{name}.conf")
        self.log_path = fleet.path(f"{name}.log")
        self.key = fleet.key(name)
        os.mkdir(fleet.path(f"{name}.state"))
        self.port = port
        self.write(operators)
        self.process = None
        self.start()

    def write(self, operators):
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(f"name {self.name}\nnats nats://{self.fleet.broker.address}:{self.port}\nkey {self.fleet.path(self.name + '.key')}\n"
                    f"state {self.fleet.path(self.name + '.state')}\n")
            for name, rights in operators.items():
                f.write(f"operator {name} {self.fleet.key(name)}\n{rights}\n")
        os.chmod(self.conf, 0o644)

    def start(self):
        before = self.log().count(self.BEGUN)
        with open(self.log_path, "a", encoding="utf-8") as log:
            self.process = self.popen([self.fleet.serve, *self.ARGS, "--conf", self.conf, "--verbose"], stdin=subprocess.DEVNULL, stderr=log,
                                      stdout=log, env={**os.environ, **self.env})
        wait_until(lambda: self.log().count(self.BEGUN) > before or self.process.poll() is not None, self.log)
        if self.process.poll() is not None:
            raise AssertionError(self.log())

    def log(self):
        with contextlib.suppress(FileNotFoundError), open(self.log_path, encoding="utf-8") as f:
            return f.read()
        return ""

    def await_log(self, text):
        wait_until(lambda: text in self.log(), lambda: f"{text} in {self.log()}")

    def sessions(self):
        """Processes of sessions."""
        pid = getattr(self.process, "inside", self.process.pid)
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [pid for pid in map(int, f.read().split()) if self.is_session(pid)]

    @staticmethod
    def is_session(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
            return b"--session" in f.read().split(b"\0")
        return False

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(limit(60))


class Merger(Host):
    """One that merges. Its operators need no rights."""
    ARGS = ("--merge",)
    BEGUN = " merges "

    def __init__(self, fleet, name, operators=("alice",), port=None, env=None):
        super().__init__(fleet, name, dict.fromkeys(operators, ""), port or fleet.broker.port, env)


class Fleet:
    """A folder with the keys of everybody, and the file of hosts that alice has."""

    def __init__(self, outsight, address="127.0.0.1"):
        self.outsight = outsight
        self.serve = os.path.join(os.path.dirname(outsight), "outsight-serve")
        self.dir = tempfile.TemporaryDirectory(prefix="outsight-fleet-")
        self.broker = Broker(address, self.dir.name)
        self.hosts = []
        self.keys = {}

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def key(self, name):
        """Public; made when it is asked for first."""
        if name not in self.keys:
            done = subprocess.run([self.serve, "--make-key", self.path(f"{name}.key")], capture_output=True, text=True,
                                  timeout=limit(60), check=True)
            self.keys[name] = done.stdout.strip()
        return self.keys[name]

    def host(self, name, operators, port=None, env=None, popen=subprocess.Popen):
        host = Host(self, name, operators, port or self.broker.port, env, popen)
        self.hosts.append(host)
        self.know({h.name: h.key for h in self.hosts})
        return host

    def merger(self, name, **kwargs):
        """Of the hosts that the file of hosts has already, to which it is added."""
        merger = Merger(self, name, **kwargs)
        self.hosts.append(merger)
        self.know({name: merger.key}, "a")
        return merger

    def know(self, hosts, mode="w"):
        with open(self.path("hosts"), mode, encoding="utf-8") as f:
            f.writelines(f"{name} {key}\n" for name, key in hosts.items())

    def command(self, *args, operator="alice", port=None):
        self.key(operator)
        return [self.outsight, "-x", f"fleet=nats://{self.broker.address}:{port or self.broker.port}", "-x",
                f"fleetkey={self.path(operator + '.key')}", "-x", f"fleethosts={self.path('hosts')}", *args]

    def run(self, *args, **kwargs):
        """(status, stdout, stderr)"""
        done = subprocess.run(self.command(*args, **kwargs), capture_output=True, text=True, timeout=limit(120), check=False)
        return done.returncode, done.stdout, done.stderr

    def close(self):
        for host in self.hosts:
            host.stop()
        self.broker.kill()
        self.dir.cleanup()
