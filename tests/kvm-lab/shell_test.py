#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/kvm-lab without a command is a shell on a terminal, in which this tree and a /dev/kvm are."""
import os
import pty
import select
import signal
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE]
# pylint: disable=wrong-import-position
from run import why_no_lab
from lib.pace import limit

LIMIT = limit(40)


class Terminal:
    def __init__(self, command):
        self.deadline = time.monotonic() + LIMIT
        self.text = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execv(command[0], command)

    def wait_for(self, what):
        """The text before it; the rest is kept."""
        while what not in self.text:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"no {what!r}: {self.text[-2000:]!r}")
            try:
                chunk = os.read(self.fd, 4096)
            except OSError:  # the other side has ended
                chunk = b""
            if not chunk:
                raise AssertionError(f"ended before {what!r}: {self.text[-2000:]!r}")
            self.text += chunk
        before, _, self.text = self.text.partition(what)
        return before

    def type(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def end(self):
        """Its exit status, once it has ended by itself."""
        while time.monotonic() < self.deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            # Its remaining output must be read, or it blocks.
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    os.read(self.fd, 4096)
                except OSError:
                    time.sleep(0.1)
        raise AssertionError("it does not end")

    def close(self):
        if self.pid:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def main():
    reason = why_no_lab()
    if reason:
        print(f"SKIP shell: {reason}")
        return 77
    terminal = Terminal([os.path.join(ROOT, "scripts", "kvm-lab")])
    try:
        terminal.wait_for(b"# ")
        # The echo of what is typed has no digits of the answer in it.
        terminal.type(f"cd {ROOT} && test -c /dev/kvm && test -e scripts/kvm-lab && echo answer=$((6*7))")
        terminal.wait_for(b"answer=42")
        terminal.type("exit")
        status = terminal.end()
        if status:
            raise AssertionError(f"it ended with {status}")
    except AssertionError as e:
        print(f"FAIL shell: {e}")
        return 1
    finally:
        terminal.close()
    print("ok   shell")
    return 0


if __name__ == "__main__":
    sys.exit(main())
