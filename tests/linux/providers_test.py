#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""proc, sched and io of a stock kernel, without anything in the guest: counts and arguments against what a load is known
to do, and against what the guest's own tracing counts."""
import re
import struct
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed, numbers
from lib.scenario import Scenario, main, only_full
from lib.truth import NotWhole, Truth, agree

# A shell of a name of its own, the programs that it runs, and how they end.
LOAD = ("ln -sf /bin/busybox /tmp/kp; spin 1 4 >/dev/null; (exec -a sh /tmp/kp -c '"
        "i=0; while [ $i -lt 5 ]; do /bin/true; i=$((i + 1)); done; "
        "i=0; while [ $i -lt 3 ]; do /bin/false; i=$((i + 1)); done; "
        "/no/such/program 2>/dev/null; /proc/version 2>/dev/null; "
        "for s in 9 15; do /bin/sleep 100 & c=; until [ \"$c\" = sleep ]; do read c </proc/$!/comm; done; "
        "kill -$s $!; wait $!; done; :') 2>/dev/null")
NAMES = ("kp", "spin", "true", "false", "sleep")

# Machine code that is a whole program: what the processor finds wrong in it, by D's name.
TRIES = 5  # to have a whole truth
FAULTS = {
    "readnull": ("488b042500000000", "FLTBOUNDS"),    # mov rax, [0]
    "writetext": ("c604250000400000", "FLTACCESS"),   # mov byte [0x400000], 0: its own text
    "divide": ("31c931d231c0f7f1", "FLTIZDIV"),       # div ecx of 0
    "undefined": ("0f0b", "FLTILL"),                  # ud2
    "breakpoint": ("cc", "FLTBPT"),                   # int3
    "halt": ("f4", "FLTBOUNDS"),                      # hlt: a general protection fault
}
# Blocks signal 10, sends it to itself, takes it by rt_sigtimedwait(2), exits.
TAKES_SIGNAL = ("6800020000" "4889e6" "31ff" "31d2" "41ba08000000" "b80e000000" "0f05" "b827000000" "0f05" "89c7"
                "be0a000000" "b83e000000" "0f05" "4889e7" "31f6" "31d2" "41ba08000000" "b880000000" "0f05" "31ff"
                "b83c000000" "0f05")
# setpriority(0, 0, 5), sched_setscheduler(0, SCHED_FIFO, { 10 }), exit.
CHANGES_PRIORITY = ("31ff" "31f6" "ba05000000" "b88d000000" "0f05" "6a0a" "31ff" "be01000000" "4889e2" "b890000000"
                    "0f05" "31ff" "b83c000000" "0f05")


def executable(code):
    """A command that makes this machine code a program, of one segment that can't be written; its path follows."""
    size = 120 + len(code) // 2
    data = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    data += struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 0x1000) + bytes.fromhex(code)
    return "printf '" + "".join(f"\\{byte:03o}" for byte in data) + "' >"


def any_of(field, names=NAMES):
    """A condition, of D as well as of a trigger."""
    return " || ".join(f'{field} == "{name}"' for name in names)


