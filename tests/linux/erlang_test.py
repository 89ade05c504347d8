#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Erlang's own emulator with its static probes, as scripts/guest-erlang builds it: scripts for it as they were printed, and as
its own source has them (runtime_tools' examples), their lines counted against what a program in Erlang has done and what
Erlang's own tracer has seen of it. (runtimes_test.py has the like on a stand-in.)"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.erlang import ErlangScenario
from lib.scenario import main, only_full

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runtimes")
PROBES = 1007  # that are listed, of which 951 are user_trace-n0 to -n950
TIMES = 1000
# One process works and has a tracer of Erlang's own, which counts what D's scripts show.
PROGRAM = """
Idle = fun I(P) -> case process_info(P, status) of {status, waiting} -> ok; _ -> timer:sleep(10), I(P) end end,
Me = self(),
Echo = spawn(fun() -> (fun L() -> receive {From, X} -> From ! X, L(); stop -> exit(enough) end end)() end),
Work = spawn(fun() ->
    receive start -> ok end,
    [begin Echo ! {self(), X}, receive X -> ok end end || X <- lists:seq(1, N)],
    [erlang:garbage_collect() || _ <- lists:seq(1, N)],
    Me ! worked,
    receive never -> ok end end),
Tracer = spawn(fun() -> (fun L(M) -> receive
    {tell, To} -> To ! M, L(M);
    T -> K = element(3, T), L(M#{K => maps:get(K, M, 0) + 1}) end end)(#{}) end),
Idle(Work),
erlang:trace(Work, true, [running, garbage_collection, {tracer, Tracer}]),
io:format("ready ~p ~p~n", [Work, Echo]),
Wait(),
[spawn(fun() -> ok end) || _ <- lists:seq(1, N)],
Work ! start,
receive worked -> Idle(Work) end,
erlang:trace(Work, false, [all]),
All = erlang:trace_delivered(Work),
receive {trace_delivered, _, All} -> ok end,
Tracer ! {tell, Me},
receive Counts -> [io:format("~p ~p~n", [K, V]) || {K, V} <- maps:to_list(Counts)] end,
End = monitor(process, Echo),
Echo ! stop,
receive {_, End, _, _, _} -> ok end,
io:format("done~n")
"""


class Erlang(ErlangScenario):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory(prefix="outsight-erlang-")
        self.addCleanup(self.folder.cleanup)
        self.start(PROGRAM.replace("N)", f"{TIMES})"))
        self.worker, self.echo = re.search(r"ready (\S+) (\S+)", self.said()).groups()

    def example(self, name):
        """A script of Erlang/OTP's runtime_tools, as the distribution's source has it."""
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.vm.check(f"cat /erl/examples/{name}"))
        return path

    def run_script(self, path):
        """The lines that it prints while the program does its work; {event: how often the program's tracer saw it}."""
        trace = self.outsight.start(self.vm, "-x", "switchrate=20hz", "-x", "bufsize=8m", "-s", path, "-q", "-n",
                                    'BEGIN { printf("tracing\\n"); }').wait_for("tracing")
        said = self.go()
        trace.stop()
        return trace.lines, {event: int(n) for event, n in re.findall(r"(?m)^(\w+) (\d+)$", said)}

    @staticmethod
    def count(lines, pattern):
        return sum(bool(re.fullmatch(pattern, line)) for line in lines)

    @only_full
    def test_spawn_exit(self):
        """Who begins, who ends, and why: as it was printed in talks."""
        self.check_spawn_exit(os.path.join(FOLDER, "spawn-exit.d"))

    @only_full
    def test_spawn_exit_example(self):
        """The same, as it comes with Erlang."""
        self.check_spawn_exit(self.example("spawn-exit.d"))

    def check_spawn_exit(self, path):
        lines, _ = self.run_script(path)
        self.assertEqual(self.count(lines, r"pid <\S+> mfa erlang:apply/2"), TIMES)
        self.assertEqual(self.count(lines, r"pid <\S+> reason normal"), TIMES)
        self.assertIn(f"pid {self.echo} reason enough", lines)

    @only_full
    def test_messages(self):
        """One message there and one back, each time; the first one says to begin, the last one to end."""
        lines, _ = self.run_script(self.example("messages.d"))
        for one, other in ((self.worker, self.echo), (self.echo, self.worker)):
            self.assertEqual(self.count(lines, rf"send: +{one} -> {other}: \d+ words"), TIMES)
            for event in ("queued", "receive"):
                self.assertEqual(self.count(lines, rf"{event}: {one}: \d+ words, queue len \d+"), TIMES + 1)

    @only_full
    def test_memory(self):
        """Collections, as many as Erlang's own tracer sees. (The script has gc_minor-start where it says "minor end".)"""
        lines, seen = self.run_script(self.example("garbage-collection.d"))
        self.assertGreaterEqual(seen["gc_major_start"], TIMES)
        for text, event in (("major start pid {} need", "gc_major_start"), ("major end pid {} reclaimed", "gc_major_end"),
                            ("minor start pid {} need", "gc_minor_start"), ("minor end pid {} reclaimed", "gc_minor_start")):
            self.assertEqual(self.count(lines, rf"GC {text.format(self.worker)} \d+ words"), seen.get(event, 0), event)

    @only_full
    def test_scheduling(self):
        """Each time that the process is put on its scheduler and taken off it, as many as Erlang's own tracer sees."""
        lines, seen = self.run_script(self.example("process-scheduling.d"))
        self.assertGreaterEqual(seen["in"], TIMES)  # it waits for each echo
        self.assertEqual(self.count(lines, rf" +Schedule pid {self.worker} mfa \S+"), seen["in"])
        self.assertEqual(self.count(lines, rf"Unschedule pid {self.worker}"), seen["out"])

    @only_full
    def test_examples(self):
        """All of its scripts compile; -Z, as some are for parts that this emulator is built without."""
        names = self.vm.check("cd /erl/examples; ls *.d").split()
        self.assertGreater(len(names), 8)
        for name in names:
            with self.subTest(name):
                status, _, err = self.outsight.run(self.vm, "-q", "-Z", "-e", "-s", self.example(name))
                self.assertEqual(status, 0, err)

    @only_full
    def test_list(self):
        """All probes of the emulator."""
        status, out, err = self.outsight.run(self.vm, "-l", "-n", "erlang*:::")
        self.assertEqual((status, err), (0, ""))
        names = set(re.findall(r"(?m)^ *\d+ +erlang\d+ +beam\.smp +.*?(\S+)$", out))
        self.assertEqual(len(names), PROBES)
        self.assertEqual({name for name in names if name.startswith("user_trace-n")}, {f"user_trace-n{n}" for n in range(951)})


if __name__ == "__main__":
    sys.exit(main())
