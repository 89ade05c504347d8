# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks for its parent's number at each SIGUSR1, from functions that built-in ones call in turn, and says so:

    DEPTH

for each time: so many calls of max() are on the stack. It imports what is built into the interpreter alone."""
# pylint: disable=import-error,no-name-in-module
import _signal
import posix

DEPTHS = 5
TIMES = 40
said = []


def ask(depth):
    """max() calls it anew, which takes another call of the interpreter's own loop."""
    if depth:
        return max((depth - 1,), key=ask)
    return posix.getppid()


_signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGUSR1])
posix.write(1, b"ready\n")
while True:
    _signal.sigwait([_signal.SIGUSR1])
    for time in range(TIMES):
        ask(time % DEPTHS)
        said.append(str(time % DEPTHS))
    posix.write(1, "\n".join([*said, "done\n"]).encode())
    said.clear()
