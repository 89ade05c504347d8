#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""proc, sched and io of a stock kernel, without anything in the guest: counts and arguments against what a load is known
to do, and against what the guest's own tracing counts."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed, numbers
from lib.scenario import Scenario, main

TRACING = "/sys/kernel/tracing"

# A shell of a name of its own, the programs that it runs, and how they end.
LOAD = ("ln -sf /bin/busybox /tmp/kp; spin 1 4 >/dev/null; (exec -a sh /tmp/kp -c '"
        "i=0; while [ $i -lt 5 ]; do /bin/true; i=$((i + 1)); done; "
        "i=0; while [ $i -lt 3 ]; do /bin/false; i=$((i + 1)); done; "
        "/no/such/program 2>/dev/null; /proc/version 2>/dev/null; "
        "for s in 9 15; do /bin/sleep 100 & c=; until [ \"$c\" = sleep ]; do read c </proc/$!/comm; done; "
        "kill -$s $!; wait $!; done; :') 2>/dev/null")
NAMES = ("kp", "spin", "true", "false", "sleep")


def any_of(field, names=NAMES):
    """A condition, of D as well as of a trigger."""
    return " || ".join(f'{field} == "{name}"' for name in names)


def histogram(guest, event):
    """Hits of an event's hist trigger."""
    text = guest.read_file(f"{TRACING}/events/{event}/hist").decode()
    return int(re.search(r"Hits: (\d+)", text).group(1))


