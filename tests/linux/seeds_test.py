#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts/demo --seeds shows, on the guest that scenarios share."""
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import FULL
from lib.scenario import Scenario, main
from seeds import Seeds

ABOUT_LOAD = ("globals", "profile", "ticks", "traces")  # the others have something of their own to look at


class Programs(Scenario):
    def test_seeds(self):
        """Each program of tests/d/seeds has the right answer, under load; by default those that are about no load, without one."""
        with self.guest() as guest:
            seeds = Seeds(self.outsight, guest)
            if FULL:
                with guest.load():
                    wrong = seeds.run()
            else:
                wrong = seeds.run([name for name in seeds.all_names() if name not in ABOUT_LOAD])
        self.assertEqual(wrong, 0)


if __name__ == "__main__":
    sys.exit(main())
