#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet on this machine, from nothing: a broker, two hosts with a guest each, an operator's D programs over both, and an operator
whom no host knows. What they print is shown, and checked against the guests.

    tests/linux/fleet_demo.py --build build/release 6.1

Ends with 0 only when every check held; whatever it has started is ended and removed, also by Ctrl-C.
"""
import argparse
import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import MIB, Guest, GuestError, why_no_guest
from lib.host_kvm import why_not_kvm
from lib.outsight import Outsight, Trace, TraceError
from lib.pace import limit
from lib.vmm_guest import VmmGuest

NATS = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin")
CALLS = {"h1": 1000, "h2": 2500}
BEGUN = time.monotonic()


class CheckFailed(Exception):
    """An answer that is not true."""


def expect(condition, what):
    if not condition:
        raise CheckFailed(what)


def show(text):
    print(text, flush=True)


def step(text):
    show(f"\n==== {text}  ({time.monotonic() - BEGUN:.0f} s)")


def wait_until(condition, what):
    end = time.monotonic() + limit(60)
    while not condition():
        expect(time.monotonic() < end, f"not within {limit(60)} s: {what()}")
        time.sleep(0.05)


def until_parent_ends(command):
    """If this process is killed, what it has started ends all the same."""
    return ["setpriv", "--pdeathsig", "TERM", *command]


class Daemon:
    """Of this demonstration's folder, with a log that is read."""

    def __init__(self, command, log, env=None):
        self.path = log
        with open(log, "wb") as f:
            self.process = subprocess.Popen(until_parent_ends(command), stdin=subprocess.DEVNULL, stdout=f, stderr=f,
                                            env={**os.environ, **(env or {})}, start_new_session=True)

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def await_log(self, pattern):
        def found():
            expect(self.process.poll() is None, f"it has ended: {self.log()}")
            return re.search(pattern, self.log())
        wait_until(found, lambda: f"{pattern} in {self.log()}")

    def close(self):
        self.process.terminate()
        self.process.wait(limit(60))


class Fleet:
    """Folder, broker, keys, hosts; entered and left as a context."""

    def __init__(self, outsight, kernel, on_kvm, stack):
        self.outsight, self.kernel, self.on_kvm, self.stack = outsight, kernel, on_kvm, stack
        self.serve = os.path.join(os.path.dirname(outsight.binary), "outsight-serve")
        self.dir = tempfile.mkdtemp(prefix="outsight-fleet-demo-")
        stack.callback(shutil.rmtree, self.dir)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.guests, self.hosts = {}, {}

    def path(self, name):
        return os.path.join(self.dir, name)

    def broker(self):
        show(f"$ nats-server -a 127.0.0.1 -p {self.port} &")
        broker = Daemon([NATS, "-a", "127.0.0.1", "-p", str(self.port)], self.path("broker.log"))
        self.stack.callback(broker.close)
        broker.await_log("Server is ready")

    def boot(self, names):
        """Guests, all at once. What tells the hosts apart, which are one machine, is that each lets its own be traced only."""
        for host, name in names.items():
            options = {"name": name, "smp": 1, "memory": 384 * MIB}
            guest = VmmGuest(self.kernel, self.outsight.vmm, **options) if self.on_kvm else Guest(self.kernel, plugin=self.outsight.plugin,
                                                                                               **options)
            self.stack.callback(guest.close)
            guest.start()
            self.guests[host] = guest
        for host, guest in self.guests.items():
            guest.wait_ready()
            show(f"{host}: guest {guest.name}, {guest.check('uname -sr').strip()} on {guest.HOST}; nothing of Outsight in it")

    def key(self, name):
        show(f"$ outsight-serve --make-key {name}.key")
        public = subprocess.run([self.serve, "--make-key", self.path(f"{name}.key")], capture_output=True, text=True, check=True,
                                timeout=limit(60)).stdout.strip()
        show(public)
        return public

    def host(self, name, alice):
        """A daemon with a key, a configuration and a folder of state of its own; what is to be known of it."""
        public = self.key(name)
        os.mkdir(self.path(f"{name}.state"), 0o700)
        rights = f"operator alice {alice}\n\tguests {self.guests[name].name}\n\tproviders syscall proc\n\tuser-memory yes\n"
        with open(self.path(f"{name}.conf"), "w", encoding="ascii") as f:
            f.write(f"name {name}\nnats nats://127.0.0.1:{self.port}\nkey {self.path(name + '.key')}\nstate {self.path(name + '.state')}\n"
                    + rights)
        show(f"$ cat {name}.conf\nname {name}\n…\n{rights}$ outsight-serve --conf {name}.conf &")
        guest = self.guests[name]
        daemon = Daemon([self.serve, "--conf", self.path(f"{name}.conf"), "--verbose"], self.path(f"{name}.log"),
                        {"XDG_RUNTIME_DIR": guest.dir, "XDG_CACHE_HOME": guest.path("cache")})
        self.stack.callback(daemon.close)
        daemon.await_log(" serves 1 operator")
        self.hosts[name] = daemon
        return f"{name} {public}\n"

    def set_up(self):
        alice = self.key("alice")
        known = "".join(self.host(name, alice) for name in self.guests)
        with open(self.path("hosts"), "w", encoding="ascii") as f:
            f.write(known)
        show(f"$ cat hosts\n{known}".rstrip())

    def operator(self, program, who="alice"):
        show(f"\n$ outsight -x fleet=nats://127.0.0.1:{self.port} -x fleetkey={who}.key -x fleethosts=hosts -g 'h*/demo-*' \\\n"
             f"      -qn {shlex.quote(program)}")
        args = ["-x", f"fleet=nats://127.0.0.1:{self.port}", "-x", f"fleetkey={self.path(who + '.key')}", "-x",
                f"fleethosts={self.path('hosts')}", "-x", "maxcost=0", "-x", "switchrate=20hz", "-g", "h*/demo-*", "-qn", program]
        trace = Trace(self.outsight.binary, args, {**os.environ, "LC_ALL": "C"})
        self.stack.callback(lambda: trace.process.poll() is None and trace.kill())
        return trace


