#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The small guest on /dev/kvm: small_test.py OUTSIGHT SMALL-GUEST. Ends with 77 where there is no KVM."""
import collections
import json
import os
import random
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from small_guest import (CALLS, GUEST, INT3, MANY, OUTSIGHT, ROUND, TRAPPED, VMM, GuestTest, Vm, counts_of, doctor,
                         elf_text, main)
from lib import browser, flame_page, npm, perfetto, pprof, protoc
from lib.pace import FULL, limit, rounds


class SmallGuest(GuestTest):
    def test_counts(self):
        for cpus in rounds((1, 4), (1, 2, 4)):
            with self.subTest(cpus=cpus):
                vm = self.vm(cpus)
                out = vm.trace(ROUND % "fbt::probed_*:entry,fbt::probed_*:return /on/ { @[probefunc, probename] = count(); }")
                want = {(f"probed_{f}", end): CALLS * cpus * (2 if f == "load" else 1)
                        for f in TRAPPED for end in ("entry", "return")}
                self.assertEqual(counts_of(out), want)
                self.check_unharmed(vm)
                vm.close()

    def test_arguments(self):
        vm = self.vm(2)
        out = vm.trace(ROUND % "fbt::probed_nop:entry /on/ { @[\"a\", arg1] = count(); @s[\"s\"] = sum(arg0); } "
                       "fbt::probed_push:return /on/ { @r[\"r\"] = sum(arg1); }")
        total = sum(range(CALLS)) * 2
        self.assertEqual(counts_of(out), {("a", "7"): CALLS * 2, ("s",): total, ("r",): total + 2 * CALLS * 2})

    def test_two_sessions(self):
        """The traps of one session are not guest text to the other, and its end does not end the other."""
        vm = self.vm(2)
        first = subprocess.Popen(vm.command("fbt::probed_*:entry,fbt::probed_*:return { @n[probefunc] = count(); }"),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while vm.text() == elf_text(GUEST)[1]:
            self.assertIsNone(first.poll())
            time.sleep(0.02)
        out = vm.trace(ROUND % "fbt::probed_*:entry,fbt::probed_*:return /on/ { @[probefunc, probename] = count(); }")
        want = {(f"probed_{f}", end): CALLS * 2 * (2 if f == "load" else 1) for f in TRAPPED for end in ("entry", "return")}
        self.assertEqual(counts_of(out), want)
        first.send_signal(signal.SIGINT)
        stdout, stderr = first.communicate(timeout=limit(30))
        self.assertEqual(first.returncode, 0, stderr)
        self.assertEqual(len(counts_of(stdout.decode())), len(TRAPPED), stdout)
        self.check_unharmed(vm)

    def test_counters_beside_others(self):
        """A counter in KVM, and the same site with a clause that needs an exit."""
        vm = self.vm(2)
        out = vm.trace("fbt::probed_nop:entry { @c = count(); } fbt::probed_endbr:entry { @e = count(); } "
                       "fbt::probed_endbr:entry { @[\"seen\"] = count(); self->x = 1; } "
                       "fbt::round_end:entry { rounds++; } fbt::round_end:entry /rounds == 3/ { exit(0); }")
        numbers = [int(line.split()[-1]) for line in out.splitlines() if line.strip()]
        self.assertEqual(len(numbers), 3)
        self.assertTrue(all(n > 0 for n in numbers), numbers)
        self.check_unharmed(vm)

    def test_profile(self):
        vm = self.vm(2)
        out = vm.trace("profile-97 { @[cpu] = count(); } profile-97 /cpu == 0/ { a = 1; } profile-97 /cpu == 1/ { b = 1; } "
                       "profile-97 /a && b/ { exit(0); }")
        counts = counts_of(out)
        self.assertEqual(set(counts), {("0",), ("1",)})

    def test_enabled_and_disabled(self):
        """Again and again, under fire."""
        vm, times = self.vm(4), rounds(60, 1000)
        program = "fbt::probed_*:entry,fbt::probed_*:return { @ = count(); }"
        toggle = os.path.join(os.path.dirname(GUEST), "kvm_toggle")
        done = subprocess.run([toggle, vm.socket, str(times), program, GUEST], capture_output=True, text=True, timeout=limit(200),
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        match = re.fullmatch(rf"rounds {times} hits (\d+)\n", done.stdout)
        self.assertTrue(match, done.stdout)
        self.assertGreater(int(match.group(1)), times)
        self.check_unharmed(vm)

    def test_folded(self):
        """A line for each stack, and together as many as the clause has counted."""
        program = ("fbt::probed_*:entry /n++ < 1000/ { @[probefunc, stack()] = count(); } "
                   "tick-50ms /n >= 1000/ { exit(0); }")
        folded = self.vm(1).trace(program, "-x", "oformat=folded").splitlines()
        self.assertGreater(len(folded), 1)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded), 1000)
        for line in folded:
            function, *frames = line.rsplit(" ", 1)[0].split(";")
            self.assertTrue(frames[-1].endswith(f"`{function}"), line)
            self.assertNotIn("+0x", line)
            self.assertGreater(len(frames), 1, line)

    def test_pprof(self):
        """The same stacks as a profile: folded, they are what each function's calls are."""
        program = ("fbt::probed_*:entry /n++ < 1000/ { @[probefunc, stack()] = count(); } "
                   "tick-50ms /n >= 1000/ { exit(0); }")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.pprof")
            self.vm(1).trace(program, "-o", path)
            with open(path, "rb") as f:
                data = f.read()
        profile = pprof.Profile(data)
        self.assertEqual(sum(values[0] for *_, values in profile.samples), 1000)
        for frames, labels, _ in profile.samples:
            self.assertTrue(frames[-1].endswith(f"`{labels['probefunc']}"), frames)
            self.assertGreater(len(frames), 1, frames)
        with self.subTest(reader="protoc"):
            self.need(protoc.MISSING)
            protoc.check_profile(data, profile)
        with self.subTest(reader="pprof-format"):
            self.need(npm.NO_PPROF_FORMAT)
            npm.check_pprof_format(data, profile)
        with self.subTest(reader="speedscope"):
            self.need(npm.NO_SPEEDSCOPE)
            self.check_speedscope(data, profile)

    def check_speedscope(self, data, profile):
        """It has no labels and no modules in its names: stacks of equal functions are one."""
        wanted = collections.Counter()
        for frames, _, values in profile.samples:
            wanted[tuple(frame.rpartition("`")[2] for frame in frames)] += values[0]
        self.assertEqual(npm.folded_by_speedscope("x.pprof", data), dict(wanted))

    def need(self, missing):
        if missing:
            self.skipTest(missing)

    def test_perfetto(self):
        """Each call is a slice, on a track that has its vCPU's thread here, with its stack; aggregations are counters."""
        program = ("fbt::probed_*:entry /n < 1000/ { n++; on[probefunc] = 1; stack(); trace(arg1); } "
                   "fbt::probed_*:return /on[probefunc]/ { on[probefunc] = 0; back++; @back = count(); trace(arg1); } "
                   "tick-50ms /n >= 1000 && back == n/ { exit(0); }")
        vm = self.vm(1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.pftrace")
            vm.trace(program, "-o", path)
            with open(path, "rb") as f:
                data = f.read()
            trace = perfetto.Trace(data)
            guest = trace.tracks[[track.process is not None for track in trace.tracks].index(True)]
            self.assertEqual(guest.process[0], vm.process.pid)
            cpu = trace.named("CPU 0")
            self.assertIs(cpu.parent, guest)
            self.assertEqual((cpu.thread[0], cpu.thread[2]), (vm.process.pid, "CPU 0"))
            self.assertTrue(os.path.exists(f"/proc/{vm.process.pid}/task/{cpu.thread[1]}"), cpu.thread)
        self.assertEqual(len(cpu.events), 1000)
        for event in cpu.events:
            self.assertEqual((event.kind, list(event.notes), list(event.end_notes)), (perfetto.BEGIN, ["arg1"], ["arg1"]))
            self.assertTrue(event.frames[-1].endswith(f"`{event.name}"), event.frames)
            self.assertGreaterEqual(event.end, event.time)
        self.assertEqual(trace.named("@back").events[-1].value, 1000)
        self.assertIs(trace.named("@back").parent, guest)
        with self.subTest(reader="protoc"):
            self.need(protoc.MISSING)
            self.assertEqual(protoc.check_trace(data), 1000)

    def test_flame(self):
        """The same stacks as rows of a page."""
        program = ("fbt::probed_*:entry /n++ < 1000/ { @[probefunc, stack()] = count(); } "
                   "tick-50ms /n >= 1000/ { exit(0); }")
        page = self.vm(1).trace(program, "-x", "oformat=flame")
        rows = json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.S).group(1))
        self.assertEqual(sum(value for *_, value in rows), 1000)
        for line, keys, user, _ in rows:
            function, *frames = line.split(";")
            self.assertTrue(frames[-1].endswith(f"`{function}"), line)
            self.assertEqual((keys, user), (1, 0), line)
        if FULL:
            self.check_in_browser(page, [f"{line} {value}" for line, _, _, value in rows])

    def check_in_browser(self, page, folded):
        """As many frames are drawn as the stacks have."""
        if browser.MISSING:
            self.skipTest(browser.MISSING)
        with tempfile.TemporaryDirectory() as folder, browser.Browser() as opened:
            path = os.path.join(folder, "flame.html")
            with open(path, "w", encoding="utf-8") as f:
                f.write(page)
            flame_page.check(self, opened, path, folded)

    def test_killed(self):
        """kill -9 at any moment, under fire."""
        vm = self.vm(4)
        rnd = random.Random(1)
        for _ in range(rounds(6, 30)):
            tracer = subprocess.Popen(vm.command("fbt::probed_*:entry,fbt::probed_*:return { @[probefunc] = count(); }"),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rnd.uniform(0, 0.7))
            tracer.kill()
            tracer.wait()
        vm.wait_clean()
        self.check_unharmed(vm)

    def list(self, vm, *args):
        done = subprocess.run([OUTSIGHT, "-g", vm.socket, "--no-cache", "--vmlinux", vm.kernel, *args],
                              capture_output=True, text=True, timeout=limit(60), check=False)
        return done.returncode, done.stdout, done.stderr

    REFUSED = {("refused_entry", "entry"): "`rdtsc`: a system instruction",
               ("refused_return", "return"): "exit 1 of 2, at +0xa: `retfq`: a system instruction",
               ("refused_loop", "entry"): "its first instruction is a jump target inside the function"}

    def test_refused(self):
        """A place that can't be trapped is not a probe; -lv and the message about an unmatched description give the
        reason."""
        vm = self.vm(1)
        ends = {(f, end) for f in ("refused_entry", "refused_return", "refused_loop") for end in ("entry", "return")}
        _, out, _ = self.list(vm, "-l", "-n", "fbt::refused_*:")
        self.assertEqual({tuple(line.split()[3:]) for line in out.splitlines()[1:]}, ends - set(self.REFUSED))
        _, out, _ = self.list(vm, "-lv", "-n", "fbt::refused_*:")
        found = dict(re.findall(r"(refused_\w+ \w+)\n\n\tCannot be enabled: (.*)\n", out))
        self.assertEqual(set(found), {" ".join(probe) for probe in self.REFUSED})
        for (function, end), reason in self.REFUSED.items():
            self.assertIn(reason, found[f"{function} {end}"])
            status, _, err = self.list(vm, "-n", f"fbt::{function}:{end}")
            self.assertEqual(status, 1)
            self.assertIn(f"does not match any probes: fbt:vmlinux:{function}:{end} can't be enabled: {reason}", err)
            _, _, err = self.list(vm, "-l", "-n", f"fbt::{function}:{end}")
            self.assertIn(f"No probe matches description: fbt:vmlinux:{function}:{end} can't be enabled: {reason}", err)
        # a wildcard matches the others
        out = vm.trace(ROUND % "fbt::*ed_*:entry,fbt::*ed_*:return /on/ { @[probefunc] = count(); }")
        self.assertEqual(counts_of(out)[("probed_nop",)], CALLS * 2)

    def test_thirty_thousand(self):
        """As many probes as a Linux kernel has functions, with those that are hit among them."""
        vm = Vm(2, kernel=MANY)
        self.addCleanup(vm.close)
        before = vm.text()
        _, out, err = self.list(vm, "-e", "-n", "fbt::many_*:")
        self.assertEqual((out, err), ("", ""))
        out = vm.trace(ROUND % "fbt::many_*:,fbt::probed_*: /on/ { @[probefunc, probename] = count(); }")
        self.assertEqual(counts_of(out), {(f"probed_{f}", end): CALLS * 2 * (2 if f == "load" else 1)
                                          for f in TRAPPED for end in ("entry", "return")})
        self.assertEqual(vm.text(), before)
        self.assertNotIn("FAIL", vm.console())

    def test_one_byte(self):
        """Only an int3 fits on one byte: none is planted where it causes no exit."""
        vm = self.vm(1)
        _, out, _ = self.list(vm, "-l", "-n", "fbt::probed_push1:")
        self.assertEqual([line.split()[4] for line in out.splitlines()[1:]], ["entry", "return"] if INT3 else [])
        _, out, _ = self.list(vm, "-lv", "-n", "fbt::probed_push1:entry")
        reason = "Cannot be enabled: an instruction of one byte, and int3 does not exit on this host"
        self.assertEqual(reason in out, not INT3, out)

    def test_plan(self):
        """--plan: a line for each place, and the text stays as it is."""
        vm = self.vm(1)
        status, out, err = self.list(vm, "--plan", "-n", "fbt::probed_nop:,fbt::probed_endbr:,fbt::probed_push*:entry")
        self.assertEqual(status, 0, err)
        lines = [line.split() for line in out.splitlines()]
        self.assertEqual(lines[0], ["ADDRESS", "TRAP", "LEN", "BYTES", "PLACE"])
        self.assertEqual([(line[1], line[2], line[3:-1], line[-1]) for line in lines[1:]],
                         [("native", "5", "0f 1f 44 00 00".split(), "vmlinux`probed_nop"),
                          ("emulate", "2", "c3 cc".split(), "vmlinux`probed_nop+0x9"),
                          ("native", "5", "0f 1f 44 00 00".split(), "vmlinux`probed_endbr+0x4"),
                          ("emulate", "5", lines[4][3:-1], "vmlinux`probed_endbr+0xd"),
                          ("emulate", "2", ["41", "54"], "vmlinux`probed_push")] +
                         [("emulate", "1", ["55"], "vmlinux`probed_push1")] * INT3)
        self.assertEqual(vm.text(), elf_text(GUEST)[1])

    def test_text_changes(self):
        """The guest's text may change between the read and the comparison: outsight reads again."""
        vm = self.vm(1)
        nops = (b"\x0f\x1f\x44\x00\x00", b"\x66\x66\x66\x66\x90")
        stop = threading.Event()

        def patch(fd, at):
            while not stop.wait(0.1):
                os.pwrite(fd, nops[os.pread(fd, 5, at) == nops[0]], at)

        paddr, text = elf_text(GUEST)
        # of a function that is never called
        at = paddr + text.index(nops[0] + b"\x48\x85\xff\x75\x02\x48\xcb")
        fd = os.open(vm.memory_path(), os.O_RDWR)
        self.addCleanup(os.close, fd)
        patcher = threading.Thread(target=patch, args=(fd, at))
        patcher.start()
        try:
            for _ in range(rounds(5, 25)):
                vm.trace("fbt::refused_return:entry { @ = count(); } tick-1ms { exit(0); }")
        finally:
            stop.set()
            patcher.join()

    def test_trap_option(self):
        vm = self.vm(2)
        program = ROUND % "fbt::probed_*:entry /on/ { @[probefunc] = count(); }"
        status, out, err = self.list(vm, "-q", "-x", "trap=text", "-n", program)
        self.assertEqual(status, 0, err)
        self.assertEqual(counts_of(out), {(f"probed_{f}",): CALLS * 2 * (2 if f == "load" else 1) for f in TRAPPED})
        # four debug registers: places, not probes
        status, _, err = self.list(vm, "-x", "trap=hw", "-n", "fbt::probed_*:entry { @ = count(); }")
        self.assertEqual(status, 1)
        self.assertIn("-x trap=hw: there are 4 debug registers, and the program has probes in 8 places", err)
        status, out, err = self.list(vm, "-x", "trap=hw", "--plan", "-n", "fbt::probed_nop:entry,fbt::probed_n*:")
        self.assertEqual((status, [line.split()[1:3] for line in out.splitlines()[1:]]), (0, [["hw", "0"]] * 2), err)
        status, out, err = self.list(vm, "-x", "trap=step", "--plan", "-n", "fbt::probed_push:entry")
        self.assertEqual((status, [line.split()[1:3] for line in out.splitlines()[1:]]), (0, [["step", "2"]]), err)
        status, _, err = self.list(vm, "-x", "trap=int3", "-n", "BEGIN")
        self.assertEqual(status, 1)
        self.assertIn("Invalid value for specified option", err)

    def test_processes(self):
        """This guest has none; on a KVM that could not stop their programs that is the reason."""
        status, _, err = self.list(self.vm(1), "-n", "pid1:a.out:main:entry { @ = count(); }")
        self.assertEqual(status, 1)
        stops = "hw_user=yes" in doctor().stdout
        self.assertIn("no process can be probed" if stops else "does not stop programs at debug registers (hw_user=no", err)

    def test_files(self):
        """Functions of a file in every process are for guests under TCG: what there is instead is said, where it works."""
        status, _, err = self.list(self.vm(1), "-n", "user:/lib/libc.so.6:malloc:entry { @ = count(); }")
        self.assertEqual(status, 1)
        self.assertIn("user:/lib/libc.so.6:malloc:entry", err)
        self.assertIn("the user provider needs a guest under TCG: on KVM a debug register stops at one address", err)
        if "hw_user=yes" in doctor().stdout:
            self.assertIn("Name a process instead, for up to 4 places: pid123:libc.so.6:malloc:entry, or pid$target with -p PID, "
                          "or with -W NAME", err)
        else:
            self.assertIn("Nor can a single process be probed: this host's KVM does not stop programs at debug registers", err)

    def test_overload(self):
        """The most expensive probes are removed, their text is restored, their counts are printed, the rest
        continues."""
        vm = self.vm(2)
        tracer = subprocess.Popen(
            vm.command("fbt::probed_*:entry,fbt::probed_*:return { @[probefunc, probename] = count(); } "
                       "fbt::round_end:entry { @r[\"rounds\"] = count(); } END { exit(7); }", "-x", "maxcost=1"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        line = tracer.stderr.readline()
        tracer.send_signal(signal.SIGINT)
        out, err = tracer.communicate(timeout=limit(60))
        self.assertEqual((tracer.returncode, err), (7, ""))
        self.assertRegex(line, r"dtrace: overload: \d+ % of vCPU time in probes \(limit 1 %\): fbt:\S*:probed_\w+:"
                         r"(entry|return) \(EPID \d+\) and \d+ more probes were removed; -x maxcost=PCT changes the limit")
        counts = counts_of(out)
        self.assertGreater(counts["probed_load", "entry"], 0)
        self.assertGreater(counts["rounds",], 0)
        self.check_unharmed(vm)

    def test_what_could_not_be_read(self):
        """A kernel without BTF: that its types are missing is said, but not under quiet."""
        vm = self.vm(1)
        command = [word for word in vm.command("BEGIN { exit(0); }") if word != "-q"]
        for words, said in ((command, r"(?m)^dtrace: \S+: no types: "), ([*command, "-q"], r"\A\Z")):
            done = subprocess.run(words, capture_output=True, text=True, timeout=limit(60), check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, said)

    def test_overload_without_limit(self):
        vm = self.vm(1)
        done = subprocess.run(vm.command("fbt::probed_*:entry { @ = count(); } tick-3s { exit(0); }"),
                              capture_output=True, text=True, timeout=limit(60), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_overload_while_it_lasts(self):
        """Text is restored as soon as a probe is removed, not at the end."""
        vm = self.vm(1)
        tracer = subprocess.Popen(vm.command("fbt::probed_nop:entry { @ = sum(arg0); }", "-x", "maxcost=1"),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(tracer.stderr.close)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        self.assertIn("overload", tracer.stderr.readline())
        self.assertEqual(vm.text(), elf_text(GUEST)[1])
        self.assertIsNone(tracer.poll())

    def test_powered_off(self):
        vm = self.vm(2, "rounds=3")
        self.assertEqual(vm.process.wait(limit(60)), 0)
        self.assertIn("DONE", vm.console())


class TheEnd(unittest.TestCase):
    """After a guest's end the session prints all counts and a line about how it ended, and has a status."""
    WHOLE = ("fbt::round_begin:entry { on = 1; @rounds = count(); } fbt::probed_nop:entry /on/ { @calls = count(); } "
             "fbt::round_end:entry /on/ { @ends = count(); } END { printf(\"END fired\\n\"); }")

    def check_end(self, end, message, status, rate=""):
        """The guest ends when a whole round was counted, or with @rate, which says it too late, a hundred rounds after the first trap."""
        vm = Vm(2, f"input=1 end={end}", told=True)
        self.addCleanup(vm.close)
        trace = subprocess.Popen(vm.command(rate + self.WHOLE + 'fbt::round_end:entry /on && !said++/ { printf("round\\n"); }'),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (trace.kill(), trace.communicate()))
        if rate:
            while vm.text() == elf_text(GUEST)[1]:
                self.assertIsNone(trace.poll())
                time.sleep(0.02)
            start = vm.barriers()
            while vm.barriers() - start < 300:
                self.assertIsNone(trace.poll())
                time.sleep(0.02)
        else:
            self.assertEqual(trace.stdout.readline(), "round\n")
        vm.tell(b"e")
        out, err = trace.communicate(timeout=limit(60))
        self.assertRegex(err, message)
        self.assertEqual(trace.returncode, status, err)
        self.assertIn("END fired", out)
        began, calls, ended = (int(line) for line in out.split("END fired")[1].split())
        self.assertGreater(began, 0)
        self.assertEqual((calls, ended), (began * CALLS * 2, began))
        return vm

    def test_powered_off(self):
        vm = self.check_end(0, r"(?m)^dtrace: guest small powered off$", 0)
        self.assertEqual(vm.process.wait(limit(10)), 0)

    def test_slow_rates(self):
        """Nothing is lost either if data were read once a minute."""
        self.check_end(0, "powered off", 0, rate="#pragma D option aggrate=60s\n#pragma D option switchrate=60s\n"
                                                 "#pragma D option statusrate=60s\n")

    def test_reset(self):
        vm = self.check_end(1, r"(?m)^dtrace: guest small rebooted: ", 0)
        self.assertEqual(vm.process.wait(limit(10)), 0)
        self.assertIn(b"requested a reset", vm.process.stderr.read())

    def test_triple_fault(self):
        vm = self.check_end(2, r"(?m)^dtrace: guest small had a triple fault$", 1)
        self.assertEqual(vm.process.wait(limit(10)), 1)

    def test_cannot_run_on(self):
        """If KVM stops with an internal error (an interpreting one does at cmpxchg16b); else the guest powers off."""
        vm = Vm(1, "rounds=1 end=4")
        status = vm.process.wait(limit(60))
        vm.close()
        if not status:
            return  # This KVM executes the instruction: the guest powered itself off.
        vm = self.check_end(4, r"(?m)^dtrace: guest small can't continue: see its VMM's messages$", 1)
        self.assertEqual(vm.process.wait(limit(10)), 1)
        self.assertIn(b"can't emulate the instruction", vm.process.stderr.read())

    def test_monitor_stopped(self):
        """SIGTERM to the monitor."""
        vm = Vm(2)
        self.addCleanup(vm.close)
        with subprocess.Popen(vm.command(self.WHOLE + "tick-1s { printf(\"tick\\n\"); }"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as trace:
            self.assertEqual(trace.stdout.readline(), "tick\n")
            vm.process.terminate()
            out, err = trace.communicate(timeout=limit(30))
            self.assertEqual(trace.returncode, 1)
        self.assertRegex(err, rf"dtrace: guest small: its VMM \(PID {vm.process.pid}\) has ended")
        began, calls, _ = (int(line) for line in out.split("END fired")[1].split())
        # The last round may have been cut off.
        self.assertGreater(calls, (began - 1) * CALLS * 2 - 1)

    def test_hang(self):
        """A guest whose vCPUs never exit by themselves is detached from too, with its text restored."""
        vm = Vm(2, "rounds=3 end=3")
        self.addCleanup(vm.close)
        vm.wait_for("DONE")
        for _ in range(3):
            out = vm.trace("fbt::probed_nop:entry { @ = count(); } tick-200ms { exit(0); }")
            self.assertEqual(out.strip(), "0" if out.strip() else "")
        self.assertEqual(vm.text(), elf_text(GUEST)[1])


class BadInput(unittest.TestCase):
    def refused(self, args, text, status=1):
        done = subprocess.run([VMM, *args], capture_output=True, text=True, timeout=limit(60), check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, text)

    def test_kernels(self):
        self.refused(["--kernel", "/nonexistent"], "kernel /nonexistent: No such file")
        self.refused(["--kernel", __file__], "neither an ELF file nor a bzImage")
        self.refused(["--kernel", OUTSIGHT], "not an executable|an ELF file, but")
        with tempfile.NamedTemporaryFile() as f:
            with open(GUEST, "rb") as guest:
                f.write(guest.read(5000))
            f.flush()
            self.refused(["--kernel", f.name], "past the end|truncated|valid program header")

    def test_sizes(self):
        self.refused(["--kernel", GUEST, "--memory", "8"], "at least 16 MiB")
        self.refused(["--kernel", GUEST, "--smp", "100000"], "Usage", 2)
        self.refused(["--kernel", GUEST, "--append", "x" * 5000], "command line has 5000 bytes")
        self.refused([], "Usage", 2)

    def test_doctor(self):
        done = doctor()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(re.search(r"^kvm     int3=[\w-]+, inject=[\w+]+, hw=(yes|no), step=(yes|no), ioeventfd=(yes|no)",
                                  done.stdout, re.M), done.stdout)


if __name__ == "__main__":
    main()
