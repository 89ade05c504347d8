# SPDX-License-Identifier: GPL-2.0-or-later
"""Resident probes in a stock Debian guest on KVM: code of ours in the guest's own path counts and tests in place of exits.
In the lab it is forced, should its instructions be slow beside the rest; what it counts is exact on any host."""
import random
import re
import time

from lib.outsight import LIMIT, keyed, numbers

PATCH_SECONDS = 900
# What a kernel says of a stack, an interrupt or code that is not as it should be.
WRONG = re.compile(r"WARNING|BUG|Oops|unwind|stack guard|unknown reason|general protection|invalid opcode|lockup")


class ResidentCode:
    """For a unittest.TestCase of lab_test.py's."""

    def said(self, trace):
        """(places, exits among them, traps) as the session said."""
        match = re.search(r"resident probes: (\d+) places(?:, \d+ of which write records)?(?:, (\d+) of which exit[^;\n]*)?"
                          r"(?:; (\d+) places are trapped)?", trace.story())
        self.assertTrue(match, trace.story())
        return tuple(int(n or 0) for n in match.groups())

    def getppid(self, program, said, meanwhile=None, calls=10000):
        job = self.guest.spawn(f"getppid_loop 4 {calls} wait")
        job.wait_output("waiting")
        trace = self.traced(program, "-x", "inject=force")
        job.send("go")
        if meanwhile:
            meanwhile()
        self.assertRegex(job.done(), rf"(?m)^calls {4 * calls} parent \d+$") # no answer was wrong
        trace.stop()
        self.assertEqual(self.said(trace), said, trace.story())
        return trace

    def test_counts(self):
        trace = self.getppid('fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ { @n = count(); @s = sum(pid > 1); } '
                             'fbt::__x64_sys_getppid:entry /execname == "nobody"/ { @x = count(); }', (1, 0, 0))
        self.counted(numbers(trace.out), [40000] * 2, trace.story())

    def test_filter(self):
        """What is not done in place exits where the predicate holds."""
        trace = self.getppid('fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ { @[execname, ppid] = count(); }', (1, 1, 0))
        self.counted([int(trace.out.split()[-1])], [40000], trace.story())

    def test_keys(self):
        """By name, by thread and by an argument of all system calls: what the table has needs no exit."""
        trace = self.getppid('fbt::__x64_sys_getppid:entry { @[execname] = count(); }', (1, 1, 0))
        self.counted([keyed(trace.out).get("getppid_loop")], [40000], trace.story())
        trace = self.getppid('fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ { @[tid] = sum(pid > 1); }', (1, 1, 0))
        counts = [int(n) for n in re.findall(r"^ +\d+ +(\d+)$", trace.out, re.M)]
        self.counted(counts, [10000] * 4, trace.story())

    def test_keys_of_several_elements(self):
        """Name, thread and function; counts and a distribution of two clauses by them."""
        trace = self.getppid('fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ '
                             '{ @n[execname, tid] = count(); @m[execname, tid] = max(pid > 1); } '
                             'fbt::__x64_sys_getppid:entry /tid/ { @s[execname, tid] = sum(2 * (pid > 1)); }', (1, 1, 0))
        rows = re.findall(r"^ +getppid_loop +(\d+) +(\d+)$", trace.out, re.M)
        self.assertEqual(len({tid for tid, _ in rows}), 4, trace.story())
        self.counted(sorted(int(n) for _, n in rows), [1] * 4 + [10000] * 4 + [20000] * 4, trace.story())
        trace = self.getppid('fbt::__x64_sys_getppid:entry { @[probefunc, execname] = count(); }', (1, 1, 0))
        found = re.search(r"__x64_sys_getppid +getppid_loop +(\d+)$", trace.out, re.M)
        self.assertTrue(found, trace.story())
        self.counted([int(found[1])], [40000], trace.story())

    # Entries, returns and results of the system call, each four times as often as a thread calls it.
    BOTH_ENDS = ('fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ { @e = count(); } '
                 'fbt::__x64_sys_getppid:return /execname == "getppid_loop"/ { @r = count(); @s = sum(arg1 > 0); }')

    def both_ends(self, meanwhile=None, calls=10000):
        trace = self.getppid(self.BOTH_ENDS, (2, 0, 0), meanwhile, calls)
        self.counted(numbers(trace.out), [4 * calls] * 3, trace.story())

    def test_returns(self):
        """Each return, with what is returned."""
        self.both_ends()
        trace = self.getppid('fbt::__x64_sys_getppid:return /execname == "getppid_loop"/ { @[arg1, arg0 > 0] = count(); }',
                             (1, 1, 0))
        found = re.search(r"^ +\d+ +1 +(\d+)$", trace.out, re.M)
        self.assertTrue(found, trace.story())
        self.counted([int(found[1])], [40000], trace.story())

    def test_returns_of_many_functions(self):
        """Those of a few thousand functions, in and out under load; tail calls stay traps."""
        before = self.quiet_text()
        for _ in range(2):
            job = self.guest.spawn("getppid_loop 4 1000 wait")
            job.wait_output("waiting")
            trace = self.traced('fbt::s*:return,fbt::__x64_sys_getppid:return /execname == "getppid_loop"/ '
                                '{ @[probefunc] = count(); }', "-x", "inject=force")
            job.send("go")
            job.wait_end()
            trace.stop()
            places, exits, traps = self.said(trace)
            self.assertGreater(places, 3000, trace.story())
            self.assertLess(traps, places, trace.story())
            self.assertEqual(exits, 0, trace.story())
            self.counted([keyed(trace.out).get("__x64_sys_getppid")], [4000], trace.story())
            self.assertEqual(self.text(), before)

    def test_non_maskable_interrupts(self):
        """NMIs, by which the guest's CPUs are asked for their stacks, while the system call goes through trampolines: the
        unwinder has nothing to say against any of them."""
        stacks = "i=0; while [ $i -lt 20 ]; do echo l >/proc/sysrq-trigger; i=$((i+1)); done"
        self.both_ends(lambda: self.guest.check(stacks, LIMIT))
        lines = self.lab.new_lines()
        self.assertTrue(any("NMI backtrace for cpu" in line for line in lines), lines)
        self.assertEqual([line for line in lines if WRONG.search(line)], [])

    def test_sampled(self):
        """10,000 samples a second of each CPU, with the callers that the kernel's unwinder finds."""
        if not self.lab.programs:
            self.skipTest("its programs are not built (run.py does)")
        sampler = self.guest.spawn("sampled 10000 60")
        sampler.wait_output("sampling")
        self.both_ends()
        found = re.search(r"samples (\d+) frames (\d+)", sampler.done())
        self.assertTrue(found)
        self.assertGreater(int(found[1]), 100)
        self.assertGreater(int(found[2]), int(found[1]))

    def test_function_graph(self):
        """The guest's own tracer of entries and returns on the same function, turned on and off between calls: while it is on,
        the entry is trapped, and the return, whose address on the stack it has exchanged, is not."""
        tracing = "/sys/kernel/tracing"
        self.guest.check(f"echo '*_sys_getppid' >{tracing}/set_ftrace_filter")
        trace = self.traced(self.BOTH_ENDS, "-x", "inject=force")
        for tracer in ("nop", "function_graph", "nop", "function_graph", "nop"):
            self.guest.check(f"echo {tracer} >{tracing}/current_tracer")
            self.guest.check("getppid_loop 2 500")
        trace.stop()
        self.guest.check(f"echo >{tracing}/set_ftrace_filter")
        self.counted(numbers(trace.out), [5000] * 3, trace.story())
        self.assertEqual(self.said(trace), (2, 0, 0), trace.story())

    def booted(self, options, log):
        """A guest with more on its command line, which its log tells."""
        self.guest = self.lab.guest(options)
        self.assertRegex(self.guest.check("dmesg"), log)
        before = self.quiet_text()
        self.both_ends(calls=2500)
        self.assertEqual(self.text(), before)

    def test_preempt_full(self):
        """A kernel that preempts tasks in trampolines too."""
        self.booted("preempt=full", r"Dynamic Preempt: full")

    def test_page_table_isolation(self):
        self.booted("pti=on", r"page tables isolation: enabled|page table isolation: enabled")

    def test_no_page_table_isolation(self):
        self.booted("nopti", r"Command line: .*nopti")

    def test_five_levels(self):
        """Page tables of five levels, if the virtual CPU has them: all tests here then have them."""
        if "la57" not in self.guest.check("cat /proc/cpuinfo").split():
            self.skipTest("the virtual CPU has no la57")
        self.both_ends(calls=500)

    def test_tables_of_many_functions(self):
        """A table for each function, until there is no room: the others exit where the predicate holds, as without one."""
        before = self.quiet_text()
        trace = self.traced('fbt::s*:entry,fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ '
                            '{ @[probefunc, execname] = count(); }', "-x", "inject=force")
        self.guest.check("getppid_loop 4 1000")
        trace.stop()
        places, exits, _ = self.said(trace)
        self.assertEqual(places, exits, trace.story())
        self.assertGreater(places, 2000, trace.story())
        found = re.search(r"__x64_sys_getppid +getppid_loop +(\d+)$", trace.out, re.M)
        self.assertTrue(found, trace.story())
        self.counted([int(found[1])], [4000], trace.story())
        self.assertEqual(self.text(), before)

    def test_records(self):
        """By four keys, each hit by its record; and what a clause prints of the task, at a pace that the rings follow."""
        trace = self.getppid('fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ { @[execname, tid, pid > 1, cpu < 0] = count(); }',
                            (1, 0, 0))
        self.assertIn("1 of which write records", trace.story())
        lost = sum(int(n) for n in re.findall(r"(\d+) records? of resident probes lost", trace.story()))
        counts = [int(n) for n in re.findall(r"^ +getppid_loop +\d+ +1 +0 +(\d+)$", trace.out, re.M)]
        self.assertEqual(len(counts), 4, trace.story())
        self.counted([sum(counts) + lost], [40000], trace.story())
        job = self.guest.spawn("getppid_loop 1 500 wait")
        job.wait_output("waiting")
        trace = self.traced('fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ { printf("%s %d %d %d\\n", execname, pid, ipl, '
                            'timestamp); }', "-x", "inject=force")
        job.send("go")
        job.wait_end()
        trace.stop()
        self.assertEqual(self.said(trace), (1, 0, 0), trace.story())
        rows = re.findall(r"^getppid_loop (\d+) 0 (\d+)$", trace.out, re.M)
        self.counted([len(rows)], [500], trace.story())
        self.assertEqual(len({pid for pid, _ in rows}), 1, trace.story())
        self.assertEqual([int(t) for _, t in rows], sorted(int(t) for _, t in rows), trace.story())

    def test_all_functions(self):
        """A trampoline for each function that has the nop, while four threads make known calls; then none."""
        before = self.quiet_text()
        job = self.guest.spawn("getppid_loop 4 10000 wait")
        job.wait_output("waiting")
        trace = self.traced('fbt:::entry /execname == "getppid_loop"/ { @[probefunc] = count(); }', "-x", "inject=force")
        job.send("go")
        job.wait_end()
        trace.stop()
        places, exits, _ = self.said(trace)
        self.assertGreater(places, 20000, trace.story())
        self.assertEqual(exits, 0, trace.story())
        self.counted([keyed(trace.out).get("__x64_sys_getppid")], [40000], trace.story())
        self.assertEqual(self.text(), before)

    def test_room(self):
        """Four sessions need more room than there is: it is given back between them, and all of them count."""
        for _ in range(4):
            job = self.guest.spawn("getppid_loop 4 200 wait")
            job.wait_output("waiting")
            trace = self.traced("fbt:::entry { @[probefunc] = count(); }", "-x", "inject=force")
            job.send("go")
            job.wait_end()
            trace.stop()
            self.assertGreater(self.said(trace)[0], 20000, trace.story())
            self.assertGreaterEqual(keyed(trace.out).get("__x64_sys_getppid", 0), 800, trace.story())

    def test_guest_patches_its_own_text(self):
        """Function tracer, kprobes and static keys on and off at a function that leads to ours: counts stay exact."""
        rounds, calls = self.lab.self_patches // 4, 20
        trace = self.traced('fbt::__x64_sys_getppid:entry /execname == "selfpatch"/ { @e = count(); } '
                            'fbt::__x64_sys_getppid:return /execname == "selfpatch"/ { @r = sum(arg1 > 0); } '
                            'fbt::try_to_wake_up:entry,fbt::schedule:entry,fbt::enqueue_task*:entry { @[probefunc] = count(); }',
                            "-x", "inject=force")
        out = self.guest.check(f"selfpatch {rounds} {calls}", PATCH_SECONDS)
        trace.stop()
        self.assertGreater(self.said(trace)[0], 3, trace.story())
        total = rounds * calls
        self.assertEqual(out.split(), f"calls {total} function {total} kprobe {total} behind {total} return {total} "
                                      f"event {total}".split(), trace.story())
        self.counted(numbers(trace.out), [3 * total] * 2, trace.story())

    def test_killed(self):
        """kill -9 of outsight under load: no jump stays."""
        before = self.quiet_text()
        job = self.guest.spawn("while :; do getppid_loop 4 20000 || break; done")
        for _ in range(self.lab.kills):
            trace = self.traced("fbt::__x64_sys_*:entry,fbt::schedule:entry,fbt::hrtimer_interrupt:entry { @[probefunc] = count(); }",
                                "-x", "inject=force")
            time.sleep(random.random())
            trace.kill()
        self.assertNotIn("wrong", job.output())
        self.guest.check("kill -9 -1 2>/dev/null; true")  # but for init
        self.assertEqual(self.quiet_text(), before)
