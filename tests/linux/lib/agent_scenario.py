# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios with the guest's agent. The tests of a class share a guest, as long as it lives; each begins and ends
without the module, and with a kernel that has nothing to complain about."""
import os
import re
import shutil
import tempfile

from lib import agent as ga
from lib.guest import Guest
from lib.scenario import Scenario

BAD = re.compile(r"BUG|WARNING|Oops|general protection|refcount|scheduling while atomic|Call Trace")


class AgentScenario(Scenario):
    SMP = 4
    vm = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="outsight-agent-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.addClassCleanup(cls.end)

    @classmethod
    def end(cls):
        if cls.vm:
            cls.vm.close()
            cls.vm = None

    @classmethod
    def machine(cls, archive):
        return Guest(cls.kernel, plugin=cls.outsight.plugin, smp=cls.SMP, more_files=archive)

    def setUp(self):
        cls = type(self)
        reason = ga.why_no_agent(self.kernel)
        if reason:
            self.skipTest(reason)
        if cls.vm and not cls.vm.alive():
            cls.end()
        if not cls.vm:
            archive = ga.archive(self.kernel, os.path.join(cls.folder, "agent.cpio"))
            cls.vm = cls.machine(archive).__enter__()

    def tearDown(self):
        self.vm.run("killall -q mixed reader writer looper spawner; rmmod outsight 2>/dev/null", timeout=120)
        try:
            self.assert_unharmed()
        except AssertionError:
            self.end()  # the next one begins with a guest of its own
            raise

    def load(self):
        self.vm.check("insmod /modules/outsight.ko")

    def assert_unharmed(self):
        lines = self.vm.check("dmesg").splitlines()
        self.assertEqual([line for line in lines if BAD.search(line)], [])
