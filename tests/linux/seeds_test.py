#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts/demo --seeds shows, on the guest that scenarios share."""
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.scenario import Scenario, main
from seeds import Seeds


class Programs(Scenario):
    def test_seeds(self):
        """Each program of tests/d/seeds has the right answer, under load."""
        with self.guest() as guest, guest.load():
            self.assertEqual(Seeds(self.outsight, guest).run(), 0)


if __name__ == "__main__":
    sys.exit(main())
