#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory that a program has not touched yet, as its system calls get it: what is in the guest's page cache is read from there,
and memory without a file is zero. What is not in the guest's memory is an invalid address."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import rounds
from lib.program_scenario import UNTOUCHED, ProgramScenario, counts_by_word, run_untouched
from lib.scenario import main, only_full

class Untouched(ProgramScenario):
    names = "untouched"

    def run_traced(self, *commands):
        """({what was counted: how often}, how many addresses were invalid) while the guest runs these."""
        trace = self.outsight.trace(self.vm, UNTOUCHED)
        for command in commands:
            self.vm.check(command)
        trace.stop()
        return counts_by_word(trace.out), len(re.findall("invalid address", trace.err)), trace.story()

    def test_page_cache(self):
        """Each of many new processes."""
        n = rounds(150, 5000)
        counted, invalid, story = self.run_traced(run_untouched(n))
        self.assertEqual(invalid, 0, story)
        self.assertEqual(counted, {"/untouched/opened": n, "/untouched/executed": n, "0": n, "ended": n}, story)

    def test_not_in_memory(self):
        """A file whose pages were dropped: the first process has the kernel read them from the disk after the probe, the second
        one finds them."""
        self.vm.check("cp /bin/untouched /mnt/untouched && sync && echo 3 >/proc/sys/vm/drop_caches")
        counted, invalid, story = self.run_traced("/mnt/untouched >/dev/null")
        self.assertEqual((counted, invalid), ({"0": 1, "ended": 1}, 2), story)
        counted, invalid, story = self.run_traced("/mnt/untouched >/dev/null")
        self.assertEqual((counted, invalid),
                         ({"/untouched/opened": 1, "/untouched/executed": 1, "0": 1, "ended": 1}, 0), story)
        self.vm.check("rm /mnt/untouched")

    @only_full
    def test_moving(self):
        """While the kernel drops the pages and moves what is left, what is read is right, or an invalid address."""
        n = rounds(20, 2000)
        move = "while :; do echo 3 >/proc/sys/vm/drop_caches; echo 1 >/proc/sys/vm/compact_memory; done"
        self.vm.check("cp /bin/untouched /mnt/untouched && sync")
        mover = self.vm.check(f"{move} >/dev/null 2>&1 & echo $!").strip()
        counted, _, story = self.run_traced(run_untouched(n, "/mnt/untouched"))
        self.vm.check(f"kill -9 {mover}; rm /mnt/untouched")
        self.assertEqual((counted.pop("0"), counted.pop("ended")), (n, n), story)
        self.assertLessEqual(set(counted), {"/untouched/opened", "/untouched/executed"}, story)
        self.assertTrue(all(count <= n for count in counted.values()), story)


if __name__ == "__main__":
    sys.exit(main())
