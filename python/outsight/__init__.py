# SPDX-License-Identifier: GPL-2.0-or-later
"""D programs on guest VMs: a session's records as they come, and its aggregations as a dictionary.

    import outsight

    with outsight.Session("web01") as session:
        session.compile("syscall::openat:entry { trace(copyinstr(arg1)); }  syscall:::entry { @[execname] = count(); }")
        for record in session.records(seconds=10):
            print(record.guest, record.probe.function, record.values)
        for (program,), calls in session.aggregations()["_"].items():
            print(program, calls)

It is liboutsight(3) by ctypes; dtrace_open(3) has the options.
"""
from outsight.library import Error, version
from outsight.records import Distribution, Probe, Record, Value
from outsight.session import Message, Session

__all__ = ["Distribution", "Error", "Message", "Probe", "Record", "Session", "Value", "version"]
