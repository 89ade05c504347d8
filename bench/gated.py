# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a hit on a machine that does other things too.

A traced and an untraced run, one after the other, differ by whatever else the machine did in one of them, which is more
than a hit costs. Here both are one run, in one guest, on the same translated code: the plugin of bench/gate.c calls a
site's callback only in one of its modes, and the guest's program changes the mode after every few hundred calls. The
20th percentile of a mode's slices is of those that nothing has disturbed; a cost is that of one mode less that of
another.
"""
import os
from contextlib import ExitStack

from stats import Sample
from tracing import BUILD, Tracing, boot

PLUGIN = os.path.join(BUILD, "bench", "liboutsight-tcg-gated.so")
MODES = ("nothing", "callback", "hit")  # as bench/gate.c numbers them
MARKER = "fbt::__x64_sys_sched_get_priority_max:entry { @marker = count(); }"
ROUNDS, CALLS = 300, 300


def percentile(values, percent):
    return sorted(values)[len(values) * percent // 100]


def slices(guest):
    """ns a call of each slice: a list for each mode."""
    lines = guest.check(f"gated {len(MODES)} {ROUNDS} {CALLS}", 300).splitlines()
    found = [[float(x) for x in line.split()] for line in lines]
    if [len(mode) for mode in found] != [ROUNDS] * len(MODES):
        raise RuntimeError(f"gated: {len(found)} modes")
    return dict(zip(MODES, found))


def hit(guest, program, *options, sessions=1, runs=5):
    """What a hit adds to a getppid call, and a callback that does nothing: two Samples, a value a run, in ns."""
    hits, callbacks = [], []
    with ExitStack() as stack:
        for i in range(sessions):
            stack.enter_context(Tracing(guest, program if i else f"{program} {MARKER}", *options))
        for _ in range(runs):
            low = {mode: percentile(values, 20) for mode, values in slices(guest).items()}
            hits.append(low["hit"] - low["nothing"])
            callbacks.append(low["callback"] - low["nothing"])
    return Sample(hits), Sample(callbacks)


def boot_gated(initrd, workdir):
    return boot("gated", initrd, True, workdir, plugin=PLUGIN)
