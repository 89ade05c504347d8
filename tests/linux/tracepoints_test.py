#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracepoints from outside: each event counts as the guest's own trace counts it, enabled or not, with the arguments that
it has there."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import numbers
from lib.pace import rounds
from lib.scenario import Scenario, main
from lib.toggling import toggling
from lib.truth import EVENTS, Truth, note

TOGGLES = rounds(10, 500)  # each turns the event on and off

# SYSTEM/EVENT: fields of the guest's record, each with the argument that it is; where that differs from kernel to kernel
# those that it may be, of which the first that is a number is meant. Events without a field are only counted.
FIELDS = {
    "sched/sched_switch": {"next_pid": "args[2]->pid", "prev_pid": "args[1]->pid"},
    "sched/sched_waking": {"pid": "args[0]->pid"},
    "sched/sched_process_fork": {"child_pid": "args[1]->pid"},
    "sched/sched_process_exit": {"pid": "args[0]->pid"},
    "task/task_newtask": {"clone_flags": "args[1]"},
    "signal/signal_generate": {"sig": "args[0]", "result": "args[4]"},
    "signal/signal_deliver": {"sig": "args[0]"},
    "kmem/mm_page_alloc": {"order": "args[1]", "migratetype": "args[3]"},
    "kmem/kmem_cache_alloc": {"bytes_req": ("args[2]", "args[2]->object_size")},
    "irq/softirq_entry": {"vec": "args[0]"},
    "irq/softirq_exit": {"vec": "args[0]"},
    "timer/timer_start": {"flags": "args[0]->flags"},
    "rcu/rcu_utilization": {},
    "sched/sched_wakeup": {},
    "sched/sched_wakeup_new": {},
    "sched/sched_process_wait": {},
    "sched/sched_process_free": {},
    "sched/sched_stat_runtime": {"runtime": "args[1]"},
    "kmem/kmalloc": {},
    "kmem/kfree": {},
    "kmem/kmem_cache_free": {},
    "kmem/mm_page_free": {},
    "kmem/mm_page_free_batched": {},
    "kmem/mm_page_alloc_zone_locked": {},
    "kmem/rss_stat": {"member": "args[1]"},
    "task/task_rename": {},
    "filemap/mm_filemap_add_to_page_cache": {},
    "maple_tree/ma_op": {},
    "maple_tree/ma_read": {},
    "maple_tree/ma_write": {},
    "mmap/vm_unmapped_area": {},
    "mmap_lock/mmap_lock_start_locking": {"write": ("args[1]", "args[2]")},
    "mmap_lock/mmap_lock_released": {"write": ("args[1]", "args[2]")},
    "cgroup/cgroup_attach_task": {},
    "oom/oom_score_adj_update": {},
    "tlb/tlb_flush": {"pages": "args[1]"},
    "percpu/percpu_alloc_percpu": {},
    "irq/softirq_raise": {"vec": "args[0]"},
    "lock/contention_begin": {"flags": "args[1]"},
    "timer/timer_cancel": {},
    "timer/hrtimer_start": {"mode": "args[1]"},
    "timer/hrtimer_cancel": {},
    "timer/tick_stop": {},
    "workqueue/workqueue_queue_work": {},

}

# A shell of its own name, whose children keep it: they are made, signalled and waited for, and write files.
LOAD = ["#!/bin/sh", "trap : USR1", "for i in 1 2 3 4 5 6 7 8; do", "( : ) & ( kill -USR1 $$ ) & ( kill -CHLD $$ ) &",
        "wait; wait; wait; echo $i > /tmp/kp.out; read x < /tmp/kp.out", "done"]
# Of these the load makes the same number each time.
CONSTANT = ("sched/sched_process_fork", "sched/sched_process_exit", "task/task_newtask", "signal/signal_generate")


