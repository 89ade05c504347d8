#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fbt::FUNCTION:OFFSET of a stock kernel: each instruction of a function counts its executions, and nothing else is one."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.scenario import Scenario, main, only_full

FUNCTION, CALLS = "__x64_sys_getppid", 50


class Offsets(Scenario):
    def refusal(self, guest, probe):
        _, out, err = self.outsight.run(guest, "-ln", probe)
        self.assertNotIn(FUNCTION, out)
        return err

    def walk(self, guest):
        """The offsets at which instructions begin, by what is said of those where none does."""
        size = int(re.search(r"the function has 0x(\w+) bytes", self.refusal(guest, f"fbt::{FUNCTION}:ffffff")).group(1), 16)
        each = [word for at in range(size) for word in ("-n", f"fbt::{FUNCTION}:{at:x}")]
        _, out, err = self.outsight.run(guest, "-l", *each)
        starts = [int(at, 16) for at in re.findall(rf"(?m){FUNCTION} +(\w+)$", out)]
        for at in set(range(size)) - set(starts):
            m = re.search(rf"(?m){FUNCTION}:{at:x} can't be enabled: no instruction begins there; "
                          r"the (?:nearest do at (\w+) and (\w+)|last one does at (\w+))$", err)
            self.assertTrue(m, err)
            self.assertEqual(int(m.group(1) or m.group(3), 16), max(start for start in starts if start < at), err)
            if m.group(2):
                self.assertEqual(int(m.group(2), 16), min(start for start in starts if start > at), err)
        return starts

    def test_each_instruction(self):
        """All of them are found, and those that each call passes count the calls, with the registers there."""
        with self.guest() as guest:
            starts = self.walk(guest)
            self.assertEqual(starts[0], 0)
            self.assertGreater(len(starts), 5)
            probes = ", ".join(f"fbt::{FUNCTION}:{at:x}" for at in starts)
            program = (f'{probes} /execname == "getppid_loop"/ {{ @[regs[R_RIP] - (uintptr_t)&`{FUNCTION}] = count(); '
                       "@name[probename] = count(); } "
                       'END { printa("at %d %@d\\n", @); printa("name %s %@d\\n", @name); }')
            trace = self.outsight.trace(guest, program)
            guest.check(f"getppid_loop 1 {CALLS}")
            trace.stop()
        found = {kind: {key: int(n) for key, n in re.findall(rf"(?m)^{kind} (\w+) (\d+)$", trace.out)}
                 for kind in ("at", "name")}
        self.assertEqual(found["at"], {str(int(name, 16)): n for name, n in found["name"].items()}, trace.story())
        calls = found["at"]["0"]
        self.assertGreaterEqual(calls, CALLS, trace.story())
        self.assertEqual(set(found["at"].values()), {calls}, trace.story())  # no branch of it is taken here
        self.assertGreater(len(found["at"]), 5, trace.story())

    @only_full
    def test_messages(self):
        """What is no instruction, no function, or no offset is said to be that."""
        with self.guest() as guest:
            self.assertIn("has 0x", self.refusal(guest, f"fbt::{FUNCTION}:fffff"))
            self.assertIn("No probe matches", self.refusal(guest, "fbt::no_such_function:0"))
            self.assertIn("No probe matches", self.refusal(guest, "fbt::__x64_sys_getppi*:0"))
            self.assertIn("No probe matches", self.refusal(guest, f"fbt::{FUNCTION}:0x0"))
            status, out, err = self.outsight.run(guest, "-lvn", f"fbt:vmlinux:{FUNCTION}:0")
        self.assertEqual(status, 0, err)
        self.assertIn("None", out)


if __name__ == "__main__":
    sys.exit(main())
