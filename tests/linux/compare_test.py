#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hidden processes and modules are reported, and nothing else."""
import json
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.agent_scenario import AgentScenario
from lib.outsight import Trace
from lib.scenario import main

PARAMETERS = "/sys/module/hide/parameters"


class CompareScenario(AgentScenario):
    MODULES = ("outsight", "hide")

    def compare(self, *args):
        """(status, stdout, stderr)"""
        trace = Trace(self.outsight.binary, ["compare", "-g", self.vm.name, *args], self.outsight.environment(self.vm))
        return trace.finish(), trace.out, trace.err

    def differing(self, what, status=1):
        """The list that --json prints."""
        got, out, err = self.compare(what, "--json")
        self.assertEqual(got, status, f"{out}\n{err}")
        return json.loads(out)


class Hidden(CompareScenario):
    def hide(self, mode, pid=0):
        self.vm.check(f"echo {pid} >{PARAMETERS}/pid && echo {mode} >{PARAMETERS}/mode")

    def start(self):
        """A process that sleeps for a long time."""
        return int(self.vm.check("sleep 100000 >/dev/null 2>&1 </dev/null & echo $!"))

    def test_processes(self):
        self.load("outsight", "hide")
        pid = self.start()
        with self.subTest("nothing is hidden"):
            self.assertEqual(self.differing("--tasks", status=0), [])
            status, out, err = self.compare("--tasks")
            self.assertEqual(status, 0, err)
            self.assertRegex(out, r"\Anothing hidden[^\n]*\Z")
        with self.subTest("unlinked from the list of tasks"):
            self.hide("list", pid)
            self.assertEqual(self.differing("--tasks"),
                             [{"pid": pid, "name": "sleep", "seen": ["pids", "children", "proc"], "missing": ["tasks"],
                               "outside": True, "inside": True}])
            self.hide("off")
            self.assertEqual(self.differing("--tasks", status=0), [])
        with self.subTest("not in /proc"):
            self.hide("proc", pid)
            self.assertNotIn(str(pid), self.vm.check("ls /proc").split())
            self.assertEqual(self.differing("--tasks"),
                             [{"pid": pid, "name": "sleep", "seen": ["tasks", "pids", "children"], "missing": ["proc"],
                               "outside": True, "inside": False}])
            status, out, err = self.compare("--tasks")
            self.assertEqual(status, 1, err)
            self.assertRegex(out, rf"(?m)^ +PID +NAME +tasks +pids +children +proc\n +{pid}  sleep +seen +seen +seen +-\Z")
            self.vm.check("rmmod hide")
            self.assertIn(str(pid), self.vm.check("ls /proc").split())
            self.assertEqual(self.differing("--tasks", status=0), [])
        with self.subTest("the hidden one ends"):
            self.vm.check("insmod /modules/hide.ko")
            self.hide("list", pid)
            self.vm.check(f"kill {pid}; while [ -e /proc/{pid} ]; do sleep 0.1; done")
            self.assertEqual(self.differing("--tasks", status=0), [])
            self.vm.check("rmmod hide && rmmod outsight")
        self.assert_unharmed()

    def test_processes_that_come_and_go(self):
        """Only the process that stays hidden is reported."""
        self.load("outsight", "hide")
        pid = self.start()
        job = self.vm.spawn("while [ ! -e /tmp/enough ]; do /bin/true; done")
        for _ in range(3):
            self.assertEqual(self.differing("--tasks", status=0), [])
        self.hide("proc", pid)
        self.assertEqual([task["pid"] for task in self.differing("--tasks")], [pid])
        self.vm.check("touch /tmp/enough")
        job.done()
        self.vm.check("rmmod hide && rmmod outsight")
        self.assert_unharmed()

    def test_modules(self):
        self.load("outsight", "hide")
        self.assertEqual(self.differing("--modules", status=0), [])
        self.hide("self")
        self.assertNotIn("hide ", self.vm.check("cat /proc/modules"))
        self.assertEqual(self.differing("--modules"),
                         [{"name": "hide", "seen": ["sysfs", "addresses"], "missing": ["modules", "proc"],
                           "outside": True, "inside": False}])
        status, out, err = self.compare("--modules")
        self.assertEqual(status, 1, err)
        self.assertRegex(out, r"(?m)^NAME +modules +sysfs +addresses +proc\nhide +- +seen +seen +-\Z")
        self.hide("off")
        self.assertEqual(self.differing("--modules", status=0), [])
        self.vm.check("rmmod hide && rmmod outsight")
        self.assert_unharmed()


