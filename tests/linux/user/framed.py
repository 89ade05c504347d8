# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls through two files at each SIGUSR1, and says each time what its stack is, in the same line as the write that says it:

    NAME|/bin/framed_inner.py:12 (leaf)|/bin/framed_inner.py:20 (outer)|...
    done

With a number as operand it computes for as long as that says instead. It imports what is built into the interpreter alone.
"""
# pylint: disable=import-error,no-name-in-module,wrong-import-position,exec-used,eval-used,unnecessary-lambda-assignment
import _signal
import _thread
import faulthandler
import posix
import sys

sys.dont_write_bytecode = True
sys.path.append("/bin")
import framed_inner
from framed_inner import here


def recursive(n):
    if n:
        recursive(n - 1)
    else:
        posix.write(1, here("recursive"))


class Größe:
    def __init__(self):
        posix.write(1, here("wide"))


def функция():
    return Größe()


def by_key(item):
    posix.write(1, here("key"))
    return item


def in_c():
    """The interpreter calls C, which calls the interpreter."""
    sorted([2, 1],
           key=lambda item: framed_inner.passed_on(by_key,
                                                   item))


def generator():
    for n in range(2):
        posix.write(1, here("generator"))
        yield n


async def coroutine():
    posix.write(1, here("coroutine"))


def delegating():
    yield from generator()


def in_generators():
    list(delegating())
    try:
        coroutine().send(None)
    except StopIteration:
        posix.write(1, here("handler"))


def in_text():
    exec(compile("def made():\n\n    posix.write(1, here('text'))\nmade()\n", "𝄞/é.py", "exec"), globals())


def in_long(n):
    """A table of lines that is read in several pieces."""
    total = 0
    if n > 1000000:
        total += n + 1; total += n + 2; total += n + 3; total += n + 4; total += n + 5; total += n + 6; total += n + 7  # noqa
        for a in range(n): total += a if a % 2 else -a if a % 3 else a * a if a % 5 else 0  # noqa
        total += [x for x in range(n) if x % 2][0] + [x for x in range(n) if x % 3][0] + sum(y for y in range(n))  # noqa
        total += {x: x for x in range(n)}[0] + len({x for x in range(n)}) + len([x * y for x in range(n) for y in range(x)])
        while total:
            total -= 1
            if total % 2:
                continue
            if total % 3:
                break
            try:
                total /= n
            except ZeroDivisionError:
                total = 0
            finally:
                total += 1
    return posix.write(1, here("long"))


def in_thread(lock):
    posix.write(1, here("thread"))
    lock.release()


def thread():
    lock = _thread.allocate_lock()
    lock.acquire()
    _thread.start_new_thread(in_thread, (lock,))
    lock.acquire()


def report():
    faulthandler.dump_traceback(1, all_threads=False)


def work():
    framed_inner.outer(3)
    recursive(12)
    функция()
    in_c()
    in_generators()
    [posix.write(1, here("comprehension")) for _ in range(1)]
    in_text()
    in_long(1)
    thread()
    report()


def compute(n):
    """Most of it in a function of the other file, some in C that calls back."""
    for _ in range(n):
        framed_inner.busy(10000)
        sorted(range(5000), key=framed_inner.negative)


_signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGUSR1])
posix.write(1, b"ready\n")
while True:
    _signal.sigwait([_signal.SIGUSR1])
    if len(sys.argv) > 1:
        compute(int(sys.argv[1]))
    else:
        work()
    posix.write(1, b"done\n")
