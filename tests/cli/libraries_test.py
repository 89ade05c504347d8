#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The D libraries that every program has: libraries_test.py OUTSIGHT [Class.test…]."""
import os
import re
import signal
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import cli_test

BTF = "/sys/kernel/btf/vmlinux"


class Libraries(cli_test.Case):
    def test_that_cannot_be(self):
        """A library whose dependency is missing is passed over, and so is what depends on it."""
        self.write("b.d", "#pragma D depends_on module nonesuch\ninline int bar = 1;\n")
        self.write("a.d", "#pragma D depends_on library b.d\ninline int foo = bar;\n")
        self.expect(("-L", self.dir, "-e", "-n", "BEGIN"), out="", err="")
        self.assertEqual(self.run_it("-L", self.dir, "-e", "-n", "BEGIN { trace(foo); }")[0], 1)

    def test_clauses(self):
        """A library's clauses are compiled, and not enabled."""
        self.write("l.d", "inline int foo = 1;\nBEGIN { trace(foo); }\nBEGIN { exit(3); }\n")
        self.expect(("-L", self.dir, "-qn", "BEGIN { trace(foo + 1); exit(0); }"), out="2\n", err="")
        self.write("l.d", "BEGIN { trace(nonesuch); }\n")
        self.assertEqual(self.run_it("-L", self.dir, "-n", "BEGIN { exit(0); }")[0], 1)

    def bytes_read(self, expression):
        """What outsight has read, libraries and all, by the time that a program's BEGIN has evaluated @expression."""
        process = self.start("-qx", "switchrate=10ms", "-n", f'BEGIN {{ printf("%d\\n", {expression}); }} tick-1s {{ }}')
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertRegex(process.stdout.readline(), r"^\d+\n$")
        with open(f"/proc/{process.pid}/io", encoding="ascii") as f:
            found = int(re.search(r"rchar: (\d+)", f.read()).group(1))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(cli_test.LIMIT), 0)
        return found

    @unittest.skipUnless(os.access(BTF, os.R_OK), f"SKIP: no {BTF}")
    def test_types_are_read_when_they_are_named(self):
        """The kernel's types are megabytes: a program that names none of them does not wait for them, which a library that names one
        would have every program do."""
        with open(BTF, "rb") as f:
            size = len(f.read())
        self.assertLess(self.bytes_read("AF_INET6"), size)
        self.assertGreater(self.bytes_read("sizeof(struct task_struct)"), size)


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