def merged(fleet):
    """One aggregation of both hosts, whose every call is known."""
    trace = fleet.operator('tick-100ms /!n/ { n = 1; printf("tracing\\n"); } syscall::getppid:entry /execname == "getppid_loop"/ '
                           '{ @one["both guests"] = count(); @by[guest] = count(); }')
    trace.wait_for("tracing")
    show("".join(f"{host}: in its guest: getppid_loop 1 {calls}\n" for host, calls in CALLS.items()).rstrip())
    jobs = [fleet.guests[host].spawn(f"getppid_loop 1 {calls}") for host, calls in CALLS.items()]
    for job in jobs:
        job.done()
    trace.stop()
    show(trace.out.strip("\n"))
    counts = {key: int(n) for key, n in re.findall(r"(?m)^ +(.*?) +(\d+)$", trace.out)}
    expect(not trace.err, trace.err)
    expect(counts == {"both guests": sum(CALLS.values()), **{f"{h}/{fleet.guests[h].name}": n for h, n in CALLS.items()}},
           f"the guests made {CALLS}")
    return f"each of {sum(CALLS.values())} system calls of two guests of two hosts is counted once"


def records(fleet):
    """As they come, with the host that each is from, in order of time."""
    trace = fleet.operator('tick-100ms /!n/ { n = 1; printf("tracing\\n"); } '
                           'proc:::exec-success { printf("%-9s pid %-5d %s\\n", guest, pid, curpsinfo->pr_psargs); }')
    trace.wait_for("tracing")
    expected = []
    for word in ("one", "two", "three"):
        for host, guest in fleet.guests.items():
            guest.check(f"/bin/echo {word} of {host} >/dev/null")
            expected.append((f"{host}/{guest.name}", f"/bin/echo {word} of {host}"))
    trace.stop()
    show(trace.out.strip("\n"))
    got = [(m[1], m[2]) for m in re.finditer(r"(?m)^(\S+) +pid \d+ +(/bin/echo .*)$", trace.out)]
    expect(got == expected, f"they ran {expected}")
    return f"{len(got)} programs that two guests have started in turn, in that order"


def refused(fleet):
    """An operator whom no host knows: the hosts say so in their logs, and nothing of a guest is told."""
    fleet.key("mallory")
    before = {name: len(host.log()) for name, host in fleet.hosts.items()}
    trace = fleet.operator("syscall:::entry { @ = count(); }", who="mallory")
    status = trace.finish()
    show(trace.err)
    said = {}
    for name, host in fleet.hosts.items():
        host.await_log("(?i)refused|unknown")
        said[name] = [line for line in host.log()[before[name]:].splitlines() if re.search("(?i)refuse|unknown", line)]
        show(f"{name}'s log: " + "\n".join(said[name]))
    expect(status == 1 and not trace.out, f"status {status}: {trace.story()}")
    expect(all(said.values()), "a host's log has no line of it")
    return "the operator was refused, and each host's log tells of it"


def demonstrate(fleet):
    """How many answers were wrong."""
    failed = 0
    for question, title in ((merged, "One program over both hosts: aggregations add up"),
                            (records, "Records come with their host, in order of time"),
                            (refused, "An operator whose key no host knows")):
        step(title)
        try:
            show(f"  -> checked: {question(fleet)}")
        except (CheckFailed, TraceError) as e:
            failed += 1
            show(f"  -> WRONG: {e}")
    return failed


def run(outsight, kernel, not_kvm):
    with contextlib.ExitStack() as stack:
        fleet = Fleet(outsight, kernel, not not_kvm, stack)
        show(f"fleet demo: all of it is in {fleet.dir}, and is removed at the end, or by Ctrl-C")
        show(f"fleet demo: guests run on QEMU (TCG), as {not_kvm}" if not_kvm else "fleet demo: guests run on this host's KVM")
        step("A broker, which nobody trusts, and two guests that boot")
        fleet.broker()
        fleet.boot({"h1": "demo-web01", "h2": "demo-web02"})
        step("An operator's key, and two hosts, each with a key of its own and what it lets that operator do")
        fleet.set_up()
        failed = demonstrate(fleet)
        for guest in fleet.guests.values():
            expect(not re.search(r"BUG:|Oops|WARNING:", guest.check("dmesg")), f"{guest.name}: the guest's kernel complains")
        return failed


def main():
    parser = argparse.ArgumentParser(description="a fleet of two hosts on this machine")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("kernel")
    args = parser.parse_args()
    outsight = Outsight(os.path.abspath(args.build))
    reason = outsight.why_not() or why_no_guest(args.kernel) or (None if NATS else "there is no nats-server here")
    if reason:
        sys.exit(f"fleet demo: {reason}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        failed = run(outsight, args.kernel, why_not_kvm(outsight.binary))
    except (CheckFailed, GuestError, TraceError) as e:
        show(f"  -> WRONG: {e}")
        failed = 1
    except KeyboardInterrupt:
        show("\nfleet demo: interrupted; everything is ended and removed")
        return 130
    show(f"\nfleet demo: {time.monotonic() - BEGUN:.0f} s, 3 questions, {failed} wrong; everything is ended and removed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
