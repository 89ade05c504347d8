#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Resident probes in the small guest: resident_test.py OUTSIGHT SMALL-GUEST. Ends with 77 where there is no KVM.

The host may be one on which they lose (-x inject=on says so): here they are forced. What they count must be what traps
count.
"""
import os
import re
import signal
import subprocess
import time

from small_guest import CALLS, GUEST, ROUND, GuestTest, Vm, counts_of, doctor, elf_text, main
from lib.pace import limit, rounds

RESIDENT = os.path.join(os.path.dirname(GUEST), "resident-guest")
# Those of probed.S whose entry is the nop of function tracing.
NOPS = ("nop", "endbr")
ENTRIES = ",".join(f"fbt::probed_{f}:entry" for f in NOPS)


class Resident(GuestTest):
    def vm(self, cpus, extra="", kernel=RESIDENT):
        vm = Vm(cpus, extra, kernel)
        self.addCleanup(vm.close)
        return vm

    def trace(self, vm, program, *options):
        """Its output, and what was said about resident probes."""
        done = subprocess.run(vm.command(program, "-x", "inject=force", *options), capture_output=True, text=True,
                              timeout=limit(120), check=False)
        self.assertEqual(done.returncode, 0, done.stderr + vm.console())
        said = re.search(r"resident probes: (\d+) places(?:, (\d+) of which write records)?(?:, (\d+) of which exit[^;]*)?"
                         r"(?:; (\d+) places are trapped: (.*))?$", done.stderr, re.M)
        self.assertTrue(said, done.stderr)
        self.lost = sum(int(n) for n in re.findall(r"(\d+) records? of resident probes lost \(see -x injectsize\) on CPU",
                                                   done.stderr))
        self.records = int(said[2] or 0)
        return done.stdout, (int(said[1]), int(said[3] or 0), int(said[4] or 0), said[5])

    def check_clean(self, vm):
        self.assertEqual(vm.text(), elf_text(vm.kernel)[1])
        self.assertNotIn("FAIL", vm.console())
        self.assertEqual(vm.trace(ROUND % "").strip(), "")

    def rounds(self, cpus, clauses, *options, n=6, words=""):
        """The clauses' output when the guest has ended: with /arg1 == 7/ probed_nop() counts in n - 1 whole rounds."""
        vm = self.vm(cpus, f"await=20 rounds={n} {words}")
        return self.trace(vm, f"fbt::round_end:entry {{ @never = count(); }} {clauses} END {{ clear(@never); trunc(@never); }}",
                          *options)

    def test_counts(self):
        """Each call, on several vCPUs."""
        for cpus in rounds((1, 4), (1, 2, 4)):
            with self.subTest(cpus=cpus):
                out, said = self.rounds(cpus, "fbt::probed_nop:entry /arg1 == 7/ { @[probefunc] = count(); }")
                self.assertEqual(said[:3], (2, 0, 0))
                self.assertEqual(counts_of(out), {("probed_nop",): 5 * CALLS * cpus})

    def test_aggregations(self):
        """All that is done in place, of an argument: 0 to CALLS - 1 in each round on each vCPU."""
        out, said = self.rounds(2, "fbt::probed_nop:entry /arg1 == 7/ { @[\"n\"] = count(); @s[\"s\"] = sum(arg0); "
                                "@l[\"l\"] = min(arg0); @m[\"m\"] = max(arg0); @a[\"a\"] = avg(arg0); "
                                "@z[\"z\"] = sum(0); }")
        self.assertEqual(said[:3], (2, 0, 0))
        times, total = 10, sum(range(CALLS))
        self.assertEqual(counts_of(out), {("n",): times * CALLS, ("s",): times * total, ("l",): 0, ("m",): CALLS - 1,
                                          ("a",): total // CALLS, ("z",): 0})

    def test_quantize(self):
        out, said = self.rounds(2, "fbt::probed_nop:entry /arg1 == 7/ { @ = quantize(arg0); }")
        self.assertEqual(said[:3], (2, 0, 0))
        got = {int(m[1]): int(m[2]) for m in re.finditer(r"^ +(\d+) \|\S* +(\d+) *$", out, re.M) if int(m[2])}
        want = {0: 1, 1: 1, 2: 2, 4: 4, 8: 8, 16: 16, 32: CALLS - 32}
        self.assertEqual(got, {value: 10 * n for value, n in want.items()})

    def test_filter(self):
        """What only the host can do exits where the predicate holds."""
        out, said = self.rounds(2, "fbt::probed_nop:entry /arg1 == 7 && arg0 >= 40/ { @[arg0, stackdepth < 2000] = count(); }")
        self.assertEqual(said[:3], (2, 1, 0))
        self.assertEqual(self.records, 0)
        self.assertEqual(counts_of(out), {(str(i), "1"): 10 for i in range(40, CALLS)})

    def test_keys(self):
        """A key's first hit exits; from then on its trampoline finds it in the table."""
        for action, value in (("count()", lambda i: 10), ("sum(arg0)", lambda i: 10 * i), ("avg(arg0)", lambda i: i)):
            with self.subTest(action=action):
                out, said = self.rounds(2, f"fbt::probed_nop:entry /arg1 == 7/ {{ @[arg0] = {action}; }}")
                self.assertEqual(said[:3], (2, 1, 0), said)
                self.assertEqual(counts_of(out), {(str(i),): value(i) for i in range(CALLS)})

    def test_keys_of_several_elements(self):
        """Names of the probe's cost nothing; the other elements are looked up, in any order."""
        out, said = self.rounds(2, "fbt::probed_nop:entry /arg1 == 7/ { @[arg0, probefunc, arg1] = count(); }")
        self.assertEqual(said[:3], (2, 1, 0), said)
        self.assertEqual(counts_of(out), {(str(i), "probed_nop", "7"): 10 for i in range(CALLS)})
        out, said = self.rounds(1, "fbt::probed_nop:entry /arg1 == 7/ { @[arg0 & 3, arg1, arg0 >> 5] = sum(arg0); }")
        self.assertEqual(said[:3], (2, 1, 0), said)
        want = {}
        for i in range(CALLS):
            key = (str(i % 4), "7", str(i // 32))
            want[key] = want.get(key, 0) + 5 * i
        self.assertEqual(counts_of(out), want)

    def test_several_aggregations_by_a_key(self):
        """Two clauses, one of which has a predicate of its own, and an aggregation without a key."""
        out, said = self.rounds(2, "fbt::probed_nop:entry /arg1 == 7/ { @n[\"n\", 1] = count(); @c[arg0 & 7, 1] = count(); "
                                "@l[arg0 & 7, 1] = min(arg0); @m[arg0 & 7, 1] = max(arg0); } "
                                "fbt::probed_nop:entry /arg1 == 7 && arg0 >= 40/ { @a[arg0 & 7, 1] = avg(arg0); }")
        self.assertEqual(said[:3], (2, 1, 0), said)
        rows = re.findall(r"^ +(\d+) +1 +(\d+)$", out, re.M)
        want = []
        for k in range(8):
            mine = [i for i in range(CALLS) if i % 8 == k]
            late = [i for i in mine if i >= 40]
            want += [(k, 10 * len(mine)), (k, min(mine)), (k, max(mine)), (k, sum(late) // len(late))]
        self.assertEqual(sorted((int(k), int(n)) for k, n in rows), sorted(want))
        self.assertEqual(counts_of(out)[("n", "1")], 10 * CALLS)

    def by_parity(self, action):
        """The rows with counts that each of the two keys has, each row's count by what is printed before it."""
        out, said = self.rounds(2, f"fbt::probed_nop:entry /arg1 == 7/ {{ @[arg0 & 1] = {action}; }}")
        self.assertEqual(said[:3], (2, 1, 0), said)
        parts = re.split(r"^ +([01]) *$", out, flags=re.M)[1:]
        return {int(key): {row: int(n) for row, n in re.findall(r"^ +(\S.*?) +\|@* +(\d+) *$", part, re.M) if int(n)}
                for key, part in zip(parts[::2], parts[1::2])}

    def test_distributions_by_a_key(self):
        """Each key has its buckets."""
        powers, levels = {0: {}, 1: {}}, {0: {}, 1: {}}
        for i in range(CALLS):
            row = str(1 << (i.bit_length() - 1) if i else 0)
            powers[i & 1][row] = powers[i & 1].get(row, 0) + 10
            row = "< 10" if i < 10 else ">= 40" if i >= 40 else str(i - (i - 10) % 3)
            levels[i & 1][row] = levels[i & 1].get(row, 0) + 10
        self.assertEqual(self.by_parity("quantize(arg0)"), powers)
        self.assertEqual(self.by_parity("lquantize(arg0, 10, 40, 3)"), levels)

    def printed(self, out, n):
        """Of lines of numbers that begin with the vCPU: for each vCPU the rest of its n lines, in their order."""
        lines = [[int(word) for word in line.split()] for line in re.findall(r"^[\d ]+$", out, re.M)]
        cpus = {}
        for line in lines:
            cpus.setdefault(line[0], []).append(line[1:])
        self.assertEqual({cpu: len(seen) for cpu, seen in cpus.items()}, dict.fromkeys(cpus, n))
        return lines, cpus

    def test_records(self):
        """What a clause prints: all calls, each vCPU's in their order, with what they were called with, by their times. A ring
        has room for all of them, however fast the guest is."""
        for cpus in rounds((1, 4), (1, 2, 4)):
            with self.subTest(cpus=cpus):
                out, said = self.rounds(cpus, 'fbt::probed_nop:entry /arg1 == 7/ { printf("%d %d %d %d\\n", cpu, arg0, arg1, '
                                              'timestamp); }', "-q")
                self.assertEqual((said[:3], self.records, self.lost), ((2, 0, 0), 1, 0))
                lines, seen = self.printed(out, 5 * CALLS)
                self.assertEqual(set(seen), set(range(cpus)))
                for calls in seen.values():
                    self.assertEqual([call[:2] for call in calls], [[i, 7] for i in range(CALLS)] * 5)
                times = [line[3] for line in lines]
                self.assertEqual(times, sorted(times))

    def test_records_and_traps(self):
        """A record of a call is before the trap of its return."""
        out, said = self.rounds(2, 'fbt::probed_nop:entry /arg1 == 7/ { printf("%d 0 %d\\n", cpu, arg0); } '
                                   'fbt::probed_nop:return { printf("%d 1 %d\\n", cpu, caller != 0); }', "-q")
        self.assertEqual((self.records, self.lost), (1, 0), said)
        cpus = {}
        for cpu, kind in re.findall(r"^(\d) ([01]) \d+$", out, re.M):
            cpus.setdefault(cpu, []).append(kind)
        for kinds in cpus.values():
            self.assertEqual(kinds[kinds.index("0"):][:2 * 5 * CALLS], ["0", "1"] * (5 * CALLS))

    def test_record_clauses(self):
        """Clauses of one place: one counts there, the others' records fire on the host, the predicates' truth was decided there."""
        out, said = self.rounds(2, "fbt::probed_nop:entry /arg1 == 7/ { @n[\"n\"] = count(); } "
                                   "fbt::probed_nop:entry /arg1 == 7 && arg0 < 10/ { @k[arg0, arg1] = count(); } "
                                   "fbt::probed_nop:entry /arg1 == 7/ { @a[probefunc, arg0 & 1, \"x\"] = sum(arg0); }", n=4)
        self.assertEqual((said[:3], self.records, self.lost), ((2, 0, 0), 1, 0))
        odd = sum(range(1, CALLS, 2))
        self.assertEqual(counts_of(out), {("n",): 6 * CALLS, **{(str(i), "7"): 6 for i in range(10)},
                                          ("probed_nop", "0", "x"): 6 * (sum(range(CALLS)) - odd),
                                          ("probed_nop", "1", "x"): 6 * odd})

    def test_full_ring(self):
        """What has no room is counted: each call is printed or lost."""
        out, said = self.rounds(2, 'fbt::probed_nop:entry /arg1 == 7/ { printf("%d %d\\n", cpu, arg0); }', "-q",
                                "-x", "injectsize=1k", "-x", "switchrate=50hz", n=21)
        self.assertEqual((said[:3], self.records), ((2, 0, 0), 1))
        calls = re.findall(r"^[01] \d+$", out, re.M)
        self.assertEqual(len(calls) + self.lost, 2 * 20 * CALLS)
        self.assertGreater(self.lost, 0)

    def test_records_killed(self):
        """kill -9 of outsight, then another one: none of the first one's records is the second one's."""
        vm = self.vm(2)
        for _ in range(rounds(3, 30)):
            tracer = subprocess.Popen(vm.command('fbt::probed_nop:entry { printf("%d\\n", arg0); }', "-x", "inject=force"),
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.assertTrue(tracer.stdout.readline())
            tracer.send_signal(signal.SIGKILL)
            tracer.communicate()
            vm.wait_clean()
            out, said = self.trace(vm, ROUND % 'fbt::probed_nop:entry /arg1 == 7/ { printf("%d %d\\n", 10 + cpu, arg0); }', "-q")
            self.assertEqual((said[1], self.records), (0, 1), said)
            cpus = {}
            for cpu, i in re.findall(r"^(\d+) (\d+)$", out, re.M):
                cpus.setdefault(cpu, []).append(int(i))
            self.assertEqual(set(cpus), {"10", "11"})
            gaps = [(b - a) % CALLS != 1 for calls in cpus.values() for a, b in zip(calls, calls[1:])]
            self.assertLessEqual(sum(gaps), self.lost) # the guest may be faster than a ring is drained
        self.check_clean(vm)

    def test_trapped(self):
        """A clause without a predicate that needs the host, a return, and a function without a nop: as ever."""
        out, said = self.rounds(1, "fbt::probed_nop:entry /arg1 == 7/ { @n[\"n\"] = count(); } "
                                "fbt::probed_nop:entry { @t[\"t\"] = max(timestamp); clear(@t); trunc(@t); } "
                                "fbt::probed_push:entry,fbt::probed_nop:return { @r[probefunc] = count(); }")
        self.assertEqual(said[:3], (1, 0, 1), said) # KVM counts the others
        self.assertIn("clause 2", said[3])
        self.assertEqual(counts_of(out)[("n",)], 5 * CALLS)

    RETURNS = "fbt::returned_padded:return,fbt::returned_thunk:return"

    def returned(self, cpus, clauses, *options):
        return self.rounds(cpus, clauses, *options, words="returned=1")

    def test_returns(self):
        """Returns by a `ret` with padding and by the thunk, at two places: as many as entries, on several vCPUs."""
        for cpus in rounds((1, 4), (1, 2, 4)):
            with self.subTest(cpus=cpus):
                out, said = self.returned(cpus, f"{self.RETURNS} /arg1 >> 8 == 7/ {{ @[probefunc, probename] = count(); }} "
                                        "fbt::returned_padded:entry,fbt::returned_thunk:entry /arg1 == 0x700/ "
                                        "{ @[probefunc, probename] = count(); }")
                self.assertEqual(said[:3], (6, 0, 0), said)
                calls = 5 * CALLS * cpus # returned_tail() goes on in returned_padded()
                self.assertEqual(counts_of(out), {("returned_padded", "entry"): 2 * calls, ("returned_padded", "return"): 2 * calls,
                                                  ("returned_thunk", "entry"): calls, ("returned_thunk", "return"): calls})

    def test_results(self):
        """The result, 1792 + 0 to CALLS - 1, and where it was returned."""
        for function, times in (("padded", 20), ("thunk", 10)):
            with self.subTest(function=function):
                out, said = self.returned(2, f"fbt::returned_{function}:return /arg1 >> 8 == 7/ {{ @s[\"s\"] = sum(arg1 & 255); "
                                        "@l[\"l\"] = min(arg1); @m[\"m\"] = max(arg1); @z[\"z\"] = sum(arg2); }")
                self.assertEqual(said[1:3], (0, 0), said)
                self.assertEqual(counts_of(out), {("s",): times * sum(range(CALLS)), ("l",): 1792, ("m",): 1792 + CALLS - 1,
                                                  ("z",): 0})
        # Odd numbers leave it by its first jump.
        out, said = self.returned(2, "fbt::returned_thunk:return /arg1 >> 8 == 7/ { @[arg0, arg1 & 1] = count(); }")
        self.assertEqual(said[:3], (3, 2, 0), said)
        self.assertEqual(counts_of(out), {("18", "1"): 10 * CALLS // 2, ("24", "0"): 10 * CALLS // 2})

    def test_filtered_returns(self):
        """What only the host can do exits where the predicate holds, with the registers of the return."""
        out, said = self.returned(2, f"{self.RETURNS} /arg1 >= 1792 + 40/ {{ @[probefunc, arg1 - 1792, caller != 0] = count(); }}")
        self.assertEqual(said[:2], (4, 3), said)
        self.assertEqual(counts_of(out), {(f"returned_{f}", str(i), "1"): n for i in range(40, CALLS)
                                          for f, n in (("padded", 20), ("thunk", 10))})

    def test_refused_returns(self):
        """What a jump may not replace is trapped as ever, and the reason is said."""
        for probe, why in (("returned_branched", "less than the five bytes"), ("returned_plain", "no nop for tracing"),
                           ("returned_tail", "another function is called in its place"), ("probed_nop", "less than the five bytes")):
            with self.subTest(probe=probe):
                out, said = self.returned(1, f"fbt::{probe}:return {{ @r[probefunc] = sum(arg0 > 0); }}")
                self.assertEqual(said[:3], (1, 0, 1), said)
                self.assertRegex(said[3], why)
                self.assertGreaterEqual(counts_of(out)[(probe,)], 5 * CALLS)
        out, said = self.returned(1, f'{self.RETURNS} /arg1 >> 8 == 7/ {{ printf("%d\\n", arg1 & 255); }}', "-q")
        self.assertEqual((said[:3], self.records), ((4, 3, 0), 0), said)
        self.assertEqual(len(re.findall(r"^\d+$", out, re.M)), 3 * 5 * CALLS)

    def test_returns_toggled(self):
        """On and off under the guest's feet, by turns with traps at the same places, and with kill -9."""
        vm = self.vm(2, "returned=1")
        for turn in range(rounds(10, 60)):
            options = ("-x", "inject=force") if turn % 3 else ()
            program = f"{self.RETURNS},fbt::returned_thunk:entry {{ @[probefunc] = count(); }}"
            if turn % 4 == 3:
                tracer = subprocess.Popen(vm.command(program, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                end = time.monotonic() + limit(60)
                while vm.text() == elf_text(vm.kernel)[1] and time.monotonic() < end:
                    self.assertIsNone(tracer.poll())
                tracer.send_signal(signal.SIGKILL)
                tracer.communicate()
                vm.wait_clean()
                continue
            done = subprocess.run(vm.command(ROUND % program, *options), capture_output=True, text=True, timeout=limit(120),
                                  check=True)
            self.assertEqual({k[0] for k in counts_of(done.stdout)}, {"returned_padded", "returned_thunk"}, done.stderr)
        self.check_clean(vm)

    def test_where_it_gains(self):
        """`on` asks what was measured of the host: it is done, or refused with both figures. doctor prints them too."""
        vm = self.vm(1)
        done = subprocess.run(vm.command(f"{ENTRIES} {{ @ = count(); }} tick-1s {{ exit(0); }}", "-x", "inject=on"),
                              capture_output=True, text=True, timeout=limit(120), check=True)
        refused = re.search(r"2 places are trapped: on this host a guest's kernel takes (\d+) ns for a few instructions, and an "
                            r"exit (\d+) ns \(-x inject=force", done.stderr)
        if refused:
            self.assertGreaterEqual(int(refused[1]), int(refused[2]))
        else:
            self.assertIn("resident probes: 2 places\n", done.stderr)
        self.assertRegex(doctor().stdout, r"resident probes \(-x inject=on\): some \d+ ns a hit, an exit takes \d+ ns: ")

    def test_not_asked(self):
        vm = self.vm(1)
        done = subprocess.run(vm.command(ROUND % f"{ENTRIES} {{ @ = count(); }}"), capture_output=True, text=True,
                              timeout=limit(120), check=True)
        self.assertNotIn("resident", done.stderr)

    def test_toggled(self):
        """On and off under the guest's feet; its results are checked by itself."""
        vm = self.vm(2)
        for _ in range(rounds(10, 60)):
            out, said = self.trace(vm, ROUND % f"{ENTRIES} {{ @[probefunc] = count(); }}")
            self.assertGreaterEqual(said[0], 2)
            self.assertEqual({k[0] for k in counts_of(out)}, {f"probed_{f}" for f in NOPS})
        self.check_clean(vm)

    def test_killed(self):
        """kill -9 of outsight: the jumps are removed, the guest runs on."""
        vm = self.vm(2)
        for _ in range(rounds(5, 50)):
            tracer = subprocess.Popen(vm.command(f"{ENTRIES} {{ @[probefunc] = count(); }}", "-x", "inject=force"),
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            end = time.monotonic() + limit(60)
            while vm.text() == elf_text(vm.kernel)[1] and time.monotonic() < end:
                self.assertIsNone(tracer.poll())
            tracer.send_signal(signal.SIGKILL)
            tracer.communicate()
            vm.wait_clean()
        self.check_clean(vm)

    def test_two_sessions(self):
        """Both want it: one trampoline counts for both. One does not: there is a trap."""
        vm = self.vm(2)
        for options in ((), ("-x", "inject=force")):
            first = subprocess.Popen(vm.command("fbt::probed_nop:entry { @n[probefunc] = count(); }", *options),
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while vm.text() == elf_text(vm.kernel)[1]:
                self.assertIsNone(first.poll())
                time.sleep(0.02)
            out, said = self.trace(vm, ROUND % f"{ENTRIES} {{ @[probefunc] = count(); }}")
            self.assertEqual(said[2] > 2, not options, said)
            self.assertEqual({k[0] for k in counts_of(out)}, {f"probed_{f}" for f in NOPS})
            first.send_signal(signal.SIGINT)
            stdout, stderr = first.communicate(timeout=limit(30))
            self.assertEqual(first.returncode, 0, stderr)
            self.assertGreater(counts_of(stdout.decode())[("probed_nop",)], 0)
        self.check_clean(vm)


if __name__ == "__main__":
    main()
