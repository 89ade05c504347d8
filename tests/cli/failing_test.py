#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Outputs that cannot be written, and readers that do not read: failing_test.py OUTSIGHT [Class.test…]."""
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import cli_test


class FullDisk(cli_test.Case):
    VERBS = (["--help"], ["--version"], ["-V"], ["help", "flame"], ["guests"], ["guests", "--json"], ["examples", "disk"],
             ["tool", "--list"], ["top", "-b", "-n", "1", "-d", "1"], ["top", "--help"], ["-g", "none", "-l"])

    def on_full(self, *args):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([cli_test.OUTSIGHT, *args], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=cli_test.LIMIT, check=False)
        return done.returncode, done.stderr

    @unittest.skipUnless(os.path.exists("/dev/full"), "SKIP: no /dev/full")
    def test_verbs(self):
        """Whatever prints something: a report that nobody has got is no success, and the reason is said once."""
        for args in self.VERBS:
            with self.subTest(args=args):
                self.assertEqual(self.on_full(*args), (1, "dtrace: failed to write to <stdout>: No space left on device\n"))

    @unittest.skipUnless(os.path.exists("/dev/full"), "SKIP: no /dev/full")
    def test_doctor(self):
        """Its status is what scripts ask it for: 0 only if they could have read why."""
        if self.run_it("doctor", guest=())[0]:
            self.skipTest("SKIP: nothing can be traced on this host")
        self.assertEqual(self.on_full("doctor"), (1, "dtrace: failed to write to <stdout>: No space left on device\n"))


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
