#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's module by itself, with a host of the test's own: what it offers, exact counts, its safety."""
import random
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib import agent as ga
from lib.agent_scenario import AgentScenario
from lib.pace import limit, rounds
from lib.scenario import main, only_full
from lib.shared_guest import TROUBLE

GETPPID = 110


class AgentAbi(AgentScenario):
    """Without a session of ours: the engine leaves the agent alone."""

    def setUp(self):
        super().setUp()
        self.load()
        self.agent = ga.Agent(self.vm)
        self.addCleanup(self.let_go)

    def let_go(self):
        """What a test that failed has not: the module unloads only then."""
        self.agent.stop_beating()
        if self.agent.owned and self.vm.builtin("[ -e /sys/module/outsight ]") == 0:
            self.agent.release()

    def slot_of(self, name):
        return next((slot, entry[0]) for slot, entry in self.agent.catalogue().items() if entry[4] == name)

    def test_header(self):
        h = self.agent.header()
        self.assertEqual((h["magic"], h["version"], h["state"]), (ga.MAGIC, ga.VERSION, ga.LIVE))
        self.assertEqual((h["size"], h["record_size"], h["nslots"]), (ga.HEADER.size, ga.RECORD.size, ga.SLOTS))
        self.assertEqual([cpu for cpu, _, _ in self.agent.rings()], [0, 1, 2, 3])
        self.assertEqual(h["omitted"], 0)

    def test_catalogue(self):
        """Every event that the guest's own tracing lists; those that share a tracepoint are there once."""
        names = {entry[4] for entry in self.agent.catalogue().values()}
        events = {line.split(":")[1] for line in self.vm.check("cat /sys/kernel/tracing/available_events").split()
                  if not line.startswith(("ftrace:", "syscalls:"))}
        self.assertGreater(len(events), 500)
        # Events made from another's tracepoint (DEFINE_EVENT_PRINT …) keep their own; a few are not tracepoints' names.
        missing = {event for event in events if event not in names}
        self.assertLess(len(missing), len(events) // 50, sorted(missing))
        for name in ("sys_enter", "sched_switch", "block_rq_issue", "sched_process_exec"):
            self.assertIn(name, names)

    def test_nothing_is_registered(self):
        self.assertEqual(self.agent.header()["armed"], 0)
        self.assertEqual({entry[2] for entry in self.agent.catalogue().values()}, {ga.OFF})

    def count_getppid(self, slot):
        job = self.vm.spawn("getppid_loop 4 10000 wait")
        job.wait_output("waiting")
        self.agent.drain()
        lost = self.agent.lost()
        job.send("go")
        records = []
        while not job.ended():
            records += self.agent.drain()
        job.done()
        records += self.agent.drain()
        mine = [r for r in records if r.slot == slot and r.comm == "getppid_loop"]
        return mine, self.agent.lost() - lost

    @only_full
    def test_exact_counts(self):
        """10,000 calls of four threads, seen by the guest's own tracepoint; what is lost is counted."""
        slot, address = self.slot_of("sys_enter")
        self.agent.own()
        self.agent.want(slot, address, ga.TRACEPOINT, nargs=2)
        self.agent.apply()
        self.assertEqual(self.agent.header()["armed"], 1)
        mine, lost = self.count_getppid(slot)
        calls = [r for r in mine if r.args[1] == GETPPID]
        self.assertLessEqual(len(calls), 40000)
        self.assertGreaterEqual(len(calls) + lost, 40000)
        if not lost:
            self.assertEqual(len(calls), 40000)
        for cpu in range(4):
            times = [r.tsc for r in calls if r.cpu == cpu]
            self.assertEqual(times, sorted(times))
        self.agent.want(slot, address, ga.OFF)
        self.agent.apply()
        self.assertEqual(self.agent.header()["armed"], 0)
        self.agent.drain()
        self.vm.check("getppid_loop 1 1000")
        self.assertEqual(self.agent.drain(), [])
        self.agent.release()
        self.vm.check("rmmod outsight")
        self.assert_unharmed()

    def test_full_ring_counts(self):
        """Without a reader, recorded plus lost events equal the events that happened."""
        slot, address = self.slot_of("sys_enter")
        self.agent.own()
        job = self.vm.spawn("getppid_loop 4 10000 wait")
        job.wait_output("waiting")
        self.agent.want(slot, address, ga.TRACEPOINT, nargs=2)
        self.agent.apply()
        before = len(self.agent.drain()) + self.agent.lost()
        job.send("go")
        job.wait_end()
        self.agent.want(slot, address, ga.OFF)
        self.agent.apply()
        lost, taken = self.agent.lost(), self.agent.drain()
        self.assertGreater(lost, 20000)
        for cpu, _, records in self.agent.places:
            self.assertLessEqual(len([r for r in taken if r.cpu == cpu]), records)
        self.assertGreaterEqual(len(taken) + lost, 40000)
        self.assertLess(len(taken) + lost - before, 60000)
        self.agent.release()

    @only_full
    def test_kprobes(self):
        """Entry and return of a function, by its address; addresses that are none are refused."""
        names = self.vm.check("grep -wE '__x64_sys_getppid|linux_banner|do_int3|exc_int3' /proc/kallsyms").splitlines()
        at = {line.split()[2]: int(line.split()[0], 16) for line in names}
        self.agent.own()
        self.agent.want(ga.TRACEPOINTS, at["__x64_sys_getppid"], ga.KPROBE, nargs=1)
        self.agent.want(ga.TRACEPOINTS + 1, at["__x64_sys_getppid"], ga.KRETPROBE, nargs=1)
        self.agent.want(ga.TRACEPOINTS + 2, at["linux_banner"], ga.KPROBE)
        self.agent.want(ga.TRACEPOINTS + 3, 0xdead000000000000, ga.KPROBE)
        self.agent.want(ga.TRACEPOINTS + 4, 0, ga.KRETPROBE)
        self.agent.want(ga.TRACEPOINTS + 5, at["exc_int3"], ga.KPROBE)
        self.agent.apply()
        catalogue = self.agent.catalogue()
        self.assertEqual([catalogue[ga.TRACEPOINTS + i][3] for i in range(2)], [0, 0])
        for i in range(2, 6):
            self.assertTrue(catalogue.get(ga.TRACEPOINTS + i, (0, 0, 0, -1))[3], i)
        self.agent.drain()
        out = self.vm.check("getppid_loop 1 1000")
        parent = int(out.split("parent ")[1].split()[0])
        records = [r for r in self.agent.drain() if r.comm == "getppid_loop"]
        entries = [r for r in records if r.slot == ga.TRACEPOINTS]
        returns = [r for r in records if r.slot == ga.TRACEPOINTS + 1]
        self.assertEqual((len(entries), len(returns)), (1000, 1000))
        self.assertEqual({r.args[0] for r in returns}, {parent})
        for i in range(6):
            self.agent.want(ga.TRACEPOINTS + i, 0, ga.OFF)
        self.agent.apply()
        self.assertEqual(self.agent.header()["armed"], 0)
        self.agent.release()
        self.vm.check("rmmod outsight")
        self.assert_unharmed()

    @only_full
    def test_every_tracepoint(self):
        """Each once, many at a time, on and off, under load. Without OUTSIGHT_FULL=1 a part of them, and not always the same."""
        self.agent.own()
        every = [(slot, entry[0]) for slot, entry in self.agent.catalogue().items() if slot < ga.TRACEPOINTS]
        parts = random.sample(range(8), rounds(1, 8))
        print(f"eighths {parts} of {len(every)} tracepoints", flush=True)
        taken = 0
        with self.vm.load():
            for part in parts:
                chosen = every[part::8]
                for slot, address in chosen:
                    self.agent.want(slot, address, ga.TRACEPOINT, nargs=8 if slot % 2 else 5)
                self.agent.apply()
                self.assertEqual(self.agent.header()["armed"], len(chosen))
                taken += len(self.agent.drain())
                for slot, _ in chosen:
                    self.agent.want(slot, 0, ga.OFF)
                self.agent.apply()
                self.assertEqual(self.agent.header()["armed"], 0)
        self.assertGreater(taken, rounds(0, 1000))
        self.agent.release()
        self.vm.check("rmmod outsight")
        self.assert_unharmed()

    def test_garbage(self):
        """A host that writes anything into all that it may write: the guest lives, and the module unloads."""
        rng = random.Random(5)
        self.agent.own()
        catalogue = self.agent.catalogue()
        with self.vm.load():
            for round_number in range(rounds(1, 10)):
                self.write_garbage(rng, catalogue)
                self.agent.put(self.agent.control + ga.GENERATION, "I", 0x1000 + round_number)
                self.agent.wait(lambda n=round_number: self.agent.header()["applied"] == 0x1000 + n, "the agent to read it")
        self.agent.release()
        self.vm.check("rmmod outsight")
        self.vm.check("insmod /modules/outsight.ko && rmmod outsight")
        self.assert_unharmed()

    def write_garbage(self, rng, catalogue):
        """Anything in all slots and rings; half of the addresses are those of tracepoints."""
        for slot in range(ga.SLOTS):
            address = catalogue[slot][0] if slot in catalogue and rng.random() < 0.5 else rng.getrandbits(64)
            self.agent.want(slot, address, rng.choice([0, 1, 2, 3, 4, rng.getrandbits(32)]),
                            rng.getrandbits(16), rng.getrandbits(16))
        for _, gpa, _ in self.agent.places:
            self.agent.put(gpa + ga.TAIL, "Q", rng.getrandbits(64))
            self.agent.put(gpa + ga.LOST, "Q", rng.getrandbits(64))

    def test_host_that_dies(self):
        """Without a beat all events are disabled; the memory of an owner that does not answer is not written."""
        slot, address = self.slot_of("sys_enter")
        self.agent.own()
        self.agent.want(slot, address, ga.TRACEPOINT, nargs=2)
        self.agent.apply()
        self.agent.stop_beating()
        # The lapse is counted after the last slot is off.
        self.agent.wait(lambda: self.agent.header()["lapses"] == 1, "the agent to give up")
        self.assertEqual(self.agent.header()["armed"], 0)
        control = self.agent.control
        owner = self.agent.get(control + ga.OWNER, "Q")
        self.vm.check("rmmod outsight")
        # Taken out of the log: the next scenarios must not find it.
        lines = self.vm.check("dmesg -c").splitlines()
        self.assertEqual(len([line for line in lines if "left behind" in line]), 1)
        self.assertEqual([line for line in lines if TROUBLE.search(line) and "left behind" not in line], [])
        self.assertEqual(self.agent.get(control + ga.OWNER, "Q"), owner)

    def test_unload_while_tracing(self):
        """rmmod waits for the host to let go, then the memory is the guest's again."""
        slot, address = self.slot_of("sys_enter")
        self.agent.own()
        self.agent.want(slot, address, ga.TRACEPOINT, nargs=2)
        self.agent.apply()
        job = self.vm.spawn("rmmod outsight")
        self.agent.wait(lambda: self.agent.header()["state"] == ga.CLOSING, "the module to close")
        self.assertEqual(self.vm.builtin("[ -e /sys/module/outsight ]"), 0)
        self.agent.release()
        job.done()
        self.assertNotEqual(self.vm.builtin("[ -e /sys/module/outsight ]"), 0)
        self.assertEqual(self.agent.get(self.agent.control + ga.OWNER, "Q") & ~0xff, 0)
        self.assert_unharmed()

    @only_full
    def test_loaded_and_unloaded_many_times(self):
        """Under load, with modules that have tracepoints of their own coming and going too."""
        with self.vm.load():
            self.vm.check(f"i=0; while [ $i -lt {rounds(5, 50)} ]; do rmmod outsight && insmod /modules/outsight.ko || exit 1; "
                          "rmmod xor 2>/dev/null && insmod /modules/xor.ko; i=$((i + 1)); done", limit(150))
        self.assertEqual(ga.Agent(self.vm).header()["state"], ga.LIVE)
        self.assert_unharmed()


if __name__ == "__main__":
    sys.exit(main())
