# SPDX-License-Identifier: GPL-2.0-or-later
"""frames.py N: at each SIGUSR1 it calls getppid() N times from ten functions deep, and prints "done"; "ready" before the
first. It imports what is built into the interpreter alone."""
# pylint: disable=import-error,no-name-in-module
import _signal
import posix
import sys


def deep(levels, n):
    if levels:
        deep(levels - 1, n)
        return
    for _ in range(n):
        posix.getppid()


_signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGUSR1])
posix.write(1, b"ready\n")
while True:
    _signal.sigwait([_signal.SIGUSR1])
    deep(10, int(sys.argv[1]))
    posix.write(1, b"done\n")
