# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios with programs of ours in one guest: each waits for a signal, works, and says what it has done."""
import shutil
import tempfile

from lib.guest import Guest
from lib.programs import Programs
from lib.scenario import Scenario


class ProgramScenario(Scenario):
    """One guest with programs of its own. ASLR is off in it, so that all processes of a program have the same addresses."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="outsight-programs-")
        cls.programs = Programs(cls.folder)
        cls.vm = Guest(cls.kernel, plugin=cls.outsight.plugin, smp=2, more_files=cls.programs.archive).__enter__()
        cls.vm.check("echo 0 >/proc/sys/kernel/randomize_va_space")

    @classmethod
    def tearDownClass(cls):
        cls.vm.close()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.rounds = {}

    def tearDown(self):
        self.outsight.kill_all()
        self.vm.run("killall -q -9 counted leaving; rm -f /tmp/said.*")

    def start_program(self, command, name="a"):
        """Start a program that waits for its signal; what it prints is in /tmp/said.NAME. Its functions have run once:
        their pages are in the guest's memory. Returns its PID."""
        pid = int(self.vm.check(f"{command} >/tmp/said.{name} 2>&1 & echo $!"))
        self.wait_lines("ready", 1, name)
        self.work_once(pid, name)
        return pid

    def work_once(self, pid, name="a"):
        """One more round of calls; all that the program has said."""
        self.vm.check(f"kill -USR1 {pid}")
        self.rounds[name] = self.rounds.get(name, 0) + 1
        self.wait_lines("^called$", self.rounds[name], name)
        return self.vm.check(f"cat /tmp/said.{name}")

    def wait_lines(self, pattern, count, name):
        self.vm.check(f"until [ $(grep -c '{pattern}' /tmp/said.{name}) -ge {count} ]; do sleep 0.1; done")
