#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several guests in one session, of one kernel and of two."""
import contextlib
import os
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import Guest, why_no_guest
from lib.outsight import Trace
from lib.scenario import Scenario, main, only_full

LOOP = 'syscall::getppid:entry /execname == "getppid_loop"/'


def of(guest):
    """-g of a guest beside the first."""
    return ["-g", os.path.join(guest.dir, "outsight", f"{guest.pid}.sock")]


class Pair(Scenario):
    """Scenarios of two guests: the shared one, and another that a class has to itself."""
    second = None

    @classmethod
    def second_kernel(cls):
        """None: there is no image of it."""
        return cls.kernel

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = cls.second_kernel()
        if kernel:
            cls.second = cls.enterClassContext(Guest(kernel, plugin=cls.outsight.plugin, smp=2))

    @contextlib.contextmanager
    def pair(self):
        with self.guest() as one:
            yield one, self.second

    def counted(self, one, two, program, *args):
        """What a program prints of 1,000 calls in one guest and 2,000 in the other."""
        trace = self.outsight.start(one, *of(two), "-q", *args, "-n", 'BEGIN { printf("begin\\n"); }', "-n", program)
        trace.wait_for("begin")
        for job in [one.spawn("getppid_loop 1 1000"), two.spawn("getppid_loop 2 1000")]:
            job.done()
        trace.stop()
        self.assertEqual(trace.err, "", trace.story())
        return trace.out


class Several(Pair):
    @only_full
    def test_two_guests_in_one_session(self):
        """One program on two guests of one kernel, whose addresses differ."""
        with self.pair() as (one, two):
            self.outsight.run(one, "--dump-symbols")
            trace = self.outsight.start(
                one, "-g", os.path.join(two.dir, "outsight", f"{two.pid}.sock"), "-q", "-n",
                'BEGIN { printf("begin\\n"); } '
                'syscall::getppid:entry /execname == "getppid_loop"/ { @[guest] = count(); '
                '@f[sym(caller)] = count(); @m[mod(caller), arg0 & 0] = count(); @s[stack(2)] = count(); } '
                'END { printa(@); printa("F %@d %a\\n", @f); printa("M %@d %a %d\\n", @m); printa("S %@d\\n", @s); }')
            trace.wait_for("begin")
            jobs = [one.spawn("getppid_loop 1 1000"), two.spawn("getppid_loop 2 1000")]
            for job in jobs:
                job.done()
            trace.stop()
            counts = dict(line.split() for line in trace.out.splitlines() if len(line.split()) == 2)
            self.assertEqual(counts, {one.name: "1000", two.name: "2000", "S": "3000"}, trace.story())
            # a name is one key, wherever each kernel has it
            self.assertRegex(trace.out, r"(?m)^F 3000 vmlinux`\w+$")
            self.assertRegex(trace.out, r"(?m)^M 3000 vmlinux 0$")
            self.assertEqual(len(re.findall(r"(?m)^[FMS] ", trace.out)), 3, trace.story())
            self.check_guest_field(one, two)
            self.check_list(one, two)

    def check_list(self, one, two):
        """What both have is one line, and what one lacks says so; a guest that is named is listed alone. The first guest
        is the one that lacks the module."""
        two.check("rmmod dummy")
        args = ["-g", os.path.join(one.dir, "outsight", f"{one.pid}.sock")]
        for probe, where in (("fbt:vmlinux:vfs_read:entry", ""), ("fbt:dummy:dummy_xmit:entry", f" (only {one.name})"),
                             ("dtrace:::BEGIN", ""), (f"{one.name}:fbt:dummy:dummy_xmit:entry", "")):
            status, out, err = self.outsight.run(two, *args, "-ln", probe)
            self.assertEqual(status, 0, err)
            name = probe.split(":")[-1]
            self.assertRegex(out, rf"\A[^\n]*NAME\n[^\n]* {name}{re.escape(where)}\n?\Z")
        status, out, err = self.outsight.run(two, *args, "-lvn", "fbt:dummy:dummy_xmit:entry")
        self.assertEqual(status, 0, err)
        self.assertIn("args[0]: struct sk_buff *", out)
        # compiled for the guest that has it, whose number for it is another probe's in the first one
        for member, expected in ("len", 0), ("nosuch", 1):
            status, out, err = self.outsight.run(two, *args, "-e", "-n", f"fbt:dummy:dummy_xmit:entry {{ trace(args[0]->{member}); }}")
            self.assertEqual(status, expected, err)

    def check_guest_field(self, one, two):
        """A fifth field, leftmost, names guests; it must match one, and BEGIN is no guest's."""
        args = ["-g", os.path.join(two.dir, "outsight", f"{two.pid}.sock")]
        trace = self.outsight.start(
            one, *args, "-q", "-n", 'BEGIN { printf("begin\\n"); }',
            "-n", f'{two.name[:-1]}[{two.name[-1]}]:syscall::getppid:entry /execname == "getppid_loop"/ '
            "{ @two[guest] = count(); }",
            "-n", f"{one.name}:syscall::getppid:entry, *:syscall::getppid:entry "
            '/execname == "getppid_loop"/ { @[guest, "any"] = count(); }')
        trace.wait_for("begin")
        for guest in (one, two):
            guest.spawn("getppid_loop 1 100").done()
        trace.stop()
        rows = sorted(line.split() for line in trace.lines if len(line.split()) > 1)
        self.assertEqual(rows, sorted([[two.name, "100"], [one.name, "any", "200"], [two.name, "any", "100"]]),
                         trace.story())
        for description, text in (("nobody*:syscall::getppid:entry", "Overspecified probe description"),
                                  (f"{one.name}:dtrace:::BEGIN", "does not match any probes")):
            status, _, err = self.outsight.run(one, *args, "-n", description)
            self.assertEqual(status, 1)
            self.assertIn(text, err)

    @only_full
    def test_addresses(self):
        """A program that holds addresses, in two guests of one build: each reads at its own."""
        with self.pair() as (one, two):
            out = self.counted(one, two, f'{LOOP} {{ @[`init_task.comm, `nr_cpu_ids > 0] = count(); }} '
                                         'END { printa("%s %d %@d\\n", @); }')
            self.assertIn("swapper/0 1 3000\n", out)

    @only_full
    def test_patterns(self):
        """A pattern means the guests of that name that run; one that is named beside it is attached once."""
        with self.pair() as (one, two):
            pattern = os.path.commonprefix([one.name, two.name]) + "*"
            for args in (["-g", pattern], ["-g", two.name, "-g", pattern]):
                trace = Trace(self.outsight.binary, [*args, "-q", "-n", 'BEGIN { printf("begin\\n"); }', "-n",
                                                     f'{LOOP} {{ @[guest] = count(); }} END {{ printa("%s %@d\\n", @); }}'],
                              self.outsight.environment(one))
                trace.wait_for("begin")
                for guest in (one, two):
                    guest.spawn("getppid_loop 1 100").done()
                trace.stop()
                self.assertEqual(sorted(line for line in trace.lines if " " in line), sorted([f"{one.name} 100", f"{two.name} 100"]), trace.story())
                self.assertEqual(trace.err, "")


