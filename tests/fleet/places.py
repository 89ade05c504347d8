# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of a fleet whose hosts are namespaces (network.py), with their daemons and an operator."""
import os
import subprocess
import threading
import unittest

import network
from hosts import NO_NATS, Fleet

LOSS = 0.1


def reason_to_skip():
    return network.reason_to_skip() or NO_NATS


class PlacesTest(unittest.TestCase):
    """outsight and vmlinux: those of the tests; vmlinux is of guests that don't have types."""
    maxDiff = None
    outsight = vmlinux = None

    def setUp(self):
        super().setUp()
        self.fleet = Fleet(self.outsight, network.ADDRESS)
        self.addCleanup(self.fleet.close)
        self.places = {}

    def place(self, name, vmlinux=None, lease=None, guests="*"):
        """A host of that name, which allows those guests. lease in ms."""
        place = network.Place()
        self.addCleanup(place.close)
        self.places[name] = place
        env = {}
        if vmlinux or self.vmlinux:
            env["OUTSIGHT_FLEET_VMLINUX"] = vmlinux or self.vmlinux
        if lease:
            env["OUTSIGHT_FLEET_LEASE_MS"] = str(lease)
        return self.fleet.host(name, {"alice": f"guests {guests}\nproviders fbt syscall"}, env=env, popen=place.popen)

    def disturb(self):
        """Every host's link loses packets and reorders others."""
        for place in self.places.values():
            place.disturb(LOSS, 5, 0.25)

    def check_disturbed(self):
        for name, place in self.places.items():
            self.assertGreater(place.lost(), 0, name)

    def start(self, *args):
        return self.traced(self.fleet.command("-q", "-x", "maxcost=0", *args))

    def traced(self, command, env=None):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                   bufsize=1, env=env)

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def words(self, process):
        """Of the next line that it prints."""
        while True:
            line = process.stdout.readline()
            self.assertTrue(line, process.communicate()[1] if not line else "")
            if line.strip():
                return line.split()

    def rest(self, process, seconds):
        """(what it prints until its end, its messages). communicate() would lose what words() has read ahead."""
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        out, err = process.stdout.read(), process.stderr.read()
        process.wait()
        timer.cancel()
        return out, err

    def await_guests(self, process, guests):
        """A line of each of them was printed."""
        left = set(guests)
        while left:
            left.discard(self.words(process)[0])
