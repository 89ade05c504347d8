#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sched, proc and io by the guest's tracepoints: which probe fires, when, and for which task."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from agent_test import TRACING_OFF
from lib import agent as ga
from lib.agent_scenario import AgentScenario
from lib.outsight import keyed, numbers
from lib.scenario import main, only_full

PROBES = {"sched": "on-cpu off-cpu wakeup",
          "proc": "create lwp-create exec-success exit lwp-exit signal-send signal-discard signal-handle",
          "io": "start done"}


class Native(AgentScenario):
    def test_listing(self):
        """With the module its tracepoints are these probes, with the guest's types."""
        self.load()
        for name, probes in PROBES.items():
            status, out, err = self.outsight.run(self.vm, "-ln", f"{name}:::")
            self.assertEqual(status, 0, err)
            for probe in probes.split():
                self.assertRegex(out, rf"(?m)^ *\d+ +{name} +{probe} *$")
        for probe, kind in (("io:::start", "request"), ("io:::done", "request"), ("sched:::off-cpu", "task_struct"),
                            ("proc:::create", "task_struct"), ("sched:::wakeup", "task_struct")):
            _, out, err = self.outsight.run(self.vm, "-lvn", probe)
            self.assertIn(f"args[0]: struct {kind} *", out, err)

    def test_other_version(self):
        """A module of another version is not used: these probes are then those from outside."""
        self.load()
        agent = ga.Agent(self.vm)
        self.assertEqual(agent.header()["version"], ga.VERSION)
        agent.put(agent.header_gpa + ga.VERSION_AT, "I", ga.VERSION - 1)
        for probe, kind in (("proc:::create", "psinfo_t"), ("sched:::off-cpu", "lwpsinfo_t"), ("io:::start", "bufinfo_t")):
            status, out, err = self.outsight.run(self.vm, "-lvn", probe)
            self.assertEqual(status, 0, out + err)
            self.assertIn(f"args[0]: {kind} *", out, err)

    @only_full
    def test_on_and_off(self):
        """on-cpu is about the thread that begins, off-cpu about the one that stops; they take turns, and between
        them lies what the guest says that they have run."""
        self.load()
        mine = 'execname == "spin"'
        trace = self.outsight.trace(self.vm, "sched:::on-cpu { self->on = timestamp; } "
                                             f"sched:::on-cpu /{mine}/ {{ @t[tid, pid, \"on\"] = count(); }} "
                                             f"sched:::off-cpu /{mine}/ {{ @t[tid, pid, \"off\"] = count(); }} "
                                             f"sched:::off-cpu /{mine} && self->on/ {{ @ns[tid, pid, \"ns\"] = sum(timestamp - self->on); "
                                             "@turns = count(); self->on = 0; } "
                                             f"sched:::off-cpu /{mine}/ {{ @next = sum(args[0]->pid == tid); }} "
                                             "sdt:sched::sched_switch /args[2]->comm == \"spin\"/ { @t[args[2]->pid, 0, \"told\"] = count(); }")
        out = self.vm.check("time -p spin 2 2 2>&1")
        ran = sum(float(seconds) for seconds in re.findall(r"(?m)^(?:user|sys) (.*)$", out)) * 1e9
        trace.stop()
        rows = {(int(m.group(1)), m.group(3)): (int(m.group(2)), int(m.group(4))) for m in
                re.finditer(r"^ +(\d+) +(\d+) +(\w+) +(\d+)$", trace.out, re.M)}
        threads = {tid for tid, what in rows if what == "on"}
        self.assertGreaterEqual(len(threads), 2, trace.story())
        for tid in threads:
            self.assertEqual(rows[tid, "on"][0], rows[tid, "off"][0], trace.story())  # one process
            self.assertLessEqual(abs(rows[tid, "on"][1] - rows[tid, "off"][1]), 1, trace.story())
        spent = sum(value for (_, what), (_, value) in rows.items() if what == "ns")
        # A thread's first turn begins without on-cpu; the program's first includes its execve(), which a busy host makes long.
        self.assertGreater(spent, ran * 0.8, trace.story())
        self.assertLess(spent, ran * 1.25, trace.story())  # the kernel leaves out the time that interrupts take
        turns, same = numbers(trace.out)
        self.assertGreaterEqual(turns, len(threads), trace.story())
        self.assertEqual(same, 0, trace.story())

    def test_processes(self):
        """Twenty processes of four threads: made, run, ended."""
        self.load()
        mine = 'execname == "getppid_loop"'
        trace = self.outsight.trace(self.vm, f'proc:::exec-success /{mine}/ {{ @a["exec"] = count(); }} '
                                             f'proc:::lwp-create /{mine}/ {{ @a["lwp-create"] = count(); }} '
                                             f'proc:::create /{mine}/ {{ @a["create"] = count(); }} '
                                             f'proc:::lwp-exit /{mine}/ {{ @a["lwp-exit"] = count(); }} '
                                             f'proc:::exit /{mine}/ {{ @a["exit"] = count(); }} '
                                             "proc:::create { @c[pid] = count(); }")
        out = self.vm.check("sh -c 'echo shell $$; i=0; while [ $i -lt 20 ]; do getppid_loop 4 10; i=$((i + 1)); done; :'")
        shell = re.search(r"shell (\d+)", out).group(1)
        trace.stop()
        counts = keyed(trace.out)
        self.assertEqual({name: counts.get(name) for name in ("exec", "lwp-create", "create", "lwp-exit", "exit")},
                         {"exec": 20, "lwp-create": 80, "create": None, "lwp-exit": 100, "exit": 20}, trace.story())
        self.assertRegex(trace.out, rf"(?m)^ +{shell} +20$")

    @only_full
    def test_signals(self):
        """A signal that is sent and ignored, and one that is handled."""
        self.load()
        trace = self.outsight.trace(self.vm, 'proc:::signal-send /args[0] == 10/ { @["sent"] = count(); } '
                                             'proc:::signal-discard /args[0] == 10/ { @["dropped"] = count(); } '
                                             'proc:::signal-handle /args[0] == 10/ { @["handled"] = count(); }')
        # The shell takes one at a time: each is handled before the next is sent.
        self.vm.check("sh -c 'n=0; trap \"n=1\" USR1; i=0; while [ $i -lt 7 ]; do kill -USR1 $$; i=$((i + 1)); done; "
                      "trap \"\" USR1; kill -USR1 $$; kill -USR1 $$; :'")
        trace.stop()
        self.assertEqual(keyed(trace.out), {"sent": 7, "dropped": 2, "handled": 7}, trace.story())

    @only_full
    def test_disk(self):
        """As many requests issued and completed as in the guest's own trace."""
        self.load()
        self.vm.check("sync; dd if=/dev/zero of=/tmp/disk1 bs=1M count=4 2>/dev/null && "
                      "losetup /dev/loop1 /tmp/disk1 && cd /sys/kernel/tracing && echo 0 >tracing_on && echo >trace && "
                      "echo 4096 >buffer_size_kb && echo 1 >events/block/block_rq_issue/enable && "
                      "echo 1 >events/block/block_rq_complete/enable")
        trace = self.outsight.trace(self.vm, 'io:::start { @["start"] = count(); } io:::done { @["done"] = count(); }')
        self.vm.check("echo 1 >/sys/kernel/tracing/tracing_on; dd if=/dev/loop1 of=/dev/null bs=64k 2>/dev/null; "
                      "dd if=/dev/zero of=/dev/loop1 bs=64k count=16 conv=fsync 2>/dev/null; "
                      "sync; echo 0 >/sys/kernel/tracing/tracing_on")
        trace.stop()
        self.vm.check("losetup -d /dev/loop1")  # has requests of its own, which only we would see
        text = self.vm.read_file("/sys/kernel/tracing/trace").decode()
        self.vm.check(TRACING_OFF)
        told = {"start": text.count("block_rq_issue:"), "done": text.count("block_rq_complete:")}
        self.assertGreater(min(told.values()), 10, text[-2000:])
        self.assertEqual(keyed(trace.out), told, trace.story())


if __name__ == "__main__":
    sys.exit(main())
