# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests that the benchmarks of whole guests measure, and the tracers that they compare."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TOP, "tests", "linux")]

from lib.guest import MIB, Guest  # noqa: E402
from stats import Sample  # noqa: E402

BUILD = os.path.join(TOP, "build", "release")
OUTSIGHT = os.path.join(BUILD, "bin", "outsight")
PLUGIN = os.path.join(BUILD, "lib", "liboutsight-tcg.so")
CALLS = 200000
SETTLE_SECONDS = 1.5


class Tracing:
    """outsight with a D program, from its first output to its end."""

    def __init__(self, guest, program, *options, settle=SETTLE_SECONDS):
        self.out, self.settle = tempfile.TemporaryFile(), settle
        self.said = []
        self.reader = None
        self.process = subprocess.Popen(
            [OUTSIGHT, "-g", guest.socket_path, "-x", "maxcost=0", *options, "-n", program],
            stdout=self.out, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        line = self.process.stderr.readline()
        if "matched" not in line:
            self.process.kill()
            raise RuntimeError(f"outsight: {line}{self.process.stderr.read()}")
        # What it says is read, however much that is: a program may have an error at each hit.
        self.reader = threading.Thread(target=lambda: self.said.append(self.process.stderr.read()), daemon=True)
        self.reader.start()
        time.sleep(self.settle)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        self.reader.join(60)
        rest = "".join(self.said)
        if "drop" in rest or "lost" in rest:
            raise RuntimeError(f"outsight dropped data, so its cost is not the true one: {rest.strip()[-2000:]}")

    def wait_for(self, text):
        """Until that stands in its first output. (Its place in the file is ours too: it is read by position.)"""
        while text.encode() not in os.pread(self.out.fileno(), 4096, 0):
            if self.process.poll() is not None:
                raise RuntimeError(f"outsight has ended: {''.join(self.said)}")
            time.sleep(0.02)

    def text(self):
        """What it printed, once it has ended."""
        self.out.seek(0)
        return self.out.read().decode()


class Bpftrace:
    """bpftrace in the guest, from the moment at which its probes are attached."""

    def __init__(self, guest, program):
        self.guest = guest
        self.job = guest.spawn(f"bpftrace -e '{program}'")

    def __enter__(self):
        deadline = time.monotonic() + 120
        while "Attaching" not in self.job.output():
            if time.monotonic() > deadline:
                raise RuntimeError(f"bpftrace: {self.job.output()}")
            time.sleep(0.5)
        time.sleep(4)
        return self

    def __exit__(self, *_):
        self.guest.run("killall -INT bpftrace")
        self.job.wait()


def time_calls(guest, rounds=3):
    """ns a getppid call, the rounds of one run."""
    return [float(x) for x in guest.check(f"getppid_ns {rounds} {CALLS}", 300).split()]


def cpu_ns(pid, threads=None):
    """CPU time of a process, all of its threads or these."""
    total = 0
    for task in threads or os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def cost(base, traced):
    """The cost of each traced run over the untraced one just before it."""
    return Sample([t - b for b, t in zip(base, traced)])


def boot(name, initrd, traced, workdir, plugin=PLUGIN):
    path = os.path.join(workdir, f"{name}.sock") if traced else None
    guest = Guest("6.1", smp=1, memory=1024 * MIB, plugin=plugin if traced else None, name=name,
                  socket_path=path, qemu_args=["-initrd", initrd])
    guest.qemu_args += ["-gdb", f"unix:{guest.path('gdb')},server=on,wait=off"]
    return guest.boot()