class Providers(Scenario):
    def counted(self, guest, program, load, events=(), condition=None):
        """(the trace, hits of each event) with the load under it. Events are counted by the guest itself, under a
        condition that only the load meets: it begins to count before we do, and ends behind us."""
        trigger = "hist:keys=common_pid" + (f" if {condition}" if condition else "")
        for event in events:
            guest.check(f"echo '{trigger}' >{TRACING}/events/{event}/trigger")
        try:
            trace = self.outsight.trace(guest, program)
            guest.check(load)
            trace.stop()
            return trace, {event: histogram(guest, event) for event in events}
        finally:
            for event in events:
                guest.check(f"echo '!{trigger}' >{TRACING}/events/{event}/trigger")

    def test_listing(self):
        """They are there without the module; what this kernel has not is listed by -v with the reason."""
        with self.guest() as guest:
            _, out, err = self.outsight.run(guest, "-lv", "-P", "proc", "-P", "sched", "-P", "io")
            for probe in ("proc exit", "proc lwp-create", "proc exec-success", "proc signal-send", "proc fault",
                          "sched on-cpu", "sched tick", "io genunix start", "io genunix done"):
                self.assertRegex(out, rf"(?m)^ *\d+ +{' +'.join(probe.split())} *$", err)
            reasons = re.findall(r"Cannot be enabled: (.*)", out)
            self.assertTrue(all("this kernel has" in reason for reason in reasons), reasons)
            status, _, err = self.outsight.run(guest, "-n", "proc:::exit { trace(args[1]); }")
            self.assertNotEqual(status, 0)
            self.assertIn("index 1 is out of range for proc:::exit args[ ]", err)

    def test_processes(self):
        """A load whose programs, failures and signals are known."""
        mine = any_of("execname")
        program = (f'proc:::exec-failure /{mine}/ {{ @["exec-failure", args[0]] = count(); }} '
                   'proc:::exec { @exec[stringof(args[0])] = count(); } '
                   f'proc:::exec-success /{mine}/ {{ @["exec-success", 0] = count(); }} '
                   f'proc:::exit /{mine}/ {{ @["exit", args[0]] = count(); }} '
                   'proc:::signal-send /args[2] == 9 || args[2] == 15/ '
                   '{ @["signal", args[2]] = count(); @to[args[1]->pr_fname] = count(); }')
        with self.guest() as guest:
            trace, _ = self.counted(guest, program, LOAD)
        rows = {tuple(line.split()[:-1]): int(line.split()[-1]) for line in trace.lines if len(line.split()) > 1}
        # true and false are separate programs or one that runs itself: by path either way
        self.assertEqual(rows["/bin/true",], 5, trace.story())
        self.assertEqual(rows["/bin/false",], 3, trace.story())
        # kp, spin, and what kp runs
        self.assertEqual(rows["exec-success", "0"], 12, trace.story())
        self.assertEqual(rows["exit", "1"], 12, trace.story())  # CLD_EXITED: these but the two killed, and those that ran nothing
        self.assertEqual(rows["exec-failure", "2"], 1, trace.story())
        self.assertEqual(rows["exec-failure", "13"], 1, trace.story())
        self.assertEqual(rows["exit", "2"], 2, trace.story())  # CLD_KILLED
        self.assertEqual(rows["signal", "9"], 1, trace.story())
        self.assertEqual(rows["signal", "15"], 1, trace.story())
        self.assertEqual(rows["sleep",], 2, trace.story())

    def test_tasks(self):
        """Tasks that come and go, as many as the guest's own tracepoints say, and never one more."""
        parent, task = any_of("execname", ("kp", "spin")), any_of("execname")
        program = (f'proc:::create /{parent}/ {{ @["create"] = count(); }} '
                   f'proc:::lwp-create /{parent}/ {{ @["lwp-create"] = count(); }} '
                   f'proc:::lwp-create /({parent}) && args[0]->pr_lwpid != args[1]->pr_pid/ {{ @["threads"] = count(); }} '
                   f'proc:::start /{parent}/ {{ @["start"] = count(); }} '
                   f'proc:::lwp-start /{parent}/ {{ @["lwp-start"] = count(); }} '
                   f'proc:::lwp-exit /{task}/ {{ @["lwp-exit"] = count(); }} '
                   f'proc:::exit /{task}/ {{ @["exit"] = count(); }}')
        events = ("task/task_newtask", "sched/sched_process_exit")
        with self.guest() as guest:
            trace, told = self.counted(guest, program, LOAD, events, any_of("comm"))
        seen = keyed(trace.out)
        self.assertEqual(seen["lwp-create"], told["task/task_newtask"], trace.story())
        self.assertEqual(seen["lwp-exit"], told["sched/sched_process_exit"], trace.story())
        self.assertEqual(seen["lwp-create"] - seen["create"], seen["threads"], trace.story())
        self.assertGreaterEqual(seen["threads"], 3, trace.story())  # spin's
        self.assertEqual(seen["lwp-exit"] - seen["exit"], seen["threads"], trace.story())
        self.assertEqual(seen["lwp-start"], seen["lwp-create"], trace.story())
        self.assertEqual(seen["start"], seen["create"], trace.story())

    def test_signals(self):
        """Signals that are sent and handled, and ignored ones."""
        program = ('proc:::signal-send /args[2] == 10/ { @["sent"] = count(); } '
                   'proc:::signal-discard /args[2] == 10/ { @["discarded"] = count(); } '
                   'proc:::signal-handle /args[0] == 10/ { @["handled"] = count(); }')
        load = ("sh -c 'n=0; trap \"n=1\" USR1; i=0; while [ $i -lt 7 ]; do kill -USR1 $$; i=$((i + 1)); done; "
                "trap \"\" USR1; kill -USR1 $$; kill -USR1 $$; :'")
        with self.guest() as guest:
            trace, _ = self.counted(guest, program, load)
        self.assertEqual(keyed(trace.out), {"sent": 7, "discarded": 2, "handled": 7}, trace.story())

    def test_counts_are_not_inline(self):
        """A clause that only counts must ask the condition too; and -x cpu and predicates of the clause go on working."""
        program = ('proc:::exit { @ = count(); } fbt::taskstats_exit:entry { @all = count(); } '
                   'proc:::exit /args[0] == 1/ { @left = count(); }')
        with self.guest() as guest:
            trace, _ = self.counted(guest, program, LOAD)
        ended, tasks, left = numbers(trace.out)
        self.assertGreaterEqual(tasks - ended, 3, trace.story())
        self.assertEqual(ended - left, 2, trace.story())

    def test_switches(self):
        """A processor is given away as often as it is taken, and as often as the guest counts."""
        program = ('sched:::off-cpu { @["off"] = count(); } sched:::on-cpu { @["on"] = count(); } '
                   'sched:::off-cpu { self->next[cpu] = 0; next[cpu] = args[0]->pr_lwpid; } '
                   'sched:::on-cpu /next[cpu] == tid/ { @["told"] = count(); }')
        with self.guest() as guest:
            trace, told = self.counted(guest, program, "spin 1 4 >/dev/null", ("sched/sched_switch",))
        seen = keyed(trace.out)
        self.assertLessEqual(abs(seen["on"] - seen["off"]), 4, trace.story())  # at most one a vCPU is under way
        self.assertGreaterEqual(seen["told"], seen["on"] - 4, trace.story())
        # the guest's own counting begins before ours and ends behind it
        self.assertLessEqual(seen["off"], told["sched/sched_switch"], trace.story())

    def test_blocks(self):
        """Each bio that starts ends, with the sector, size and direction of its start."""
        program = ('io:::start { @["start"] = count(); start[arg0] = args[0]->b_blkno + 1; } '
                   'io:::start { @bytes["bytes"] = sum(args[0]->b_bcount); @bytes["reads"] = sum((args[0]->b_flags & B_READ) != 0); } '
                   'io:::done { @["done"] = count(); @bytes["ended"] = sum(args[0]->b_bcount); } '
                   'io:::done /start[arg0] == args[0]->b_blkno + 1/ { @["paired"] = count(); start[arg0] = 0; } '
                   'io:::done /args[0]->b_error/ { @["errors"] = count(); }')
        program = re.sub(r"(io:::(?:start|done)) (/?)", lambda m: m.group(1) + ' /args[1]->dev_statname == "loop3"' +
                         (" && " if m.group(2) else "/ "), program)
        load = ("dd if=/dev/loop3 of=/dev/null bs=64k count=8 2>/dev/null; "
                "dd if=/dev/zero of=/dev/loop3 bs=4k count=16 conv=fsync 2>/dev/null; sync")
        with self.guest() as guest:
            guest.check("dd if=/dev/zero of=/tmp/disk3 bs=1M count=2 2>/dev/null && losetup /dev/loop3 /tmp/disk3 && "
                        "sync && echo 3 >/proc/sys/vm/drop_caches")
            try:
                trace, told = self.counted(guest, program, load, ("block/block_bio_queue",), f"dev == {7 << 20 | 3}")
            finally:
                guest.check("losetup -d /dev/loop3; rm /tmp/disk3")
        seen = keyed(trace.out)
        self.assertEqual(seen["start"], told["block/block_bio_queue"], trace.story())
        self.assertEqual(seen["done"], seen["start"], trace.story())
        self.assertEqual(seen["paired"], seen["start"], trace.story())
        self.assertEqual(seen["bytes"], seen["ended"], trace.story())
        self.assertGreater(seen["reads"], 0, trace.story())
        self.assertLess(seen["reads"], seen["start"], trace.story())
        self.assertNotIn("errors", seen, trace.story())
        self.assertNotIn("drops", trace.err, trace.story())


if __name__ == "__main__":
    sys.exit(main())