class Programs(CompareScenario):
    def trace(self, program, *args):
        # The first line is BEGIN's: all else is the comparison.
        return Trace(self.outsight.binary,
                     ["compare", *args, "-g", self.vm.name, "-q", "-n", 'BEGIN { printf("tracing\\n"); }', "-n", program],
                     self.outsight.environment(self.vm)).wait_for("tracing")

    def test_json(self):
        self.load()
        mine = 'execname == "getppid_loop"'
        trace = self.trace(f"syscall::getppid:entry /{mine}/ {{ @n[probefunc, pid > 0] = count(); @q[view] = quantize(100); }}"
                           f"syscall::getppid:entry /{mine} && view == \"inside\"/ {{ @i = sum(3); }}", "--json")
        self.vm.check("getppid_loop 2 1000")
        trace.stop()
        got = json.loads("\n".join(trace.lines[1:]))
        self.assertEqual(got["aggregations"],
                         [{"aggregation": "n", "keys": ["getppid", 1], "outside": 2000, "inside": 2000, "difference": 0},
                          {"aggregation": "q", "keys": ["inside"], "outside": {}, "inside": {"64": 2000}},
                          {"aggregation": "q", "keys": ["outside"], "outside": {"64": 2000}, "inside": {}},
                          {"aggregation": "i", "keys": [], "outside": 0, "inside": 6000, "difference": 6000}])
        guest, = got["guests"]
        self.assertEqual(guest["guest"], self.vm.name)
        self.assertGreater(guest["clock"]["bound_ns"], 0)
        self.assertGreater(guest["clock"]["tsc"], 0)
        # The mark was made in the window, by the clock that this process reads too.
        self.assertTrue(0 <= time.monotonic_ns() - guest["clock"]["host_ns"] < 600 * 10**9, guest)
        self.assertIsNone(guest["stolen_ns"])  # TCG reports no stolen time to a guest
        self.assertTrue(0 <= guest["vmm_waited_ns"] and 0 < guest["window_ns"] < 600 * 10**9, guest)

    def test_columns(self):
        self.load()
        trace = self.trace('syscall::getppid:entry /execname == "getppid_loop"/ { @ = quantize(100); }')
        self.vm.check("getppid_loop 2 500")
        trace.stop()
        self.assertRegex(trace.out, r"(?m)^ +value +-+ outside -+ count +-+ inside -+ count$")
        self.assertRegex(trace.out, r"(?m)^ +64 \|@{20} 1000 +\|@{20} 1000 +$")
        self.assertRegex(trace.out, r"(?m)^times inside are exact to [1-9]\d* ns$")
        self.assertRegex(trace.out, r"(?m)^clocks: the guest's counter stood at [1-9]\d* when the host's clock stood at \d+\.\d{9} s$")
        self.assertIn("stolen, as the guest counts it: unknown, its hypervisor doesn't report it", trace.lines)
        self.assertRegex(trace.out, r"(?m)^stolen, as the host counts it: threads of the VMM waited \d+\.\d{3} ms for a CPU")


class Refused(CompareScenario):
    def test_usage(self):
        """What a list has no use for, and two lists at once."""
        for args in (["--tasks", "--modules"], ["--tasks", "-n", "BEGIN"], ["--modules", "-g", "another"], ["--tasks", "-l"],
                     ["--tasks", "word"], ["--tasks", "--plan"], ["--tasks", "-o", "/dev/null"]):
            status, out, err = self.compare(*args)
            self.assertEqual((status, out), (2, ""), args)
            self.assertIn("Usage: outsight compare", err, args)

    def test_without_the_module(self):
        for args in (["--tasks"], ["--modules", "--json"]):
            status, out, err = self.compare(*args)
            self.assertEqual((status, out), (2, ""))
            self.assertRegex(err, r"has no agent: .*insmod outsight.ko")
        status, out, err = self.compare("-n", "syscall:::entry { @ = count(); } tick-1 { exit(0); }")
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, r"has no agent: .*insmod outsight.ko")


if __name__ == "__main__":
    sys.exit(main())
