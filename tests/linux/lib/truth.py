# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest itself counts of its trace events, to compare with what is seen from outside.

    with Truth(guest, {"sched/sched_switch": (("prev_state",), 'comm == "spin"')}) as truth:
        load()
        truth.read()
    truth.hits("sched/sched_switch"), truth.rows("sched/sched_switch", "prev_state")

By hist triggers; where the kernel has none (CONFIG_HIST_TRIGGERS), by the text of its trace.
"""
import re

# (probe, what was seen from outside, what is true, by whom) of all scenarios of this process
ROWS = []

TRACING = "/sys/kernel/tracing"
EVENTS = f"{TRACING}/events"
BUFFER_KB, EMPTY_KB = 16384, 7  # of each CPU: while tracing, as booted

# A task's state as sched_switch prints it: the numbers of its field.
STATES = {"R": 0, "S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128, "+": 256}


def note(probe, outside, true, by="the load"):
    """A row of the table that scripts/test --kernels prints."""
    ROWS.append((probe, outside, true, by))


def agree(test, probe, outside, true, by="the load", story=""):
    """The same, and the two numbers must be equal."""
    note(probe, outside, true, by)
    test.assertEqual(outside, true, f"{probe} by {by}\n{story}")


def table():
    """All rows as Markdown."""
    head = ["| probe | outside | truth | truth by |", "|---|---|---|---|"]
    return "\n".join(head + [f"| {' | '.join(map(str, row))} |" for row in ROWS]) + "\n"


class NotWhole(AssertionError):
    """The guest has lost events itself."""


def signed(text):
    value = int(text, 0)
    return value - (1 << 64) if value >> 63 else value


def counted(values):
    """{value: how often}"""
    found = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    return found


# What events are keyed by that are only counted.
ANY_FIELD = "common_pid"


class Truth:
    def __init__(self, guest, events):
        """@events: {SYSTEM/EVENT: ((field, …), condition)}; without fields events are only counted."""
        self.guest = guest
        self.events = {event: (tuple(fields) or (ANY_FIELD,), condition)
                       for event, (fields, condition) in events.items()}
        self.by_trigger = guest.run(f"grep -q hist:keys {TRACING}/README")[0] == 0
        self._hits, self._rows = {}, {}

    def __enter__(self):
        try:
            if self.by_trigger:
                self._trigger("")
            else:
                self._trace()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.by_trigger:
            self._trigger("!", self.guest.run)
            return
        self._stop()
        for event in self.events:
            self.guest.check(f"echo 0 >{EVENTS}/{event}/filter")
        self.guest.check(f"echo >{TRACING}/trace; echo {EMPTY_KB} >{TRACING}/buffer_size_kb")

    def hits(self, event):
        return self._hits[event]

    def rows(self, event, field):
        """{value: hits}; None where the kernel's text does not have the field as a number."""
        return self._rows[event].get(field)

    def read(self):
        """Take what was counted until now."""
        if self.by_trigger:
            for event in self.events:
                self._read_tables(event)
            return self
        self._stop()
        if re.search(r"(?m)^overrun: [1-9]", self.guest.check(f"cat {TRACING}/per_cpu/cpu*/stats")):
            raise NotWhole("the guest's trace has overrun its buffer")
        lines = re.findall(r"(?m)^.*-\d+ +\[\d+\] +\S+ +[\d.]+: (\w+): (.*)$",
                           self.guest.read_file(f"{TRACING}/trace").decode(errors="replace"))
        for event in self.events:
            self._read_lines(event, [text for name, text in lines if name == event.split("/")[1]])
        return self

    # --- hist triggers -------------------------------------------------------------------------------

    def _trigger(self, sign, run=None):
        for event, (fields, condition) in self.events.items():
            for field in fields:
                when = f" if {condition}" if condition else ""
                (run or self.guest.check)(f"echo '{sign}hist:keys={field}{when}' >{EVENTS}/{event}/trigger")

    def _read_tables(self, event):
        self._rows[event] = {}
        for part in self.guest.read_file(f"{EVENTS}/{event}/hist").decode().split("# event histogram")[1:]:
            field = re.search(r"hist:keys=(\w+)", part).group(1)
            hits, dropped = (int(re.search(rf"{word}: (\d+)", part).group(1)) for word in ("Hits", "Dropped"))
            # A drop is an event for which two CPUs met at one place of the histogram: it has no row, but it was there.
            if dropped and field != ANY_FIELD:
                raise NotWhole(f"the guest's own histogram is not whole: {part}")
            rows = re.findall(r"\{ \w+:\s*(\S+)[^}]*\} hitcount:\s*(\d+)", part)
            self._hits[event] = hits + dropped
            self._rows[event][field] = {signed(value): int(count) for value, count in rows}

    # --- the text of the trace -----------------------------------------------------------------------

    def _trace(self):
        self.guest.check(f"echo {BUFFER_KB} >{TRACING}/buffer_size_kb; echo >{TRACING}/trace")
        for event, (_, condition) in self.events.items():
            self.guest.check(f"echo '{condition or 0}' >{EVENTS}/{event}/filter; echo 1 >{EVENTS}/{event}/enable")

    def _stop(self):
        for event in self.events:
            self.guest.check(f"echo 0 >{EVENTS}/{event}/enable")

    def _read_lines(self, event, lines):
        self._hits[event], self._rows[event] = len(lines), {}
        form = self.guest.check(f"grep '^print fmt' {EVENTS}/{event}/format")
        for field in self.events[event][0]:
            base = re.search(rf'["\s]{field}=(0x)?%[lhz]*([dux])[" ]', form)
            texts = [re.search(rf"(?:^| ){field}=(\S+)", line) for line in lines]
            if base:
                self._rows[event][field] = counted(int(m.group(1), 16 if base.group(2) == "x" else 10) for m in texts)
            elif field == "prev_state":
                self._rows[event][field] = counted(sum(STATES[c] for c in m.group(1) if c != "|") for m in texts)
