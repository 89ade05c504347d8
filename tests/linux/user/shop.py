# SPDX-License-Identifier: GPL-2.0-or-later
"""For scripts/demo: a program in Python, as it comes. At each line of its input it serves some orders, and says how often it has
returned from which function; a line "on" has it do so until it is killed. It imports what is built into the interpreter alone."""
# pylint: disable=import-error,no-name-in-module
import posix

counts = {"price": 0, "store": 0, "order": 0}
journal = posix.open("/tmp/journal", posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC)


def price(goods):
    counts["price"] += 1
    return sum(goods)


def store(total):
    counts["store"] += 1
    posix.pwrite(journal, b"%d" % total + bytes(60000), 0)


def order(number):
    counts["order"] += 1
    store(sum(price(range(n, n + number)) for n in (3, 5)))


def shop():
    while True:
        number = 0
        line = posix.read(0, 100)
        while line == b"on\n" or number < 100:
            order(number % 20)
            number += 1
        posix.write(1, " ".join(f"{name}={count}" for name, count in counts.items()).encode() + b"\ndone\n")


posix.write(1, b"ready\n")
shop()
