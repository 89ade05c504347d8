#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that migrates between hosts of a fleet, QEMU to QEMU on /dev/kvm from one namespace to another, is followed.
migration_test.py OUTSIGHT SMALL-GUEST [Class.test…]."""
import os
import re
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), folder) for folder in ("kvm", "hook")]
# pylint: disable=wrong-import-position
import network
import qemu
from small_guest import GUEST, OUTSIGHT, limit, main
from hosts import Client, wait_until
from lib.scenario import only_full
from namespaces_test import HostsTest
from places import reason_to_skip

UUID = "2b9f0d52-5f0e-4a58-9a55-3c2f6d1e7a10"
PORT = 4444
# Each round of the guest once, with the number that the guest gives it.
ROUNDS = 'fbt::round_end:entry { printf("%s %d\\n", guest, arg0); @[guest] = count(); }'


class Migration(HostsTest):
    def vm(self, host, *args, name="web01", uuid=UUID):
        vm = qemu.Qemu(1, name=name, args=["-uuid", uuid, *args], popen=self.places[host].popen)
        self.addCleanup(vm.close)
        return vm

    def awaits(self, host, **kwargs):
        vm = self.vm(host, "-incoming", f"tcp:0.0.0.0:{PORT}", **kwargs)
        vm.wait_for(lambda: vm.qmp("query-status")["status"] == "inmigrate", "a VMM that waits for its guest")
        return vm

    def setUp(self):
        super().setUp()
        self.rounds = {}  # by guest, the numbers of all that was printed

    def rounds_of(self, process, guest, count):
        """The numbers of its rounds, so many of which are new."""
        wanted = len(self.rounds.get(guest, [])) + count
        while len(self.rounds.get(guest, [])) < wanted:
            name, number = self.words(process)
            self.rounds.setdefault(name, []).append(int(number))
        return self.rounds[guest]

    def migrate(self, vm, to):
        vm.qmp("migrate", uri=f"tcp:{self.places[to].address}:{PORT}")
        vm.wait_for(lambda: vm.qmp("query-migrate")["status"] in ("completed", "failed"), "the end of a migration")
        self.assertEqual(vm.qmp("query-migrate")["status"], "completed")

    def followed(self, process, before):
        """The rounds at the new host are others than those before, each is there once, and the line says so."""
        after = self.rounds_of(process, "h2/web01", 20)
        self.assertEqual(after, list(range(after[0], after[0] + len(after))))
        self.assertGreater(after[0], before[-1] + 1)
        process.send_signal(signal.SIGINT)
        out, err = self.rest(process, limit(60))
        self.assertEqual(process.returncode, 0, err)
        self.assertRegex(err, r"(?m)^dtrace: web01 moved h1→h2, gap (\d+ ms|\d+\.\d s)$")
        self.assertNotIn("hosts:", err)
        print(re.search("web01 moved.*", err)[0], flush=True)
        counts = dict(re.findall(r"(?m)^ +(h\d/web01) +(\d+)$", out))
        after = after + [int(number) for number in re.findall(r"(?m)^h2/web01 (\d+)$", out)]
        for guest, numbers in (("h1/web01", before), ("h2/web01", after)):
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + int(counts[guest]))), guest)

    def unharmed(self, vm):
        vm.wait_clean()
        vm.check_unharmed(self)

    def test_named(self):
        """A host is asked that no -g names: it is in the operator's file of hosts, and the guest comes there. Nobody else is: h3 has
        another guest of that name, which has always been there."""
        for name in ("h1", "h2", "h3"):
            self.place(name)
        vm = self.vm("h1").wait_ready()
        self.guest("h3", "web01")
        process = self.start("-x", "switchrate=50ms", "-g", "h1/web01", "-n", ROUNDS)
        before = self.rounds_of(process, "h1/web01", 20)
        new = self.awaits("h2")
        self.migrate(vm, "h2")
        self.followed(process, before)
        self.unharmed(new)

    @only_full  # unit.fleet_follow_test has it with canned hosts
    def test_pattern(self):
        """The session that the new host has already takes it in; the old one goes on with its other guest."""
        for name in ("h1", "h2"):
            self.place(name)
        vm = self.vm("h1").wait_ready()
        for name in ("h1", "h2"):
            self.guest(name, f"web-{name}")
        process = self.start("-x", "switchrate=50ms", "-g", "h*/web*", "-n", ROUNDS)
        before = self.rounds_of(process, "h1/web01", 20)
        new = self.awaits("h2")
        self.migrate(vm, "h2")
        self.rounds_of(process, "h1/web-h1", 20)
        self.followed(process, before)
        self.unharmed(new)

    def test_ssh(self):
        """Hosts that ssh reaches ask each other's: the guest goes to one of those in the session."""
        for name in ("h1", "h2"):
            self.place(name)
        ssh = self.fleet.path("ssh")
        with open(ssh, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\ncase $1 in\n")
            for name, place in self.places.items():
                f.write(f"{name}) p={place.init} ;;\n")
            f.write(f"esac\nexec nsenter -t $p -n -m -p -- {self.fleet.serve} --stdio\n")
        os.chmod(ssh, 0o755)
        vm = self.vm("h1").wait_ready()
        self.guest("h2", "db")
        process = self.traced([OUTSIGHT, "-q", "-x", "maxcost=0", "-x", "switchrate=50ms", "-g", "ssh://h1/web01", "-g", "ssh://h2/db",
                               "-n", ROUNDS], env={**os.environ, "OUTSIGHT_SSH": ssh, "OUTSIGHT_FLEET_VMLINUX": GUEST})
        before = self.rounds_of(process, "h1/web01", 20)
        new = self.awaits("h2")
        self.migrate(vm, "h2")
        self.followed(process, before)
        self.unharmed(new)

    def test_not_allowed(self):
        """The new host's serve.conf does not have it: it is not traced there, which is said; the operator ends before a minute has
        passed."""
        self.place("h1")
        host = self.place("h2", guests="db*")
        vm = self.vm("h1").wait_ready()
        process = self.start("-x", "switchrate=50ms", "-g", "h1/web01", "-n", ROUNDS)
        self.rounds_of(process, "h1/web01", 20)
        client = Client(self.fleet.broker.port, network.ADDRESS)
        self.addCleanup(client.close)
        new = self.awaits("h2")
        self.migrate(vm, "h2")
        new.check_running()
        wait_until(lambda: len(client.seen("os.v1.who")) > 1, "it is asked twice")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 1, err)
        self.assertRegex(err, r"(?m)^dtrace: h1: guest web01 is being migrated or saved: its probes are out")
        self.assertRegex(err, r"(?m)^dtrace: web01 left h1, and the session has ended before it was found again$")
        self.assertRegex(err, r"(?m)^dtrace: hosts: 0 whole, 1 failed$")
        self.assertNotIn("tracing starts", host.log())
        self.unharmed(new)


if __name__ == "__main__":
    WHY = reason_to_skip() or qemu.reason_to_skip()
    if not WHY:
        network.begin()
    main(WHY)
