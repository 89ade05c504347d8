# SPDX-License-Identifier: GPL-2.0-or-later
"""The other file of framed.py."""
# pylint: disable=import-error
import posix
import sys


def here(name):
    """Its caller's stack, as the line of a write."""
    # pylint: disable=protected-access
    frame, lines = sys._getframe(1), [name]
    while frame:
        lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name})")
        frame = frame.f_back
    return ("|".join(lines) + "\n").encode()


def passed_on(function, *values):
    return function(
        *values)


def leaf():
    posix.write(1, here("leaf"))


def middle(n):
    for _ in range(n):
        leaf()


def outer(n):
    return passed_on(
        middle,
        n)


def negative(n):
    return -n


def busy(n):
    total = 0
    for i in range(n):
        total += i
    return total
