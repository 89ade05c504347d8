#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One kernel of the matrix (scripts/test --kernels): an operator's first steps on a guest.

The scenarios are those of counts, reading, agent, dump, tracepoints, libraries, the kernel's providers, and of programs
their storm. They share one guest with four vCPUs on QEMU's best CPU. The plainest CPU, whose kernel takes other ways in and out, has a guest of its own.

What the probes counted, beside what is true, is printed as a table at the end, and written to truth/KERNEL.md in the build.
"""
import os
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import agent_test
import counts_test
import dump_test
import libraries_test
import providers_net_test
import providers_sctp_test
import providers_test
import providers_vfs_test
import reading_test
import storm_test
import tracepoints_test
from lib.agent_scenario import AgentScenario
from lib.outsight import numbers
from lib.scenario import Scenario, main
from lib.truth import table


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


class Tracepoints(tracepoints_test.Tracepoints):
    """Events and arguments from outside."""


class Tasks(libraries_test.Tasks):
    """Translators of tasks and CPUs; those of files and the network follow."""


class Files(libraries_test.Files):
    """Descriptors and block I/O."""


class Headers(libraries_test.Network):
    """Sockets and packets."""


class Providers(providers_test.Providers):
    """proc, sched and io."""


class Network(providers_net_test.Network):
    """ip, tcp and udp."""


class Sctp(providers_sctp_test.Sctp):
    """sctp, whose module stays: then there is another guest."""


class Operations(providers_vfs_test.Files):
    """fsinfo and vfs."""


class Counters(providers_vfs_test.Counters):
    """sysinfo and callout_execute."""


class Locks(providers_vfs_test.Locks):
    """lockstat."""


class Storm(storm_test.Storm):
    """user, pid and USDT, of many short lives, in a guest of its own."""


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


def write_table():
    """For people, and for scripts/test to print at its end."""
    folder = os.path.join(Scenario.build, "truth")
    os.makedirs(folder, exist_ok=True)
    print(table())
    with open(os.path.join(folder, f"{Scenario.kernel}.md"), "w", encoding="utf-8") as out:
        out.write(table())


if __name__ == "__main__":
    status = main()
    if status != 77:
        write_table()
    sys.exit(status)
