# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a test repeats, and how long it waits: the one place for both.

scripts/test --full sets OUTSIGHT_FULL=1. No test decides by the clock: a limit only ends what would never end.
"""
import os

FULL = os.environ.get("OUTSIGHT_FULL") == "1"
# A limit that an idle machine keeps is multiplied by this, for machines that run much else.
PATIENCE = 4


def rounds(default, full):
    """How often something random or repeated is done."""
    return full if FULL else default


def limit(seconds):
    """The time-out of something that takes less than @seconds on an idle machine."""
    return seconds * PATIENCE


# The time-out of whatever has no reason for another.
LIMIT = limit(120)
