#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet whose hosts are namespaces, with small guests on /dev/kvm: links that lose packets, a broker that dies, hosts that die
or are cut off, an operator that dies. namespaces_test.py OUTSIGHT SMALL-GUEST [Class.test…]."""
import os
import re
import signal
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kvm"))
# pylint: disable=wrong-import-position
import network
from small_guest import CALLS, GUEST, MANY, OUTSIGHT, RESTS, TRAPPED, GuestTest, Vm, elf_text, limit, main
from hosts import wait_until
from places import PlacesTest, reason_to_skip

ROUNDS = 60
CPUS = 1
# So many rounds of each guest, from the beginning of one; each is a record with its number, which the guest counts.
SOME_ROUNDS = (f"BEGIN {{ on = over = rounds = 0; }} fbt::round_begin:entry /!over/ {{ on = 1; }} "
               "fbt::probed_*:entry /on/ { @[guest, probefunc] = count(); @all = sum(1); } "
               'fbt::round_end:entry /on/ { printf("%s %d\\n", guest, arg0); rounds++; } '
               f"fbt::round_end:entry /on && rounds == {ROUNDS}/ {{ on = 0; over = 1; }}")
# What a tick prints shows that probes are in.
LONG = 'fbt::probed_nop:entry { @[guest] = count(); } tick-200ms { printa("%s %@d\\n", @); }'


class HostsTest(PlacesTest, GuestTest):
    outsight, vmlinux = OUTSIGHT, GUEST

    def guest(self, host, name, kernel=GUEST):
        vm = Vm(CPUS, RESTS, name=name, kernel=kernel, popen=self.places[host].popen)
        self.addCleanup(vm.close)
        return vm

    def clean(self, vms):
        for vm in vms:
            vm.wait_clean()
            self.assertNotIn("FAIL", vm.console())


class Data(HostsTest):
    def test_sums(self):
        """Three guests of two kernels on two hosts, whose links lose a tenth of the packets and reorder others; the broker is killed
        and started again. Each call is counted once, and each record comes once."""
        self.place("h1")
        self.place("h2", MANY)
        vms = [self.guest("h1", "a1"), self.guest("h1", "a2"), self.guest("h2", "b1", MANY)]
        self.disturb()
        process = self.start("-x", "aggrate=50ms", "-x", "switchrate=50ms", "-g", "h*/*", "-n", SOME_ROUNDS)
        rounds = {"h1/a1": [], "h1/a2": [], "h2/b1": []}
        while any(len(r) < ROUNDS for r in rounds.values()):
            guest, number = self.words(process)
            rounds[guest].append(int(number))
            if sum(len(r) for r in rounds.values()) == ROUNDS // 2:
                self.fleet.broker.kill()
                time.sleep(1)
                self.fleet.broker.start()
        process.send_signal(signal.SIGINT)
        out, err = self.rest(process, limit(120))
        self.assertEqual(process.returncode, 0, err)
        for guest, numbers in rounds.items():
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + ROUNDS)), guest)
        expected = {(guest, f"probed_{f}"): ROUNDS * CPUS * CALLS * (2 if f == "load" else 1) for f in TRAPPED for guest in rounds}
        counts = {(m[1], m[2]): int(m[3]) for m in re.finditer(r"(?m)^ +(h\d/\w+) +(probed_\w+) +(\d+)$", out)}
        self.assertEqual(counts, expected)
        self.assertEqual(int(re.search(r"(?m)^ +(\d+)$", out)[1]), sum(expected.values()))
        self.check_disturbed()
        self.clean(vms)


class End(HostsTest):
    def test_hosts_lost(self):
        """The daemon of one host and the process of its session are killed, another's link is cut: it is said, and the third goes
        on; status 1, and 0 for an operator to whom that is no failure. The guests run on without a probe."""
        names = ["h1", "h2", "h3"]
        hosts = [self.place(name, lease=3000) for name in names]
        vms = [self.guest(name, f"{name}g") for name in names]
        guests = [f"{name}/{name}g" for name in names]
        operators = [self.start(*options, *(word for g in guests for word in ("-g", g)), "-n", LONG)
                     for options in ((), ("-x", "hostloss=ok"))]
        for process in operators:
            self.await_guests(process, guests)
        for vm in vms:
            self.assertNotEqual(vm.text(), elf_text(GUEST)[1])
        sessions = hosts[0].sessions()
        self.assertEqual(len(sessions), len(operators))
        hosts[0].process.kill()
        for pid in sessions:
            os.kill(pid, signal.SIGKILL)
        self.places["h2"].cut()
        self.clean(vms[:2])
        for process, status in zip(operators, (1, 0)):
            said = process.stderr.readline() + process.stderr.readline()
            for name in names[:2]:
                self.assertRegex(said, rf"(?m)^dtrace: {name}: the host is lost: ")
            self.await_guests(process, guests[2:])
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=limit(60))
            self.assertEqual(process.returncode, status, err)
            self.assertRegex(err, r"dtrace: hosts: 1 whole, 2 lost: h1, last heard \d+ s ago; h2, last heard \d+ s ago\n$")
        self.clean(vms)

    def test_operator_killed(self):
        """Its lease is over after ten seconds, and the guests' text is what it was."""
        hosts = [self.place(name) for name in ("h1", "h2")]
        vms = [self.guest(name, f"{name}g") for name in ("h1", "h2")]
        process = self.start("-g", "h*/*", "-n", LONG)
        self.await_guests(process, ["h1/h1g", "h2/h2g"])
        for vm in vms:
            self.assertNotEqual(vm.text(), elf_text(GUEST)[1])
        process.kill()
        killed = time.monotonic()
        self.clean(vms)
        took = time.monotonic() - killed
        print(f"probes were out {took:.1f} s after the operator's kill -9", flush=True)
        for host in hosts:
            wait_until(lambda host=host: not host.sessions(), host.log)
            self.assertRegex(host.log(), "tracing ended|tracing ends")
        for vm in vms:
            before = vm.barriers()
            wait_until(lambda vm=vm, before=before: vm.barriers() > before + 3, "the guest runs")


if __name__ == "__main__":
    WHY = reason_to_skip()
    if not WHY:
        network.begin()
    main(WHY)
