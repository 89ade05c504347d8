#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The pid provider's return and offset probes, counted against what the program says of itself: every way out of a
function, every instruction of it, and what is refused."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed, numbers
from lib.program_scenario import ProgramScenario
from lib.programs import run
from lib.scenario import main, only_full

CALLS = 600
FUNCTIONS = ("several", "tail", "pointer", "table", "moved", "recursive", "single")


def instructions(path, function):
    """The offsets of a function's instructions by objdump(1)."""
    text = run("objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", path)
    found = [int(at, 16) for at in re.findall(r"^ +([0-9a-f]+):\t", text, re.M)]
    start = int(re.search(rf"^([0-9a-f]+) <{function}>:", text, re.M).group(1), 16)
    size = int(re.search(rf"^[0-9a-f]+ ([0-9a-f]+) T {function}$", run("nm", "-S", path), re.M).group(1), 16)
    return [f"{at - start:x}" for at in found if start <= at < start + size]


class PidExits(ProgramScenario):
    def start(self, name="a"):
        return self.start_program(f"leaving {CALLS}", name)

    def done(self, said):
        """{function: (calls, sum of its results)} of all rounds."""
        return {name: (int(calls), int(total)) for name, calls, total in re.findall(r"called (\w+) (\d+) (\d+)", said)}

    def trace_round(self, pid, program, name="a"):
        """What the program did in one round, and what was printed of it."""
        before = self.done(self.work_once(pid, name))
        trace = self.outsight.trace(self.vm, program, "-p", str(pid))
        after = self.done(self.work_once(pid, name))
        trace.stop()
        return {f: (after[f][0] - before[f][0], after[f][1] - before[f][1]) for f in after}, trace

    def probes(self, name):
        return ", ".join(f"pid$target:leaving:{f}:{name}" for f in FUNCTIONS)

    def test_every_way_out(self):
        """As many returns as entries as calls: by several returns, tail jumps, pointers, tables of jumps, parts that were
        moved away, recursion, and of a function of one instruction."""
        pid = self.start()
        did, trace = self.trace_round(pid, f"{self.probes('entry')} {{ @[strjoin(\"in \", probefunc)] = count(); }} "
                                           f"{self.probes('return')} {{ @[strjoin(\"out \", probefunc)] = count(); }}")
        found = {" ".join(key): int(n) for *key, n in (line.split() for line in trace.out.splitlines() if "in " in line
                                                       or "out " in line)}
        self.assertEqual(found, {f"{way} {f}": did[f][0] for f in FUNCTIONS for way in ("in", "out")}, trace.story())

    def test_results(self):
        """arg1 is what the function returns, arg0 where; at a tail jump nothing has been returned yet."""
        pid = self.start()
        own = [f for f in FUNCTIONS if f not in ("tail", "pointer", "table", "single")]
        probes = ", ".join(f"pid$target:leaving:{f}:return" for f in own)
        did, trace = self.trace_round(pid, f"{probes} {{ @[probefunc] = sum(arg1); }}")
        self.assertEqual(keyed(trace.out), {f: did[f][1] for f in own}, trace.story())
        places = dict(re.findall(r"at (\w+) (\w+)", self.vm.check("cat /tmp/said.a")))
        did, trace = self.trace_round(pid, "pid$target:leaving:table:return { @[arg0, arg1] = count(); } "
                                           "pid$target:leaving:tail:return { @[arg0, 0] = count(); }")
        rows = [tuple(map(int, line.split())) for line in trace.out.splitlines() if re.match(r"[\s\d]+\d$", line)]
        jump, third = int(places["table_jump"], 16), CALLS // 3
        self.assertEqual([n for at, _, n in rows if at == jump], [third], trace.story())
        self.assertEqual(sorted((value, n) for at, value, n in rows if at > jump), [(1, third), (2, third)])
        self.assertEqual([n for at, _, n in rows if at == int(places["tail_jump"], 16)], [CALLS])

    @only_full
    def test_flow(self):
        """Depth of a recursion by entry and return of each thread."""
        pid = self.start()
        _, trace = self.trace_round(pid, "pid$target:leaving:recursive:entry { self->depth++; @ = max(self->depth); } "
                                         "pid$target:leaving:recursive:return { self->depth--; } "
                                         "pid$target:leaving:single:return /self->depth/ { @wrong = count(); }")
        self.assertEqual(numbers(trace.out), [5], trace.story())

    @only_full
    def test_ustack(self):
        """At a return the caller is on top of the stack."""
        pid = self.start()
        _, trace = self.trace_round(pid, "pid$target:leaving:several:return /arg1 == 20/ { @[ufunc(ucaller)] = count(); } "
                                         "pid$target:leaving:single:0 { @[ufunc(uregs[R_PC])] = count(); }")
        found = {name: int(n) for name, n in re.findall(r"leaving`(\S+)\s+(\d+)", trace.out)}
        self.assertEqual(found.pop("single", 0), CALLS, trace.story())
        self.assertEqual(list(found), ["work"], trace.story())

    def test_offsets(self):
        """Single instructions; with an empty name or a pattern all that it matches, as objdump lists them."""
        pid = self.start()
        places = dict(re.findall(r"at (\w+) (\w+)", self.vm.check("cat /tmp/said.a")))
        did, trace = self.trace_round(pid, f"pid$target:leaving:several:{places['several_second']} {{ @a = count(); }} "
                                           f"pid$target:a.out:tail:{places['tail_jump']} {{ @b = count(); }} "
                                           "pid$target:leaving:recursive:0 { @c = count(); }")
        self.assertEqual(sorted(numbers(trace.out)), sorted([CALLS + CALLS // 3 - CALLS // 3, CALLS, did["recursive"][0]]),
                         trace.story())
        expected = instructions(self.programs.leaving, "table")
        self.assertEqual(self.listed(f"pid{pid}:leaving:table:"), sorted(["entry", "return", *expected]))
        self.assertEqual(self.listed(f"pid{pid}:leaving:table:1?"), [at for at in expected if re.fullmatch("1.", at)])
        did, trace = self.trace_round(pid, "pid$target:leaving:several: { @[probename] = count(); }")
        found = keyed(trace.out)
        self.assertEqual(sorted(found), sorted(["entry", "return", *instructions(self.programs.leaving, "several")]))
        self.assertEqual([found["entry"], found["return"], found["0"]], 3 * [did["several"][0]], trace.story())

    def listed(self, description):
        status, out, err = self.outsight.run(self.vm, "-l", "-n", description)
        self.assertEqual((status, err), (0, ""))
        return sorted(line.split()[-1] for line in out.splitlines()[1:])

    @only_full
    def test_descriptions_of_one_probe(self):
        """Several descriptions that mean one probe have it once."""
        pid = self.start()
        did, trace = self.trace_round(pid, "pid$target:leaving:single:return { @a = count(); } "
                                           "pid$target:a.out:sing*:return { @b = count(); } "
                                           "pid$target::single:re* { @c = count(); } "
                                           "pid$target::single:0, pid$target::single:[0-9] { @d = count(); }")
        self.assertEqual(numbers(trace.out), [did["single"][0]] * 3 + [2 * did["single"][0]], trace.story())

    def test_refused(self):
        """No instruction there, not in the function, ways out that can't be seen."""
        pid = self.start()
        for description, why in (("several:4", "offset 0x4 is not aligned on an instruction: the nearest are at 3 and 5"),
                                 ("tail:4", "the last one is at 3"),
                                 ("several:1d", "offset 0x1d outside of function 'several', which has 0x1d bytes"),
                                 ("maybe:return", "it may be left by the conditional jump at +0x3"),
                                 ("single:1", "outside of function")):
            status, out, err = self.outsight.run(self.vm, "-n", f"pid{pid}:leaving:{description}")
            self.assertEqual((status, out), (1, ""), description)
            self.assertIn(why, err)

    @only_full
    def test_uprobe(self):
        """A probe of the guest's own hides its instruction from us: that is said, and over when it is gone."""
        pid = self.start()
        base = re.search(r"^(\w+) (\w+) T single$", run("nm", "-S", self.programs.leaving), re.M).group(1)
        self.vm.check("mount -t tracefs none /sys/kernel/tracing 2>/dev/null; cd /sys/kernel/tracing && "
                      f"echo 'p:hidden /bin/leaving:0x{base}' >uprobe_events && echo 1 >events/uprobes/hidden/enable")
        for name in ("entry", "return", "0"):
            status, out, err = self.outsight.run(self.vm, "-n", f"pid{pid}:leaving:single:{name}")
            self.assertEqual((status, out), (1, ""))
            self.assertIn("the process has other bytes at +0x0 than its file", err)
        self.vm.check("cd /sys/kernel/tracing && echo 0 >events/uprobes/hidden/enable && echo >uprobe_events")
        did, trace = self.trace_round(pid, "pid$target:leaving:single:return { @ = count(); }")
        self.assertEqual(numbers(trace.out), [did["single"][0]], trace.story())


if __name__ == "__main__":
    sys.exit(main())
