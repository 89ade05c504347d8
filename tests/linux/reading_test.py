#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What Outsight reads from the guest's memory equals what the guest says itself."""
import glob
import re
import shutil
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import numbers
from lib.scenario import PSEUDO_MODULES, Scenario, main, only_full, parse_symbols


def kallsyms(guest):
    return parse_symbols(guest.read_file("/proc/kallsyms").decode())


def lines(text):
    """Each line of a list, without those of pseudo-modules."""
    found = (tuple(line.split()) for line in text.splitlines())
    return {line for line in found if len(line) < 4 or not PSEUDO_MODULES.match(line[3].strip("[]"))}


class Symbols(Scenario):
    def compare(self, guest):
        """The whole table, line by line, before anything else slows the guest down."""
        status, out, err = self.outsight.run(guest, "--dump-symbols")
        self.assertEqual(status, 0, err)
        ours = parse_symbols(out)
        self.assertEqual([a for a, _, _ in ours], sorted(a for a, _, _ in ours), "not sorted by address")
        theirs = kallsyms(guest)
        missing, extra = sorted(set(theirs) - set(ours)), sorted(set(ours) - set(theirs))
        self.assertEqual((missing[:10], extra[:10]), ([], []), f"{len(missing)} missing, {len(extra)} too many")
        self.assertEqual(sorted(ours), sorted(theirs))
        # And each line's letter.
        ours_lines, theirs_lines = lines(out), lines(guest.read_file("/proc/kallsyms").decode())
        self.assertEqual((sorted(ours_lines - theirs_lines)[:10], sorted(theirs_lines - ours_lines)[:10]), ([], []))
        modules = {m for _, _, m in ours if m}
        for module in ("dummy", "veth", "loop", "xor", "bridge"):
            self.assertIn(module, modules)
        self.assertGreater(len(ours), 80000)

    def test_five_levels(self):
        """A kernel with 5-level paging."""
        with self.guest() as guest:
            self.assertIn("la57", guest.check("grep -m1 flags /proc/cpuinfo"))
            self.compare(guest)

    @only_full
    def test_default_cpu(self):
        """Four levels, and the plainest CPU that QEMU has."""
        with self.own_guest(cpu="qemu64") as guest:
            self.compare(guest)

    @only_full
    def test_five_levels_with_pti_and_a_spinning_vcpu(self):
        """5-level paging, separate page tables for user mode, and the only vCPU busy in user mode."""
        with self.own_guest(cpu="max", smp=1, append="pti=on") as guest:
            self.assertIn("la57", guest.check("grep -m1 flags /proc/cpuinfo"))
            self.assertIn("isolation: enabled", guest.check("dmesg | grep -i 'page tables isolation'"))
            job = guest.spawn("spin 10000")
            self.compare(guest)
            self.assertFalse(job.ended())

    def base(self, guest):
        """Where the guest's kernel begins, as read and as the guest says."""
        status, out, err = self.outsight.run(guest, "--dump-symbols")
        self.assertEqual(status, 0, err)
        base = {n: a for a, n, m in parse_symbols(out) if not m}["_text"]
        self.assertEqual(base, {n: a for a, n, m in kallsyms(guest) if not m}["_text"])
        return base

    @only_full
    def test_kernel_base_is_random(self):
        """KASLR is on: two boots differ, and both are read."""
        with self.guest() as one, self.own_guest(smp=1) as two:
            self.assertNotEqual(self.base(one), self.base(two), "the same base twice: is KASLR on?")

    def test_twice_the_same(self):
        """A second attach reads the same table, and neither caches it: children have read it."""
        with self.guest() as guest:
            shutil.rmtree(guest.path("cache"), ignore_errors=True)
            first = self.outsight.run(guest, "--dump-symbols")
            second = self.outsight.run(guest, "--dump-symbols")
            self.assertEqual(first[0], 0, first[2])
            self.assertEqual(first[:2], second[:2])
            self.assertEqual(glob.glob(guest.path("cache/**/*.syms"), recursive=True), [])


