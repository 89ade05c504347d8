# SPDX-License-Identifier: GPL-2.0-or-later
"""Medians with their spread, and goals."""
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


class Report:
    """Lines of measurement, goal, figure and MET or MISSED."""

    def __init__(self):
        self.missed = 0

    def goal(self, what, goal, figure, met):
        self.missed += not met
        print(f"{what:<52} goal {goal:<22} {figure:<46} {'MET' if met else 'MISSED'}", flush=True)

    def skip(self, what, reason):
        print(f"{what:<52} SKIP: {reason}", flush=True)

    def figure(self, what, figure):
        print(f"{what:<52} {'':<27} {figure}", flush=True)
