#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The code that the kernel maps into each process: its functions have names, those that nm(1) gives, and a stack goes on
behind each of their instructions."""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.program_scenario import ProgramScenario
from lib.programs import symbols
from lib.scenario import main, only_full

CALLS = 50
FILE = "/tmp/vdso.so"
SAMPLE = 'profile-997hz /pid == $target/ { printf("at %x <", arg1); ustack(20); printf(">"); }'


class Vdso(ProgramScenario):
    aslr = True
    names = "timing"
    last_line = "^done$"

    def setUp(self):
        super().setUp()
        self.pid = self.start_idle(f"timing {CALLS} {FILE}")
        maps = self.vm.check(f"cat /proc/{self.pid}/maps")
        self.start, self.end = (int(word, 16) for word in re.search(r"(?m)^(\w+)-(\w+) .*\[vdso\]$", maps).groups())
        with tempfile.TemporaryDirectory(prefix="outsight-vdso-") as folder:
            path = os.path.join(folder, "vdso.so")
            with open(path, "wb") as out:
                out.write(self.vm.read_file(FILE))
            self.functions = symbols(path, "-D")

    def work_once(self, pid, name="a", signal="USR1"):
        self.vm.check(f"kill -{signal} {pid}")
        self.rounds[name] = self.rounds.get(name, 0) + 1
        self.wait_lines(self.last_line, self.rounds[name], name)

    def names_of(self, pc):
        """What the address may be called; none: it is in a function without a symbol."""
        at = pc - self.start
        return {f"[vdso]`{name}" + (f"+{at - start:#x}" if at > start else "")
                for start, size, name in self.functions if start <= at < start + size}

    def is_whole(self, stack, caller):
        """From the program's function on it goes up to _start."""
        plain = [frame.partition("+")[0] for frame in stack]
        return f"timing`{caller}" in plain and plain[-1] == "timing`_start"

    def test_call(self):
        """A system call that the vdso makes."""
        trace = self.outsight.trace(self.vm, 'syscall::clock_gettime:entry /pid == $target/ { printf("<"); ustack(20); '
                                             'printf(">"); }', "-p", str(self.pid))
        self.work_once(self.pid)
        trace.stop()
        stacks = [text.split() for text in re.findall("<([^>]*)>", trace.out)]
        self.assertEqual(len(stacks), CALLS, trace.story())
        for stack in stacks:
            self.assertRegex(stack[0], r"^\[vdso\]`(clock_gettime|sub_[0-9a-f]+)\+0x[0-9a-f]+$", trace.story())
            self.assertTrue(self.is_whole(stack, "by_call"), stack)

    def test_samples(self):
        """Wherever in it the program is interrupted, at its first instruction too."""
        trace = self.outsight.trace(self.vm, SAMPLE, "-p", str(self.pid))
        seen = set()
        entries = {start for start, _, _ in self.functions}
        while not seen & entries or len(seen) < 3:
            self.work_once(self.pid, signal="USR2")
            seen |= {int(pc, 16) - self.start for pc in re.findall(r"at (\w+) <", trace.out)}
        trace.stop()
        inside = 0
        for pc, text in re.findall(r"at (\w+) <([^>]*)>", trace.out):
            pc, stack = int(pc, 16), text.split()
            if not self.start <= pc < self.end:
                continue
            inside += 1
            if self.names_of(pc):
                self.assertIn(stack[0], self.names_of(pc), trace.story())
            else:
                self.assertRegex(stack[0], r"^\[vdso\]`sub_", trace.story())
            self.assertTrue(self.is_whole(stack, "by_vdso"), stack)
        self.assertGreater(inside, 2)

    @only_full
    def test_names(self):
        """usym(), umod() and ufunc() of an address in it."""
        trace = self.outsight.trace(self.vm, f"profile-997hz /pid == $target && arg1 >= {self.start:#x} && arg1 < {self.end:#x}/ "
                                             '{ printf("at %x <", arg1); umod(arg1); printf("|"); ufunc(arg1); printf("|"); '
                                             'usym(arg1); printf(">\\n"); }', "-p", str(self.pid))
        while ">" not in trace.out:
            self.work_once(self.pid, signal="USR2")
        trace.stop()
        for pc, text in re.findall(r"at (\w+) <([^>]*)>", trace.out):
            module, function, name = (word.strip() for word in text.split("|"))
            self.assertEqual((module, function), ("[vdso]", name), trace.story())
            right = {known.partition("+")[0] for known in self.names_of(int(pc, 16))}
            self.assertTrue(name in right if right else name.startswith("[vdso]`sub_"), trace.story())

    def test_no_probes(self):
        """It is no object of a process's: a pattern that its name matches means none of its functions."""
        status, out, err = self.outsight.run(self.vm, "-l", "-n", f"pid{self.pid}::clock_gettime:entry")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r" libc.so.6 ")
        self.assertNotIn("vdso", out)


if __name__ == "__main__":
    sys.exit(main())
