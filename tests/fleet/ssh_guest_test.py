#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""outsight -g ssh://HOST/GUEST through a real ssh and sshd, with a small guest on /dev/kvm: ssh_guest_test.py OUTSIGHT SMALL-GUEST
[Class.test…]."""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kvm"))
# pylint: disable=wrong-import-position
from small_guest import CALLS, GUEST, OUTSIGHT, RESTS, TRAPPED, GuestTest, elf_text, limit, main
from hosts import wait_until
from sshd import Sshd, served, why_not

WHY_NOT = why_not()


class Ssh(GuestTest):
    def setUp(self):
        self.sshd = Sshd({"fleet": (served(os.path.dirname(OUTSIGHT), OUTSIGHT_FLEET_VMLINUX=GUEST), "")})
        self.addCleanup(self.sshd.close)
        self.sshd.configure({"h1": ["User fleet"]})

    def command(self, vm, program):
        return [OUTSIGHT, "-g", f"ssh://h1/{vm.socket}", "-q", "-x", "maxcost=0", "-n", program]

    def test_counts(self):
        """Each call of a round, once, through what ssh makes of the stream."""
        vm = self.vm(2, RESTS)
        done = subprocess.run(self.command(vm, "BEGIN { on = 0; } fbt::round_begin:entry { on = 1; } "
                                           "fbt::probed_*:entry /on/ { @[probefunc] = count(); } fbt::round_end:entry /on/ { exit(7); }"),
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, env=self.sshd.env(), timeout=limit(120), check=False)
        self.assertEqual((done.returncode, done.stderr), (7, ""))
        self.assertEqual({words[0]: int(words[1]) for words in map(str.split, done.stdout.splitlines()) if words},
                         {f"probed_{f}": CALLS * 2 * (2 if f == "load" else 1) for f in TRAPPED})
        vm.wait_clean()
        self.check_unharmed(vm)

    def test_dropped(self):
        """The connection breaks: the host is lost, with what ssh says of it, and takes its probes out."""
        vm = self.vm(2, RESTS)
        process = subprocess.Popen(self.command(vm, "fbt::probed_*:entry { @ = count(); }"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.sshd.env())
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        wait_until(lambda: vm.text() != elf_text(GUEST)[1], self.sshd.log)
        self.assertIsNone(process.poll())
        self.sshd.drop()
        out, err = process.communicate(timeout=limit(60))
        self.assertEqual(process.returncode, 1)
        lines = err.splitlines()
        self.assertEqual(lines[-2], "dtrace: h1: the host is lost: ssh to h1 ended with status 255")
        self.assertRegex(lines[-1], r"^dtrace: hosts: 0 whole, 1 lost: h1, last heard \d+ s ago$")
        self.assertTrue(lines[:-2], err)  # ssh's own words
        self.assertTrue(all(line.startswith("dtrace: h1: ") for line in lines[:-2]), err)
        self.assertNotIn("Broken pipe", out + "".join(line for line in lines if "client_loop" not in line))
        vm.wait_clean()
        self.check_unharmed(vm)


if __name__ == "__main__":
    if WHY_NOT:
        print(f"SKIP: {WHY_NOT}")
        sys.exit(77)
    main()
