#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest can do to who traces it: guest_test.py OUTSIGHT SMALL-GUEST. Ends with 77 without KVM or QEMU.

What lies in its memory: tests/fuzz, guest_budget_test. Its agent: engine_agent_hostile_test. Patching of its text: kvm.patching."""
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("hook", "linux", "kvm")]
# pylint: disable=wrong-import-position
import qemu
from lib import namespaces
from lib.pace import limit, rounds
from qemu import CALLS, Qemu
from small_guest import Vm

LOAD = "fbt::probed_*:entry { @[probefunc] = count(); } BEGIN { printf(\"begun\\n\"); }"
TOTAL = re.compile(r"\d+")


class Memory(unittest.TestCase):
    """The chipset's PAM registers say what lies between 640 KiB and 1 MiB: whoever writes there moves the memory behind it
    too. The monitor makes the accesses that a guest's kernel would."""

    def setUp(self):
        self.vm = Qemu(preload=True)
        self.addCleanup(self.vm.close)
        self.vm.wait_ready().wait_engine()

    def move(self):
        """To RAM and back: whichever it was before, one of them moves it."""
        self.vm.hmp("o /w 0xcf8 0x80000058")
        for value in (0x33, 0x00, 0x33):
            for port in (0xcfd, 0xcfe, 0xcff):
                self.vm.hmp(f"o /b {port:#x} {value:#x}")

    def test_moved(self):
        """It ends a session, with the reason, and does nothing else: the text is clean, and the next session runs."""
        for _ in range(rounds(2, 20)):
            self.vm.wait_engine()
            trace = subprocess.Popen([*self.vm.trace_command(LOAD), "-x", "maxcost=0"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, env=self.vm.env)
            self.addCleanup(lambda t=trace: (t.kill(), t.communicate()))
            self.vm.wait_for(lambda t=trace: t.poll() is not None or self.vm.text() != qemu.elf_text()[1], "trap")
            self.move()
            out, err = trace.communicate(timeout=limit(60))
            self.assertRegex(err, r"\Adtrace: guest small was given other memory or vCPUs: its probes are removed, -g traces it "
                             r"again\n\Z")
            self.assertIn("begun", out)
            self.vm.wait_clean()
            self.vm.check_unharmed(self)


class Counted(unittest.TestCase):
    """It writes to the ports at which KVM counts, as a process with ioperm(2) can too."""

    FORGED = 40

    def calls_per_round(self, vm, *options):
        """As counted, the first and the last round in part."""
        out = vm.trace("fbt::probed_nop:entry { @a = count(); } fbt::round_end:entry { @b = sum(1); n++; } "
                       "fbt::round_end:entry /n > 20/ { exit(0); }", *options)
        calls, done = (int(n) for n in TOTAL.findall(out))
        return calls / done

    def test_ports(self):
        """A count by KVM can be raised, which docs/limits.md says; one in a comparison can't."""
        vm = Vm(1, extra=f"ports={self.FORGED}")
        self.addCleanup(vm.close)
        most = CALLS * 22 / 20
        self.assertLessEqual(self.calls_per_round(vm, "-x", "view=both"), most)
        if "ioeventfd=yes" in subprocess.run([qemu.OUTSIGHT, "doctor", "-v"], capture_output=True, text=True, check=False).stdout:
            self.assertGreater(self.calls_per_round(vm), most)


class Told(unittest.TestCase):
    def test_addresses_are_not_looked_up(self):
        """%I of what a guest chooses asks no name server."""
        vm = Vm(1)
        self.addCleanup(vm.close)
        program = '%s { printf("%%I\\n", "127.0.0.1"); exit(0); }'
        self.assertEqual(vm.trace(program % "fbt::probed_nop:entry").strip(), "127.0.0.1")
        alone = subprocess.run([qemu.OUTSIGHT, "-g", "none", "-qn", program % "BEGIN"], capture_output=True, text=True, check=True)
        self.assertNotEqual(alone.stdout.strip(), "", "it is what the resolver says where there is no guest")


if __name__ == "__main__":
    reason = qemu.reason_to_skip()
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(77)
    namespaces.enter()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
