# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of a fleet as namespaces: each has a network, processes and mounts of its own, and a link to the bridge here, where the
broker and the operator are. The test runs in namespaces of its own too (enter()), so that nothing of it is left behind.

What a link loses and delays is netem's to do. Where the kernel has none, the link is a wire of our own (wire.py)."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.namespaces import INSIDE, can_make, enter
from lib.pace import limit

OWN = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
WIRE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wire.py")
ADDRESS = "10.77.0.1"
# A first process that waits for what is left to it.
INIT = ["sh", "-c", "while :; do sleep 1000 & wait; done"]


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit(60), check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout


def children(pid):
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(child) for child in f.read().split()]
    return []


def child_of(process, seconds=limit(60)):
    """The only one, once it is there."""
    end = time.monotonic() + seconds
    while not children(process.pid):
        if process.poll() is not None or time.monotonic() > end:
            raise AssertionError(f"{process.args} has no child: {process.poll()}")
        time.sleep(0.005)
    return children(process.pid)[0]


def reason_to_skip():
    """None: hosts can be made here."""
    for program in ("ip", "tc", "unshare", "nsenter"):
        if not shutil.which(program):
            return f"there is no {program} here (iproute2, util-linux)"
    if os.environ.get(INSIDE) or can_make(OWN):
        return None
    return "namespaces can't be made here: it takes root, and a kernel that has them"


def begin():
    """Make this program one of namespaces of its own, with a bridge that hosts' links are at."""
    enter("--net")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "br0", "type", "bridge")
    run("ip", "address", "add", f"{ADDRESS}/24", "dev", "br0")
    run("ip", "link", "set", "br0", "up")


def has_netem():
    """Asked of a link that is made for it."""
    run("ip", "link", "add", "try0", "type", "veth", "peer", "name", "try1")
    try:
        return subprocess.run(["tc", "qdisc", "add", "dev", "try0", "root", "netem", "loss", "1%"], capture_output=True,
                              check=False).returncode == 0
    finally:
        run("ip", "link", "delete", "try0")


class Entered(subprocess.Popen):
    """A program in a host's namespaces. What is started is nsenter, which ends as the program does: inside is its PID here."""

    def __init__(self, place, command, **kwargs):
        super().__init__(["nsenter", "-t", str(place.init), "-n", "-m", "-p", "--", *command], **kwargs)
        self.inside = child_of(self)

    def send_signal(self, sig):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.inside, sig)

    def kill(self):
        self.send_signal(signal.SIGKILL)


class Place:
    """A host's namespaces and its link. loss, delay (ms) and reorder (of what is delayed, that share is not) hold for each
    direction."""
    made = 0

    def __init__(self):
        Place.made += 1
        self.number = Place.made
        self.port = f"port{self.number}"
        self.address = f"10.77.0.{self.number + 1}"
        self.process = subprocess.Popen(["unshare", *OWN, *INIT])
        self.init = child_of(self.process)
        self.wire = None
        if has_netem():
            run("ip", "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", str(self.init))
        else:
            self.wire = subprocess.Popen([sys.executable, "-B", WIRE, str(self.init), "eth0", self.port], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, bufsize=1)
            if self.wire.stdout.readline() != "ready\n":
                raise AssertionError("the wire has ended")
        run("ip", "link", "set", self.port, "master", "br0", "up")
        self.ip("link", "set", "lo", "up")
        self.ip("address", "add", f"{self.address}/24", "dev", "eth0")
        self.ip("link", "set", "eth0", "up")

    def inside(self, *words):
        return run("nsenter", "-t", str(self.init), "-n", "--", *words)

    def ip(self, *words):
        self.inside("ip", *words)

    def popen(self, command, **kwargs):
        return Entered(self, command, **kwargs)

    def disturb(self, loss, delay=0, reorder=0):
        if self.wire:
            self.wire.stdin.write(f"{loss} {delay} {reorder}\n")
            if self.wire.stdout.readline() != "changed\n":
                raise AssertionError("the wire has ended")
            return
        words = ["netem", "loss", f"{loss * 100}%"]
        if delay:
            words += ["delay", f"{delay}ms"]
        if reorder:
            words += ["reorder", f"{reorder * 100}%"]
        run("tc", "qdisc", "replace", "dev", self.port, "root", *words)
        self.inside("tc", "qdisc", "replace", "dev", "eth0", "root", *words)

    def lost(self):
        """Packets that the link has lost so far."""
        if self.wire:
            self.wire.stdin.write("lost\n")
            return int(self.wire.stdout.readline())
        text = run("tc", "-s", "qdisc", "show", "dev", self.port) + self.inside("tc", "-s", "qdisc", "show", "dev", "eth0")
        return sum(int(line.split("dropped ")[1].split(",")[0]) for line in text.splitlines() if "dropped " in line)

    def cut(self):
        self.ip("link", "set", "eth0", "down")

    def close(self):
        if self.wire:
            self.wire.stdin.close()
            self.wire.wait(limit(60))
            self.wire.stdout.close()
        self.process.kill()  # and its processes with it
        self.process.wait(limit(60))