class Providers(Scenario):
    def counted(self, guest, program, load, events=None, field=None):
        """(the trace, what the guest told) with the load under it. @events are counted by the guest itself, each under a
        condition that only the load meets: it begins to count before we do, and ends behind us."""
        counting = {event: ((field,) if field else (), when) for event, when in (events or {}).items()}
        for _ in range(TRIES):
            with Truth(guest, counting) as truth:
                trace = self.outsight.trace(guest, program)
                guest.check(load)
                trace.stop()
                try:
                    return trace, truth.read()
                except NotWhole:
                    continue  # the guest itself has lost an event
        raise NotWhole("the guest's own histogram, each time")

    def test_listing(self):
        """They are there without the module; what this kernel has not is listed by -v with the reason."""
        with self.guest() as guest:
            _, out, err = self.outsight.run(guest, "-lv", "-P", "proc", "-P", "sched", "-P", "io")
            for probe in ("proc exit", "proc lwp-create", "proc exec-success", "proc signal-send", "proc fault",
                          "sched on-cpu", "sched tick", "io start", "io done"):
                provider, name = probe.split()
                self.assertRegex(out, rf"(?m)^ *\d+ +{provider} +vmlinux( +\w+)? +{name} *$", err)
            reasons = re.findall(r"Cannot be enabled: (.*)", out)
            self.assertTrue(all("this kernel has" in reason for reason in reasons), reasons)
            status, _, err = self.outsight.run(guest, "-n", "proc:::exit { trace(args[1]); }")
            self.assertNotEqual(status, 0)
            self.assertIn("index 1 is out of range for proc:::exit args[ ]", err)

    def test_counters(self):
        """No CPU counts for a guest under QEMU's translator."""
        with self.guest() as guest:
            reason = "the tcg backend keeps no counters: cpc probes are for guests on KVM, with the engine in their VMM"
            for probe in ("cpc:::instructions-all-100000", "cpc:::cpu_clock-all-1000000"):
                _, out, err = self.outsight.run(guest, "-lvn", probe)
                self.assertIn(f"\n\tCannot be enabled: {reason}\n", out, err)
                status, _, err = self.outsight.run(guest, "-n", probe)
                self.assertNotEqual(status, 0)
                self.assertIn(f"{probe} can't be enabled: {reason}", err)

    def test_descriptions(self):
        """A probe has the kernel's module and the function it is in; Solaris's and FreeBSD's modules mean the same."""
        with self.guest() as guest:
            for described in ("io:::done", "io:genunix::done", "io:kernel::done", "io::bio_endio:done",
                              "io:vmlinux:bio_endio:done", "io::bio_*:done"):
                status, out, err = self.outsight.run(guest, "-ln", described)
                self.assertEqual(status, 0, err)
                self.assertEqual(out.splitlines()[1].split()[1:], ["io", "vmlinux", "bio_endio", "done"], out)
                self.assertEqual(len(out.splitlines()), 2, out)
            _, out, _ = self.outsight.run(guest, "-ln", "fbt:genunix:bio_endio:")
            self.assertEqual(len(out.splitlines()), 1, out)
            _, out, _ = self.outsight.run(guest, "-lvn", "io:::done")
            self.assertIn("Argument Attributes\n\t\tIdentifier Names: Evolving\n\t\tData Semantics:   Evolving\n"
                          "\t\tDependency Class: ISA", out)

    def test_processes(self):
        """A load whose programs, failures and signals are known."""
        mine = any_of("execname")
        program = (f'proc:::exec-failure /{mine}/ {{ @["exec-failure", args[0]] = count(); }} '
                   'proc:::exec { @exec[args[0]] = count(); } '
                   f'proc:::exec-success /{mine}/ {{ @["exec-success", 0] = count(); }} '
                   f'proc:::exit /{mine}/ {{ @["exit", args[0]] = count(); }} '
                   'proc:::signal-send /args[2] == 9 || args[2] == 15/ '
                   '{ @["signal", args[2]] = count(); @to[args[1]->pr_fname] = count(); }')
        with self.guest() as guest:
            trace, _ = self.counted(guest, program, LOAD)
        rows = {tuple(line.split()[:-1]): int(line.split()[-1]) for line in trace.lines if len(line.split()) > 1}
        # true and false are separate programs or one that runs itself: by path either way
        agree(self, "proc:::exec of true and false", rows["/bin/true",] + rows["/bin/false",], 8, story=trace.story())
        # kp, spin, and what kp runs
        agree(self, "proc:::exec-success", rows["exec-success", "0"], 12, story=trace.story())
        # CLD_EXITED: these but the two killed, and those that ran nothing
        agree(self, "proc:::exit, CLD_EXITED", rows["exit", "1"], 12, story=trace.story())
        agree(self, "proc:::exec-failure", [rows["exec-failure", "2"], rows["exec-failure", "13"]], [1, 1], story=trace.story())
        agree(self, "proc:::exit, CLD_KILLED", rows["exit", "2"], 2, story=trace.story())
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
        events = dict.fromkeys(("task/task_newtask", "sched/sched_process_exit"), any_of("comm"))
        with self.guest() as guest:
            trace, told = self.counted(guest, program, LOAD, events)
        seen = keyed(trace.out)
        agree(self, "proc:::lwp-create", seen["lwp-create"], told.hits("task/task_newtask"), "task_newtask", trace.story())
        agree(self, "proc:::lwp-exit", seen["lwp-exit"], told.hits("sched/sched_process_exit"), "sched_process_exit",
              trace.story())
        self.assertEqual(seen["lwp-create"] - seen["create"], seen["threads"], trace.story())
        self.assertGreaterEqual(seen["threads"], 3, trace.story())  # spin's
        self.assertEqual(seen["lwp-exit"] - seen["exit"], seen["threads"], trace.story())
        agree(self, "proc:::lwp-start", seen["lwp-start"], seen["lwp-create"], "lwp-create", trace.story())
        agree(self, "proc:::start", seen["start"], seen["create"], "create", trace.story())

    def test_signals(self):
        """Signals that are sent and handled, and ignored ones."""
        program = ('proc:::signal-send /args[2] == 10/ { @["sent"] = count(); } '
                   'proc:::signal-discard /args[2] == 10/ { @["discarded"] = count(); } '
                   'proc:::signal-handle /args[0] == 10/ { @["handled"] = count(); }')
        load = ("sh -c 'n=0; trap \"n=1\" USR1; i=0; while [ $i -lt 7 ]; do kill -USR1 $$; i=$((i + 1)); done; "
                "trap \"\" USR1; kill -USR1 $$; kill -USR1 $$; :'")
        with self.guest() as guest:
            trace, _ = self.counted(guest, program, load)
        seen = keyed(trace.out)
        agree(self, "proc:::signal-send", seen["sent"], 7, story=trace.story())
        agree(self, "proc:::signal-discard", seen["discarded"], 2, story=trace.story())
        agree(self, "proc:::signal-handle", seen["handled"], 7, story=trace.story())

    def test_faults(self):
        """Programs of one wrong instruction: the number is the D library's, and the signal is told."""
        program = " ".join(f'proc:::fault /execname == "{name}" && args[0] == {flt}/ {{ @["{name}"] = count(); }}'
                           for name, (_, flt) in FAULTS.items())
        program += ' proc:::fault /args[1]->si_signo == SIGFPE/ { @["SIGFPE"] = count(); }'
        program += ' proc:::signal-clear /args[0] == SIGUSR1/ { @["cleared"] = count(); }'
        files = {**{name: code for name, (code, _) in FAULTS.items()}, "takes": TAKES_SIGNAL}
        make = "; ".join(f"{executable(code)}/tmp/{name}" for name, code in files.items())
        with self.guest() as guest:
            # or dmesg has a line for each
            guest.check(f"{make}; cd /tmp; chmod +x {' '.join(files)}; echo 0 >/proc/sys/debug/exception-trace")
            trace, _ = self.counted(guest, program, "; ".join(f"/tmp/{name}" for name in FAULTS) +
                                    "; /tmp/takes && /tmp/takes && /tmp/takes")
            guest.check(f"cd /tmp; rm {' '.join(files)}; echo 1 >/proc/sys/debug/exception-trace")
        seen = keyed(trace.out)
        agree(self, "proc:::fault", sum(seen.get(name, 0) for name in FAULTS), len(FAULTS), story=trace.story())
        agree(self, "proc:::signal-clear", seen["cleared"], 3, story=trace.story())
        self.assertEqual(seen["SIGFPE"], 1, trace.story())

    @only_full
    def test_priorities(self):
        """New priorities as pr_pri has them: by setpriority(2) and sched_setscheduler(2)."""
        program = 'sched:::change-pri /execname == "changes"/ { @[args[2]] = count(); }'
        with self.guest() as guest:
            guest.check(f"{executable(CHANGES_PRIORITY)}/tmp/changes; chmod +x /tmp/changes")
            trace, _ = self.counted(guest, program, "/tmp/changes && /tmp/changes && /tmp/changes")
            guest.check("rm /tmp/changes")
        rows = {int(a): int(b) for a, b in (line.split() for line in trace.lines if len(line.split()) == 2)}
        agree(self, "sched:::change-pri", rows, {14: 3, 50: 3}, story=trace.story())

    @only_full
    def test_ticks_and_wakeups(self):
        """In the threads of a load, as the guest's own tracepoints count them."""
        program = ('sched:::tick /args[1]->pr_fname == "spin"/ { @["tick"] = count(); } '
                   'sched:::wakeup /execname == "spin"/ { @["wakeup"] = count(); }')
        with self.guest() as guest:
            symbols = guest.read_file("/proc/kallsyms").decode()
            handler = re.search(r"(?m)^(\w+) \w (?:tick_sched_timer|tick_nohz_handler)$", symbols).group(1)
            events = {"timer/hrtimer_expire_entry": f'function == 0x{handler} && comm == "spin"',
                      "sched/sched_waking": 'COMM == "spin"'}
            trace, told = self.counted(guest, program, "spin 1 4 >/dev/null", events)
        seen = keyed(trace.out)
        agree(self, "sched:::wakeup", seen["wakeup"], told.hits("sched/sched_waking"), "sched_waking", trace.story())
        agree(self, "sched:::tick", seen["tick"], told.hits("timer/hrtimer_expire_entry"), "hrtimer_expire_entry",
              trace.story())

    @only_full
    def test_gives_up_processor(self):
        """Threads sleep, are preempted, or keep their processor: as often as the guest's switches say."""
        mine = 'execname == "spin"'
        # sched_switch calls a thread that has ended dead, also where it sleeps once more
        program = (f'sched:::sleep /{mine} && !curthread->exit_state/ {{ @["sleep"] = count(); }} '
                   f'sched:::preempt /{mine}/ {{ @["preempt"] = count(); }} '
                   f'sched:::remain-cpu /{mine}/ {{ @["remain"] = count(); }} '
                   f'fbt::__schedule:entry /{mine}/ {{ @["entries"] = count(); }}')
        with self.guest() as guest:
            trace, told = self.counted(guest, program, "spin 2 8 >/dev/null",
                                       {"sched/sched_switch": 'comm == "spin"'}, "prev_state")
        states = told.rows("sched/sched_switch", "prev_state")
        seen = keyed(trace.out)
        agree(self, "sched:::sleep", seen.get("sleep", 0), sum(n for state, n in states.items() if 0 < state < 16),
              "sched_switch", trace.story())
        agree(self, "sched:::preempt", seen["preempt"], sum(n for state, n in states.items() if state in (0, 256)),
              "sched_switch", trace.story())
        agree(self, "sched:::remain-cpu", seen.get("remain", 0), seen["entries"] - sum(states.values()),
              "__schedule() less sched_switch", trace.story())

    @only_full
    def test_queues(self):
        """A thread that is enqueued is dequeued, and never twice without the other; each switch to it is one."""
        mine = 'args[1]->pr_fname == "spin"'
        program = ('BEGIN { on[0] = 0; } '
                   f'sched:::enqueue /{mine}/ {{ @["enqueue"] = count(); @sums["twice"] = sum(on[(int)args[0]->pr_lwpid]); '
                   'on[(int)args[0]->pr_lwpid] = 1; } '
                   f'sched:::dequeue /{mine}/ {{ @["dequeue"] = count(); @sums["unqueued"] = sum(!on[(int)args[0]->pr_lwpid]); '
                   'on[(int)args[0]->pr_lwpid] = 0; } '
                   f'sched:::enqueue /{mine} && args[2]->cpu_id >= 4/ {{ @["nowhere"] = count(); }}')
        with self.guest() as guest:
            trace, told = self.counted(guest, program, "spin 2 8 >/dev/null",
                                       {"sched/sched_switch": 'next_comm == "spin"'})
        seen = keyed(trace.out)
        agree(self, "sched:::enqueue", seen["enqueue"], seen["dequeue"], "dequeue", trace.story())
        self.assertEqual((seen["twice"], seen["unqueued"]), (0, 0), trace.story())
        self.assertGreaterEqual(seen["dequeue"], told.hits("sched/sched_switch"), trace.story())
        self.assertNotIn("nowhere", seen, trace.story())

    @only_full
    def test_waits(self):
        """dd's fsync of a disk waits once for its flush."""
        program = ('io:::wait-start /execname == "dd" && args[1]->dev_statname == "loop3"/ { @["start"] = count(); } '
                   'io:::wait-done /execname == "dd" && args[1]->dev_statname == "loop3"/ { @["done"] = count(); }')
        with self.guest() as guest:
            guest.check("dd if=/dev/zero of=/tmp/disk3 bs=1M count=2 2>/dev/null && losetup /dev/loop3 /tmp/disk3")
            try:
                trace, told = self.counted(guest, program, "for i in 1 2 3 4 5; do "
                                           "dd if=/dev/zero of=/dev/loop3 bs=4k count=4 conv=fsync 2>/dev/null; done",
                                           {"block/block_bio_queue": f"dev == {7 << 20 | 3} && nr_sector == 0"})
            finally:
                guest.check("losetup -d /dev/loop3; rm /tmp/disk3")
        self.assertEqual(told.hits("block/block_bio_queue"), 5, trace.story())
        agree(self, "io:::wait-start, wait-done", keyed(trace.out), {"start": 5, "done": 5}, story=trace.story())

    @only_full
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
            trace, told = self.counted(guest, program, "spin 1 4 >/dev/null", {"sched/sched_switch": None})
        seen = keyed(trace.out)
        self.assertLessEqual(abs(seen["on"] - seen["off"]), 4, trace.story())  # at most one a vCPU is under way
        self.assertGreaterEqual(seen["told"], seen["on"] - 4, trace.story())
        # the guest's own counting begins before ours and ends behind it
        self.assertLessEqual(seen["off"], told.hits("sched/sched_switch"), trace.story())

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
                trace, told = self.counted(guest, program, load, {"block/block_bio_queue": f"dev == {7 << 20 | 3}"})
            finally:
                guest.check("losetup -d /dev/loop3; rm /tmp/disk3")
        seen = keyed(trace.out)
        agree(self, "io:::start", seen["start"], told.hits("block/block_bio_queue"), "block_bio_queue", trace.story())
        agree(self, "io:::done", seen["done"], told.hits("block/block_bio_queue"), "block_bio_queue", trace.story())
        self.assertEqual(seen["paired"], seen["start"], trace.story())
        self.assertEqual(seen["bytes"], seen["ended"], trace.story())
        self.assertGreater(seen["reads"], 0, trace.story())
        self.assertLess(seen["reads"], seen["start"], trace.story())
        self.assertNotIn("errors", seen, trace.story())
        self.assertNotIn("drops", trace.err, trace.story())


if __name__ == "__main__":
    sys.exit(main())
