# SPDX-License-Identifier: GPL-2.0-or-later
"""A link between the network of process PID and this one, which loses, delays and reorders what goes over it, for a kernel
without netem: wire.py PID ITS-DEVICE OUR-DEVICE. Both ends are TAP devices, and frames go from one to the other.

Lines on stdin: "LOSS DELAY REORDER" (a share, ms, a share), answered by "changed"; "lost", answered by the number of frames lost."""
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
CLONE_NEWNET = 0x40000000
FRAME = 65536
QUEUE = 1000  # frames that are under way, as netem has it


def enter(path):
    with open(path, "rb") as f:
        if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns: {path}")


def tap(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return fd


class Wire:
    def __init__(self, ends):
        self.other = dict(zip(ends, reversed(ends)))
        self.random = random.Random(1)
        self.loss = self.delay = self.reorder = 0.0
        self.late = []  # (when, number, to, frame)
        self.number = self.lost = 0

    def take(self, fd):
        frame = os.read(fd, FRAME)
        if self.random.random() < self.loss or len(self.late) == QUEUE:
            self.lost += 1
        elif not self.delay or self.random.random() < self.reorder:
            self.put(self.other[fd], frame)
        else:
            self.number += 1
            heapq.heappush(self.late, (time.monotonic() + self.delay, self.number, self.other[fd], frame))

    @staticmethod
    def put(fd, frame):
        try:
            os.write(fd, frame)
        except OSError:  # that end is down
            pass

    def pass_on(self):
        while self.late and self.late[0][0] <= time.monotonic():
            _, _, fd, frame = heapq.heappop(self.late)
            self.put(fd, frame)

    def obey(self, line):
        if line == "lost":
            print(self.lost, flush=True)
            return
        self.loss, self.delay, self.reorder = (float(word) for word in line.split())
        self.delay /= 1000
        print("changed", flush=True)


def main():
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    enter(f"/proc/{sys.argv[1]}/ns/net")
    theirs = tap(sys.argv[2])
    enter(f"/proc/self/fd/{own}")
    wire = Wire([theirs, tap(sys.argv[3])])
    print("ready", flush=True)
    while True:
        wait = max(0, wire.late[0][0] - time.monotonic()) if wire.late else None
        ready, _, _ = select.select([*wire.other, sys.stdin], [], [], wait)
        for fd in ready:
            if fd is sys.stdin:
                line = sys.stdin.readline()
                if not line:
                    return
                wire.obey(line.strip())
                continue
            try:
                wire.take(fd)
            except OSError:  # that end is down
                time.sleep(0.01)
        wire.pass_on()


if __name__ == "__main__":
    main()
