#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""By hand: a guest under load, with its agent loaded, all of its tracepoints on and off again and again, for a long
time. Its kernel must say nothing, and be as before at the end.

    tests/linux/soak.py [--minutes 30] [--kernel 6.1] [--build build/release] [--total FILE]

With --total, FILE keeps the seconds of all runs that went well, and --minutes is the sum to reach: a run that is
stopped (Ctrl-C) is continued by the next one, with other random numbers. A failure removes FILE.

Each round turns on every tracepoint (or every system call inside, or many functions' kprobes) for some seconds; in
every eighth the module is unloaded in the middle, and loaded anew. Events that did not fit into the rings are counted,
and are no failure. Debian has no kernel with KASAN or lockdep: the messages of a stock kernel are checked instead.
"""
import argparse
import os
import random
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib import agent as ga
from lib.guest import Guest, why_no_guest
from lib.outsight import Outsight
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "soak"))
from total import Total

BAD = re.compile(r"BUG|WARNING|Oops|general protection|refcount|scheduling while atomic|Call Trace|stall|lockup|hung task|"
                 r"left behind|use-after-free|bad page")
WAYS = (
    ("every tracepoint", "sdt::: { @ = count(); }"),
    ("every tracepoint, with arguments", "sdt::: { @[probename, execname] = sum(arg0 + arg4 + arg7); }"),
    ("sched, proc, io", "sched:::,proc:::,io::: { @[probename, pid] = count(); }"),
    ("every system call", "syscall::: { @[view, probefunc] = count(); }", "-x", "view=both"),
    ("functions", "fbt::vfs_*:,fbt::tcp_*:,fbt::do_*open*: { @[probefunc] = count(); }", "-x", "view=inside"),
)


def main():
    parser = argparse.ArgumentParser(description="All of a guest's tracepoints on and off, for long.")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--total", metavar="FILE")
    args = parser.parse_args()
    total = Total(args.total)
    if total.seconds >= args.minutes * 60:
        print(f"soak: {total.seconds / 3600:.2f} h are done: remove {args.total} to begin again")
        return 0
    outsight = Outsight(os.path.abspath(args.build))
    reason = outsight.why_not() or why_no_guest(args.kernel) or ga.why_no_agent(args.kernel)
    if reason:
        sys.exit(f"soak: {reason}")
    with tempfile.TemporaryDirectory() as folder:
        archive = ga.archive(args.kernel, os.path.join(folder, "agent.cpio"))
        with Guest(args.kernel, plugin=outsight.plugin, smp=2, more_files=archive) as guest:
            try:
                status = soak(guest, outsight, args, total)
            except KeyboardInterrupt:
                print(f"soak: stopped after {total.now() / 3600:.2f} h in all; the next run continues")
                return 130
            except BaseException:
                total.forget()
                raise
            if status:
                total.forget()
            return status


def said(guest):
    """What the guest's kernel says that it should not."""
    return [line for line in guest.check("dmesg", timeout=300).splitlines() if BAD.search(line)]


def one_round(guest, outsight, rng, reload):
    """(what was on, events lost)"""
    what, program, *options = rng.choice(WAYS)
    trace = outsight.trace(guest, program, *options)  # everything is on when it returns
    time.sleep(rng.uniform(1, 6))
    if reload:
        guest.check("rmmod outsight && insmod /modules/outsight.ko", timeout=300)
        time.sleep(rng.uniform(0, 3))
    status = trace.interrupt().finish(300)
    if status:
        raise SystemExit(f"soak: outsight ended with {status}: {trace.story()}")
    return what, sum(int(n) for n in re.findall(r"(\d+) \S*events? lost in the guest", trace.err))


def soak(guest, outsight, args, total):
    rng = random.Random(args.seed + int(total.seconds))
    total.begin()
    rounds, reloads, lost = 0, 0, 0
    guest.check("insmod /modules/outsight.ko")
    # Restarted for as long as the guest lives.
    load = guest.spawn("while :; do mixed 20 || break; getppid_loop 2 5000 || break; done")
    while total.now() < args.minutes * 60:
        reload = rounds % 8 == 7
        what, more = one_round(guest, outsight, rng, reload)
        rounds, reloads, lost = rounds + 1, reloads + reload, lost + more
        bad = said(guest)
        if bad or guest.builtin(f"[ -e {load.base}.rc ]") == 0:
            print("\n".join(bad or [f"the load ended: {load.output()[-500:]}"]))
            print(f"soak: FAILED in round {rounds} ({what})")
            return 1
        print(f"round {rounds}: {what}{', module loaded anew' if reload else ''}; {more} events lost; "
              f"{max(args.minutes - total.now() / 60, 0):.0f} min left", flush=True)
        total.add("rounds")
        total.write()
    guest.check("rmmod outsight", timeout=300)
    armed = guest.run("cat /sys/kernel/debug/kprobes/list")[1].strip()
    bad = said(guest) + ([f"kprobes left: {armed}"] if armed else [])
    print("\n".join(bad))
    print(f"soak: {args.minutes:g} min on {args.kernel}: {rounds} rounds, {reloads} loads of the module, "
          f"{lost} events lost and counted; {'FAILED' if bad else 'the guest has nothing to complain about'}")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before its first round
        sys.exit(130)
