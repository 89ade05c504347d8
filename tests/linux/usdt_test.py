#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Static probes of programs (USDT): each form of an argument, counted and summed by the program itself too."""
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib import pace
from lib.outsight import keyed, numbers
from lib.program_scenario import StaticProbes
from lib.programs import run
from lib.scenario import main, only_full

ARGS = 5
SHORT = 6  # lives of a round
# Values that the note of "partly" does not let a program have.
REFUSED = {"partly": {0: "floating-point", 1: "in a thread.s own memory", 2: "no symbol of that name"}}


class Usdt(StaticProbes):
    def test_forms(self):
        """Each form of an argument: every count and every sum is the program's."""
        one = self.start()
        clauses = ["probed$target::: { @passed[probename] = count(); }"]
        for probe, refused in (("registers", ()), ("halves", ()), ("memory", ()), ("constants", ()), ("symbols", ()),
                               ("partly", (0, 1, 2)), ("places", ()), ("twice-inlined", ())):
            clauses += [f"probed$target:::{probe} {{ @sums[\"{probe} {n}\"] = sum(arg{n}); }}"
                        for n in range(ARGS) if n not in refused]
        trace = self.outsight.trace(self.vm, " ".join(clauses), "-p", str(one))
        said = self.work(one)
        said = self.work(one)
        trace.stop()
        found = keyed(trace.out)
        for row, (count, sums) in said.items():
            probe = "twice-inlined" if row == "inlined" else row
            self.assertEqual(found.get(probe), count, trace.story())
            for n, total in enumerate(sums):
                if f"{probe} {n}" in found:
                    self.assertEqual(found[f"{probe} {n}"], total, f"arg{n} of {probe}: {trace.story()}")
        self.assertEqual(said["registers"][0], 2 * self.times)

    def test_types(self):
        """args[] are integers by the note's size and sign; an argument that can't be had is a fault, or no args[]."""
        one = self.start()
        trace = self.outsight.trace(
            self.vm, 'probed$target::memory: /args[0] == 5/ { printf("%d %d %d|", args[3], sizeof (args[3]), args[2]); } '
                     'probed$target:::text { @[copyinstr(arg0), execname, probefunc, probemod] = count(); } '
                     'probed$target:::partly /arg3 == 1/ { trace(arg0); } dtrace:::ERROR { printf("fault %d|", arg4); }',
            "-p", str(one))
        self.work(one)
        trace.stop()
        self.assertIn("-32767 4 25|", trace.out, trace.story())
        self.assertIn("fault 1|", trace.out, trace.story())
        self.assertRegex(trace.out, rf"words of the program +probed +text +probed +{self.times}\n?")
        status, _, err = self.outsight.run(self.vm, "-n", f"probed{one}:::partly {{ trace(args[0]); }}")
        self.assertEqual(status, 1)
        self.assertIn("args[0]", err)

    def test_names(self):
        """By object, function, name and pattern; two functions with one name; of two processes only the named one."""
        one, other = self.start("one"), self.start("other")

        def count(description, *options):
            trace = self.outsight.trace(self.vm, f"{description} {{ @ = count(); }}", *options)
            self.work(one, "one")
            self.work(other, "other")
            trace.stop()
            return sum(numbers(trace.out)), trace.story()

        half = self.times // 2
        for description, options, expected in (
                (f"probed{one}:::registers", (), self.times),
                (f"probed{one}:probed:registers:registers", (), self.times),
                (f"probed{one}:a.out::re*", (), self.times),
                (f"prob*{one}:::registers", (), self.times),
                (f"probed{one}:::twice-inlined", (), self.times),
                (f"probed{one}::left:", (), half),
                (f"probed{one}::right:twice-*", (), half),
                ("probed$target:::registers", ("-p", str(other)), self.times),
                ("probed*:::registers", ("-p", str(other)), self.times),
                ("prob?d*:::reg*", ("-p", str(other)), self.times),
                (f"probed{one}:::registers, probed{other}:::registers", (), 2 * self.times),
                (f"pid{one}::registers:entry, probed{one}:::registers", (), 2 * self.times))[::pace.rounds(4, 1)]:
            found, story = count(description, *options)
            self.assertEqual(found, expected, story)

    def test_all(self):
        """A pattern without a number: every process that has such a probe, and no other; -p means one of them."""
        pids = {name: self.start(name) for name in ("one", "two", "three")}
        self.start("thrower", program="thrower")
        status, out, err = self.outsight.run(self.vm, "-l", "-n", "prob*::registers:")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(sorted(re.findall(r"(?m)^ *\d+ +probed(\d+) +probed +registers registers$", out)),
                         sorted(str(pid) for pid in pids.values()))
        trace = self.outsight.trace(self.vm, "probed*:::registers { @[pid] = count(); } probed*:::guarded { @[pid] = count(); }")
        for name, pid in pids.items():
            self.work(pid, name)
        trace.stop()
        self.assertEqual(sorted(map(tuple, re.findall(r"(?m)^ +(\d+) +(\d+)$", trace.out))),
                         sorted((str(pid), str(2 * self.times)) for pid in pids.values()), trace.story())

    @only_full
    def test_later(self):
        """Programs that begin during the session, one by exec() of a shell; -Z waits for the first one."""
        trace = self.outsight.trace(self.vm, "probed*:::registers { @n[pid] = count(); } tick-4hz { printa(@n); }", "-Z")
        for name in ("one", "two"):
            pid = self.start(name)
            while not self.counts_of(trace, pid):
                self.work(pid, name)
                time.sleep(0.5)
            seen = self.settled(trace, pid)
            self.work(pid, name)
            self.assertEqual(self.settled(trace, pid), seen + self.times, trace.story())
            self.assertLessEqual(seen, (self.rounds[name] - 1) * self.times)
        trace.stop()

    def test_known_file(self):
        """Programs of a file that has been met, and their children: from their first instruction on, with the arguments and names of
        one that was there; one that goes on has each pass once, also while its own probes come."""
        self.start("there")
        trace = self.outsight.trace(
            self.vm, """probed*:::registers { @n[pid] = count(); @p[probeprov] = count(); }
                        probed*:::symbols { @s[pid] = sum(arg0); @s[pid] = sum(arg1); @s[pid] = sum(arg2); }
                        probed*::left:twice-* { @l[execname, probefunc] = count(); }
                        probed*:::registers /probeprov != strjoin("probed", lltostr(pid))/ { printf("wrong %s\\n", probeprov); }
                        tick-4hz { printa("now %d %@d\\n", @n); }
                        END { printa("n %d %@d\\n", @n); printa("p %s %@d\\n", @p); printa("s %d %@d\\n", @s); printa("%s %s %@d\\n", @l); }""")
        pid = self.start("long")
        while len(re.findall(rf"(?m)^now {pid} ", trace.out)) < 8:  # two seconds, in which its own probes come
            self.work(pid, "long")
        said = self.work(pid, "long")
        self.vm.check(f"for i in $(seq {SHORT}); do probed {self.times} once & done >/tmp/said.short; wait")
        trace.stop()
        rounds, sums = self.rounds["long"], sum(said["symbols"][1]) // self.rounds["long"]
        for row, each in (("n", self.times), ("p", self.times), ("s", sums)):
            found = {key.removeprefix("probed"): int(n) for key, n in re.findall(rf"(?m)^{row} (\S+) (-?\d+)$", trace.out)}
            self.assertEqual(found.pop(str(pid), None), rounds * each, f"{row}: {trace.story()}")
            self.assertEqual(list(found.values()), [each] * 2 * SHORT, f"{row}: {trace.story()}")
        self.assertIn(f"probed left {(rounds + 2 * SHORT) * self.times // 2}", trace.out, trace.story())
        self.assertNotIn("wrong", trace.out)

    def test_inherited(self):
        """A probe with a semaphore fires in a child from its beginning: the page is its parent's, or its copy of that."""
        one = self.start("one", "copy")
        trace = self.outsight.trace(self.vm, 'probed*:::guarded { @[pid] = count(); } END { printa("%d %@d\\n", @); }')
        for nth in range(1, SHORT + 1):
            self.vm.check(f"kill -USR2 {one}")
            self.wait_lines("^child [0-9]", nth, "one")
            child = re.findall(r"(?m)^child (\d+)$", self.vm.check("cat /tmp/said.one"))[-1]
            self.vm.check(f"kill -USR1 {child}")
            self.wait_lines("^child.s [1-9]", nth, "one")
        trace.stop()
        children = re.findall(r"(?m)^child (\d+)$", self.vm.check("cat /tmp/said.one"))
        self.assertEqual(dict(re.findall(r"(?m)^(\d+) (\d+)$", trace.out)), dict.fromkeys(children, str(self.times)), trace.story())

    def test_semaphores_of_known_files(self):
        """A program that has just begun, in a file of each kind, fires a probe with a semaphore: it is raised where the program maps
        its data, and once."""
        library = "/lib/x86_64-linux-gnu/libguarding.so"
        programs = {name: library if name == "loads" else "" for name in ("moved", "fixed", "whole", "placed", "linked", "loads")}
        for name, word in programs.items():
            self.vm.check(f"{name} 0 {word} >/tmp/said.{name} & until grep -q ready /tmp/said.{name}; do kill -0 $! || exit 1; sleep 0.1; done")
        trace = self.outsight.trace(self.vm, 'guarding*:::passed { @[execname, probemod] = count(); @p[pid] = count(); } '
                                             'END { printa("%s %s %@d\\n", @); printa("p %d %@d\\n", @p); }')
        said = {name: [int(self.vm.check(f"{name} {self.times} {word}")) for _ in range(SHORT)] for name, word in programs.items()}
        trace.stop()
        self.vm.run(f"killall -q -9 {' '.join(programs)}")
        self.assertEqual(said, {name: [1] * SHORT for name in programs}, trace.story())
        self.assertEqual(sorted(re.findall(r"(?m)^(\w\w+) (\S+) (\d+)$", trace.out)), sorted(
            (name, "libguarding.so" if name in ("linked", "loads") else name, str(SHORT * self.times)) for name in programs), trace.story())
        self.assertEqual(set(re.findall(r"(?m)^p \d+ (\d+)$", trace.out)), {str(self.times)}, trace.story())

    @only_full
    def test_loaded_later(self):
        """A library that a program loads when it has run for a while."""
        if "libstdcxx" not in run("readelf", "-nW", self.programs.libstdcxx):
            self.skipTest("this host's libstdc++ has no static probes")
        pid = int(self.vm.check(f"thrower {self.times} later >/tmp/said.a 2>&1 & echo $!"))
        self.wait_lines("waits", 1, "a")
        trace = self.outsight.trace(self.vm, "libstdcxx*:::throw { @n[pid] = count(); } tick-4hz { printa(@n); }", "-Z")
        time.sleep(1.5)  # it has been read without the library
        self.vm.check(f"kill -USR1 {pid}")
        self.wait_lines("ready", 1, "a")
        while not self.counts_of(trace, pid):
            self.work(pid)
            time.sleep(0.5)
        seen = self.settled(trace, pid)
        self.work(pid)
        self.assertEqual(self.settled(trace, pid), seen + self.times, trace.story())
        trace.stop()

    @only_full
    def test_named_loads(self):
        """A process that is named by its number loads a library: static probes and functions of it, the latter as listed."""
        if "libstdcxx" not in run("readelf", "-nW", self.programs.libstdcxx):
            self.skipTest("this host's libstdc++ has no static probes")
        pid = int(self.vm.check(f"thrower {self.times} later >/tmp/said.a 2>&1 & echo $!"))
        self.wait_lines("waits", 1, "a")
        trace = self.outsight.trace(
            self.vm, f"libstdcxx{pid}:::throw {{ @s[pid] = count(); }} pid{pid}:libstdc??.so*:__cxa_throw:entry {{ @f[pid] = count(); }} "
                     f"pid{pid}:a.out:throw:entry {{ @p[pid] = count(); }} tick-4hz {{ printa(\"%d s%@d f%@d p%@d\\n\", @s, @f, @p); }}", "-Z")
        self.vm.check(f"kill -USR1 {pid}")
        self.wait_lines("ready", 1, "a")
        time.sleep(1.5)
        rounds = 0
        while not re.search(rf"(?m)^{pid} s[1-9]\d* f[1-9]", trace.out):
            self.work(pid)
            rounds += 1
            time.sleep(0.5)
        self.work(pid)
        rounds += 1
        last = re.compile(rf"(?m)^{pid} s(\d+) f(\d+) p{rounds * self.times}$")
        while not last.search(trace.out):
            time.sleep(0.1)
        trace.stop()
        self.assertEqual({int(n) % self.times for row in last.findall(trace.out) for n in row}, {0}, trace.story())
        self.assertEqual(len({n for n in last.findall(trace.out)[-1]}), 1, trace.story())

    @staticmethod
    def counts_of(trace, pid):
        """What was printed for this process."""
        return [int(n) for n in re.findall(rf"(?m)^ +{pid} +(\d+)$", trace.out)]

    def settled(self, trace, pid):
        """What was counted until now: the first print after this may be of aggregations that were read before."""
        printed = len(self.counts_of(trace, pid))
        while len(self.counts_of(trace, pid)) < printed + 3:
            time.sleep(0.1)
        return self.counts_of(trace, pid)[-1]

    def test_library(self):
        """A probe of the C++ library as its distribution has built it: stripped, its notes written by <sys/sdt.h>."""
        notes = run("readelf", "-nW", self.programs.libstdcxx)
        if "libstdcxx" not in notes:
            self.skipTest("this host's libstdc++ has no static probes")
        one = self.start(program="thrower")
        trace = self.outsight.trace(self.vm, "libstdcxx$target:libstdc??.so*:__cxa_throw:throw { @ = count(); @s = sum(arg0); "
                                             "@t = sum(arg1); } libstdcxx$target:::catch { @c = count(); }", "-p", str(one))
        said = self.work(one)["throw"]
        trace.stop()
        self.assertEqual(numbers(trace.out)[:3], [said[0], *said[1]], trace.story())
        self.assertEqual(said[0], self.times)
        _, out, _ = self.outsight.run(self.vm, "-lv", "-n", f"libstdcxx{one}:::")
        for text in re.findall(r"Arguments: (.*)", notes):
            for n, arg in enumerate(text.split()):
                self.assertIn(f"arg{n}: {arg}\n", out)

    def test_listing(self):
        """-l has every probe; -lv each argument as its note has it, and why some have no value."""
        one = self.start()
        status, out, err = self.outsight.run(self.vm, "-l", "-n", f"probed{one}:::")
        self.assertEqual((status, err), (0, ""))
        listed = re.findall(rf"(?m)^ *\d+ +probed{one} +probed +(\S+) (\S+)$", out)
        self.assertEqual(sorted(listed), sorted(
            [(n, n) for n in ("registers", "halves", "memory", "constants", "symbols", "partly", "places", "text",
                              "guarded")] + [("left", "twice-inlined"), ("right", "twice-inlined")]))
        _, out, _ = self.outsight.run(self.vm, "-lv", "-n", f"probed{one}:::memory, probed{one}:::p*")
        for line in ("arg2: -4@(%rdi,%rsi,4)", "arg3: -2@24(%rdi)", "args[3]: int", "args[4]: unsigned long",
                     "arg0: 8@%rdi", "arg0: -4@(%rsi)"):
            self.assertIn(f"{line}\n", out)
        for n, why in REFUSED["partly"].items():
            self.assertRegex(out, rf"arg{n}: \S+: it has no value: .*{why}")
        self.assertEqual(out.count("Place: 0x"), 4)

    def test_refused(self):
        """No number, no process, no such probe."""
        one = self.start()
        for words, why in ((("-n", "none*:::registers"), "does not match any probes"),
                           (("-n", "none*:::registers"), "no program that runs has such a probe; with -Z the session waits"),
                           (("-n", "probed:::registers"), "probed123, or probed* for every process"),
                           (("-n", "probed1000000:::"), "failed to grab process 1000000: the guest has no process"),
                           (("-n", f"probed{one}:::nothing"), "does not match any probes"),
                           (("-n", f"probe{one}:::registers"), "does not match any probes"),
                           (("-p", str(one), "-n", "none*:::registers"), "does not match any probes")):
            status, out, err = self.outsight.run(self.vm, *words)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(why, err)


if __name__ == "__main__":
    sys.exit(main())
