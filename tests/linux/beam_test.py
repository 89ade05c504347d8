#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""jstack(): the frames of Erlang's processes, against what Erlang says itself of their stacks (process_info), with --full; else
those of a stand-in, which says what it has put there."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.erlang import ErlangScenario
from lib.program_scenario import ProgramScenario
from lib.scenario import main, only_full

COMPLETE = 0.95
STACK = 'printf("<%s|", copyinstr(arg0)); jstack(80, 16384); printf(">END\\n");'
# Functions that are called from one place in turn: one that says the stack there, one that has the kernel or a probe see it on a
# normal scheduler, one on a dirty one, and one that compares for some seconds.
CALLS = """
erlang:system_flag(backtrace_depth, 80),
Say = fun(Who, S) -> io:format("~s", [Who]), [io:format("|~s:~s/~p~s", [M, F, A, case L of [{file, P}, {line, N}] ->
    io_lib:format(" (~s:~p)", [P, N]); _ -> "" end]) || {M, F, A, L} <- S], io:format("~n") end,
Keys = [{[X rem 977, X rem 31, X], X} || X <- lists:seq(1, KEYS)],
file:write_file("/tmp/a", "x"),
Calls = [{fun erlang:process_info/2, current_stacktrace, [self()]}, {fun erlang:spawn_opt/2, [], [fun() -> ok end]},
    {fun prim_file:rename/2, "/tmp/b", ["/tmp/a"]}, {fun lists:keysort/2, Keys, [1]}],
io:format("ready~n"),
Wait(),
[{_, Truth} | _] = [lists:foldl(F, A, L) || {F, A, L} <- Calls],
Say("truth", Truth),
io:format("done~n")
"""
# A process that waits for a message in a few functions of others.
WAITING = """
Say = fun(Who, S) -> io:format("~p", [Who]), [io:format("|~s:~s/~p~s", [M, F, A, case L of [{file, P}, {line, N}] ->
    io_lib:format(" (~s:~p)", [P, N]); _ -> "" end]) || {M, F, A, L} <- S], io:format("~n") end,
erlang:system_flag(backtrace_depth, 80),
Waiter = spawn(fun() -> lists:foldl(fun(_, _) -> lists:map(fun(_) -> receive X -> X end end, [1, 2, 3]) end, 0, [1]) end),
io:format("ready~n"),
Wait(),
[begin timer:sleep(100), {_, S} = process_info(Waiter, current_stacktrace), Say(Waiter, S), Waiter ! X end || X <- [1, 2]],
timer:sleep(100),
io:format("done~n")
"""


def program_frames(stack):
    """The frames of the program in a stack as it is printed."""
    return re.findall(r"(?m)^ +(?:\[ )?([^\s`]+:\S+/\d+(?: \(\S+:\d+\))?)(?: \])?$", stack)


def truths(said, who):
    """The stacks that the program has said under that name."""
    return [line.split("|")[1:] for line in said.splitlines() if line.startswith(f"{who}|")]


def without(frames, *modules):
    """… from the first one on that is of none of these modules."""
    while frames and frames[0].partition(":")[0] in modules:
        frames = frames[1:]
    return frames


class StandIn(ProgramScenario):
    aslr = True
    last_line = "^done$"
    names = "beam"

    def stacks(self, description, where):
        """What the program says of a place, and the stacks that a probe there has printed."""
        pid = self.start_idle("beam")
        trace = self.outsight.trace(self.vm, f'{description} {{ printf("<"); jstack(60, 4096); printf(">END\\n"); }}', "-p", str(pid))
        said = self.work_once(pid)
        trace.stop()
        truth, = truths(said, where)
        return truth, re.findall(r"(?s)<(.*?)>END", trace.out), trace

    def test_saved(self):
        """At a system call, in a function that has saved the interpreter's registers: beneath the interpreter."""
        truth, stacks, trace = self.stacks("syscall::write:entry /pid == $target/", "saving")
        found = [stack for stack in stacks if "`saving+" in stack]
        self.assertEqual([program_frames(stack) for stack in found], [truth], trace.story())
        self.assertRegex(found[0], r"`saving\+.*\n.*`process_main\+.*\n +\[ standin:leaf/0 \(s\.erl:20\) \]\n")
        for stack in stacks:  # no scheduler interprets
            if stack not in found:
                self.assertEqual(program_frames(stack), [], trace.story())

    def test_registers(self):
        """In a function that has left them where they were."""
        truth, stacks, trace = self.stacks("pid$target:beam:quiet:entry", "quiet")
        self.assertEqual([program_frames(stack) for stack in stacks], [truth], trace.story())


