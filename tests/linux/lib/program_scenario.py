# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios with programs of ours in one guest: each waits for a signal, works, and says what it has done."""
import os
import re

from lib.programs import load_bias, places
from lib.scenario import Scenario


# What bin/untouched passes to its system calls, and how often it ended.
UNTOUCHED = """
syscall::openat:entry /execname == "untouched"/ { @[copyinstr(arg1)] = count(); }
syscall::execve:entry /execname == "untouched"/ { @[copyinstr(arg0)] = count(); }
syscall::write:entry /execname == "untouched"/ { @[lltostr(*(uint64_t *)copyin(arg1, 64))] = count(); }
syscall::exit_group:entry /execname == "untouched"/ { @["ended"] = count(); }
"""


def run_untouched(times, path="untouched"):
    """The guest's command that runs it so often."""
    return f"i=0; while [ $i -lt {times} ]; do {path} >/dev/null || exit 1; i=$((i+1)); done"


def counts_by_word(text):
    """{key: count} of an aggregation with one key, a word."""
    return {key: int(n) for key, n in re.findall(r"^ +(\S+) +(\d+)$", text, re.M)}


class ProgramRounds:
    """Programs of self.vm: each works one round at each signal, and says what it has done."""
    last_line = "^called$"  # of a round

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.rounds = {}

    def start_idle(self, command, name="a"):
        """Start a program that waits for its signal; what it prints is in /tmp/said.NAME. Returns its PID."""
        pid = int(self.vm.check(f"{command} >/tmp/said.{name} 2>&1 & echo $!"))
        self.wait_lines("ready", 1, name)
        return pid

    def start_program(self, command, name="a"):
        """The same of one whose functions have run once: their pages are in the guest's memory."""
        pid = self.start_idle(command, name)
        self.work_once(pid, name)
        return pid

    def work_once(self, pid, name="a"):
        """One more round of calls; all that the program has said."""
        self.vm.check(f"kill -USR1 {pid}")
        self.rounds[name] = self.rounds.get(name, 0) + 1
        self.wait_lines(self.last_line, self.rounds[name], name)
        return self.vm.check(f"cat /tmp/said.{name}")

    def semaphore_in_memory(self, pid, path, symbol):
        """What a process has in the semaphore of a static probe, as the guest's kernel reads it: the process may be busy. @path:
        its program, on this host."""
        at = load_bias(path, self.vm.check(f"cat /proc/{pid}/maps"), os.path.basename(path)) + places(path)[symbol]
        self.vm.check(f"dd if=/proc/{pid}/mem bs=2 skip={at // 2} count=1 2>/dev/null >/tmp/semaphore")
        return int(self.vm.check("od -An -tu2 /tmp/semaphore"))

    def wait_lines(self, pattern, count, name):
        self.vm.check(f"until [ $(grep -c '{pattern}' /tmp/said.{name}) -ge {count} ]; do sleep 0.1; done")


class ProgramScenario(ProgramRounds, Scenario):
    """In the guest with programs of ours, which all these scenarios share. Without @aslr all processes of a program have the same
    addresses."""
    aslr = False
    names = "counted leaving"

    @classmethod
    def setUpClass(cls):
        cls.vm, cls.programs = cls.with_programs.get(), cls.with_programs.programs
        cls.vm.check(f"echo {2 if cls.aslr else 0} >/proc/sys/kernel/randomize_va_space")

    @classmethod
    def tearDownClass(cls):
        cls.with_programs.check_clean()

    def tearDown(self):
        self.outsight.kill_all()
        self.vm.run(f"killall -q -9 {self.names}; rm -f /tmp/said.*")


class StaticProbes(ProgramScenario):
    """… whose programs have static probes (USDT), and count themselves how often they pass each."""
    aslr = True
    last_line = "^done$"
    names = "probed thrower"
    times = 1000  # that a program passes each of its probes in a round

    def start(self, name="a", *words, program="probed"):
        return self.start_idle(f"{program} {self.times} {' '.join(words)}", name)

    def work(self, pid, name="a"):
        """One more round; {probe: (count, [sum of each argument])} of all rounds, as the program says."""
        rows = re.findall(r"^(\w+) (\d+)((?: -?\d+)+)$", self.work_once(pid, name), re.M)
        return {row: (int(count), [int(n) for n in sums.split()]) for row, count, sums in rows}
