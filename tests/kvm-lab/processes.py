# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes in a guest's programs on KVM, counted against what the programs themselves say. The programs are those of
tests/linux/lib/programs.py, in a guest on a good KVM: in outsight-vmm, or in QEMU with the hook."""
import os
import random
import re
import time

from lib.outsight import numbers
from lib.program_scenario import UNTOUCHED, ProgramRounds, counts_by_word, run_untouched
from lib.programs import places
from lib.truth import TRACING

CALLS = 1000
NAMES = "counted probed sorting storm exe"
FILES = "/bin/counted /bin/probed /bin/storm /lib/x86_64-linux-gnu/libstorm.so /lib/x86_64-linux-gnu/libc.so.6"
GUARDED = "probed$target:::guarded"
CHILDREN = 40
LIBRARY = "/lib/x86_64-linux-gnu/libstorm.so"
MOVE = "echo 1 >/proc/sys/vm/compact_memory; echo 3 >/proc/sys/vm/drop_caches"
STORM = ('pid$target:a.out:turns:entry { @["turns"] = sum(1); } storm$target:::turn { @["turn"] = sum(1); } '
         'storm$target:::guarded { @["guarded"] = sum(1); } pid$target:a.out:work:entry { @["work"] = sum(1); }')
DEBUG_EXIT = 4  # KVM_EXIT_DEBUG
MISSED_MAX = 10  # of 1,000 hits, on a host that is said to miss some: emulated SVM has missed 2 at most


class Processes(ProgramRounds):
    """To be mixed into a test case with vm, archive (the programs'), traced(program, *options), and refused(*options), which
    returns what is said."""
    kills = 10

    def prepare(self):
        """All processes of a program have the same addresses: a register stops each of them. The kernel's log has a line of the
        first time that caches are dropped, and of no later one."""
        self.vm.check("echo 0 >/proc/sys/kernel/randomize_va_space; echo 4 >/proc/sys/vm/drop_caches")

    def tidy(self):
        self.vm.run(f"killall -q -9 {NAMES}; rm -f /tmp/said.*")

    def start(self, name="a"):
        return self.start_program(f"counted {CALLS}", name)

    def start_probed(self, name="a"):
        self.last_line = "^done$"
        return self.start_idle(f"probed {CALLS}", name)

    def work(self, pid, name="a"):
        """One more round of calls; how many the program has counted in all."""
        return int(re.findall(r"called (\d+)", self.work_once(pid, name))[-1])

    def semaphore(self, pid, name="a"):
        """What the program itself has in it, after one more round."""
        return int(re.findall(r"^semaphore (\d+)$", self.work_once(pid, name), re.M)[-1])

    def files(self):
        return self.vm.check(f"sha256sum {FILES}")

    def stopped(self, trace, found, true):
        """As many hits as there were, or a few less where the session says that this host misses some. Returns whether it is
        all of them."""
        few = MISSED_MAX if "hw_misses=yes" in trace.err else 0
        self.assertEqual([n if t - few <= n <= t else t for n, t in zip(found, true, strict=True)], found, trace.story())
        return found == true

    def test_entry(self):
        """Of two processes with a function at the same address only the named one is counted, and the files of both are
        as they were, meanwhile too."""
        one, other = self.start("one"), self.start("other")
        before = self.files()
        trace = self.traced("pid$target:counted:work:entry { @ = count(); @s = sum(1); } "
                            "pid$target:counted:work:entry /pid != $target/ { @wrong = count(); }", "-p", str(one))
        for _ in range(2):
            self.work(other, "other")
            self.work(one, "one")
        self.assertEqual(self.files(), before)
        trace.stop()
        self.stopped(trace, numbers(trace.out), [2 * CALLS] * 2)
        self.assertEqual(self.files(), before)

    def test_first_call(self):
        """The page of the function's first instruction is not in the process yet: its fault is no second hit."""
        self.vm.check("mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null; echo 4096 >/sys/kernel/debug/fault_around_bytes")
        one = self.start_idle(f"counted {CALLS}")
        trace = self.traced("pid$target:libc:getppid:entry { @ = sum(1); }", "-p", str(one))
        self.assertEqual(self.work(one), CALLS)
        trace.stop()
        self.stopped(trace, numbers(trace.out), [CALLS])

    def test_places(self):
        """Four places: a function's entry and return, an instruction, a library's function; and the kernel's probes beside
        them."""
        one = self.start()
        trace = self.traced('pid$target:a.out:work:entry,pid$target:a.out:work:return,pid$target:a.out:work:1,'
                            'pid$target:libc:getppid:entry { @[probefunc, probename] = sum(1); } '
                            'pid$target:a.out:work:return /arg1 > 116/ { @right = sum(1); } '
                            'syscall::getppid:entry,syscall::getppid:return /pid == $target/ { @kernel = sum(1); }',
                            "-p", str(one))
        self.work(one)
        trace.stop()
        rows = re.findall(r"^ +(\w+) +(\w+) +(\d+)$", trace.out, re.M)
        self.assertEqual(sorted(row[:2] for row in rows), [("getppid", "entry"), ("work", "1"), ("work", "entry"), ("work", "return")],
                         trace.story())
        self.stopped(trace, [int(row[2]) for row in rows], [CALLS] * 4)
        right, kernel = sorted(numbers(trace.out))
        self.stopped(trace, [right], [CALLS])
        self.assertEqual(kernel, 2 * CALLS, trace.story())

    def test_untouched(self):
        """The kernel's probes: what a new program passes to its system calls is in no page table yet."""
        n = 20
        trace = self.traced(UNTOUCHED)
        self.vm.check(run_untouched(n))
        trace.stop()
        self.assertEqual(counts_by_word(trace.out), {"/untouched/opened": n, "/untouched/executed": n, "0": n, "ended": n},
                         trace.story())

    def test_shared_registers(self):
        """With -x trap=hw the kernel's places are of the same four."""
        one = self.start()
        trace = self.traced("pid$target:a.out:work:entry { @a = sum(1); } "
                            "fbt::__x64_sys_getppid:entry,fbt::__x64_sys_getppid:return /pid == $target/ { @b = sum(1); }",
                            "-p", str(one), "-x", "trap=hw")
        self.work(one)
        trace.stop()
        self.stopped(trace, numbers(trace.out), [CALLS, 2 * CALLS])

    def test_too_many(self):
        """What needs more registers than there are is refused, with the limit and what to do."""
        one = self.start()
        for program in ("pid$target:libc:get*:entry", "pid$target:a.out:work:"):
            said = self.refused("-p", str(one), "-n", program)
            self.assertRegex(said, r"takes a debug register .*: there are 4, and the program has probes in \d+ places\. "
                                   "Name fewer functions; a guest under TCG has no such limit")

    def test_files(self):
        """user: is refused; what it says to do instead works."""
        one = self.start()
        said = self.refused("-n", "user:/bin/counted:work:entry { @ = count(); }")
        self.assertIn("the user provider needs a guest under TCG", said)
        instead = re.search(r"Name a process instead, for up to 4 places: pid123(:\S+:\w+:entry), or pid\$target with -p PID", said)
        self.assertTrue(instead, said)
        trace = self.traced(f"pid{one}{instead.group(1)} {{ @ = sum(1); }}")
        self.work(one)
        trace.stop()
        self.stopped(trace, numbers(trace.out), [CALLS])

    def test_arguments(self):
        """Registers, the stack's arguments, memory, and who calls."""
        one = self.start()
        trace = self.traced('pid$target:a.out:work:entry /arg1 == 17/ { printf("%s|%d %d %d %d|%s %s|", copyinstr(arg0), arg2, '
                            'arg5, arg6, arg7, execname, probemod); ufunc(uregs[R_PC]); printf("|"); usym(ucaller); }',
                            "-p", str(one))
        self.work(one)
        trace.stop()
        texts = [text.strip() for text in trace.out.split("tracing")[1].split("|")]
        self.assertEqual(texts, ["a text of the program", "3 6 7 8", "counted counted", "counted`work", "counted`main"],
                         trace.story())

    def test_stack(self):
        """A program without frame pointers, through the C library: as many frames as its own unwinder finds."""
        self.last_line = "^done$"
        one = self.start_program("sorting")
        trace = self.traced('pid$target:a.out:compare:entry { printf("<"); ustack(40); printf(">"); }', "-p", str(one))
        before = self.vm.check("cat /tmp/said.a").count("\n")
        said = self.work_once(one).splitlines()[before:]
        trace.stop()
        stacks = [text.split() for text in re.findall("<([^>]*)>", trace.out)]
        self.assertEqual([len(stack) for stack in stacks],
                         [len(line.split()) - 1 for line in said if line.startswith("compare")], trace.story())
        for stack in stacks:
            self.assertEqual(stack[0], "sorting`compare", trace.story())
            self.assertRegex(stack[-1], r"^sorting`_start\+0x\w+$", trace.story())

    def test_static(self):
        """Static probes with their arguments; one has a semaphore, which is raised in this process only."""
        one, other = self.start_probed("one"), self.start_probed("other")
        trace = self.traced(f"{GUARDED} {{ @n = sum(1); @s = sum(arg0); }} "
                            "probed$target:::registers { @r = sum(1); @t = sum(arg0); }", "-p", str(one))
        self.assertEqual((self.semaphore(one, "one"), self.semaphore(other, "other")), (1, 0))
        trace.stop()
        said = dict(re.findall(r"^(\w+) (\d+ -?\d+)", self.vm.check("cat /tmp/said.one"), re.M))
        found, true = numbers(trace.out), [int(n) for row in ("guarded", "registers") for n in said[row].split()]
        if self.stopped(trace, found[::2], true[::2]):
            self.assertEqual(found, true, trace.story())
        self.assertEqual((self.semaphore(one, "one"), self.semaphore(other, "other")), (0, 0))

    def test_stepped(self):
        """The guest's own uprobe, which has an instruction executed by a single step, while registers are in use."""
        one, other = self.start("one"), self.start("other")
        at = places(os.path.join(os.path.dirname(self.archive), "root", "bin", "counted"))["work"] + 1
        self.vm.check(f"echo 'p:stepped /bin/counted:{at:#x}' >{TRACING}/uprobe_events; "
                      f"echo 1 >{TRACING}/events/uprobes/stepped/enable")
        try:
            trace = self.traced("pid$target:libc:getppid:entry { @ = sum(1); }", "-p", str(one))
            self.assertEqual([self.work(one, "one"), self.work(other, "other")], [2 * CALLS] * 2)
            trace.stop()
        finally:
            self.vm.check(f"echo 0 >{TRACING}/events/uprobes/stepped/enable")
            hits = self.vm.check(f"cat {TRACING}/uprobe_profile")
            self.vm.check(f"echo >{TRACING}/uprobe_events; echo >{TRACING}/trace")
        self.stopped(trace, numbers(trace.out), [CALLS])
        self.assertRegex(hits, rf"stepped +{2 * CALLS}\b")

    def count_storm(self):
        """A process whose children call exec(), and load and unload a library, while the kernel moves pages: each of its own
        calls is counted, and none of its children's, which have the same functions at the same addresses. Says what was missed."""
        parent = self.start_idle(f"storm {CHILDREN} 5 {LIBRARY}", "counted")
        trace = self.traced(STORM, "-p", str(parent))
        mover = self.vm.check(f"while :; do {MOVE}; sleep 0.1; done >/dev/null 2>&1 & echo $!").strip()
        said = self.work_once(parent, "counted")
        self.vm.check(f"kill -9 {mover}")
        trace.stop()
        self.assertIn("wrong 0\nsemaphore 1\n", said)
        counts = counts_by_word(trace.out)
        self.assertEqual(set(counts), {"turns", "turn", "guarded"}, trace.story())
        self.stopped(trace, list(counts.values()), [CHILDREN] * 3)
        print(f"storm: {3 * CHILDREN - sum(counts.values())} of {3 * CHILDREN} calls missed", flush=True)

    def test_storm(self):
        """Of a storm of processes each call is counted, or those that are missed."""
        self.last_line = "^done$"
        self.count_storm()

    def test_storm_killed(self):
        """kill -9 of outsight in a storm that goes on until all is over: files and semaphore are as they were each time, no child
        suffers, and the next session counts."""
        self.last_line = "^done$"
        before = self.files()
        parent = self.start_idle(f"storm {1 << 30} 5 {LIBRARY}")
        self.vm.check(f"kill -USR1 {parent}")
        program = os.path.join(os.path.dirname(self.archive), "root", "bin", "storm")
        for _ in range(self.kills):
            trace = self.traced(STORM, "-p", str(parent))
            self.assertEqual(self.semaphore_in_memory(parent, program, "storm_semaphore"), 1, trace.story())
            time.sleep(random.uniform(0, 0.3))
            trace.kill()
            while self.semaphore_in_memory(parent, program, "storm_semaphore"):
                pass  # the engine notices at once, but this program may be faster
            self.vm.check(MOVE)
            self.assertEqual(self.files(), before)
        self.vm.check(f"kill -USR2 {parent}")
        self.wait_lines(self.last_line, 1, "a")
        self.assertRegex(self.vm.check("cat /tmp/said.a"), r"wrong 0\nsemaphore 0\ndone")
        self.count_storm()

    def stops(self, pid):
        """How often a debug register stops the guest in a round of the program: [] or [N]."""
        trace = self.traced(f"vm:::exit /arg0 == {DEBUG_EXIT}/ {{ @ = count(); }}")
        self.semaphore(pid)
        trace.stop()
        return numbers(trace.out)

    def test_killed(self):
        """kill -9 of outsight: the program runs on without a stop, its semaphore and its file are as they were."""
        one = self.start_probed()
        before = self.files()
        trace = self.traced(f"{GUARDED} {{ @ = count(); }}", "-p", str(one))
        stops = self.stops(one)
        trace.stop()
        self.stopped(trace, stops + numbers(trace.out), [CALLS] * 2)
        for kill in range(self.kills):
            trace = self.traced(f"{GUARDED}, pid$target:libc:getppid:entry {{ @ = count(); }}", "-p", str(one))
            if kill % 2:
                self.vm.check(f"kill -USR1 {one}")
                self.rounds["a"] = self.rounds.get("a", 0) + 1
                time.sleep(0.05)
            trace.kill()
            self.wait_lines(self.last_line, self.rounds.get("a", 0), "a")
            while self.semaphore(one):
                pass  # the engine notices at once, but this program may be faster
        self.assertEqual(self.stops(one), [])
        self.assertEqual(self.files(), before)
