#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dead guests read from dumps, and several guests in one session."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import LIMIT
from lib.scenario import Scenario, main, parse_symbols


class Dumps(Scenario):
    def read(self, path, *args):
        result = subprocess.run([self.outsight.binary, "-g", f"dump:{path}", "--no-cache", *args],
                                capture_output=True, text=True, timeout=LIMIT, check=False)
        return result.returncode, result.stdout, result.stderr

    def check(self, path, symbols):
        """Symbols, typed kernel memory, and what a dump can't do."""
        status, out, err = self.read(path, "--dump-symbols")
        self.assertEqual(status, 0, err)
        self.assertEqual(sorted(parse_symbols(out)), symbols)
        status, out, err = self.read(path, "-q", "-n", "BEGIN { trace(`init_task.comm); exit(0); }")
        self.assertEqual((status, out.strip()), (0, "swapper/0"), err)
        status, out, err = self.read(path, "-n", "syscall:::entry { @ = count(); }")
        self.assertEqual(status, 1)
        self.assertIn("is a dump", err)

    @staticmethod
    def no_functions(symbols):
        """How many symbols of text are none: initialisation code, unlikely parts, static calls' trampolines. A sixth of
        all, or more: a kernel of 7.x has thousands of static calls."""
        core = {name: address for address, name, module in symbols if not module}
        init = range(core["_sinittext"], core["_einittext"])
        return sum(".cold" in name or name.startswith("__SCT__") or address in init and not module
                   for address, name, module in symbols if not name.startswith(("__pfx_", "__cfi_")))

    def check_plan(self, path, symbols):
        """Nearly every function of a stock kernel can be probed where text has to be changed for it."""
        bench = os.path.join(os.path.dirname(self.outsight.binary), "plan_bench")
        out = subprocess.run([bench, path], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
        found = re.findall(r"^(entry|return) +([\w,]+) +(\d+) native +(\d+) emulate +(\d+) step +(\d+) refused", out, re.M)
        self.assertEqual(len(found), 8, out)
        none = self.no_functions(symbols)
        for end, host, *numbers in found:
            native, emulate, step, refused = map(int, numbers)
            self.assertGreater(native + emulate + step, 30000, out)
            functions = native + emulate + step + refused - none
            # a trap of more than one byte does not fit everywhere
            limit = 0.07 if end == "entry" and "int3" not in host else 0.025
            self.assertLess(refused - none, functions * limit, f"{end} {host}: {none} are no functions\n{out}")
        self.assertGreater(int(found[0][2]), 30000, "fentry nops")

    @staticmethod
    def dump(guest, core, raw):
        """A core, and an image of its RAM with its registers beside it, while it stands still."""
        guest.qmp("stop")
        try:
            guest.qmp("dump-guest-memory", paging=False, protocol=f"file:{core}")
            subprocess.run(["cp", "--sparse=always", guest.ram_path(), raw], check=True)
            with open(f"{raw}.regs", "w", encoding="ascii") as f:
                f.write(guest.qemu_command("info registers"))
        finally:
            guest.qmp("cont")

    def test_raw_image_and_core(self):
        with tempfile.TemporaryDirectory() as where, self.guest() as guest:
            symbols = sorted(parse_symbols(guest.read_file("/proc/kallsyms").decode()))
            core, raw = os.path.join(where, "core"), os.path.join(where, "ram")
            self.dump(guest, core, raw)
            self.check(core, symbols)
            self.check(raw, symbols)
            self.check_plan(raw, symbols)
            _, out, err = self.read(core, "-lvn", "cpc:::cpu_clock-all-1000000")
            self.assertIn("Cannot be enabled: no CPU runs this guest\n", out, err)

            # Half of the image, and half of a page less: an error, not a crash or a wrong table.
            for path, size in ((raw, os.path.getsize(raw) // 2 - 2048), (core, 5000)):
                os.truncate(path, size)
                status, out, err = self.read(path, "--dump-symbols")
                self.assertEqual((status, out), (1, ""))
                self.assertRegex(err, r"^dtrace: .*\n$")


class Several(Scenario):
    def test_two_guests_in_one_session(self):
        """One program on two guests of one kernel, whose addresses differ."""
        with self.guest() as one, self.own_guest(smp=2) as two:
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


if __name__ == "__main__":
    sys.exit(main())