class Tracepoints(Scenario):
    def ready(self, guest):
        """The load in the guest, and which of the tracepoints it has and can be probed."""
        script = "\\n".join(LOAD)
        guest.check(f"rm -f /tmp/kp; printf '%b' '{script}\\n' > /tmp/kp; chmod +x /tmp/kp")
        have = set(guest.check(f"cd {EVENTS}; ls -d */*").split())
        listed = re.findall(r"(?m)^ *\d+ +sdt +(\S+) +(\S+)", self.outsight.run(guest, "-l", "-n", "sdt:::")[1])
        return [name for name in FIELDS if name in have and tuple(name.split("/")) in listed]

    @staticmethod
    def probe(name):
        return "sdt:{}::{}".format(*name.split("/"))

    def argument(self, guest, name, values):
        """The one of @values that this kernel's prototype has."""
        if isinstance(values, str):
            return values
        compiles = (value for value in values if "*" not in self.typed(guest, name, value) and not self.outsight.run(
            guest, "-e", "-n", f"{self.probe(name)} {{ trace({value}); }}")[0])
        return next(compiles)

    def typed(self, guest, name, value):
        """The type of args[n] in the listing; a member's is not asked for."""
        types = dict(re.findall(r"(args\[\d\]): (.*)", self.outsight.run(guest, "-lvn", self.probe(name))[1]))
        return types.get(value, "")

    def program(self, guest, names):
        clauses = []
        for name in names:
            keyed_by = "".join(f'@["{name}.{field}", (int64_t){self.argument(guest, name, value)}] = count(); '
                               for field, value in FIELDS[name].items())
            clauses.append(f'{self.probe(name)} /execname == "kp"/ {{ @n["{name}"] = count(); {keyed_by}}}')
        return "\n".join(clauses)

    @staticmethod
    def found(trace):
        """{name: count} and {name.field: {value: count}}."""
        counts, values = {}, {}
        for line in trace.lines:
            words = line.split()
            if len(words) == 2 and "/" in words[0]:
                counts[words[0]] = int(words[1])
            elif len(words) == 3 and "/" in words[0]:
                values.setdefault(words[0], {})[int(words[1])] = int(words[2])
        return counts, values

    @staticmethod
    def truth(guest, names):
        """The guest's own counts of the load, which enable the tracepoints."""
        return Truth(guest, {name: (FIELDS[name], 'COMM == "kp"') for name in names})

    def test_counts_and_arguments(self):
        """Enabled by the guest itself, every event and every argument is seen from outside as inside."""
        with self.guest() as guest:
            names = self.ready(guest)
            self.assertGreater(len(names), 30)
            program = self.program(guest, names)
            with self.truth(guest, names) as truth:
                trace = self.outsight.trace(guest, program)
                guest.check("/tmp/kp")
                trace.stop()
                truth.read()
        counts, values = self.found(trace)
        self.assertGreater(sum(1 for name in names if counts.get(name)), 25, trace.story())
        compared = equal = 0
        for name in names:
            with self.subTest(event=name):
                self.assertEqual(counts.get(name, 0), truth.hits(name))
            for field in FIELDS[name]:
                rows = truth.rows(name, field)
                if rows is not None:
                    compared += 1
                    equal += values.get(f"{name}.{field}", {}) == rows
                    with self.subTest(event=name, field=field):
                        self.assertEqual(values.get(f"{name}.{field}", {}), rows)
        self.assertGreater(compared, 10)
        note(f"sdt, events of {sum(1 for name in names if truth.hits(name))} tracepoints",
             sum(counts.values()), sum(map(truth.hits, names)), "the events' own counts")
        note("sdt, arguments with equal histograms", equal, compared, "the events' fields")

    def test_nothing_is_enabled(self):
        """The same load is counted alike while no tracepoint is enabled, and tracing enables none."""
        with self.guest() as guest:
            names = [name for name in self.ready(guest) if name in CONSTANT]
            program = self.program(guest, names)
            trace = self.outsight.trace(guest, program)
            enabled = guest.check(f"cat {EVENTS}/enable").strip()
            guest.check("/tmp/kp")
            trace.stop()
            off = self.found(trace)[0]
            with self.truth(guest, names):
                trace = self.outsight.trace(guest, program)
                guest.check("/tmp/kp")
                trace.stop()
        self.assertEqual(enabled, "0")
        # three children in each of eight rounds, and the load itself ends
        self.assertEqual(off["sched/sched_process_fork"], 24)
        self.assertEqual(off["sched/sched_process_exit"], 25)
        on = self.found(trace)[0]
        for name in ("sched/sched_process_fork", "sched/sched_process_exit", "task/task_newtask"):
            self.assertEqual(off[name], on[name], name)

    def test_toggled_in_the_guest(self):
        """The guest enables and disables tracepoints that are probed: no event is missed, its text is as before."""
        with self.guest() as guest:
            self.ready(guest)
            trace = self.outsight.trace(guest, "sdt:sched::sched_process_fork /execname == \"kp\"/ { @ = count(); } "
                                               "sdt:sched::sched_switch { @s = count(); }")
            job, loads = guest.spawn(toggling(["sched/sched_process_fork"], TOGGLES)), 0
            while not loads or not job.ended():
                guest.check("/tmp/kp")
                loads += 1
            job.done()
            trace.stop()
        self.assertIn(24 * loads, numbers(trace.out), trace.story())

    def test_names_and_refusals(self):
        """sdt by the trace system, rawtp by the kernel module; what can't be probed is listed with the reason."""
        with self.guest() as guest:
            status, out, err = self.outsight.run(guest, "-lv", "-n", "sdt:sched::sched_switch")
            self.assertEqual(status, 0, err)
            self.assertRegex(out, r"sdt +sched +sched_switch")
            self.assertRegex(out, r"args\[2\]: struct task_struct \*")
            _, out, _ = self.outsight.run(guest, "-l", "-n", "rawtp:::sched_switch")
            self.assertRegex(out, r"rawtp +vmlinux +sched_switch")
            _, out, _ = self.outsight.run(guest, "-l", "-n", "sdt:::")
            self.assertGreater(out.count("sdt"), 500)
            status, out, err = self.outsight.run(guest, "-lv", "-n", "sdt:raw_syscalls::sys_enter")
            self.assertIn("Cannot be enabled: its events happen only once", out)
            status, _, err = self.outsight.run(guest, "-n", "sdt:raw_syscalls::sys_enter { exit(0); }")
            self.assertEqual(status, 1)
            self.assertIn("its events happen only once", err)


if __name__ == "__main__":
    sys.exit(main())
