#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The user provider: functions of a file in every process, those included that begin later, as each process counts its own."""
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed, numbers
from lib.program_scenario import ProgramScenario
from lib.scenario import main, only_full

CALLS = 700
ONCE = 12  # short lives
WAYS = ("several", "tail", "pointer", "table", "moved", "recursive", "single")


class UserFiles(ProgramScenario):
    aslr = True  # each process has a file elsewhere
    names = "counted leaving copy"

    def calls(self, pid, name):
        return int(re.findall(r"called (\d+)", self.work_once(pid, name))[-1])

    def by_process(self, trace):
        """{(process, function): count} of an aggregation by these."""
        return {(int(pid), f): int(n) for pid, f, n in re.findall(r"(?m)^ +(\d+) +(\w+) +(\d+)$", trace.out)}

    def test_all(self):
        """Processes that are there, and those that begin later, from their first instruction on; the guest moves their pages."""
        pids = {name: self.start_program(f"counted {CALLS}", name) for name in ("one", "two")}
        trace = self.outsight.trace(self.vm, 'user:counted:work:entry, user:libc:getppid:entry { @[pid, probefunc] = count(); } '
                                             'user:counted:work:entry /execname != "counted" || probeprov != "user" || '
                                             'probemod != "counted"/ { @wrong = count(); }')
        pids["three"] = self.start_idle(f"counted {CALLS}", "three")
        said = {}
        for _ in range(2):
            self.vm.check("echo 1 >/proc/sys/vm/compact_memory; echo 3 >/proc/sys/vm/drop_caches")
            for name, pid in pids.items():
                said[pid] = self.calls(pid, name)
        trace.stop()
        early = {pids["one"]: CALLS, pids["two"]: CALLS}  # before the session
        found = {key: n for key, n in self.by_process(trace).items() if key[0] in said}
        self.assertEqual(found, {(pid, f): said[pid] - early.get(pid, 0) for pid in said for f in ("work", "getppid")}, trace.story())
        self.assertNotRegex(trace.out, r"(?m)^ +\d+$")

    def test_short_lives(self):
        """Programs that begin and end within milliseconds: none of their calls is missed."""
        self.start_program(f"counted {CALLS}")
        trace = self.outsight.trace(self.vm, "user:counted:work:entry { @ = count(); @n = sum(1); @p[pid] = count(); }")
        self.vm.check(f"for i in $(seq {ONCE}); do counted {CALLS} once & done >/tmp/said.b; wait")
        self.wait_lines("^called$", ONCE, "b")
        trace.stop()
        self.assertEqual(numbers(trace.out)[:2], [ONCE * CALLS] * 2, trace.story())
        self.assertEqual(re.findall(r"(?m)^ +\d+ +(\d+)$", trace.out), [str(CALLS)] * ONCE, trace.story())

    def test_exec_and_fork(self):
        """A process that calls exec() goes on to fire; of two processes of a file one is filtered."""
        one, other = self.start_program(f"counted {CALLS}", "one"), self.start_program(f"counted {CALLS}", "other")
        trace = self.outsight.trace(self.vm, f"user:/bin/counted:work:entry /pid == {one}/ {{ @ = count(); }} "
                                             f"pid{one}:a.out:work:entry {{ @p = count(); }}")
        self.work_once(one, "one")
        self.work_once(other, "other")
        self.vm.check(f"kill -USR2 {one}")
        self.wait_lines("ready", 2, "one")
        self.work_once(one, "one")
        trace.stop()
        self.assertEqual(numbers(trace.out), [2 * CALLS, CALLS], trace.story())

    @only_full
    def test_file_comes(self):
        """A file that no process had mapped before, of which a process waits; with -Z there need be none."""
        self.vm.check("cp /bin/counted /tmp/copy")
        trace = self.outsight.trace(self.vm, "user:/tmp/copy:work:entry { @n[pid] = count(); } tick-4hz, END { printa(@n); }", "-Z")
        one = self.start_idle(f"/tmp/copy {CALLS}", "one")
        rounds = 0
        while not self.counts_of(trace, one):
            self.work_once(one, "one")
            rounds += 1
            time.sleep(0.5)
        seen = self.settled(trace, one)
        self.work_once(one, "one")
        self.vm.check(f"/tmp/copy {CALLS} once >/tmp/said.two & echo $! >/tmp/pid.two; wait")
        two = int(self.vm.check("cat /tmp/pid.two"))
        trace.stop()
        self.assertEqual(self.counts_of(trace, two)[-1], CALLS, trace.story())
        self.assertEqual(self.counts_of(trace, one)[-1], seen + CALLS, trace.story())

    def settled(self, trace, pid):
        """Its count once two seconds of ticks have printed the same one."""
        while len(set((counts := self.counts_of(trace, pid))[-8:])) > 1 or len(counts) < 8:
            time.sleep(0.1)
        return counts[-1]

    @staticmethod
    def counts_of(trace, pid):
        return [int(n) for n in re.findall(rf"(?m)^ +{pid} +(\d+)$", trace.out)]

    @only_full
    def test_ways_out(self):
        """As many returns as entries, by every way out, in two processes that have the file at other addresses."""
        pids = [self.start_program("leaving 300", name) for name in ("one", "two")]
        before = [self.ways("one"), self.ways("two")]
        probes = ", ".join(f"user:leaving:{f}:{{}}" for f in WAYS)
        trace = self.outsight.trace(self.vm, f"{probes.replace('{}', 'entry')} {{ @i[pid, probefunc] = count(); }} "
                                             f"{probes.replace('{}', 'return')} {{ @o[pid, probefunc] = count(); }} "
                                             "user:leaving:table:return { @r[pid, \"table\"] = sum(arg1 * (arg0 > 8)); } "
                                             "tick-4hz { }")
        for pid, name in zip(pids, ("one", "two")):
            self.work_once(pid, name)
        trace.stop()
        rows = re.findall(r"(?m)^ +(\d+) +(\w+) +(\d+)$", trace.out)
        for pid, was, now in zip(pids, before, (self.ways("one"), self.ways("two"))):
            for f in WAYS:
                counts = [int(n) for p, g, n in rows if (int(p), g) == (pid, f)]
                self.assertEqual([n for n in counts if n == now[f] - was[f]][:2], [now[f] - was[f]] * 2, f"{f}: {trace.story()}")

    def ways(self, name):
        return {f: int(n) for f, n in re.findall(r"called (\w+) (\d+) \d+", self.vm.check(f"cat /tmp/said.{name}"))}

    @only_full
    def test_wildcard(self):
        """All functions of libc, in one probe each."""
        one = self.start_program(f"counted {CALLS}")
        trace = self.outsight.trace(self.vm, f"user:libc.so.6::entry /pid == {one}/ {{ @[probefunc] = count(); }}")
        self.work_once(one)
        trace.stop()
        found = keyed(trace.out)
        self.assertEqual((found.get("getppid"), found.get("dprintf")), (CALLS, 1), trace.story())
        status, out, err = self.outsight.run(self.vm, "-l", "-n", "user:libc.so*:getppid:entry", "-n", "user:counted:work:")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(len(re.findall(r"(?m)^ *\d+ +user +libc.so.6 +getppid entry$", out)), 1)
        self.assertEqual(len(re.findall(r"(?m)^ *\d+ +user +counted +work entry$", out)), 1)
        self.assertGreater(len(re.findall(r"(?m)^ *\d+ +user +counted +work [0-9a-f]+$", out)), 5)

    def test_refused(self):
        """What names no file, or one that no process has mapped."""
        self.start_program(f"counted {CALLS}")
        for description, why in (("user:a.out:work:entry", "a.out is the program of a process, and user means no process"),
                                 ("user::work:entry", "user's probes are in a file: name it"),
                                 ("user:*:work:entry", "user's probes are in a file: name it"),
                                 ("user:counted:nothing:entry", "does not match any probes"),
                                 ("user:/usr/bin/counted:work:entry", "does not match any probes"),
                                 ("user:none:work:entry", "if no process has mapped it, -Z waits"),
                                 ("user:counted:work:beginning", "invalid probe name: beginning"),
                                 ("user:counted:work:2", "is not aligned on an instruction")):
            status, out, err = self.outsight.run(self.vm, "-n", description)
            self.assertEqual((status, out), (1, ""), description)
            self.assertIn(why, err)


if __name__ == "__main__":
    sys.exit(main())
