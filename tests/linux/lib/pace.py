# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a test repeats, and how long it waits: the one place for both.

scripts/test --full sets OUTSIGHT_FULL=1. No test decides by the clock: a limit only ends what would never end.
"""
import os

FULL = os.environ.get("OUTSIGHT_FULL") == "1"
# The kernel on which scripts/test --full repeats what is random; on the others each scenario runs at the default's pace.
REPEATED = os.environ.get("OUTSIGHT_REPEATED_KERNEL")
repeats = FULL
# A limit that an idle machine keeps is multiplied by this, for machines that run much else.
PATIENCE = 4


def of_kernel(kernel):
    """Call it before the scenarios of a kernel are imported: they ask for their rounds then."""
    global repeats  # pylint: disable=global-statement
    repeats = FULL and REPEATED in (None, kernel)


def rounds(default, full):
    """How often something random or repeated is done."""
    return full if repeats else default


def limit(seconds):
    """The time-out of something that takes less than @seconds on an idle machine."""
    return seconds * PATIENCE


# The time-out of whatever has no reason for another.
LIMIT = limit(120)
