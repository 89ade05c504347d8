#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts for the static probes of languages' runtimes, as they were printed: Erlang's, Clozure CL's, Java's, Python's. The first
three are stand-ins with the same notes, which print each event that they pass: every line of a script is compared with these. So is
one for probes that a program makes as it runs."""
import os
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.program_scenario import StaticProbes
from lib.scenario import main, only_full

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runtimes")


class Runtimes(StaticProbes):
    names = "erlang ccl java made python3"
    times = 300  # whose lines are all printed

    def script(self, name, *words, begins):
        """A script of the folder, as dtrace(1) is given it, once it has printed what it begins with."""
        path = os.path.join(FOLDER, f"{name}.d")
        return self.outsight.start(self.vm, "-x", "switchrate=20hz", "-s", path, *words).wait_for(begins)

    def events(self, pid, name="a"):
        """One more round; what the program says to have done in it: [[event, value …]]."""
        before = self.vm.check(f"cat /tmp/said.{name}").count("\n")
        lines = self.work_once(pid, name).splitlines()[before:]
        return [line.split("|") for line in lines if "|" in line]

    def lines(self, trace):
        """What it has printed, without drops."""
        trace.stop()
        self.assertEqual(trace.err, "")
        return [line for line in trace.lines if line and line != "tracing"]

    def printed(self, events, forms):
        """Each event as a script prints it, by its format."""
        return [forms[event] % tuple(values) for event, *values in events if event in forms]

    def compare(self, pid, program, forms, *options):
        """Every line that a program in D prints of a round, in their order."""
        trace = self.outsight.trace(self.vm, program, *options)
        events = self.events(pid)
        expected = self.printed(events, forms)
        self.assertGreater(len(expected), self.times // 2)
        self.assertEqual(self.lines(trace), expected)

    # --- Erlang --------------------------------------------------------------------------------------

    @only_full
    def test_spawn_exit(self):
        """Each process that begins, ends, and is told so."""
        one = self.start(program="erlang")
        trace = self.script("spawn-exit", "-q", "-n", 'BEGIN { printf("tracing\\n"); }', begins="tracing")
        events = self.events(one)
        self.assertEqual(self.lines(trace), self.printed(events, {
            "process-spawn": "pid %s mfa %s", "process-exit": "pid %s reason %s",
            "process-exit_signal": "sender %s -> pid %s reason %s"}))
        self.assertEqual(sum(event[0] == "process-spawn" for event in events), self.times)
        self.assertIn("\nwanted 3\n", self.vm.check("cat /tmp/said.a"))
        self.assertIn("\nwanted 0\n", self.work_once(one))

    @only_full
    def test_virtual_machines(self):
        """One script, two emulators: the lines of both, and which PID each has."""
        pids = {name: self.start(name, program="erlang") for name in ("one", "two")}
        trace = self.outsight.trace(self.vm, 'erlang*:::process-spawn { printf("%d %s\\n", pid, copyinstr(arg0)); }')
        expected = [f"{pid} {event[1]}" for name, pid in pids.items() for event in self.events(pid, name)
                    if event[0] == "process-spawn"]
        self.assertEqual(self.lines(trace), expected)

    @only_full
    def test_scheduling(self):
        """A probe with two places, one of which has its argument at the stack's top."""
        self.compare(self.start(program="erlang"),
                     'erlang*:::process-scheduled { printf("in %s %s\\n", copyinstr(arg0), copyinstr(arg1)); } '
                     'erlang*:::process-unscheduled { printf("out %s\\n", copyinstr(arg0)); }',
                     {"process-scheduled": "in %s %s", "process-unscheduled": "out %s"})

    def test_messages(self):
        """Six arguments, on the stack too, and clauses that choose by them."""
        values = "copyinstr(arg0), arg1, arg2, arg3, arg4, arg5"
        self.compare(self.start(program="erlang"),
                     'erlang*:::message-send /arg3 || arg4 || arg5/ '
                     '{ printf("send %s %s %d, %d %d %d\\n", copyinstr(arg0), copyinstr(arg1), arg2, arg3, arg4, arg5); } '
                     'erlang*:::message-send /!arg3 && !arg4 && !arg5/ '
                     '{ printf("send %s %s %d, 0 0 0\\n", copyinstr(arg0), copyinstr(arg1), arg2); } '
                     f'erlang*:::message-queued {{ printf("queued %s %d of %d, %d %d %d\\n", {values}); }} '
                     f'erlang*:::message-receive {{ printf("receive %s %d of %d, %d %d %d\\n", {values}); }}',
                     {"message-send": "send %s %s %s, %s %s %s", "message-queued": "queued %s %s of %s, %s %s %s",
                      "message-receive": "receive %s %s of %s, %s %s %s"})

    @only_full
    def test_memory(self):
        """Garbage collections, by a pattern of their names, and copies with a number of 4 bytes."""
        self.compare(self.start(program="erlang"),
                     'erlang*:::gc_*-start, erlang*:::gc_*-end { printf("%s %s %d\\n", probename, copyinstr(arg0), arg1); } '
                     'erlang*:::copy-struct { printf("copy %d %d\\n", arg0, args[0]); }',
                     {f"gc_{kind}-{edge}": f"gc_{kind}-{edge} %s %s" for kind in ("major", "minor") for edge in ("start", "end")}
                     | {"copy-struct": "copy %s %s"})

    @only_full
    def test_user_trace(self):
        """Ten arguments, and texts that are not given."""
        texts = ", ".join(f'arg{n} == NULL ? "" : copyinstr(arg{n})' for n in range(6, 10))
        self.compare(self.start(program="erlang"),
                     "erlang*:::user_trace-i4s4 { printf(\"%s %s %d %d %d %d '%s' '%s' '%s' '%s'\\n\", copyinstr(arg0), "
                     f'arg1 == NULL ? "" : copyinstr(arg1), arg2, arg3, arg4, arg5, {texts}); }}',
                     {"user_trace-i4s4": "%s %s %s %s %s %s '%s' '%s' '%s' '%s'"})

    def test_all(self):
        """All probes of an emulator, a thousand: listed, and enabled at once."""
        one = self.start(program="erlang")
        status, out, err = self.outsight.run(self.vm, "-l", "-n", "erlang*:::")
        self.assertEqual((status, err), (0, ""))
        listed = re.findall(rf"(?m)^ *\d+ +erlang{one} +erlang +\S+ (\S+)$", out)
        numbered = [f"user_trace-n{n}" for n in range(950)]
        self.assertEqual(sorted(name for name in listed if name.startswith("user_trace-n")), sorted(numbered))
        trace = self.outsight.trace(self.vm, "erlang*::: { @[probename] = count(); }")
        counts = {}
        for event, *_ in self.events(one):
            counts[event] = counts.get(event, 0) + 1
        trace.stop()
        self.assertEqual(keyed(trace.out), counts, trace.story())
        self.assertEqual(sorted(set(listed)), sorted(set(counts) | set(numbered)))
        self.assertIn("\nwanted 0\n", self.work_once(one))

    @only_full
    def test_node(self):
        """An argument that is a text behind a pointer of the program's."""
        one = self.start(program="erlang")
        trace = self.outsight.trace(self.vm, 'erlang*:::dist-monitor { printf("%s %s %s %s %s\\n", copyinstr(arg0), '
                                             'copyinstr(arg1), copyinstr(arg2), copyinstr(arg3), copyinstr(arg4)); }')
        self.events(one)
        self.assertEqual(self.lines(trace), ["one@guest nodeup two@guest visible ok"])

    # --- Clozure CL ----------------------------------------------------------------------------------

    @only_full
    def test_ccl(self):
        """A process as the script's operand, globals with a type, the time of day."""
        one = self.start(program="ccl")
        trace = self.script("ccl-gc", str(one), begins="serial")
        events = self.events(one)
        heading, *rows = self.lines(trace)
        self.assertEqual(heading, "  serial     elapsed ns   K used  K freed")
        expected = [event[1:] for event in events if event[0] == "gc"]
        self.assertEqual(len(rows), self.times)
        for i, (row, (used, freed)) in enumerate(zip(rows, expected)):
            m = re.fullmatch(r"( *\d+) ( *\d+) ( *\d+) ( *\d+)", row)
            self.assertEqual((int(m[1]), m[3], m[4]), (i, f"{used:>8}", f"{freed:>8}"))
            self.assertGreater(int(m[2]), 1000000)  # it sleeps for twice as long

    @only_full
    def test_ccl_threads(self):
        """A thread's own number, and a generation's collections."""
        self.compare(self.start(program="ccl"),
                     'ccl*:::create-thread { printf("thread %d %d\\n", arg0, arg0 == tid); } ccl*:::egc-start { self->used = arg0; } '
                     'ccl*:::egc-finish { printf("egc %d %d %d\\n", self->used, arg0, arg1); }',
                     {"thread": "thread %s 1", "egc": "egc %s %s %s"})

    # --- Java ----------------------------------------------------------------------------------------

    def test_java(self):
        """Probes of a library that was loaded later; names without a NUL, as texts of their length."""
        name = "this->text = (char *)copyin(arg0, arg1 + 1); this->text[arg1] = 0;"
        self.compare(self.start(program="java"),
                     'hotspot*:::gc-begin { self->kind = arg0 ? "full" : "minor"; } '
                     'hotspot*:::gc-end /self->kind != NULL/ { printf("gc %s\\n", self->kind); self->kind = 0; } '
                     f'hotspot*:::class-loaded {{ {name} printf("class %s %d\\n", stringof(this->text), arg2); }} '
                     f'hotspot*:::thread-start {{ {name} '
                     'printf("thread %s %d %d %d\\n", stringof(this->text), arg2, arg3 == pid ? pid : 0, arg4); }',
                     {"gc": "gc %s", "class": "class %s %s", "thread": "thread %s %s %s %s"})

    def test_made(self):
        """Probes that a program makes as it runs, in libraries that are files of no file system: each is there soon after, under
        its name."""
        pid = self.start("a", "ordering", "accepted", "rejected", program="made")
        trace = self.outsight.trace(
            self.vm, 'ordering$target::: { @[probename] = count(); @s[strjoin("sum of ", copyinstr(arg1))] = sum(arg0); } '
                     'tick-4hz { printa("%s %@d\\n", @); }', "-p", str(pid), "-Z")
        each = {"accepted": 0, "rejected": 0}
        for name in each:
            while self.last_count(trace, name) == 0:  # each round makes the next one, as long as there is one
                self.work(pid)
                time.sleep(0.5)
        before = {name: self.settled(trace, name) for name in each}
        self.work(pid)
        self.assertEqual({name: self.settled(trace, name) - before[name] for name in each},
                         {name: self.times for name in each}, trace.story())
        trace.stop()
        sums = {name: int(n) for name, n in re.findall(r"(?m)^ +sum of (\w+) +(\d+)$", trace.out)}
        for name in each:
            self.assertEqual(sums[name] * self.times, self.last_count(trace, name) * sum(range(self.times)),
                             trace.story())

    @staticmethod
    def last_count(trace, name):
        return int((re.findall(rf"(?m)^{name} (\d+)$", trace.out) or ["0"])[-1])

    def settled(self, trace, name):
        """What was counted until now: the first print after this may be of aggregations that were read before."""
        printed = len(re.findall(rf"(?m)^{name} ", trace.out))
        while len(re.findall(rf"(?m)^{name} ", trace.out)) < printed + 3:
            time.sleep(0.1)
        return self.last_count(trace, name)

    # --- Python --------------------------------------------------------------------------------------

    def python_program(self, script):
        if not self.programs.python:
            self.skipTest("this host's Python has no static probes")
        return self.start_idle(f"/usr/bin/python3 -IS /bin/{script}")

    def test_python_counts(self):
        """Returns by file and function."""
        one = self.python_program("calling.py")
        trace = self.outsight.trace(self.vm, "python*:::function-return "
                                             "{ @[basename(copyinstr(arg0)), copyinstr(arg1)] = count(); }")
        self.work_once(one)
        trace.stop()
        self.assertEqual(re.findall(r"(?m)^ +(\S+) +(\S+) +(\d+)$", trace.out),
                         [("calling.py", "work", "1"), ("calling.py", "leaf", "1000")])

    @only_full
    def test_python_flow(self):
        """Each call and return, indented by its level."""
        one = self.python_program("nested.py")
        trace = self.outsight.trace(
            self.vm, 'self int level; python*:::function-entry { printf("-> %d %*s%s\\n", self->level, self->level * 2, "", '
                     'copyinstr(arg1)); self->level++; } python*:::function-return { self->level--; '
                     'printf("<- %d %*s%s\\n", self->level, self->level * 2, "", copyinstr(arg1)); }')
        said = re.findall(r"(?m)^(<-|->) (\d+) (\S+)$", self.work_once(one))
        self.assertEqual(len(said), 2 * (1 + 4 + 6))
        self.assertEqual(self.lines(trace), [f"{arrow} {level} {'  ' * int(level)}{name}" for arrow, level, name in said])


if __name__ == "__main__":
    sys.exit(main())
