#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of the guest that makes itself expensive to read, with forged notes and with files of gigabytes in which nothing is:
it costs its share of the budget and a line, and what is asked of the other programs is answered."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.program_scenario import StaticProbes
from lib.scenario import main, only_full

FOLDER = "/tmp/forged"


class Forged(StaticProbes):
    names = "probed forging"

    def tearDown(self):
        super().tearDown()
        self.vm.run(f"rm -rf {FOLDER}")

    def start_forging(self, what, files, name="forging"):
        self.vm.check(f"mkdir -p {FOLDER}")
        return self.start_idle(f"forging {what} {files} {FOLDER}", name)

    def count(self, description):
        """What a description counts of one more round of the honest program, which is younger than those before it; what was
        said."""
        pid = self.start("honest")
        trace = self.outsight.trace(self.vm, f"{description} {{ @[pid] = count(); }}")
        self.work(pid, "honest")
        trace.stop()
        self.vm.check(f"kill -9 {pid}; rm /tmp/said.honest")
        self.rounds.pop("honest")
        found = dict(re.findall(r"(?m)^ +(\d+) +(\d+)$", trace.out))
        self.assertEqual(found, {str(pid): str(self.times)}, trace.story())
        return trace.errors

    @only_full
    def test_sparse(self):
        """Forty files of 4 GiB with nothing in them, and no word of where their notes are: a million pages each that are not there
        are neither looked at one by one nor paid for. Where the host is so busy that this process's share of CPU time does not
        suffice, that is said of it alone."""
        pid = self.start_forging("sparse", 40)
        own = rf"dtrace: process {pid}: forged\d+\.so, which is passed over in all processes: reading a process among all takes more than its "
        for description in ("probed*:::registers", "user:probed:registers:entry"):
            for line in self.count(description):
                self.assertRegex(line, own)
        for description in (f"pid{pid}:forged0.so::entry", "user:forged*.so::entry", f"forged{pid}:::"):
            status, out, err = self.outsight.run(self.vm, "-n", description)
            self.assertEqual((status, out), (1, ""), err)
            self.assertRegex(err, "does not match any probes|no probe matches, but not all notes of forged")

    def test_notes(self):
        """Five files of 60,000 probes with the honest program's provider, which would be more than all programs may have. Each
        process costs its share, and a line with a file that costs the next one nothing; by its number it has its probes."""
        pids = [self.start_forging("notes", 5, name) for name in ("one", "two")]
        said = [re.fullmatch(r"dtrace: process (\d+): (forged\d\.so), which is passed over in all processes: it has more than 16384 "
                             "static probes: it has no more probes; name the process to have them", line)
                for line in self.count("probed*:::registers")]
        self.assertNotIn(None, said)
        self.assertEqual([int(match.group(1)) for match in said], pids)
        self.assertEqual(len({match.group(2) for match in said}), 2)
        trace = self.outsight.trace(self.vm, f"probed{pids[0]}:forged0.so::n0_7 {{ @ = count(); }}")
        trace.stop()
        self.assertEqual(trace.errors, [])

    def assert_line(self, errors, reading, missing):
        """One, of whichever limit this machine reaches first: a fast one reads 4 GiB in less than a second."""
        limit = r" takes more than its (1000 ms of CPU time|4096 MiB of the guest's memory): "
        self.assertEqual(len(errors), 1, errors)
        self.assertRegex(errors[0], f"^{re.escape(reading)}{limit}{re.escape(missing)}$")

    @only_full
    def test_symbols(self):
        """Tables of symbols of 3 GiB in which nothing is: a function's name, and who looks for functions in all processes, cost
        what they may, and a line."""
        pid = self.start_forging("symbols", 4)
        trace = self.outsight.trace(self.vm, f"syscall::getppid:entry /pid == {pid}/ {{ usym(arg0); }}")
        self.vm.check(f"kill -USR1 {pid}")
        self.wait_lines("^called$", 1, "forging")
        trace.stop()
        self.assertEqual(len(re.findall(r"(forged\d\.so`)?0x[0-9a-f]+", trace.out)), 4, trace.story())
        self.assert_line(trace.errors, "dtrace: reading the guest's programs", "some user addresses have no names")
        trace = self.outsight.trace(self.vm, "user:forged?.so::entry { @ = count(); }", "-Z")
        trace.stop()
        self.assert_line(trace.errors, f"dtrace: process {pid}: reading a process among all", "it has no more probes")
        self.assertEqual(self.count("user:probed:registers:entry"), [])


if __name__ == "__main__":
    sys.exit(main())
