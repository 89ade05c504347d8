#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""jstack(): the frames of a Python program with file, line and function, against what the program finds itself at that moment
(sys._getframe(), faulthandler) and what its interpreter's own probes say."""
import os
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.program_scenario import ProgramScenario
from lib.scenario import main, only_full

CALLS = ("leaf", "recursive", "wide", "key", "generator", "coroutine", "handler", "comprehension", "text", "long", "thread")
HERE = os.path.dirname(os.path.abspath(__file__))
EVAL = "`_PyEval_EvalFrameDefault+"


def program_frames(stack):
    """The frames of the program in a stack as it is printed: beneath those that interpret them, or behind the last one if
    the walk has ended before."""
    return re.findall(r"(?m)^ +(?:\[ )?(\S+:\d+ \(\S+\))(?: \])?$", stack)


def place(file, function, text):
    """The one line of a file that has a text, as a frame."""
    with open(os.path.join(HERE, "user", file), encoding="utf-8") as f:
        line, = [n for n, line in enumerate(f, 1) if text in line]
    return f"/bin/{file}:{line} ({function})"


class Frames(ProgramScenario):
    aslr = True
    last_line = "^done$"
    names = "python3"

    def setUp(self):
        super().setUp()
        if not self.programs.python:
            self.skipTest("this host's Python has no static probes")

    def start(self, *words):
        return self.start_idle(f"/usr/bin/python3 -IS /bin/framed.py {' '.join(words)}")

    def stacks(self, trace, pid):
        """[what each "<…>" holds] of one more round, and what the program said in it."""
        said = self.work_once(pid)
        trace.stop()
        return re.findall("<([^>]*(?:<(?:module|listcomp|lambda)>[^>]*)*)>END", trace.out), said

    def test_system_calls(self):
        """At a system call, in every way that functions call each other, in two files and several threads."""
        pid = self.start()
        trace = self.outsight.trace(self.vm, 'syscall::write:entry /pid == $target/ { printf("<"); jstack(100, 8192); '
                                             'printf(">END\\n"); }', "-p", str(pid))
        stacks, said = self.stacks(trace, pid)
        truth = [line.split("|") for line in said.splitlines() if "|" in line]
        self.assertEqual({name for name, *_ in truth}, set(CALLS))
        written = [frames for frames in map(program_frames, stacks) if " (report)" not in frames[0]]
        self.assertEqual(written[:-1], [frames for _, *frames in truth], trace.story())  # the last one says "done"
        self.check_report(stacks, said)
        for stack in stacks:
            self.check_places(stack)

    def check_report(self, stacks, said):
        """At each write of faulthandler's own: the stack that it prints."""
        truth = [f"{file}:{line} ({function})" for file, line, function in
                 re.findall(r'(?m)^  File "(.+)", line (\d+) in (\S+)$', said)]
        self.assertGreater(len(truth), 2)
        reports = [frames for frames in map(program_frames, stacks) if " (report)" in frames[0]]
        self.assertGreater(len(reports), 2)
        for frames in reports:
            self.assertEqual(frames, truth)

    def check_places(self, stack):
        """Frames of the program are below the function that interprets them, and each such function has some."""
        lines = [line.strip() for line in stack.splitlines() if line.strip()]
        for before, line in zip(lines, lines[1:]):
            self.assertEqual(line.startswith("[ "), EVAL in before or (before.startswith("[ ") and line.startswith("[ ")), stack)

    @only_full
    def test_returns(self):
        """At a probe of the interpreter's own: the frame that it names, in each."""
        pid = self.start()
        trace = self.outsight.trace(self.vm, 'python$target:::function-return { printf("%s:%d (%s)<", copyinstr(arg0), arg2, '
                                             'copyinstr(arg1)); jstack(100, 8192); printf(">END\\n"); }', "-p", str(pid))
        self.work_once(pid)
        trace.stop()
        found = re.findall(r"(?m)^(.+)<\n([^>]*?(?:<(?:module|listcomp|lambda)>[^>]*?)*)>END$", trace.out)
        self.assertGreater(len(found), 50, trace.story())
        for name, stack in found:
            self.assertEqual(program_frames(stack)[0], name, stack)
            self.assertIn(" (<module>)" if "in_thread" not in stack else " (in_thread)", program_frames(stack)[-1])

    @only_full
    def test_samples(self):
        """Wherever it is: its callers' lines, and in which line it can be."""
        pid = self.start("40")
        trace = self.outsight.trace(self.vm, 'profile-997hz /pid == $target/ { @[jstack(100, 4096)] = count(); }', "-p", str(pid))
        self.work_once(pid)
        trace.stop()
        rows = re.findall(r"(?m)((?:^ +\S.*\n)+?) +(\d+)$", trace.out)
        module = place("framed.py", "<module>", "compute(int(")
        allowed = {("busy", place("framed.py", "compute", "busy(")), ("negative", place("framed.py", "compute", "sorted(range"))}
        counts, others, short = {}, [], 0
        for stack, count in rows:
            *called, caller, outermost = ["", ""] + program_frames(stack)
            name = re.sub(r".*\((\S+)\)$", r"\1", called[-1]) if called else ""
            if len(called) > 3 or name and ((name, caller) not in allowed or outermost != module):
                others.append(stack)
            counts[name] = counts.get(name, 0) + int(count)
            short += 0 if outermost else int(count)  # before the rules have come
        self.assertGreater(min(counts.get(name, 0) for name in ("busy", "negative")), 0, counts)
        self.assertEqual(others, [], trace.story())
        self.assertLessEqual(short, sum(counts.values()) // 20, trace.story())

    def test_by_name(self):
        """A process that no option names, and which the session meets; as folded stacks too."""
        pid = self.start()
        program = 'syscall::write:entry /execname == "python3"/ { @[jstack(100, 8192)] = count(); }'
        begun = 'BEGIN { printf("tracing"); } '  # without a stack, which folded stacks leave out, and say so
        traces = [self.outsight.trace(self.vm, program),
                  self.outsight.start(self.vm, "-x", "oformat=folded", "-n", begun + program).wait_for("leaves out")]
        said = self.work_once(pid)
        for trace in traces:
            trace.stop()
        truth = {tuple(frames) for _, *frames in (line.split("|") for line in said.splitlines() if "|" in line)}
        rows = re.findall(r"(?m)((?:^ +\S.*\n)+?) +\d+$", traces[0].out)
        self.assertLessEqual(truth, {tuple(program_frames(stack)) for stack in rows}, traces[0].story())
        lines = [line.rpartition(" ")[0].split(";") for line in traces[1].lines if ";" in line]
        folded = {tuple(frame for frame in reversed(line) if re.fullmatch(r"\S+:\d+ \(\S+\)", frame)) for line in lines}
        self.assertLessEqual(truth, folded, traces[1].story())
        self.assertFalse([line for line in lines if any(EVAL[:-1] in frame for frame in line)])  # what it interprets stands for it

    @only_full
    def test_small(self):
        """A table without room for all texts: whole ones only, and it is said."""
        pid = self.start()
        trace = self.outsight.trace(self.vm, 'syscall::write:entry /pid == $target/ { printf("<"); jstack(100, 64); '
                                             'printf(">END\\n"); }', "-p", str(pid))
        said = self.work_once(pid)
        trace.interrupt().finish()
        self.assertRegex(trace.err, r"jstack\(\)/ustack\(\) string table overflow")
        truth = {frame for line in said.splitlines() for frame in line.split("|")}
        truth |= {place("framed.py", "report", "dump_traceback(1"), place("framed.py", "work", "    report()"),
                  place("framed.py", "<module>", 'b"done')}
        frames = program_frames(trace.out)
        self.assertGreater(len(frames), len(CALLS))
        self.assertLessEqual(set(frames), truth)


if __name__ == "__main__":
    sys.exit(main())
