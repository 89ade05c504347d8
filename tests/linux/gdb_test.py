#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A stock guest in a QEMU with nothing but its gdb stub: no plugin, nothing loaded into it."""
import os
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed, numbers
from lib.pace import rounds
from lib.scenario import Scenario, main, only_full

CALLS = rounds(30, 300)


class Gdb(Scenario):
    def trace(self, guest, program):
        job = guest.spawn(f"getppid_loop 2 {CALLS} wait")
        job.wait_output("waiting")
        trace = self.outsight.trace(guest, program)
        # From here on nothing else in the guest makes that call: all is done by built-ins.
        job.send("go")
        job.wait_end()
        trace.stop()
        self.assertRegex(job.done(), f"^waiting\ncalls {2 * CALLS} parent")
        return trace

    @only_full
    def test_getppid(self):
        """Two threads on two vCPUs: each call and each return, who made it and on the way where."""
        with self.plain_guest() as guest:
            named, guest.name = guest.name, f"gdb:{guest.path('stub')}"
            self.addCleanup(setattr, guest, "name", named)
            trace = self.trace(guest, "syscall::getppid:entry { @e = count(); } "
                               "fbt::__x64_sys_getppid:return { @r = count(); }")
            self.assertEqual(numbers(trace.out), [2 * CALLS, 2 * CALLS], trace.story())
            self.assertRegex(trace.err, r"traced through its gdb stub: each hit stops the whole guest, for about")
            trace = self.trace(guest, 'syscall::getppid:entry { @n[execname] = count(); @s[stack()] = count(); } '
                               'syscall::getppid:entry /execname == "getppid_loop"/ { @c[cpu] = count(); }')
            self.assertEqual(keyed(trace.out).get("getppid_loop"), 2 * CALLS, trace.story())
            # A kernel with IBT has an endbr64 before the probe.
            self.assertRegex(trace.out, r"\n\s+vmlinux`__\w+_sys_getppid(\+0x4)?\n\s+vmlinux`do_syscall_64\+\S+\n"
                             r"\s+vmlinux`entry_SYSCALL_64_after_hwframe\+\S+\n\s+%d\n" % (2 * CALLS))
            cpus = {m[0]: int(m[1]) for m in re.findall(r"^ +([01]) +(\d+)$", trace.out, re.M)}
            self.assertEqual(cpus, {"0": CALLS, "1": CALLS}, trace.story())
            # user memory, by the process's own page table
            trace = self.outsight.trace(guest, 'syscall::openat:entry /execname == "cat"/ '
                                        '{ printf("[%s]\\n", copyinstr(arg1)); }')
            self.assertNotEqual(guest.run("cat /nosuch")[0], 0)
            trace.stop()
            self.assertIn("[/nosuch]", trace.lines, trace.story())
            self.assertEqual(guest.check("dmesg | grep -cE 'soft lockup|detected stall' || true").strip(), "0")


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main())
