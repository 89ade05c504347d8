#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock Debian kernels in outsight-vmm on a KVM that runs them well: run in scripts/kvm-lab, or where the
host's own KVM is good (run.py decides).

One guest serves all tests of a kernel, as long as it runs. After each test its log must have no new line.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "linux")]
# pylint: disable=wrong-import-position
from lib import agent as ga
from lib.guest import GuestError, why_no_guest
from lib.outsight import LIMIT, Outsight, Trace, keyed, numbers
from lib.scenario import LineResult, parse_symbols
from lib.toggling import toggling
from lib.truth import EVENTS
from lib.vmm_guest import VmmGuest
from processes import Processes
from resident import ResidentCode

# Many times the duration on an idle machine: none of them is a measurement.
TOGGLE_SECONDS = 600
SELF_PATCH_SECONDS = 900
CHANGE_SECONDS = 2  # of one static key
REMOVED = re.compile(r"probes were removed (\d+) times?, for [\d.]+ ms in all, while the guest patched its own text")
SIGURG = 23  # ignored by default
VCPUS = 2
SMALL_SECONDS = 900
# Messages of a kernel that its host did not schedule for a while: the lab shares its CPUs.
SLOW_HOST = re.compile(r"hrtimer: interrupt took|perf: interrupt took too long|clocksource: |sched: (RT throttling|DL replenish)")
# Also of a vCPU that did not run for 20 s. If we had stopped it, counts and time limits would fail.
SLOW_HOST_ARGS = "rcupdate.rcu_cpu_stall_suppress=1 nosoftlockup"
LOG_CHARS = 6000


class Lab:
    """The machine that the tests of one kernel share. On kernels after the first, repeated steps are repeated a tenth
    as often."""

    def __init__(self, build, logs, kernel, first, programs=None):
        self.build, self.logs, self.kernel, self.first, self.programs = build, logs, kernel, first, programs
        self.kills, self.toggles, self.self_patches, self.keys = (20, 1000, 200, 100) if first else (2, 100, 20, 10)
        self.outsight = Outsight(build)
        self.hits = 0
        self.release = None
        self.boots = 0
        self.current = None
        self.options = ""
        self.known = set()

    def path(self, name):
        return os.path.join(self.logs, f"{self.kernel}.{name}")

    def more_files(self):
        """An archive of what there is of the guest's module, the tests' own, and programs; None: nothing."""
        parts = [self.programs] if self.programs else []
        if not ga.why_no_agent(self.kernel, "pulse"):
            parts.append(ga.archive(self.kernel, self.path("agent.cpio"), "outsight", "pulse"))
        if not parts:
            return None
        with open(self.path("more.cpio"), "wb") as out:
            for part in parts:
                with open(part, "rb") as f:
                    out.write(f.read())
        return out.name

    def guest(self, options=""):
        """The running guest, or a new one: a test that ends its guest does not affect the others. options: more of its
        command line."""
        if self.current and (not self.current.alive() or self.options != options):
            self.close()
        if not self.current:
            self.boots += 1
            guest = VmmGuest(self.kernel, os.path.join(self.build, "bin", "outsight-vmm"), smp=VCPUS,
                             append=f"{SLOW_HOST_ARGS} {options}".strip(), log=self.path(f"console{self.boots}"),
                             more_files=self.more_files())
            self.current = guest.__enter__()
            self.options = options
            self.release = guest.check("uname -r").strip()
            # Symbols for the tests: the guest reads its own list faster than we could send it.
            guest.check("cut -d' ' -f3 /proc/kallsyms | sort -u >/tmp/names")
            self.known = set(guest.check("dmesg").splitlines())
        return self.current

    def new_lines(self):
        """The guest's kernel messages since the last call."""
        lines = self.current.check("dmesg").splitlines()
        new = [line for line in lines if line not in self.known]
        self.known.update(new)
        return [line for line in new if not SLOW_HOST.search(line)]

    def close(self):
        if self.current:
            self.current.close()
            self.current = None


LAB = None


