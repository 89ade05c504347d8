# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace events that a guest's shell enables and disables, quickly: by its own echo, to files that stay open."""

from lib.truth import EVENTS


def toggling(events, times, on="", off=""):
    """The script. While all are enabled it runs `on`, while none is, `off`."""
    files = range(3, 3 + len(events))
    enable, disable = (" ".join(f"echo {value} >&{fd};" for fd in files) for value in "10")
    opened = " ".join(f"{fd}>{EVENTS}/{event}/enable" for fd, event in zip(files, events))
    return (f"exec {opened}; i=0; while [ $i -lt {times} ]; do {enable} {on + ';' if on else ''} {disable} "
            f"{off + ';' if off else ''} i=$((i+1)); done")
