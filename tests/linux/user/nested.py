# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls within calls at each SIGUSR1; says what was called. It imports what is built into the interpreter alone.

    ARROW LEVEL NAME
    done

Python 3.11 passes its probe function-entry only in a program that has a profiler: slice() is one that does nothing.
"""
# pylint: disable=import-error,no-name-in-module
import _signal
import posix
import sys

said = []


def leaf(level):
    said.append(f"-> {level} leaf")
    said.append(f"<- {level} leaf")


def middle(level, n):
    said.append(f"-> {level} middle")
    for _ in range(n):
        leaf(level + 1)
    said.append(f"<- {level} middle")


def outer(level):
    said.append(f"-> {level} outer")
    for n in range(4):
        middle(level + 1, n)
    said.append(f"<- {level} outer")


_signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGUSR1])
posix.write(1, b"ready\n")
while True:
    _signal.sigwait([_signal.SIGUSR1])
    sys.setprofile(slice)
    outer(0)
    sys.setprofile(None)
    posix.write(1, "\n".join([*said, "done\n"]).encode())
    said.clear()
