#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs in docs/from-other-tracers.md compile for a stock guest."""
import os
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.scenario import Scenario, main

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/from-other-tracers.md")


class FromOtherTracers(Scenario):
    def test_programs(self):
        """Each, by itself; those of `vm`, which a guest under TCG does not have, as far as their types go."""
        with open(PAGE, encoding="utf-8") as f:
            blocks = re.findall(r"(?ms)^```d\n(.*?)^```$", f.read())
        programs = [program for block in blocks for program in re.split(r"\n\n", block)]
        self.assertGreater(len(programs), 15)
        with self.guest() as guest:
            for program in programs:
                with self.subTest(program=program):
                    more = ["-Z"] if "vm:::" in program else []
                    status, _, err = self.outsight.run(guest, "-e", *more, "-n", program)
                    self.assertEqual((status, err), (0, ""))


if __name__ == "__main__":
    sys.exit(main())
