#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What happened in the guest is counted exactly, and what is printed about it is true."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import distribution, keyed, numbers
from lib.pace import rounds
from lib.scenario import Scenario, main, only_full, parse_symbols

ROUNDS = rounds(2, 10)


class Counts(Scenario):
    def test_getppid_on_four_cpus(self):
        """Four threads on four vCPUs: every call and every return counts, on each of several runs."""
        program = "syscall::getppid:entry { @e = count(); } fbt::__x64_sys_getppid:return { @r = count(); }"
        with self.guest() as guest:
            for round_number in range(ROUNDS):
                with self.subTest(round=round_number):
                    job = guest.spawn("getppid_loop 4 10000 wait")
                    job.wait_output("waiting")
                    trace = self.outsight.trace(guest, program)
                    # From here on nothing else in the guest makes that call: all is done by built-ins.
                    job.send("go")
                    job.wait_end()
                    trace.stop()
                    self.assertEqual(numbers(trace.out), [40000, 40000], trace.story())
                    self.assertRegex(job.done(), "^waiting\ncalls 40000 parent")

    def test_calls_of_32_bits(self):
        """Those that come to the same function are counted by themselves, with module ia32."""
        with self.guest() as guest:
            if "__ia32_sys_getppid" not in guest.check("grep getppid /proc/kallsyms"):
                self.skipTest("this kernel has no calls of 32 bits")
            trace = self.outsight.trace(guest, 'syscall:vmlinux:getppid: /execname == "abis"/ { @[probename] = count(); } '
                                               'syscall:ia32:getppid:entry /execname == "abis"/ { @["ia32"] = count(); } '
                                               'fbt::__x64_sys_getppid:entry /execname == "abis"/ { @["all"] = count(); }')
            guest.check("abis 11 25")
            trace.stop()
            self.assertEqual(keyed(trace.out), {"entry": 11, "return": 11, "ia32": 25, "all": 36}, trace.story())

    @only_full
    def test_returns_of_32_bits(self):
        """Calls by int $0x80 and through the vDSO return what they did, also where they end in code that 64-bit calls
        share; those are not taken for them."""
        expected = {("pipe", 0, 0): 1, ("write", 1, 0): 7, ("read", 1, 0): 7, ("read", -9, 9): 3 + 2, ("open", -2, 2): 4,
                    ("openat", -2, 2): 8, ("lseek", -29, 29): 5, ("close", -9, 9): 6}
        with self.guest() as guest:
            if "__ia32_sys_getppid" not in guest.check("grep getppid /proc/kallsyms"):
                self.skipTest("this kernel has no calls of 32 bits")
            trace = self.outsight.trace(guest, 'syscall:ia32::entry { @entry[execname, probefunc] = count(); } '
                                               'syscall:ia32::return { @pair[execname, probefunc] = count(); } '
                                               'syscall:ia32::return /probefunc != "getppid"/ '
                                               '{ @result[probefunc, (int)arg1, errno] = count(); } '
                                               'syscall:vmlinux::return /execname == "calls32"/ { @other[probefunc] = count(); } '
                                               'END { printa("E %s %s %@d\\n", @entry); printa("P %s %s %@d\\n", @pair); '
                                               'printa("R %s %d %d %@d\\n", @result); printa("O %s %@d\\n", @other); }')
            load = guest.spawn("mixed 3")
            guest.check("calls32")
            load.wait_end()
            trace.stop()
        rows = [line.split() for line in trace.lines]
        entries = {tuple(row[1:3]): int(row[3]) for row in rows if row[:1] == ["E"]}
        self.assertEqual(entries.pop(("calls32", "exit"), None), 1, trace.story())
        self.assertEqual({tuple(row[1:3]): int(row[3]) for row in rows if row[:1] == ["P"]}, entries, trace.story())
        self.assertEqual(entries.get(("calls32", "getppid")), 11 + 13, trace.story())
        self.assertEqual({(row[1], int(row[2]), int(row[3])): int(row[4]) for row in rows if row[:1] == ["R"]}, expected,
                         trace.story())
        self.assertEqual([row[1:] for row in rows if row[:1] == ["O"]], [["execve", "1"]], trace.story())

    def test_typed_system_calls(self):
        """args[] of a system call by the kernel's own types and names; strings are read from the process."""
        program = ('syscall:vmlinux:openat:entry /execname == "cat"/ { printf("%d %s %x %c\\n", args[0], '
                   'stringof(args[1]), args[2], *args[1]); self->path = args[1]; } '
                   'syscall:vmlinux:openat:return /execname == "cat"/ { printf("%s %d\\n", stringof(self->path), '
                   "(int)args[1]); }")
        with self.guest() as guest:
            names = re.findall(r"field:.*?(\w+);.*size:8", guest.check(
                "cat /sys/kernel/tracing/events/syscalls/sys_enter_openat/format"))
            status, out, err = self.outsight.run(guest, "-lvn", "syscall:vmlinux:openat:entry")
            trace = self.outsight.trace(guest, program)
            guest.run("cat /nosuch")
            trace.stop()
        self.assertEqual(status, 0, err)
        self.assertEqual(re.findall(r"args\[\d\]: .*?(\w+)$", out, re.M), names)
        self.assertIn("-100 /nosuch 0 /", trace.lines, trace.story())
        self.assertIn("/nosuch -2", trace.lines, trace.story())

    def test_target(self):
        """-p names a process of the guest; one that is not there is refused."""
        with self.guest() as guest:
            job = guest.spawn("getppid_loop 1 300 wait")
            job.wait_output("waiting")
            pid = guest.check("pidof getppid_loop").strip()
            trace = self.outsight.trace(guest, "syscall:vmlinux:getppid:entry /pid == $target/ { @ = count(); }", "-p", pid)
            job.send("go")
            job.wait_end()
            trace.stop()
            status, _, err = self.outsight.run(guest, "-p", "4194304", "-n", "BEGIN { exit(0); }")
        self.assertEqual(numbers(trace.out), [300], trace.story())
        self.assertEqual(status, 1)
        self.assertIn("has no process 4194304", err)

    def test_predicate_and_keys(self):
        """The same by predicate, keyed by what Outsight says about the process."""
        program = ('syscall::getppid:entry /execname == "getppid_loop"/ { @n[execname] = count(); '
                   "@p[pid, ppid, uid] = count(); @c[cpu] = count(); @t[tid] = count(); }")
        with self.guest() as guest:
            job = guest.spawn("getppid_loop 4 5000 wait")
            job.wait_output("waiting")
            pid = int(guest.check("pidof getppid_loop"))
            tids = sorted(int(t) for t in guest.check(f"ls /proc/{pid}/task").split())
            trace = self.outsight.trace(guest, program)
            job.send("go")
            out = job.done()
            trace.stop()
        parent = int(re.search(r"parent (\d+)", out).group(1))
        self.assertEqual(keyed(trace.out), {"getppid_loop": 20000}, trace.story())
        rows = [line for line in trace.lines if re.fullmatch(r"[\s\d-]*\d", line)]
        table = [tuple(int(f) for f in row.split()) for row in rows]
        self.assertIn((pid, parent, 0, 20000), table, trace.story())
        # Pinned: each CPU made exactly the calls of one thread.
        cpus = [row for row in table if len(row) == 2 and row[0] < 4]
        self.assertEqual(cpus, [(cpu, 5000) for cpu in range(4)], trace.story())
        threads = [row for row in table if len(row) == 2 and row[0] >= pid]
        self.assertEqual([n for _, n in threads], [5000] * 4, trace.story())
        self.assertEqual(tids, [pid])
        self.assertTrue(all(tid > pid for tid, _ in threads), trace.story())

    @only_full
    def test_read_sizes(self):
        """The distribution of read sizes equals, bucket by bucket, what the program did."""
        program = ('syscall::read:entry /execname == "reads"/ { @q = quantize(arg2); @b = sum(arg2); @n = count(); } '
                   'syscall::read:return /execname == "reads"/ { @r = sum(arg1); @e = sum(errno); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            text = guest.check("reads 5000")
            trace.stop()
        done = {int(m.group(1)): int(m.group(2)) for m in re.finditer(r"^bucket (\d+) (\d+)$", text, re.M)}
        total = int(re.search(r"bytes (\d+)", text).group(1))
        self.assertEqual(distribution(trace.out), done, trace.story())
        self.assertEqual(numbers(trace.out), [total, 5000, total, 0], trace.story())

    def test_user_registers(self):
        """uregs[] in the kernel: the registers with which the process entered it, at a system call, and deeper in the kernel."""
        with self.guest() as guest:
            trace = self.outsight.trace(
                guest, 'syscall::write:entry, fbt::ksys_write:entry /execname == "dd"/ { @[probefunc, uregs[R_RDI] == arg0, '
                       'uregs[R_RSI] == arg1, uregs[R_RDX] == arg2, uregs[R_PC] > 0 && uregs[R_PC] < 0x7fffffffffff, '
                       'uregs[R_CS] & 3, stringof(copyinstr(uregs[R_RSI], 3))] = count(); }')
            guest.check("echo abcdefg >/tmp/seven; dd if=/tmp/seven of=/dev/null bs=8 count=1")
            trace.stop()
        found = [line.split() for line in trace.out.splitlines() if line.strip()]
        ours = sorted(line[:-1] for line in found if line[-2:-1] == ["abc"])
        self.assertEqual(ours, [[name, "1", "1", "1", "1", "3", "abc"] for name in ("ksys_write", "write")], trace.story())

    def test_errno(self):
        """errno and the return value of a call that fails, and what it was asked."""
        program = ('syscall::openat:entry /execname == "cat"/ { self->path = arg1; } '
                   'syscall::openat:return /self->path && errno/ { printf("%s: %d %d\\n", copyinstr(self->path), '
                   'errno, (int64_t)arg1 < 0); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            status, _ = guest.run("cat /nosuch")
            trace.stop()
        self.assertNotEqual(status, 0)
        self.assertIn("/nosuch: 2 1", trace.lines, trace.story())

    def test_guest_structures(self):
        """Kernel structures by their types in BTF: curthread, a file's name, args[] of fbt."""
        program = ('fbt::vfs_write:entry /execname == "deepcall"/ { '
                   '@[curthread->comm, stringof(((struct file *)arg0)->f_path.dentry->d_name.name), '
                   'stringof(args[0]->f_path.dentry->d_name.name), args[2], curthread->tgid == pid] = count(); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("deepcall /tmp/some-file 7")
            trace.stop()
        rows = [line.split() for line in trace.lines if "some-file" in line]
        self.assertEqual(rows, [["deepcall", "some-file", "some-file", "8192", "1", "7"]], trace.story())

    def test_stacks(self):
        """Kernel stacks by ORC: at least six frames, each symbol in the guest's own list."""
        program = 'fbt::shmem_write_begin:entry /execname == "deepcall"/ { @[stack()] = count(); }'
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("deepcall /tmp/x 20")
            trace.stop()
            names = {n for _, n, _ in parse_symbols(guest.read_file("/proc/kallsyms").decode())}
        frames = re.findall(r"^ {14}(\S+)`(\w[\w.]*)(?:\+0x[0-9a-f]+)?$", trace.out, re.M)
        self.assertGreaterEqual(len(frames), 6, trace.story())
        self.assertEqual([f for _, f in frames if f not in names], [], trace.story())
        functions = [f for _, f in frames]
        self.assertEqual(functions[0], "shmem_write_begin", trace.story())
        for name in ("vfs_write", "ksys_write", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"):
            self.assertIn(name, functions, trace.story())
        self.assertNotRegex(trace.out, r"(?m)^ {14}0x", trace.story())

    @only_full
    def test_thread_local(self):
        """self-> is set on entry and read on return, thread by thread, and freed."""
        program = ('fbt::vfs_read:entry /execname == "reads"/ { self->t = timestamp; } '
                   'fbt::vfs_read:return /self->t/ { @n = count(); @wrong = sum(timestamp - self->t <= 0); '
                   'self->t = 0; }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("reads 3000")
            trace.stop()
        self.assertEqual(numbers(trace.out), [3000, 0], trace.story())

    def test_profile(self):
        """profile-n samples every vCPU; a spinning program is seen in user mode."""
        program = ('profile-199 { @all[cpu] = count(); } '
                   'profile-199 /execname == "spin" && arg1/ { @user = count(); } '
                   'profile-199 /execname == "spin" && arg0 && arg1/ { @both = count(); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check(f"spin 2 {guest.smp}")
            trace.stop()
        cpus = [int(m.group(1)) for m in re.finditer(r"^ +(\d+) +\d+$", trace.out, re.M)]
        self.assertEqual(sorted(cpus), list(range(guest.smp)), trace.story())
        user = numbers(trace.out)
        self.assertEqual(len(user), 1, trace.story())  # @both stays empty
        self.assertGreater(user[0], 0, trace.story())

    def test_printf_records(self):
        """Each event's record arrives, in order of time, none lost."""
        program = ('syscall::read:entry /execname == "reads"/ { printf("r %d %d\\n", i++, timestamp); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("reads 2000")
            trace.stop()
        rows = [tuple(int(f) for f in line.split()[1:]) for line in trace.lines if line.startswith("r ")]
        self.assertEqual([i for i, _ in rows], list(range(2000)), trace.story())
        times = [t for _, t in rows]
        self.assertEqual(times, sorted(times))


if __name__ == "__main__":
    sys.exit(main())
