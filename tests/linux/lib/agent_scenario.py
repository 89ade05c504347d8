# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios with the guest's agent: each begins and ends without the module, and with a kernel that complains of nothing."""
from lib import agent as ga
from lib.scenario import Scenario
from lib.shared_guest import TROUBLE


class AgentScenario(Scenario):
    MODULES = ("outsight",)

    def setUp(self):
        reason = ga.why_no_agent(self.kernel, *self.MODULES)
        if reason:
            self.skipTest(reason)
        self.vm = self.enterContext(self.guest())

    def load(self, *modules):
        for module in modules or ("outsight",):
            self.vm.check(f"insmod /modules/{module}.ko")

    def assert_unharmed(self):
        lines = self.vm.check("dmesg").splitlines()
        self.assertEqual([line for line in lines if TROUBLE.search(line)], [])