class LabTest(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.lab = LAB
        self.guest = LAB.guest()
        self.outsight = LAB.outsight
        self.traces = []

    def tearDown(self):
        for trace in self.traces:
            if trace.process.poll() is None:
                trace.kill()
            with open(LAB.path("outsight"), "a", encoding="utf-8") as f:
                f.write(f"--- {self.id()}\n{trace.story()}\n")
        try:
            self.assertEqual(LAB.new_lines(), [])
        except GuestError:
            LAB.close()
            raise

    def started(self, *args):
        # These counts are exact, however much of an emulated host's time they take.
        trace = Trace(self.outsight.binary, ["-g", self.guest.socket_path, "-x", "maxcost=0", *args],
                      self.outsight.environment(self.guest))
        self.traces.append(trace)
        return trace

    def traced(self, program, *args):
        """A trace that is active: when BEGIN has printed, every probe is in place."""
        return self.started("-q", "-x", "switchrate=20hz", "-x", "aggrate=20hz", *args, "-n",
                            'BEGIN { printf("tracing\\n"); }', "-n", program).wait_for("tracing", LIMIT)

    def text(self):
        return self.guest.check("textsum")

    def quiet_text(self):
        """The sum once the guest has stopped changing its own text."""
        last, end = None, time.monotonic() + 60
        while time.monotonic() < end:
            now = self.text()
            if now == last:
                return now
            last = now
            time.sleep(1)
        raise GuestError("its text does not come to rest")

    def counted(self, got, want, story):
        """An exact count; its hits are reported at the end."""
        self.assertEqual(got, want, story)
        LAB.hits += sum(want)


class Counts(LabTest):
    def test_machine(self):
        self.assertEqual(self.guest.check("nproc").strip(), str(VCPUS))
        self.assertEqual(self.guest.check("readlink /proc/1/exe").strip(), "/bin/busybox")

    def getppid(self, program, want):
        job = self.guest.spawn("getppid_loop 4 10000 wait")
        job.wait_output("waiting")
        trace = self.traced(program)
        job.send("go")
        job.wait_end()
        trace.stop()
        self.counted(numbers(trace.out), want, trace.story())
        self.assertRegex(job.done(), r"(?m)^calls 40000 parent \d+$")

    def test_entry_and_return(self):
        """Four threads, two vCPUs: every call and every return."""
        self.getppid('syscall::getppid:entry { @e = count(); @s = sum(1); } '
                     'fbt::__x64_sys_getppid:return { @r = count(); @t = sum(1); }', [40000] * 4)

    def test_counter(self):
        """A clause that only counts, which KVM counts itself."""
        self.getppid('fbt::__x64_sys_getppid:entry { @ = count(); }', [40000])

    def test_predicate(self):
        self.getppid('syscall::getppid:entry /execname == "getppid_loop"/ { @a = count(); } '
                     'syscall::getppid:return /execname == "getppid_loop" && errno == 0 && arg1 > 0/ { @b = count(); }',
                     [40000] * 2)

    def test_system_calls_by_execname(self):
        trace = self.traced('syscall:::entry /execname == "reads"/ { @[probefunc] = count(); }')
        self.guest.check("reads 3000")
        trace.stop()
        calls = keyed(trace.out)
        self.counted([calls.get("read"), calls.get("lseek")], [3000, 3000], trace.story())

    def test_arguments(self):
        """Arguments, return values, and thread-local variables between entry and return."""
        trace = self.traced('syscall::read:entry /execname == "reads"/ { @n = count(); @b = sum(arg2); } '
                            'syscall::read:return /execname == "reads"/ { @r = sum(arg1); } '
                            'fbt::vfs_read:entry /execname == "reads"/ { self->t = timestamp; } '
                            'fbt::vfs_read:return /self->t/ { @m = count(); @wrong = sum(timestamp <= self->t); '
                            'self->t = 0; }')
        text = self.guest.check("reads 2000")
        trace.stop()
        total = int(re.search(r"bytes (\d+)", text).group(1))
        self.assertEqual(numbers(trace.out), [2000, total, total, 2000, 0], trace.story())
        LAB.hits += 8000

    def test_stack(self):
        """Frames are functions that the guest's own list has."""
        trace = self.traced('fbt::shmem_write_begin:entry /execname == "deepcall"/ { @[stack()] = count(); }')
        self.guest.check("deepcall /tmp/x 20")
        trace.stop()
        functions = [m.group(1) for m in re.finditer(r"^ {14}\S+`(\w[\w.]*)(?:\+0x[0-9a-f]+)?$", trace.out, re.M)]
        self.assertGreaterEqual(len(functions), 6, trace.story())
        self.assertEqual(functions[0], "shmem_write_begin", trace.story())
        for name in ("vfs_write", "ksys_write", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"):
            self.assertIn(name, functions, trace.story())
        self.assertNotRegex(trace.out, r"(?m)^ {14}0x", trace.story())
        wanted = " ".join(sorted(set(functions)))
        missing = self.guest.check(f"for n in {wanted}; do grep -qx $n /tmp/names || echo $n; done")
        self.assertEqual(missing.split(), [], trace.story())

    def test_profile(self):
        """Samples of both vCPUs; a spinning program is seen in user mode, and nowhere else."""
        trace = self.traced('profile-199 { @all[cpu] = count(); } '
                            'profile-199 /execname == "spin" && arg1/ { @user = count(); } '
                            'profile-199 /execname == "spin" && arg0 && arg1/ { @both = count(); }')
        self.guest.check("spin 3 2")
        trace.stop()
        cpus = [int(m.group(1)) for m in re.finditer(r"^ +(\d+) +\d+$", trace.out, re.M)]
        self.assertEqual(sorted(cpus), [0, 1], trace.story())
        user = numbers(trace.out)
        self.assertEqual(len(user), 1, trace.story())
        self.assertGreater(user[0], 50, trace.story())

    def test_two_sessions(self):
        """Each with its own counts, on the same function and others, ended by Ctrl-C and by kill."""
        first = self.traced('syscall::read:entry /execname == "reads"/ { @ = count(); }')
        self.guest.check("reads 100")
        second = self.traced('syscall::read:entry /execname == "reads"/ { @ = sum(1); } '
                             'syscall::read:return /execname == "reads"/ { @r = count(); }')
        self.guest.check("reads 200")
        second.stop()
        third = self.traced('syscall::read:return { @ = count(); }')
        self.guest.check("reads 300")
        third.kill()
        self.guest.check("reads 400")
        first.stop()
        self.counted(numbers(first.out), [1000], first.story())
        self.counted(numbers(second.out), [200, 200], second.story())


class Faults(LabTest):
    PROGRAM = ("fbt::vfs_read:entry,fbt::vfs_write:entry,fbt::ksys_*:entry,syscall:::entry,"
               "fbt::schedule:entry,fbt::*hrtimer*:entry,fbt::vfs_read:return { @[probefunc] = count(); }")

    def test_killed(self):
        """kill -9 of outsight at random moments under load: the guest reads its own text as it was."""
        chance = random.Random(1)
        before = self.quiet_text()
        job = self.guest.spawn("mixed 600")
        for kill in range(LAB.kills):
            with self.subTest(kill=kill):
                if kill % 2:
                    # Somewhere in attaching and enabling.
                    trace = self.started("-q", "-n", self.PROGRAM)
                    time.sleep(chance.uniform(0, 2))
                else:
                    trace = self.traced(self.PROGRAM)
                    time.sleep(chance.uniform(0, 0.3))
                trace.kill()
                self.assertEqual(self.text(), before)
        self.guest.check("killall mixed writer reader looper spawner 2>/dev/null || true")
        job.wait_end()


class Patching(LabTest):
    """The text changes under running vCPUs: by us, and by the guest itself."""

    def test_toggled(self):
        """Entries and returns of hot functions, under system calls and timer interrupts on both vCPUs."""
        program = ("syscall::getppid:entry,fbt::__x64_sys_getppid:return,fbt::hrtimer_interrupt:entry,"
                   "fbt::update_process_times:entry,fbt::update_process_times:return,fbt::schedule:entry { @ = count(); }")
        before = self.quiet_text()
        job = self.guest.spawn("while :; do getppid_loop 4 20000 || break; done")
        toggle = os.path.join(LAB.build, "tests", "kvm", "kvm_toggle")
        done = subprocess.run([toggle, self.guest.socket_path, str(LAB.toggles), program], capture_output=True, text=True,
                              env=self.outsight.environment(self.guest), timeout=TOGGLE_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        match = re.fullmatch(rf"rounds {LAB.toggles} hits (\d+)\n", done.stdout)
        self.assertTrue(match, done.stdout)
        self.assertGreater(int(match.group(1)), LAB.toggles, done.stdout)
        self.assertRegex(job.output(), r"^calls 80000 parent")
        self.assertNotIn("wrong", job.output())
        self.guest.check("kill -9 -1 2>/dev/null; true")  # but for init
        self.assertEqual(self.text(), before)

    def test_guest_patches_its_own_text(self):
        """Function tracer, kprobes and static keys on and off at a function that is probed: all counts stay exact."""
        rounds, calls = LAB.self_patches, 20
        trace = self.traced('syscall::getppid:entry /execname == "selfpatch"/ { @e = count(); } '
                            'fbt::__x64_sys_getppid:return /execname == "selfpatch"/ { @r = count(); } '
                            'fbt::try_to_wake_up:entry,fbt::schedule:entry,fbt::enqueue_task*:entry { @[probefunc] = count(); }')
        out = self.guest.check(f"selfpatch {rounds} {calls}", SELF_PATCH_SECONDS)
        trace.stop()
        total = rounds * calls
        self.assertEqual(out.split(), f"calls {total} function {total} kprobe {total} behind {total} return {total} "
                                      f"event {total}".split(), trace.story())
        self.counted(numbers(trace.out), [3 * total] * 2, trace.story())
        self.assertTrue(keyed(trace.out), trace.story())


class Resident(ResidentCode, LabTest):
    """Resident probes in stock kernels."""


class Tracepoints(LabTest):
    """Branches on static keys, which the guest compares and patches when it turns a tracepoint on or off."""
    # The guest's own histogram of an event, and the probe that sees the same.
    EVENTS = {"sched/sched_switch": "sched:::off-cpu", "sched/sched_waking": "sched:::wakeup",
              "signal/signal_generate": "sdt:signal::signal_generate", "task/task_newtask": "rawtp:::task_newtask",
              "sched/sched_process_exit": "proc:::lwp-exit"}
    LOAD = ["#!/bin/sh", "trap : USR1", "for i in 1 2 3 4 5 6 7 8; do", "( : ) & ( kill -USR1 $$ ) & ( kill -CHLD $$ ) &",
            "wait; wait; wait; done"]
    TOGGLED = ["signal/signal_generate", "sched/sched_switch", "sched/sched_waking"]

    def switches(self):
        return int(re.search(r"ctxt (\d+)", self.guest.check("grep ctxt /proc/stat")).group(1))

    def test_listed(self):
        """Nearly all tracepoints can be probed, and so do the providers exist that are defined over them."""
        done = subprocess.run([self.outsight.binary, "-g", self.guest.socket_path, "-l"], capture_output=True, text=True,
                              env=self.outsight.environment(self.guest), timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = [line.split()[1] for line in done.stdout.splitlines()[1:]]
        self.assertGreater(listed.count("sdt"), 500)
        self.assertGreater(listed.count("rawtp"), 500)
        for provider, least in {"sched": 10, "proc": 10, "io": 2, "ip": 2, "tcp": 5, "udp": 2, "lockstat": 5}.items():
            self.assertGreaterEqual(listed.count(provider), least, provider)

    def test_counts(self):
        """As the guest's own histograms count, which enable the tracepoints: jumps stand there, then nops."""
        script = "\\n".join(self.LOAD)
        self.guest.check(f"printf '%b' '{script}\\n' > /tmp/kp; chmod +x /tmp/kp")
        program = " ".join(f'{probe} /execname == "kp"/ {{ @["{event}"] = count(); }}' for event, probe in self.EVENTS.items())
        hist = "hist:keys=common_pid if COMM == \"kp\""
        for event in self.EVENTS:
            self.guest.check(f"echo '{hist}' > {EVENTS}/{event}/trigger")
        trace = self.traced(program)
        self.guest.check("/tmp/kp", LIMIT)
        trace.stop()
        truth = {}
        for event in self.EVENTS:
            truth[event] = int(re.search(r"Hits: (\d+)", self.guest.check(f"cat {EVENTS}/{event}/hist")).group(1))
            self.guest.check(f"echo '!{hist}' > {EVENTS}/{event}/trigger")
        self.assertEqual(keyed(trace.out), truth, trace.story())
        LAB.hits += sum(truth.values())
        trace = self.traced(program)
        self.guest.check("/tmp/kp", LIMIT)
        trace.stop()
        for event in ("task/task_newtask", "sched/sched_process_exit"):
            self.assertEqual(keyed(trace.out)[event], truth[event], trace.story())

    def test_toggled(self):
        """The guest turns three tracepoints on and off, two of which all its vCPUs pass all the time. The events right
        behind each change are counted, every one."""
        before = self.quiet_text()
        trace = self.traced(f"rawtp:::signal_generate /args[0] == {SIGURG}/ {{ @own = count(); }} "
                            "sdt:sched::sched_switch { @switches = count(); } sdt:sched::sched_waking { @wakings = count(); }")
        switched = self.switches()
        load = self.guest.spawn("mixed 3600")
        signal = "kill -URG $$"
        self.guest.check(toggling(self.TOGGLED, LAB.keys, on=signal, off=signal),
                         SELF_PATCH_SECONDS + 2 * len(self.TOGGLED) * LAB.keys * CHANGE_SECONDS)
        self.guest.check("killall mixed writer reader looper spawner 2>/dev/null || true")
        load.wait_end()
        trace.stop()
        switched = self.switches() - switched
        own, switches, wakings = numbers(trace.out)
        self.counted([own], [2 * LAB.keys], trace.story())
        self.assertLess(LAB.keys, switches, trace.story())
        self.assertLessEqual(switches, switched, trace.story())
        self.assertGreater(wakings, 0)
        removed = REMOVED.search(trace.err)
        self.assertGreaterEqual(int(removed.group(1)) if removed else 0, 6 * LAB.keys, trace.story())
        self.assertEqual(self.text(), before)

    def test_killed(self):
        """kill -9 of outsight, and its orderly end, at random moments while the guest turns them on and off."""
        chance = random.Random(2)
        before = self.quiet_text()
        job = self.guest.spawn(f"while [ ! -e /tmp/enough ]; do ( {toggling(self.TOGGLED, 20)} ); done")
        for kill in range(LAB.kills):
            trace = self.started("-q", "-n", "sdt:sched:::,sdt:signal::: { @[probename] = count(); }")
            time.sleep(chance.uniform(0, 3))
            if kill % 3:
                trace.kill()
            else:
                trace.interrupt().finish()
        self.guest.check("touch /tmp/enough")
        job.done()
        self.assertEqual(self.quiet_text(), before)


class Modules(LabTest):
    """A module that the guest loads and unloads during a trace: its traps are planted before it runs, and are out
    before its memory is freed."""

    BEAT = "/sys/module/pulse/parameters/"

    def setUp(self):
        reason = ga.why_no_agent(LAB.kernel, "pulse")
        if reason:
            self.skipTest(reason)
        super().setUp()
        # what a kernel says of any module that is not its own
        self.guest.check("insmod /modules/pulse.ko; rmmod pulse")
        LAB.new_lines()

    def warm(self, trace):
        """Beat until the probes are there: this emulated host takes longer to read a module than its guest waits."""
        end = time.monotonic() + LIMIT
        seen = len(trace.lines)
        while len(trace.lines) == seen and time.monotonic() < end:
            self.guest.check(f"echo 1 >{self.BEAT}beats")
            time.sleep(0.2)

    def test_loaded_and_unloaded(self):
        """A function, its returns and a tracepoint, which the guest enables and disables in between. A beat's number is
        its argument; the first, 0, is not counted."""
        before = self.quiet_text()
        trace = self.traced('fbt:pulse:pulse_beat:entry /arg0 == 0/ { printf("warm\\n"); } '
                            "fbt:pulse:pulse_beat:entry /arg0/ { @a = count(); } "
                            "fbt:pulse:pulse_beat:return /arg1/ { @b = count(); } sdt:pulse::pulse_beat /arg0/ { @c = count(); } "
                            'END { printa("%@u %@u %@u\\n", @a, @b, @c); }', "-Z")
        loads = 5 if LAB.first else 2
        for _ in range(loads):
            self.guest.check("insmod /modules/pulse.ko")
            self.warm(trace)
            self.guest.check(f"echo 37 >{self.BEAT}beats; echo 1 >{EVENTS}/pulse/enable; echo 5 >{self.BEAT}beats; "
                             f"echo 0 >{EVENTS}/pulse/enable; echo 9 >{self.BEAT}beats; rmmod pulse")
        self.assertEqual(trace.interrupt().finish(LIMIT), 0, trace.story())
        self.assertRegex(trace.out, r"(?m)^\d+ \d+ \d+$", trace.story())
        self.counted([int(n) for n in trace.out.split()[-3:]], [loads * (36 + 4 + 8)] * 3, trace.story())
        self.assertEqual(self.quiet_text(), before)


class Agent(LabTest):
    """The guest's own tracepoints, by its module: doorbell and clock are traps in the module's text."""

    def setUp(self):
        super().setUp()
        reason = ga.why_no_agent(LAB.kernel)
        if reason:
            self.skipTest(reason)
        self.guest.check("insmod /modules/outsight.ko")
        LAB.new_lines()  # the message about an out-of-tree module

    def tearDown(self):
        self.guest.run("rmmod outsight 2>/dev/null")
        super().tearDown()

    def test_both_views(self):
        """As many system calls inside as outside, and the rings pass more than they hold."""
        mine = 'execname == "getppid_loop"'
        trace = self.traced(f"sdt:raw_syscalls::sys_enter /args[1] == 110 && {mine}/ {{ @[view] = count(); }} "
                            f"syscall::getppid:entry /{mine}/ {{ @[view] = count(); }}")
        self.guest.check("getppid_loop 2 20000", timeout=LIMIT)
        trace.stop()
        self.assertEqual(keyed(trace.out), {"inside": 40000, "outside": 40000}, trace.story())

    def compare(self, *args):
        trace = Trace(self.outsight.binary, ["compare", "--json", "-g", self.guest.socket_path, "-x", "maxcost=0", *args],
                      self.outsight.environment(self.guest))
        self.traces.append(trace)
        return trace

    def test_nothing_hidden(self):
        for what in ("--tasks", "--modules"):
            trace = self.compare(what)
            self.assertEqual((trace.finish(), trace.out), (0, "[]"), trace.story())

    def test_compared(self):
        """The same counts on both views; KVM reports stolen time to a guest, so the guest's own figure is printed."""
        trace = self.compare("-q", "-n", 'BEGIN { printf("tracing\\n"); }', "-n",
                             'syscall::getppid:entry /execname == "getppid_loop"/ { @ = count(); }').wait_for("tracing")
        self.guest.check("getppid_loop 2 500", timeout=LIMIT)
        trace.stop()
        got = json.loads("\n".join(trace.lines[1:]))
        self.assertEqual([(row["outside"], row["inside"]) for row in got["aggregations"]], [(1000, 1000)], trace.story())
        guest, = got["guests"]
        self.assertGreater(guest["clock"]["bound_ns"], 0)
        self.assertEqual(len(guest["stolen_ns"]), VCPUS)
        for stolen in guest["stolen_ns"]:
            self.assertTrue(0 <= stolen <= guest["window_ns"], guest)

    def test_unloaded_while_tracing(self):
        trace = self.traced('sdt:raw_syscalls::sys_enter /args[1] == 110 && execname == "getppid_loop"/ { @ = count(); }')
        self.guest.check("getppid_loop 2 1000", timeout=LIMIT)
        self.guest.check("rmmod outsight", timeout=LIMIT)
        self.guest.check("getppid_loop 2 1000", timeout=LIMIT)
        trace.stop()
        self.assertEqual(numbers(trace.out), [2000], trace.story())


class Programs(Processes, LabTest):
    """Debug registers, over all processes of the guest."""

    def setUp(self):
        super().setUp()
        if not LAB.programs:
            self.skipTest("its programs are not built (run.py does)")
        self.vm, self.archive = self.guest, LAB.programs
        self.kills = 10 if LAB.first else 2
        self.prepare()
        LAB.new_lines()  # the one about dropped caches

    def tearDown(self):
        if LAB.programs:
            self.tidy()
        super().tearDown()

    def refused(self, *options):
        trace = self.started(*options)
        self.assertEqual(trace.finish(LIMIT), 1, trace.story())
        return trace.story()


class End(LabTest):
    """Last, as the name sorts: the guest's own end."""

    def tearDown(self):
        pass

    def test_power_off(self):
        self.assertEqual(self.guest.power_off(), 0)


class Doctor(unittest.TestCase):
    lab = False

    def test_doctor(self):
        """The behaviour of this host's KVM. Emulated SVM is known not to reinject int3."""
        done = subprocess.run([LAB.outsight.binary, "doctor", "-v"], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        line = next((n for n in done.stdout.splitlines() if n.startswith("kvm     int3=")), "")
        if self.lab:
            self.assertIn("int3=never", line, done.stdout)
        for finding in ("hw=yes", "step=yes", "ioeventfd=yes", "out=yes", "sync_regs=yes", "hw_user=yes"):
            self.assertIn(finding, line, done.stdout)


def run_small(build, names):
    """The small guest's tests on this KVM too; 1 when one failed."""
    guest = os.path.join(build, "tests", "kvm", "small-guest")
    done = subprocess.run(["python3", "-B", os.path.join(os.path.dirname(HERE), "kvm", "small_test.py"),
                           os.path.join(build, "bin", "outsight"), guest, *names], check=False, timeout=SMALL_SECONDS)
    return int(done.returncode != 0)


def print_logs(logs):
    """The last output of guests and traces, after a failed run."""
    for name in sorted(os.listdir(logs)):
        if name.endswith(".cpio"):
            continue
        with open(os.path.join(logs, name), encoding="utf-8", errors="replace") as f:
            print(f"--- end of {name}\n{f.read()[-LOG_CHARS:]}", flush=True)


def run_kernel(build, logs, kernel, first, names, changes, programs):
    """(result, line about it) of all tests on one kernel."""
    global LAB  # pylint: disable=global-statement
    LAB = Lab(build, logs, kernel, first, programs)
    if changes:
        LAB.keys = -(-changes // (2 * len(Tracepoints.TOGGLED)))
    cases = ([Doctor] if first else []) + [Counts, Faults, Patching, Resident, Tracepoints, Agent, Programs, End]
    loader = unittest.defaultTestLoader
    module = sys.modules["__main__"]
    suite = (loader.loadTestsFromNames(names, module) if names else
             unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases))
    result = LineResult()
    result.name = lambda test: f"{kernel} {LineResult.name(result, test)}"
    try:
        suite.run(result)
    finally:
        LAB.close()
    return result


def main():
    parser = argparse.ArgumentParser(description="stock Debian kernels in outsight-vmm")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--kernels", default="6.1,6.12")
    parser.add_argument("--lab", action="store_true", help="this is scripts/kvm-lab's host")
    parser.add_argument("--behind", action="store_true", help="none of these kernels is the first; what is of the host is "
                        "not tested")
    parser.add_argument("--changes", type=int, help="how often the guest changes static keys under traps")
    parser.add_argument("--programs", help="the archive of lib/programs.py, which needs a compiler")
    parser.add_argument("tests", nargs="*", help="Class.method, instead of all")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    failed = passed = 0
    Doctor.lab = args.lab
    for number, kernel in enumerate(args.kernels.split(",")):
        reason = why_no_guest(kernel)
        if reason:
            print(f"SKIP {kernel}: {reason}")
            continue
        with tempfile.TemporaryDirectory(prefix="outsight-kvm-lab-") as logs:
            result = run_kernel(build, logs, kernel, number == 0 and not args.behind, args.tests, args.changes,
                                args.programs)
            bad = len(result.failures) + len(result.errors)
            if bad:
                print_logs(logs)
        failed, passed = failed + bad, passed + result.passed
        print(f"NOTE L2 ran Linux {LAB.release} with {VCPUS} vCPUs; {LAB.hits} probe hits were made and counted"
              f"{', every count exact' if not bad else f'; {bad} tests FAILED'}", flush=True)
    if not args.tests and not args.behind:
        failed += run_small(build, [])
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
