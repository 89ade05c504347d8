# SPDX-License-Identifier: GPL-2.0-or-later
"""The outsight command, as an operator runs it beside a guest."""
import os
import re
import signal
import subprocess
import threading
import time

from lib.pace import LIMIT


class TraceError(Exception):
    """outsight did not do what it should."""


class Trace:
    """A running `outsight`; stdout and stderr are collected line by line."""

    def __init__(self, binary, args, env, cwd=None):
        self.args = args
        self.lines, self.errors = [], []
        self.changed = threading.Condition()
        self.process = subprocess.Popen([binary, *args], env=env, cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                                        encoding="utf-8", errors="replace", stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.lines), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    def _read(self, pipe, lines):
        for line in pipe:
            with self.changed:
                lines.append(line.rstrip("\n"))
                self.changed.notify_all()

    def wait_for(self, text, limit=LIMIT, times=1):
        """Until so many lines with text stand on stdout or stderr."""
        deadline = time.monotonic() + limit
        with self.changed:
            while sum(text in line for line in self.lines + self.errors) < times:
                left = deadline - time.monotonic()
                if self.process.poll() is not None and not any(r.is_alive() for r in self.readers):
                    raise TraceError(f"ended with {self.process.returncode} before {text!r}: {self.story()}")
                if left <= 0:
                    raise TraceError(f"no {text!r} in {limit} s: {self.story()}")
                self.changed.wait(min(left, 0.2))
        return self

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        return self

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def finish(self, limit=LIMIT):
        """Wait for its end; the exit status."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TraceError(f"still running after {limit} s: {self.story()}") from None
        for reader in self.readers:
            reader.join(LIMIT)
        return status

    def stop(self, limit=LIMIT):
        """Ctrl-C, then wait; must end with 0 and without drops."""
        status = self.interrupt().finish(limit)
        if status != 0 or any("drop" in line or "lost in the guest" in line for line in self.errors):
            raise TraceError(f"status {status}: {self.story()}")
        return self

    @property
    def out(self):
        return "\n".join(self.lines)

    @property
    def err(self):
        return "\n".join(self.errors)

    def story(self):
        return f"outsight {' '.join(self.args)}\nstdout:\n{self.out[-3000:]}\nstderr:\n{self.err[-3000:]}"


class Outsight:
    """The binary and plugin of one build directory."""

    def __init__(self, build):
        self.binary = os.path.join(build, "bin", "outsight")
        self.plugin = os.path.join(build, "lib", "liboutsight-tcg.so")
        self.vmm = os.path.join(build, "bin", "outsight-vmm")
        self.started = []

    def why_not(self):
        for path in (self.binary, self.plugin):
            if not os.path.exists(path):
                return f"{path} is not built"
        return None

    @staticmethod
    def environment(guest):
        """Sockets and caches of this guest's own, so that tests do not see one another."""
        return dict(os.environ, XDG_RUNTIME_DIR=guest.dir, XDG_CACHE_HOME=guest.path("cache"), LC_ALL="C", TZ="UTC")

    def start(self, guest, *args):
        # Tests count everything, however much it costs their guest.
        trace = Trace(self.binary, ["-g", guest.name, "-x", "maxcost=0", *args], self.environment(guest))
        self.started.append(trace)
        return trace

    def kill_all(self):
        """What a test that failed has left running."""
        for trace in self.started:
            if trace.process.poll() is None:
                trace.kill()
        self.started = []

    def trace(self, guest, program, *args):
        """Start a trace and wait until it is active: when BEGIN has printed, every probe is in place."""
        trace = self.start(guest, "-q", "-x", "switchrate=20hz", "-x", "aggrate=20hz", *args, "-n",
                           'BEGIN { printf("tracing\\n"); }', "-n", program)
        try:
            return trace.wait_for("tracing")
        except TraceError:
            trace.kill()
            raise

    def tool(self, guest, name, *args):
        """Start a tool and wait until its probes are in place."""
        trace = Trace(self.binary, ["tool", name, "-g", guest.name, "-x", "maxcost=0", "-x", "argref", "-x",
                                    "switchrate=20hz", "-x", "aggrate=20hz", "-n", 'BEGIN { printf("tracing\\n"); }',
                                    *args], self.environment(guest))
        self.started.append(trace)
        return trace.wait_for("tracing")

    def run(self, guest, *args, limit=LIMIT):
        """Run to the end; returns (status, stdout, stderr)."""
        trace = self.start(guest, *args)
        return trace.finish(limit), trace.out, trace.err


def numbers(text):
    """Every line that is one integer: the values of aggregations without keys."""
    return [int(line) for line in text.splitlines() if re.fullmatch(r"\s*-?\d+", line)]


def keyed(text):
    """{key: value} of a default aggregation table with one string key."""
    return {m.group(1).strip(): int(m.group(2)) for m in re.finditer(r"^  (\S.*?) +(-?\d+)$", text, re.M)}


def distribution(text):
    """{value: count} of a quantize without empty rows."""
    rows = re.finditer(r"^ *(-?\d+) \|[@ ]{40} (\d+) *$", text, re.M)
    return {int(m.group(1)): int(m.group(2)) for m in rows if int(m.group(2))}
