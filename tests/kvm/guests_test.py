#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several small guests in one session: guests_test.py OUTSIGHT SMALL-GUEST [Class.test…]."""
import signal
import subprocess
import unittest

from small_guest import CALLS, GUEST, OUTSIGHT, Vm, counts_of, elf_text, limit, main


class Guests(unittest.TestCase):
    maxDiff = None

    def vms(self, *names):
        """Each powers off when it is told to."""
        vms = [Vm(1, "input=1 end=0", told=True, name=name) for name in names]
        for vm in vms:
            self.addCleanup(vm.close)
        return vms

    def start(self, vms, program, traced=None):
        """Those in @traced, or all, have been traced for a round once this returns."""
        where = [arg for vm in vms for arg in ("-g", vm.socket)]
        trace = subprocess.Popen([OUTSIGHT, *where, "--no-cache", "--vmlinux", GUEST, "-q", "-x", "maxcost=0", "-x",
                                  "switchrate=50hz", "-n", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (trace.kill(), trace.communicate()))
        lines = {trace.stdout.readline() for _ in traced or vms}
        self.assertEqual(lines, {f"{vm.name} is traced\n" for vm in traced or vms}, trace.poll() is not None and trace.stderr.read())
        return trace

    TRACED = 'fbt::round_end:entry /on[guest] && !said[guest]++/ { printf("%s is traced\\n", guest); }'
    # Whole rounds of each guest.
    COUNT = ("fbt::round_begin:entry { on[guest] = 1; @rounds[guest] = count(); } fbt::probed_nop:entry /on[guest]/ "
             '{ @calls[guest] = count(); } END { printf("END fired\\n"); printa("rounds %s %@d\\n", @rounds); '
             'printa("calls %s %@d\\n", @calls); }')

    def check_data(self, out, *cut):
        """Those that were not cut off in a round have all of their data, whenever they ended. Returns the rounds of each."""
        counts = counts_of(out.split("END fired\n")[1])
        self.assertEqual({what for what, _ in counts}, {"rounds", "calls"}, out)
        for what, name in counts:
            if what == "rounds" and name not in cut:
                self.assertEqual(counts["calls", name], counts[what, name] * CALLS, out)
        return {name: n for (what, name), n in counts.items() if what == "rounds"}

    def test_each_ends(self):
        """The session goes on until the last one has ended. No line but the last is about the session."""
        a, b, c = vms = self.vms("a", "b", "c")
        trace = self.start(vms, self.COUNT + self.TRACED)
        for vm in b, c:
            vm.tell(b"e")
            self.assertEqual(trace.stderr.readline(), f"dtrace: guest {vm.name} powered off; the others go on\n")
        self.assertIsNone(trace.poll())
        a.tell(b"e")
        out, err = trace.communicate(timeout=limit(60))
        self.assertEqual((trace.returncode, err), (0, "dtrace: guest a powered off\n"))
        self.assertEqual(set(self.check_data(out)), {"a", "b", "c"})

    def test_one_is_killed(self):
        """What the others did after it is there too; a lost guest makes the status 1, also if all others end well."""
        a, b = vms = self.vms("a", "b")
        trace = self.start(vms, self.COUNT + self.TRACED)
        b.process.kill()
        self.assertEqual(trace.stderr.readline(), f"dtrace: guest b: its VMM (PID {b.process.pid}) has ended; the others go on\n")
        rounds = a.barriers()
        while a.barriers() < rounds + 30:  # ten rounds
            self.assertIsNone(trace.poll())
        a.tell(b"e")
        out, err = trace.communicate(timeout=limit(60))
        self.assertEqual((trace.returncode, err), (1, "dtrace: guest a powered off\n"))
        self.assertGreater(self.check_data(out, "b")["a"], 10)

    def test_status(self):
        """exit()'s own, unless one was lost."""
        for how, status in (("powered off", 3), ("killed", 1)):
            with self.subTest(how):
                a, b = vms = self.vms("a", "b")
                trace = self.start(vms, "fbt::round_begin:entry { on[guest] = 1; } END { exit(3); } " + self.TRACED)
                if how == "killed":
                    b.process.kill()
                else:
                    b.tell(b"e")
                self.assertRegex(trace.stderr.readline(), r"\Adtrace: guest b.*; the others go on\n\Z")
                trace.send_signal(signal.SIGINT)
                _, err = trace.communicate(timeout=limit(60))
                self.assertEqual((trace.returncode, err), (status, ""))
                self.assertEqual(a.text(), elf_text(GUEST)[1])

    def test_left_alone(self):
        """A guest with nothing in it does not keep a session alive, and its own end does not matter."""
        a, b, c = vms = self.vms("a", "b", "c")
        trace = self.start(vms, "[ab]:fbt::round_begin:entry { on[guest] = 1; } [ab]:" + self.TRACED, traced=[a, b])
        for vm in a, b:
            vm.tell(b"e")
        _, err = trace.communicate(timeout=limit(60))
        self.assertEqual(trace.returncode, 0, err)
        self.assertEqual(sorted(err.splitlines())[0][:15], "dtrace: guest a", err)
        self.assertEqual(len(err.splitlines()), 2, err)
        self.assertIsNone(c.process.poll())


if __name__ == "__main__":
    main()
