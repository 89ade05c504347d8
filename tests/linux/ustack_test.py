#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of a program without frame pointers, as distributions build theirs: each frame is the one that the program's own
unwinder sees, through the C library, a signal's handler, and from within the kernel."""
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import LIMIT
from lib.program_scenario import StaticProbes
from lib.programs import debug_file, load_bias, places, symbols
from lib.scenario import main, only_full

FRAMES = 40
CALLS = 7  # of compare() that qsort() makes for the five numbers


class Stacks(StaticProbes):
    names = "sorting"

    def setUp(self):
        super().setUp()
        self.pid = self.start_program("sorting")
        maps = self.vm.check(f"cat /proc/{self.pid}/maps")
        libc = places(self.programs.libc, "-D")
        for debug in debug_file(self.programs.libc):
            libc.update(places(debug))
        self.objects = {"sorting": (load_bias(self.programs.sorting, maps, "sorting"), places(self.programs.sorting)),
                        "libc.so.6": (load_bias(self.programs.libc, maps, "libc.so.6"), libc)}

    def address(self, text):
        """What "object`symbol+0x12" stands for: sub_1234 begins at that address of the file."""
        name, symbol, behind = re.fullmatch(r"([^`]+)`([^+]+)(?:\+0x([0-9a-f]+))?", text).groups()
        bias, known = self.objects[name]
        unnamed = re.fullmatch("sub_([0-9a-f]+)", symbol)
        return bias + (int(unnamed.group(1), 16) if unnamed else known[symbol]) + int(behind or "0", 16)

    def start_of(self, function):
        return self.address(f"sorting`{function}")

    def stacks(self, *probes):
        """[[address]] of each of the probes, in one round; and of each line of the program: {"compare": [[address]]}."""
        clauses = [f'{probe} /pid == $target/ {{ printf("{n}<"); ustack({FRAMES}); printf(">"); }}'
                   for n, probe in enumerate(probes)]
        trace = self.outsight.trace(self.vm, " ".join(clauses), "-p", str(self.pid))
        before = self.vm.check("cat /tmp/said.a").count("\n")
        said = self.work_once(self.pid).splitlines()[before:]
        trace.stop()
        found = [[[self.address(line) for line in text.split()] for text in re.findall(rf"{n}<([^>]*)>", trace.out)]
                 for n in range(len(probes))]
        truth = {}
        for line in said:
            where, *addresses = line.split()
            truth.setdefault(where, []).append([int(word, 16) for word in addresses])
        return found, truth, trace.story()

    def test_callers(self):
        """At a function's first instruction, within it, in the kernel, and behind a signal: every caller up to _start."""
        (entry, within, signal, call), truth, story = self.stacks(
            "pid$target:a.out:compare:entry", "sorting$target:::compare", "sorting$target:::signal", "syscall::getppid:entry")
        callers = [stack[1:] for stack in truth["compare"]]
        self.assertGreater(len(callers), 3)
        self.assertGreater(min(len(stack) for stack in callers), 7)  # qsort() has frames of its own, main() three callers
        self.assertEqual([stack[1:] for stack in entry], callers, story)
        self.assertEqual([stack[0] for stack in entry], [self.start_of("compare")] * len(callers), story)
        self.assertEqual([stack[1:] for stack in within], callers, story)
        self.assertEqual([stack[2:] for stack in call], callers, story)
        self.assertEqual([stack[1:] for stack in signal], [stack[1:] for stack in truth["signal"]], story)
        for stack in truth["signal"]:
            self.assertIn(self.start_of("work"), map(self.function_of, stack))

    def function_of(self, address):
        """Where the program's function around an address begins; 0: it is in another file."""
        bias, _ = self.objects["sorting"]
        return next((bias + start for start, size, _ in symbols(self.programs.sorting)
                     if start <= address - bias < start + size), 0)

    @only_full
    def test_samples(self):
        """Wherever it is interrupted, in code of its own or of the C library, its stack goes up to _start."""
        busy = self.start_idle("sorting 4000", "busy")
        trace = self.outsight.trace(self.vm, f"profile-997hz /pid == $target/ {{ printf(\"<\"); ustack({FRAMES}); printf(\">\"); }}",
                                    "-p", str(busy))
        self.work_once(busy, "busy")
        trace.stop()
        stacks = [text.split() for text in re.findall("<([^>]*)>", trace.out) if text.strip()]
        whole = [stack for stack in stacks if re.fullmatch(r"sorting`_start\+0x\w+", stack[-1]) and "sorting`main" in stack[-4:][0]]
        # code that finds its frame by another register: the loader's, when a function is called for the first time
        loader = [stack for stack in stacks if stack and "`_dl_runtime_resolve" in stack[-1]]
        others = [stack for stack in stacks if stack not in whole + loader]
        self.assertGreater(len(whole), 100, trace.story())
        self.assertLessEqual(len(others), len(stacks) // 50, others)

    def test_all(self):
        """Of processes that no description names: one that is there has whole stacks at once, one that begins later, and one
        that another one forks, from the second round on. A kernel's probe and the profile."""
        trace = self.outsight.trace(self.vm, 'syscall::getppid:entry /execname == "sorting"/ { printf("%d: %d\\n", pid, ustackdepth); '
                                             '@[pid, ustack()] = count(); }')
        self.assertEqual(*self.depths(trace, self.pid, "a"), trace.story())
        later = self.start_idle("sorting fork", "later")
        self.wait_lines("^forked", 1, "later")
        child = int(re.search(r"(?m)^forked (\d+)$", self.vm.check("cat /tmp/said.later")).group(1))
        for pid in (later, child):
            found, said = self.depths(trace, pid, "later")
            self.assertLess(found[0], said[0], trace.story())  # no rules yet: by frame pointer
            while found != said:
                time.sleep(0.5)
                found, said = self.depths(trace, pid, "later")
        trace.stop()

    def depths(self, trace, pid, name):
        """Of the stacks of a program's next round: as they are traced, and as it says itself."""
        before = self.vm.check(f"cat /tmp/said.{name}").count("\n")
        seen = len(self.traced(trace, pid))
        lines = self.work_once(pid, name).splitlines()[before:]
        while len(self.traced(trace, pid)) < seen + CALLS:
            time.sleep(0.1)
        return self.traced(trace, pid)[seen:seen + CALLS], [len(line.split()) for line in lines if line.startswith("compare")]

    @staticmethod
    def traced(trace, pid):
        return [int(depth) for depth in re.findall(rf"^{pid}: (\d+)$", trace.out, re.M)]

    @only_full
    def test_caller(self):
        """ucaller and ustackdepth, which are of the same walk."""
        trace = self.outsight.trace(self.vm, 'sorting$target:::compare { printf("%d ", ustackdepth); usym(ucaller); }',
                                    "-p", str(self.pid))
        before = self.vm.check("cat /tmp/said.a").count("\n")
        said = [line.split()[1:] for line in self.work_once(self.pid).splitlines()[before:] if line.startswith("compare")]
        trace.stop()
        found = re.findall(r"(\d+) +(libc\.so\.6`\S+)", trace.out)
        self.assertEqual([int(depth) for depth, _ in found], [len(stack) for stack in said], trace.story())

    @only_full
    def test_later(self):
        """Programs that begin during the session: their rules come with their probes."""
        trace = self.outsight.trace(self.vm, 'sorting*:::compare { printf("%d: %d\\n", pid, ustackdepth); }')
        for name in ("one", "two"):
            pid = self.start_idle("sorting", name)
            while f"{pid}: " not in trace.out:
                self.work_once(pid, name)
                time.sleep(0.5)
            self.work_once(pid, name)
            said = [len(line.split()) - 1 for line in self.work_once(pid, name).splitlines() if line.startswith("compare")]
            end = time.monotonic() + LIMIT
            while self.traced(trace, pid)[-CALLS:] != said[-CALLS:] and time.monotonic() < end:
                time.sleep(0.1)  # of the round in which its probes came there may be a part
            self.assertEqual(self.traced(trace, pid)[-CALLS:], said[-CALLS:], trace.story())
        trace.stop()


if __name__ == "__main__":
    sys.exit(main())
