#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What many hosts cost an operator, directly and through mergers: simulated hosts that each count so many keys a second, behind a
nats-server, all on this machine. See docs/fleet.md.

    scripts/bench fleet [--hosts N] [--keys K] [--seconds S] [--mergers M] [--rounds N]
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.environ.get("OUTSIGHT_BUILD", os.path.join(TOP, "build", "release"))
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "fleet")]

from hosts import NATS, Fleet, limit, wait_until  # noqa: E402
from simulated import Simulated, totals  # noqa: E402
from stats import Report, Sample  # noqa: E402

GOAL = 0.3
FAN_IN = 100
PROGRAM = "fbt:::entry { @[execname] = count(); }"


def cpu_seconds(pid):
    """Of a process that lives, all its threads, as the scheduler counts: what it does may be too short for a clock that ticks."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total / 1e9


def largest_mb(pid):
    """The most memory that a process had."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024


class Costs:
    """CPU seconds of processes between two moments, as a share of a CPU."""

    def __init__(self, pids):
        self.pids = pids
        self.began, self.before = time.monotonic(), self.read()

    def read(self):
        return {name: sum(map(cpu_seconds, pids)) for name, pids in self.pids.items()}

    def shares(self):
        after, passed = self.read(), time.monotonic() - self.began
        return {name: (after[name] - self.before[name]) / passed for name in after}


def carried(pid, what="bytes_received"):
    """Bytes that a process's connection to the broker has brought, or taken: of the only one that it has."""
    text = subprocess.run(["ss", "-tinpH", "state", "established"], capture_output=True, text=True, check=True).stdout
    own = re.findall(rf"pid={pid},[^\n]*\n[^\n]*", text)
    return sum(int(n) for line in own for n in re.findall(rf"{what}:(\d+)", line))


class Run:
    """One session over all hosts, to its end."""

    def __init__(self, args):
        self.args = args
        self.fleet = Fleet(os.path.join(BUILD, "bin", "outsight"))

    def measure(self):
        """Shares of a CPU by role, bytes a second by role, seconds until all hosts were asked and ready, and wrong keys."""
        a = self.args
        simulated = Simulated(self.fleet, a.hosts, "--keys", str(a.keys), "--seconds", str(a.seconds))
        mergers = [self.fleet.merger(f"m{n}") for n in range(1, a.mergers + 1)]
        options = ("-x", "fleetmergers=m*") if mergers else ()
        self.idle = cpu_seconds(simulated.process.pid)
        began = time.monotonic()
        operator = subprocess.Popen(self.fleet.command("-q", *options, "-g", "h*/web", "-n", "BEGIN { printf(\"begun\\n\"); } " + PROGRAM),
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            return self.watch(simulated, mergers, operator, began)
        finally:
            operator.kill()
            simulated.close()

    def watch(self, simulated, mergers, operator, began):
        if operator.stdout.readline() != "begun\n":
            raise AssertionError(operator.communicate()[1])
        begun = time.monotonic() - began
        start = {"operator": cpu_seconds(operator.pid), "hosts": cpu_seconds(simulated.process.pid) - self.idle,
                 "all mergers": sum(cpu_seconds(pid) for m in mergers for pid in (m.process.pid, *m.sessions()))}
        exchanged = {what: carried(operator.pid, f"bytes_{what}") for what in ("sent", "received")}
        time.sleep(3)  # sessions' processes are there, and the first second has passed
        receivers = {"operator": [operator.pid]}
        if mergers:
            receivers["all mergers"] = [pid for m in mergers for pid in m.sessions()]
        costs = Costs({**receivers, "broker": [self.fleet.broker.process.pid], "hosts": [simulated.process.pid]})
        bytes_before = {name: sum(map(carried, pids)) for name, pids in receivers.items()}
        time.sleep(max(1, self.args.seconds - 6))
        shares, passed = costs.shares(), time.monotonic() - costs.began
        memory = {name: max(map(largest_mb, pids)) for name, pids in receivers.items()}
        rates = {name: (sum(map(carried, pids)) - bytes_before[name]) / passed for name, pids in receivers.items()}
        simulated.await_word("done", limit(self.args.seconds + 60))
        operator.send_signal(signal.SIGINT)
        out, err = operator.communicate(timeout=limit(120))
        done = simulated.stop()
        if operator.returncode or err:
            print(f"operator: status {operator.returncode}: {err}", file=sys.stderr)
        expected = totals({name: ticks for name, (ticks, _) in done["hosts"].items()}, self.args.keys)
        got = dict(re.findall(r"(?m)^ +(\S+) +(\d+)$", out))
        wrong = sum(got.get(f"key{k:05}") != str(n) for k, n in enumerate(expected)) + (len(got) != len(expected))
        return {"shares": shares, "rates": rates, "begun": begun, "start": start, "exchanged": exchanged, "wrong": wrong, "memory": memory,
                "elements": done["elements"], "bytes": done["bytes"], "total": sum(expected), "status": operator.returncode}

    def close(self):
        self.fleet.close()


def show(report, args, results):
    def figure(what, values, unit, digits):
        report.figure(what, Sample(values).text(unit, digits))

    first = results[0]
    for name in first["shares"]:
        shares = [r["shares"][name] for r in results]
        if name == "operator" and args.mergers:
            report.goal("CPU, operator", f"< {GOAL} of a CPU", Sample(shares).text("", 3), Sample(shares).median < GOAL)
        else:
            figure(f"CPU, {name}", shares, "of a CPU", 3)
    for name in first["rates"]:
        figure(f"received, {name}", [r["rates"][name] / 1e6 for r in results], "MB/s", 2)
    for name in first["memory"]:
        figure(f"memory, {name}", [r["memory"][name] for r in results], "MB", 0)
    nominal = args.hosts * args.keys * args.seconds
    figure("deltas, of those without folding", [100 * r["elements"] / nominal for r in results], "%", 0)
    figure("on the wire, a delta from a host", [r["bytes"] / r["elements"] for r in results], "B", 1)
    figure("until it has begun", [r["begun"] for r in results], "s", 1)
    for name in first["start"]:
        figure(f"CPU until then, {name}", [r["start"][name] for r in results], "s", 2)
    for what in first["exchanged"]:
        figure(f"{what} until then, operator, a host", [r["exchanged"][what] / args.hosts for r in results], "B", 0)
    wrong = sum(r["wrong"] for r in results)
    report.goal(f"{first['total']:,} counted in {args.keys:,} keys", "every key exact", f"{wrong} wrong", not wrong)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench fleet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--mergers", type=int, help=f"0: none; else one for {FAN_IN} hosts")
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    if args.mergers is None:
        args.mergers = -(-args.hosts // FAN_IN)
    if not NATS:
        sys.exit("no nats-server here (scripts/test gets one)")
    print(f"# {args.hosts} hosts, {args.keys} keys a second each, {args.seconds} s, "
          f"{args.mergers or 'no'} mergers, load {os.getloadavg()[0]:.1f}")
    report, results = Report(), []
    for _ in range(args.rounds):
        run = Run(args)
        try:
            results.append(run.measure())
        finally:
            run.close()
    show(report, args, results)
    sys.exit(report.missed > 0)


if __name__ == "__main__":
    main()
