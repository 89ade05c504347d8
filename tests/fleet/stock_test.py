#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet whose hosts are namespaces, with stock Debian guests of two kernels under TCG. stock_test.py OUTSIGHT PLUGIN [Class.test…]."""
import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import network
from lib.guest import MIB, Guest, why_no_guest
from lib.pace import limit
from lib.scenario import run_module
from places import PlacesTest, reason_to_skip

OUTSIGHT, PLUGIN = (os.path.abspath(p) for p in sys.argv[1:3])
KERNELS = ("6.1", "6.12")
CALLS = 5000
# One vCPU, so that n is exact, and so each record's own number.
PROGRAM = ('syscall::getppid:entry /execname == "getppid_loop"/ { printf("%s %d\\n", guest, n++); @[guest, execname] = count(); '
           "@all = sum(1); } tick-100ms /!began/ { began = 1; printf(\"began 0\\n\"); }")


class Sums(PlacesTest):
    outsight = OUTSIGHT

    def guest(self, host, name, kernel):
        guest = Guest(kernel, smp=1, memory=256 * MIB, plugin=PLUGIN, name=name)
        guest.popen = self.places[host].popen
        self.addCleanup(guest.close)
        guest.start()
        return guest

    def test_sums(self):
        """What three guests of two kernels say that they have called, over links that lose a tenth of the packets, and a broker that
        is killed and started again meanwhile: each call is counted once, and is one record."""
        for name in ("h1", "h2"):
            self.place(name)
        guests = {"h1/a1": self.guest("h1", "a1", KERNELS[0]), "h2/b1": self.guest("h2", "b1", KERNELS[1]),
                  "h2/b2": self.guest("h2", "b2", KERNELS[0])}
        for guest in guests.values():
            guest.wait_ready()
        self.disturb()
        process = self.start("-x", "aggrate=100ms", "-x", "switchrate=100ms", "-x", "bufsize=8m", "-g", "h*/*", "-n", PROGRAM)
        self.assertEqual(self.words(process), ["began", "0"])
        jobs = {name: guest.spawn(f"getppid_loop 1 {CALLS}") for name, guest in guests.items()}
        records = {name: [] for name in guests}
        killed = False
        while any(len(r) < CALLS for r in records.values()):
            guest, number = self.words(process)
            records[guest].append(int(number))
            if not killed and sum(len(r) for r in records.values()) > CALLS // 2:
                killed = True
                self.fleet.broker.kill()
                time.sleep(1)
                self.fleet.broker.start()
        process.send_signal(signal.SIGINT)
        out, err = self.rest(process, limit(120))
        self.assertEqual(process.returncode, 0, err)
        self.assertNotIn("drops", err)
        said = {name: int(re.search(r"calls (\d+)", job.done())[1]) for name, job in jobs.items()}
        for name, numbers in records.items():
            self.assertEqual(numbers, list(range(said[name])), name)
        self.assertNotRegex(out, r"(?m)^h\d/")
        self.assertEqual({m[1]: int(m[2]) for m in re.finditer(r"(?m)^ +(h\d/\w+) +getppid_loop +(\d+)$", out)}, said)
        self.assertEqual(int(re.search(r"(?m)^ +(\d+)$", out)[1]), sum(said.values()))
        self.check_disturbed()


if __name__ == "__main__":
    WHY = reason_to_skip() or next(filter(None, map(why_no_guest, KERNELS)), None)
    if not WHY:
        network.begin()
    run_module(sys.argv[3:], WHY)
