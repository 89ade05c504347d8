#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One kernel of the matrix (scripts/test --kernels): an operator's first steps on a guest.

The scenarios are those of counts, reading, agent and dump. They share one guest with four vCPUs on QEMU's best
CPU. The plainest CPU, whose kernel takes other ways in and out, has a guest of its own.
"""
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import agent_test
import counts_test
import dump_test
import reading_test
from lib.agent_scenario import AgentScenario
from lib.outsight import numbers
from lib.scenario import Scenario, main


class Reading(Scenario):
    """Symbols line by line, and nearly all functions that could be traced."""
    compare = reading_test.Symbols.compare
    test_list = reading_test.Probes.test_list
    test_coverage = reading_test.Probes.test_coverage_of_traceable_functions

    def test_symbols(self):
        with self.guest() as guest:
            self.compare(guest)


class Counts(counts_test.Counts):
    """Syscalls, fbt entry and return, profile, stacks, and arguments by their types."""


class Agent(AgentScenario):
    """The module builds with that kernel's headers, loads, and gives its probes."""
    test_listing = agent_test.Views.test_listing
    test_both_views_count_the_same = agent_test.Views.test_both_views_count_the_same
    test_functions = agent_test.Views.test_functions
    test_unloaded_while_tracing = agent_test.Unloading.test_unloaded_while_tracing
    test_probed = agent_test.Unloading.test_probed


class Dumps(dump_test.Dumps):
    """A dump of it, and how much of its text could be probed on each kind of host."""


class PlainCpu(Scenario):
    """Without what newer CPUs have, the kernel has patched itself in other ways."""

    def test_on_the_plainest_cpu(self):
        program = ("syscall::getppid:entry { @e = count(); } fbt::__x64_sys_getppid:return { @r = count(); } "
                   "fbt::__x64_sys_getppid:entry { @f = count(); }")
        with self.own_guest(cpu="qemu64", smp=1) as guest:
            reading_test.Symbols.compare(self, guest)
            job = guest.spawn("getppid_loop 1 5000 wait")
            job.wait_output("waiting")
            trace = self.outsight.trace(guest, program)
            job.send("go")
            job.wait_end()
            trace.stop()
        self.assertEqual(numbers(trace.out), [5000, 5000, 5000], trace.story())


if __name__ == "__main__":
    sys.exit(main())