class Probes(Scenario):
    def test_list(self):
        """-l: more than 30,000 probes, in dtrace's columns, each ID once."""
        with self.guest() as guest:
            status, out, err = self.outsight.run(guest, "-l")
            syscalls = {n[len("__x64_sys_"):] for _, n, m in kallsyms(guest) if n.startswith("__x64_sys_") and not m}
            # What the kernel calls for numbers that are none, and the cold halves of functions.
            syscalls = {n for n in syscalls if n != "ni_syscall" and "." not in n}
        self.assertEqual(status, 0, err)
        lines = out.splitlines()
        self.assertGreater(len(lines), 30000)
        self.assertEqual(lines[0], "   ID   PROVIDER            MODULE                          FUNCTION NAME")
        ids = [int(line.split()[0]) for line in lines[1:]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual([line.split() for line in lines[1:4]],
                         [["1", "dtrace", "BEGIN"], ["2", "dtrace", "END"], ["3", "dtrace", "ERROR"]])
        rows = [line.split() for line in lines[1:]]
        # Module ia32 has the 32-bit calls.
        calls = {(row[2], row[-2], row[-1]) for row in rows if row[1] == "syscall"}
        entries = {call[:2] for call in calls if call[2] == "entry"}
        self.assertEqual(syscalls - {name for module, name in entries if module == "vmlinux"}, set())
        self.assertEqual({call[:2] for call in calls if call[2] == "return"}, entries)
        self.assertIn(["fbt", "veth", "veth_xmit", "entry"], [row[1:] for row in rows])

    def test_list_matches(self):
        with self.guest() as guest:
            status, out, err = self.outsight.run(guest, "-l", "-n", "fbt::vfs_rea?:entry")
            self.assertEqual(status, 0, err)
            self.assertEqual([line.split()[1:] for line in out.splitlines()[1:]],
                             [["fbt", "vmlinux", "vfs_read", "entry"]], out)
            status, out, err = self.outsight.run(guest, "-l", "-n", "fbt::no_such_function:entry")
            self.assertIn("No probe matches description", err)
            # a per-CPU symbol is the firing vCPU's, and a symbol without a type says how it is read
            program = ("profile-99 { @[cpu == `runqueues.cpu ? \"own\" : \"other\"] = count(); }"
                       " BEGIN { printf(\"%s\", stringof(&`linux_banner)); } tick-1s { exit(0); }")
            status, out, err = self.outsight.run(guest, "-qn", program)
            self.assertEqual((status, err), (0, ""))
            self.assertTrue(out.startswith("Linux version "), out)
            self.assertRegex(out, r"(?m)^  own +[1-9]")
            self.assertNotIn("other", out)
            status, out, err = self.outsight.run(guest, "-e", "-n", 'BEGIN { printf("%s", `linux_banner); }')
            self.assertEqual(status, 1)
            self.assertIn("stringof(&`linux_banner) reads a string there", err)

    def test_coverage_of_traceable_functions(self):
        """fbt has at least 95 % of what the guest's ftrace could trace, and a reason for each other one."""
        with self.guest() as guest:
            status, out, err = self.outsight.run(guest, "-l", "-n", "fbt:::entry")
            self.assertEqual(status, 0, err)
            ours = {line.split()[-2] for line in out.splitlines()[1:]}
            theirs = set()
            for line in guest.read_file("/sys/kernel/tracing/available_filter_functions").decode().splitlines():
                fields = line.split()
                # ftrace's own word for a record that belongs to no function any more.
                if not fields[0].startswith("__ftrace_invalid_address__") and "[bpf]" not in fields:
                    theirs.add(fields[0])
            missing = theirs - ours
            self.assertLessEqual(len(missing), 0.05 * len(theirs), sorted(missing)[:20])
            status, out, err = self.outsight.run(guest, "-lv", "-n", "fbt:::entry")
            self.assertEqual(status, 0, err)
        told = {m.group(1) for m in re.finditer(r"(\S+) entry\n\n\tCannot be enabled: \S", out)}
        self.assertEqual(sorted(missing - told)[:20], [], "no reason under -lv")


class Hidden(Scenario):
    """A guest that hides its symbols and types: their tables in RAM are zeroed."""

    def zero_tables(self, guest):
        """Overwrite kallsyms and BTF in the guest's RAM, through the file that is its RAM."""
        symbols = {n: a for a, n, m in kallsyms(guest) if not m}
        code = int(re.search(r"([0-9a-f]+)-[0-9a-f]+ : Kernel code", guest.check("cat /proc/iomem")).group(1), 16)
        # kallsyms does not list its own tables; the kernel's notes for crash dumps do.
        where, size = (int(word, 16) for word in guest.check("cat /sys/kernel/vmcoreinfo").split())
        with open(guest.ram_path(), "rb") as ram:
            ram.seek(where)
            notes = ram.read(size).decode("latin-1")
        tables = {m.group(1): int(m.group(2), 16) for m in re.finditer(r"SYMBOL\(kallsyms_(\w+)\)=([0-9a-f]+)", notes)}
        self.assertIn("token_index", tables)
        start, end = min(tables.values()), max(tables.values())
        # Behind the last table's start: 512 bytes of token_index, or three bytes a symbol of seqs_of_names.
        ranges = [(start, end - start + 512), (symbols["__start_BTF"], symbols["__stop_BTF"] - symbols["__start_BTF"])]
        with open(guest.ram_path(), "r+b", buffering=0) as ram:
            for address, size in ranges:
                ram.seek(code + address - symbols["_text"])
                ram.write(bytes(size))

    @only_full
    def test_vmlinux_and_symbols(self):
        vmlinux = self.vmlinux()
        # The list of another boot: Outsight moves it to where this boot's kernel is.
        with self.guest() as other:
            listed = other.read_file("/proc/kallsyms")
        with self.own_guest(smp=1) as guest:
            self.zero_tables(guest)
            status, _, err = self.outsight.run(guest, "-n", "syscall::getppid:entry { @ = count(); }")
            self.assertEqual(status, 1, err)
            self.assertRegex(err, r"--(symbols|vmlinux)")
            with open(guest.path("symbols"), "wb") as f:
                f.write(listed)
            trace = self.outsight.trace(
                guest, 'syscall::read:entry /curthread->comm == "reads"/ { @ = count(); }',
                "--vmlinux", vmlinux, "--symbols", guest.path("symbols"))
            guest.check("reads 1234")
            trace.stop()
        self.assertEqual(numbers(trace.out), [1234], trace.story())


if __name__ == "__main__":
    sys.exit(main())
