# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls leaf() 1,000 times at each SIGUSR1. It imports what is built into the interpreter alone."""
# pylint: disable=import-error,no-name-in-module
import _signal
import posix


def leaf(n):
    return n


def work():
    for i in range(1000):
        leaf(i)


_signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGUSR1])
posix.write(1, b"ready\n")
while True:
    _signal.sigwait([_signal.SIGUSR1])
    work()
    posix.write(1, b"done\n")