class Erlang(ErlangScenario):
    def trace_stacks(self, pid, *probes):
        clauses = " ".join(f"{probe} {{ {STACK} }}" for probe in probes)
        return self.outsight.trace(self.vm, clauses, "-p", str(pid))

    @staticmethod
    def found(trace):
        """[(what arg0 is, the program's frames)] of each stack."""
        return [(who, program_frames(stack)) for who, stack in re.findall(r"(?s)<(\S*?)\|\n(.*?)>END", trace.out)]

    @only_full
    def test_calls(self):
        """Deep in the emulator at one of its probes, and in a system call of a dirty scheduler: the stack that Erlang says of that
        place."""
        pid = self.start(CALLS.replace("KEYS", "10"))
        trace = self.outsight.trace(
            self.vm, 'erlang$target:::process-spawn { printf("<spawn|"); jstack(80, 16384); printf(">END\\n"); } '
                     'syscall::rename:entry /pid == $target/ { printf("<rename|"); jstack(80, 16384); printf(">END\\n"); }',
            "-p", str(pid))
        truth, = truths(self.go(), "truth")
        trace.stop()
        self.assertGreater(len(truth), 5)
        self.assertEqual(truth[0].partition(" ")[0], "lists:foldl/3")
        found = self.found(trace)
        spawned = [without(frames, "erlang", "erts_internal") for who, frames in found if who == "spawn"]
        renamed = [without(frames, "prim_file") for who, frames in found if who == "rename"]
        self.assertEqual(spawned, [truth], trace.story())
        self.assertEqual(renamed, [truth], trace.story())

    @only_full
    def test_waiting(self):
        """A process that is given the scheduler again: the stack that it had while it waited."""
        pid = self.start(WAITING)
        trace = self.trace_stacks(pid, "erlang$target:::process-scheduled")
        said = self.go()
        trace.stop()
        waiter = re.search(r"(?m)^(<[0-9.]+>)\|", said).group(1)
        truth = truths(said, waiter)
        self.assertEqual(len(truth), 2)
        stacks = [frames for who, frames in self.found(trace) if who == waiter]
        for frames in truth:
            self.assertIn(frames, stacks, trace.story())
        for frames in stacks:  # it may have been interrupted elsewhere, too
            if frames[:1] == truth[0][:1]:
                self.assertIn(frames, truth, trace.story())

    @only_full
    def test_calls_of_functions(self):
        """At each call within a module the innermost frame is of the function that is called; where the interpreter has a function
        of its own for the call of a fun (call_fun), that is still to come."""
        pid = self.start(CALLS.replace("KEYS", "10"))
        trace = self.outsight.trace(
            self.vm, 'erlang$target:::local-function-entry { printf("<%s|", copyinstr(arg1)); jstack(3, 512); printf(">END\\n"); }',
            "-p", str(pid))
        self.go()
        trace.stop()
        stacks = re.findall(r"(?s)<(\S*?)\|\n(.*?)>END", trace.out)
        called = [(who.replace("'", ""), program_frames(stack)) for who, stack in stacks if re.match(r"\s+beam\.smp`process_main\+", stack)]
        funs = [program_frames(stack) for _, stack in stacks if "`call_fun+" in stack]
        self.assertGreater(len(called), 100, trace.story())
        self.assertEqual([(who, frames) for who, frames in called if not frames or frames[0].partition(" ")[0] != who][:5], [])
        self.assertEqual((len(called) + len(funs), [frames for frames in funs if not frames]), (len(stacks), []))

    @only_full
    def test_samples(self):
        """Wherever it is while it sorts, its comparisons and collections of garbage included: its callers."""
        pid = self.start(CALLS.replace("KEYS", "60000"))
        trace = self.outsight.trace(self.vm, "profile-499hz /pid == $target/ { @[jstack(80, 16384)] = count(); }", "-p", str(pid))
        truth, = truths(self.go(), "truth")
        trace.stop()
        callers = without(truth, "lists")
        rows = [(stack, program_frames(stack), int(n)) for stack, n in re.findall(r"(?m)((?:^ +\S.*\n)+?) +(\d+)$", trace.out)]
        sorting = [(frames, n) for _, frames, n in rows if any(frame.startswith("lists:key") for frame in frames)]
        total = sum(n for _, n in sorting)
        right = sum(n for frames, n in sorting if frames[-len(callers):] == callers)
        interpreting = [(frames, n) for stack, frames, n in rows if "process_main+" in stack and "`erts_schedule+" not in stack]
        none = sum(n for frames, n in interpreting if not frames)
        print(f"{right} of {total} samples that sort are complete; {none} of {sum(n for _, n in interpreting)} that interpret have no frames",
              flush=True)
        self.assertGreater(total, 50, trace.story())
        self.assertGreaterEqual(right, COMPLETE * total, trace.story())


if __name__ == "__main__":
    sys.exit(main())
