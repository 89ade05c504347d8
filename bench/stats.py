# SPDX-License-Identifier: GPL-2.0-or-later
"""Medians with their spread, and goals."""
import math
import statistics


class Sample:
    def __init__(self, values):
        self.values = sorted(values)

    @property
    def median(self):
        return statistics.median(self.values)

    def text(self, unit, digits=0):
        low, high = self.values[0], self.values[-1]
        return (f"{self.median:.{digits}f} {unit} "
                f"({low:.{digits}f} to {high:.{digits}f}, n={len(self.values)})")


def median_within(values, certainty=0.99):
    """(low, high) between which the median lies of what the values are drawn from, whatever that is like: two of the values, by the
    binomial distribution. Nothing if they are too few."""
    n, below, tail = len(values), 0, 0.5 ** len(values)
    while 2 * tail <= 1 - certainty:
        below += 1
        tail += math.comb(n, below) * 0.5 ** n
    return (sorted(values)[below - 1], sorted(values)[n - below]) if below else None


class Report:
    """Lines of measurement, goal, figure and MET or MISSED."""

    def __init__(self):
        self.missed = 0

    def goal(self, what, goal, figure, met):
        self.missed += not met
        print(f"{what:<52} goal {goal:<22} {figure:<46} {'MET' if met else 'MISSED'}", flush=True)

    def at_most(self, what, goal, values, within):
        """A goal that only a median decides that is known well enough."""
        low, high = within or (-math.inf, math.inf)
        if low <= goal < high:
            self.figure(what, f"goal at most {goal} times: NOT DECIDED by n={len(values)}, the median is {low:.3f} to {high:.3f} times")
            return
        self.goal(what, f"at most {goal} times", f"{statistics.median(values):.3f} times (the median {low:.3f} to {high:.3f}, n={len(values)})",
                  high <= goal)

    def skip(self, what, reason):
        print(f"{what:<52} SKIP: {reason}", flush=True)

    def figure(self, what, figure):
        print(f"{what:<52} {'':<27} {figure}", flush=True)
