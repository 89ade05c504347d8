#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dead guests read from dumps."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import LIMIT
from lib.scenario import Scenario, main, only_full, parse_symbols


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

    @only_full
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


if __name__ == "__main__":
    sys.exit(main())
