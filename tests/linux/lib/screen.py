# SPDX-License-Identifier: GPL-2.0-or-later
"""A program on a terminal of our own, and what stands on its screen: by pyte (Debian's python3-pyte)."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from lib.pace import LIMIT

try:
    import pyte
except ImportError:  # the Python that runs the tests may be another than Debian's
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        import pyte
    except ImportError:
        pyte = None

WHY_NOT = None if pyte else "python3-pyte is not installed here"
UP, DOWN, RIGHT, LEFT, ESCAPE, ENTER = b"\x1bOA", b"\x1bOB", b"\x1bOC", b"\x1bOD", b"\x1b", b"\r"


class ScreenError(Exception):
    """The screen did not become what it should."""


class Screen:
    """`with Screen(args, env) as screen:`; env has TERM=xterm, which pyte is. The program is ended behind it."""

    def __init__(self, args, env, rows=24, columns=80, cwd=None):
        self.raw = b""
        self.ours, terminal = pty.openpty()
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self._set_size(rows, columns)
        self.process = subprocess.Popen(args, stdin=terminal, stdout=terminal, stderr=terminal, cwd=cwd, start_new_session=True,
                                        env=env, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(terminal)

    def _set_size(self, rows, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.end()
        os.close(self.ours)

    def resize(self, rows, columns):
        """The program is told as by a terminal (SIGWINCH)."""
        self.screen.resize(rows, columns)
        self._set_size(rows, columns)
        self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds=0.05):
        """What was drawn meanwhile; False: the program has closed the terminal."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.ours, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    @property
    def lines(self):
        return list(self.screen.display)

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.lines)

    def line_with(self, text):
        """The first line that has it; None: there is none."""
        return next((line for line in self.lines if text in line), None)

    def press(self, *keys):
        for key in keys:
            os.write(self.ours, key.encode() if isinstance(key, str) else key)
        return self

    def settle(self):
        """Until nothing more is drawn for a moment: a screen comes in several pieces."""
        data = len(self.raw)
        while self.read(0.1) and len(self.raw) > data:
            data = len(self.raw)
        return True

    def wait(self, test, what=""):
        """Until test(self) is true of a whole screen; its value."""
        deadline = time.monotonic() + LIMIT
        while not (test(self) and self.settle() and (value := test(self))):
            if not self.read() and self.process.poll() is not None and not test(self):
                raise ScreenError(f"ended with {self.process.returncode} before {what}:\n{self.text}")
            if time.monotonic() > deadline:
                raise ScreenError(f"no {what} in {LIMIT} s:\n{self.text}")
        return value

    def wait_for(self, text):
        return self.wait(lambda screen: screen.line_with(text), repr(text))

    def end(self):
        """Read until the program has ended; its exit status."""
        deadline = time.monotonic() + LIMIT
        while self.read() or self.process.poll() is None:
            if time.monotonic() > deadline:
                self.process.kill()
                self.process.wait()
                raise ScreenError(f"still running:\n{self.text}")
        return self.process.wait()
