#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts for the pid provider as they were printed for Solaris and Mac OS X, over every function of a real program: Python, and
(--full) PostgreSQL, each against what the program says."""
import os
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.pace import LIMIT
from lib.program_scenario import ProgramScenario
from lib.scenario import main, only_full
from lib.userland import LineProgram, UserlandScenario

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runtimes")
COUNTS = "pid$target:::entry { @[probefunc] = count(); }"
ROOM = ("-x", "bufsize=16m", "-x", "aggsize=4m")
LOOP = "_PyEval_EvalFrameDefault"  # the interpreter's, which runs functions in Python
ROWS = 60


def flow(lines, function, counted):
    """For each entry of a function: which of the functions @counted are being executed. A function of which no return is seen
    (docs/limits.md) ends when one outside of it does."""
    inside, found = [], []
    for line in lines:
        m = re.fullmatch(r" *(->|<-) (\S+):(\S+)", line)
        if not m:
            continue
        if m[1] == "->":
            inside.append(m[3])
        elif m[3] in inside:
            del inside[len(inside) - 1 - inside[::-1].index(m[3]):]
        if m[1] == "->" and m[3] == function:
            found.append([name for name in inside if name in counted])
    return found


class Python(ProgramScenario):
    """This host's Python, with a program whose calls go from Python to C and back."""
    aslr = True
    names = "python3 spin"
    last_line = "^done$"

    def setUp(self):
        if not self.programs.python:
            self.skipTest("this host's Python has no static probes")
        self.pid = self.start_program("/usr/bin/python3 -IS /bin/asking.py")

    def depths(self):
        """One more round; how deep the program was at each call of getppid()."""
        before = len(self.vm.check("cat /tmp/said.a"))
        return [int(n) for n in re.findall(r"(?m)^(\d+)$", self.work_once(self.pid)[before:])]

    def test_counts(self):
        """Each function's calls."""
        trace = self.outsight.trace(self.vm, COUNTS, "-p", str(self.pid), *ROOM)
        depths = self.depths()
        trace.stop()
        found = keyed(trace.out)
        self.assertEqual((found.get("getppid"), found.get(LOOP)), (len(depths), sum(depths)), trace.story())
        self.assertGreater(len(found), 30)

    @only_full
    def test_lines(self):
        """The description alone: a line for each."""
        trace = self.outsight.start(self.vm, "-x", "switchrate=20hz", *ROOM, "-n", f"pid{self.pid}:::entry", "-n",
                                    'BEGIN { printf("tracing\\n"); }').wait_for("tracing")
        depths = self.depths()
        trace.stop()
        for function, times in (("getppid", len(depths)), (LOOP, sum(depths))):
            rows = re.findall(rf"(?m)^ *\d+ +\d+ +{function}:entry *$", trace.out)
            self.assertEqual(len(rows), times, trace.story())

    @only_full
    def test_flow(self):
        """Calls within calls: at each one that the program makes as many of the interpreter's loops are on the way as it says."""
        trace = self.outsight.start(self.vm, "-x", "switchrate=20hz", *ROOM, "-p", str(self.pid), "-s",
                                    os.path.join(FOLDER, "flow.d"), "-n", 'BEGIN { printf("tracing\\n"); }').wait_for("tracing")
        depths = self.depths()
        trace.stop()
        self.assertEqual([len(names) for names in flow(trace.lines, "getppid", {LOOP})], depths, trace.story())

    @only_full
    def test_stealth(self):
        """No program hides: each name is that of a process, the busy one is among them, and there was no error."""
        self.vm.check("spin 1000 >/dev/null 2>&1 &")
        status, out, err = self.outsight.run(self.vm, "-q", "-s", os.path.join(FOLDER, "stealth.d"), "-n", "tick-3s { exit(0); }")
        self.assertEqual((status, err), (0, ""))
        names = set(self.vm.check("cat /proc/[0-9]*/comm").splitlines()) | {f"swapper/{n}" for n in range(self.vm.smp)}
        found = {name for name in keyed(out) if not name.startswith("kworker/")}  # these come and go
        self.assertIn("spin", found, out)
        self.assertLessEqual(found, names, out)


class Postgres(UserlandScenario):
    """A server's backend."""

    def setUp(self):
        super().setUp()
        # The returns of a function are known if all of its code is in memory.
        self.read_in("usr/lib/postgresql/15/bin/postgres")
        self.vm.check("userland pg_ctlcluster 15 main start", timeout=3 * LIMIT)
        self.client = LineProgram(self.vm, "setpriv --reuid=postgres --regid=postgres --init-groups env PGOPTIONS='-c jit=off' "
                                           "stdbuf -oL psql -XqAt -h /run/postgresql")
        said = self.client.ask("select 'backend', pg_backend_pid(); \\echo done", self.query())
        self.pid = re.search(r"(?m)^backend\|(\d+)$", said)[1]

    def tearDown(self):
        if self.vm:
            self.vm.run("killall -q -9 psql; userland pg_ctlcluster -m immediate 15 main stop; rm -f /tmp/said.* /tmp/to.*",
                        timeout=LIMIT)
        super().tearDown()

    @staticmethod
    def query():
        return f"select 'rows', count(hashtext(a::text)) from generate_series(1, {ROWS}) a; \\echo done"

    def rows(self):
        """One query; how many rows it says."""
        return int(re.search(r"(?m)^rows\|(\d+)$", self.client.ask(self.query()))[1])

    @only_full
    def test_counts(self):
        """A function that the query names, once for each row; those that a query needs, once."""
        trace = self.outsight.trace(self.vm, COUNTS, "-p", self.pid, *ROOM)
        rows = self.rows()
        trace.stop()
        found = keyed(trace.out)
        self.assertEqual([found.get(name) for name in ("hashtext", "standard_ExecutorRun", "pg_parse_query")], [rows, 1, 1],
                         trace.story())

    @only_full
    def test_flow(self):
        """It is called within the executor, each time from the same functions."""
        trace = self.outsight.start(self.vm, "-x", "switchrate=20hz", *ROOM, "-p", self.pid, "-s", os.path.join(FOLDER, "flow.d"),
                                    "-n", 'BEGIN { printf("tracing\\n"); }').wait_for("tracing")
        rows = self.rows()
        trace.stop()
        found = flow(trace.lines, "hashtext", {"standard_ExecutorRun", "hashtext"})
        self.assertEqual(found, [["standard_ExecutorRun", "hashtext"]] * rows, trace.story())


if __name__ == "__main__":
    sys.exit(main())