class Kernels(Pair):
    """Two kernels: each guest's clauses have its own offsets."""

    @classmethod
    def second_kernel(cls):
        return next((k for k in ("6.1", "6.12") if k != cls.kernel and not why_no_guest(k)), None)

    def setUp(self):
        super().setUp()
        if not self.second:
            self.skipTest("there is no image of another kernel")

    @only_full
    def test_keys(self):
        """Names, members of the kernel's structures, variables and distributions of both are one result."""
        with self.pair() as (one, two):
            out = self.counted(one, two, f"""
                {LOOP} {{
                    self->seen++;
                    @n[probefunc] = count(); @c[curthread->comm, stringof(curthread->group_leader->comm)] = count();
                    @m[mod(caller)] = count(); @q = quantize(curthread->tgid == pid ? 5 : 0); @l = llquantize(50, 10, 0, 3, 10);
                    @g[guest] = count(); total++; @t[guest] = max(total); @s = max(self->seen); @d[pid == curpsinfo->pr_pid] = count();
                }}
                END {{
                    printa("N %s %@d\\n", @n); printa("C %s %s %@d\\n", @c); printa("M %a %@d\\n", @m); printa("G %s %@d\\n", @g);
                    printa("S %@d\\n", @s); printa("D %d %@d\\n", @d); printa("T %s %@d\\n", @t); printa(@q); printa(@l);
                }}""")
            for line in ("N getppid 3000", "C getppid_loop getppid_loop 3000", f"G {one.name} 1000", f"G {two.name} 2000", "S 1000",
                         "D 1 3000", "M vmlinux 3000"):
                self.assertIn(f"{line}\n", out)
            self.assertEqual(len(re.findall("(?m)^[NCMSD] ", out)), 5, out)
            self.assertRegex(out, r"(?m)^ +4 \|@+ 3000 *$")
            # each guest has its own; one that several vCPUs add to may lose some, as in dtrace(1)
            self.assertIn(f"T {one.name} 1000\n", out)
            self.assertLessEqual(int(re.search(rf"(?m)^T {two.name} (\d+)$", out)[1]), 2000)

    @only_full
    def test_functions(self):
        """Members of a function's arguments, and errors, which name their guest."""
        with self.pair() as (one, two):
            trace = self.outsight.start(one, *of(two), "-q", "-n", 'BEGIN { printf("begin\\n"); }', "-n", f"""
                fbt::vfs_open:entry /execname == "getppid_loop"/ {{ @f[stringof(args[0]->dentry->d_name.name)] = count(); }}
                {LOOP} {{ @g[guest] = count(); }}
                {LOOP[:-1]} && !self->once++/ {{ trace(*(int *)8); }}
                ERROR {{ printf("E %s\\n", guest); @w[func(caller)] = count(); }}
                END {{ printa("G %s %@d\\n", @g); printa("F %s %@d\\n", @f); printa("W %a %@d\\n", @w); }}""")
            trace.wait_for("begin")
            for job in [one.spawn("getppid_loop 1 1000"), two.spawn("getppid_loop 2 1000")]:
                job.done()
            trace.stop()
            self.assertEqual(sorted(re.findall("(?m)^E (.*)$", trace.out)), sorted([one.name, two.name, two.name]), trace.story())
            for guest, times in ((one, 1000), (two, 2000)):
                self.assertIn(f"G {guest.name} {times}\n", trace.out)
            self.assertRegex(trace.out, r"(?m)^W vmlinux`\w+ 3$")


if __name__ == "__main__":
    sys.exit(main())
