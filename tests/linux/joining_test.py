#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Many guests that come and go in one session: -g 'web*'."""
import contextlib
import json
import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import Guest, why_no_guest
from lib.outsight import Trace
from lib.pace import FULL
from lib.scenario import Scenario, main, only_full

LOOP = 'syscall::getppid:entry /execname == "getppid_loop"/'
BEGIN = 'BEGIN { printf("begin\\n"); }'


class Joining(Scenario):
    """Guests for all scenarios: two of one build, whose addresses differ, and, with OUTSIGHT_FULL=1, one of another kernel where
    there is an image of one. A scenario that needs one more ends it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.family = f"join{os.getpid()}-"
        others = [k for k in ("6.1", "6.12") if FULL and k != cls.kernel and not why_no_guest(k)]
        cls.guests = [cls.new(number, kernel) for number, kernel in enumerate([cls.kernel, cls.kernel, *others[:1]], 1)]
        for guest in cls.guests:
            guest.start()
            cls.addClassCleanup(guest.close)
        for guest in cls.guests:
            guest.wait_ready()
        # a kernel chooses one of some hundred places by itself: two may have the same
        while cls.text_of(cls.guests[0]) == cls.text_of(cls.guests[1]):
            cls.guests[1].close()
            cls.guests[1] = cls.new(2, cls.kernel)
            cls.addClassCleanup(cls.guests[1].close)
            cls.guests[1].boot()
        print("; ".join(f"{guest.kernel} at {cls.text_of(guest)}" for guest in cls.guests), flush=True)

    @staticmethod
    def text_of(guest):
        """Where its kernel's text is."""
        return guest.check("grep -m1 ' T _stext$' /proc/kallsyms").split()[0]

    @classmethod
    def new(cls, number, kernel=None, smp=1):
        return Guest(kernel or cls.kernel, plugin=cls.outsight.plugin, smp=smp, name=f"{cls.family}{number}")

    def start(self, *args):
        """A session of all guests of the family, once BEGIN has fired."""
        trace = Trace(self.outsight.binary, ["-g", f"{self.family}*", "-x", "maxcost=0", "-x", "switchrate=20hz", "-x", "aggrate=20hz",
                                             "-n", BEGIN, *args], self.outsight.environment(self.guests[0]))
        self.outsight.started.append(trace)
        self.addCleanup(self.outsight.kill_all)
        return trace.wait_for("begin")

    @staticmethod
    def call(guest, times):
        guest.spawn(f"getppid_loop 1 {times}").done()

    @contextlib.contextmanager
    def fourth(self, trace):
        """One that has joined the session. How long it took is printed, and nothing depends on it."""
        began = time.monotonic()
        with self.new(4) as four:
            ready = time.monotonic()
            trace.wait_for(f"guest {four.name}: joined")
            print(f"a fourth guest's init was ready {ready - began:.1f} s after the start of its VMM; it had joined by then, "
                  f"or within {time.monotonic() - ready:.2f} s", flush=True)
            yield four

    def rows(self, text, letter):
        """{key: count} of the lines that printa() has printed behind a letter; no key is there twice."""
        rows = re.findall(rf"(?ms)\b{letter} (\d+) (.*?) ;$", text)
        found = {re.sub(r"\s+", " ", key): int(count) for count, key in rows}
        self.assertEqual(len(found), len(rows), text)
        return found

    @only_full
    def test_come_and_go(self):
        """What the guests count is one result, one more that starts joins it, and one that is killed leaves it."""
        trace = self.start("-n", f"""
            {LOOP} {{
                @f[probefunc] = count(); @s[stack()] = count(); @c[func(caller)] = count();
                @q = quantize(8); @l = llquantize(50, 10, 0, 3, 10); @g[guest] = count();
            }}
            profile-97 /arg0/ {{ @p[func(arg0)] = count(); @n[1] = count(); }}
            END {{
                printa("F %@d %s ;\\n", @f); printa("S %@d %k ;\\n", @s); printa("C %@d %a ;\\n", @c); printa("G %@d %s ;\\n", @g);
                printa("P %@d %a ;\\n", @p); printa("N %@d %d ;\\n", @n); printa(@q); printa(@l);
            }}""")
        calls = {}
        for guest, times in zip(self.guests, (1000, 2000, 4000)):
            self.call(guest, times)
            calls[guest.name] = times
        with self.fourth(trace) as four:
            self.call(four, 8000)
            calls[four.name] = 8000
            # what it has counted is fetched before it ends
            four.kill()
            trace.wait_for(f"guest {four.name}: its VMM (PID {four.pid}) has ended; the others go on")
        self.call(self.guests[0], 16000)
        calls[self.guests[0].name] += 16000
        trace.stop()
        total = sum(calls.values())
        self.assertEqual(self.rows(trace.out, "G"), calls, trace.story())
        self.assertEqual(self.rows(trace.out, "F"), {"getppid": total})
        for letter in "SC":
            rows = self.rows(trace.out, letter)
            self.assertEqual(sum(rows.values()), total, trace.story())
            self.assertLessEqual(len(rows), 2, rows)  # one for each kernel
        self.assertEqual(sum(self.rows(trace.out, "P").values()), self.rows(trace.out, "N")["1"], trace.story())
        self.assertRegex(trace.out, rf"(?m)^ +8 \|@+ {total} *$")
        self.assertRegex(trace.out, rf"(?m)^ +50 \|@+ {total} *$")

    @only_full
    def test_variables(self):
        """Each guest has its own from what BEGIN left; a program that reads them in END learns that."""
        trace = self.start("-n", f"""
            BEGIN {{ n = 100; word[7] = "seven"; }}
            {LOOP} {{ n++; @v[guest, word[7]] = max(n); }}
            tick-100ms {{ ticks++; }}
            END {{ printf("N %d %d\\n", n, ticks > 0); printa("V %@d %s %s ;\\n", @v); }}""")
        trace.wait_for("n: in syscall:vmlinux:getppid:entry each guest has its own, the operator another in END")
        for guest, times in zip(self.guests, (10, 20, 30)):
            self.call(guest, times)
        trace.stop()
        self.assertIn("N 100 1\n", trace.out + "\n", trace.story())
        self.assertEqual(self.rows(trace.out, "V"), {f"{guest.name} seven": 100 + times for guest, times in zip(self.guests, (10, 20, 30))})
        self.assertEqual(trace.err.count("each guest has its own"), 1, trace.story())

    @only_full
    def test_stopped(self):
        """A VMM that is stopped is reported once and holds up its own records only, which come when it goes on."""
        one, two, *rest = self.guests
        trace = self.start("-n", f'{LOOP} {{ printf("R %s %d\\n", guest, arg0 & 0); }}')
        os.kill(two.pid, signal.SIGSTOP)
        try:
            trace.wait_for(f"guest {two.name} does not answer (PID {two.pid}")
            for guest in (one, *rest):
                self.call(guest, 1)
                trace.wait_for(f"R {guest.name} 0")
        finally:
            os.kill(two.pid, signal.SIGCONT)
        trace.wait_for(f"guest {two.name} answers again")
        self.call(two, 1)
        trace.wait_for(f"R {two.name} 0")
        trace.stop()
        self.assertEqual(trace.err.count("does not answer"), 1, trace.story())

    @only_full
    def test_stopped_to_the_end(self):
        """Ctrl-C does not wait for it, and what it handed over before is printed."""
        one, two = self.guests[:2]
        trace = self.start("-n", f'{LOOP} {{ printf("R %s\\n", guest); @[guest] = count(); }} END {{ printa("G %@d %s ;\\n", @); }}')
        for guest in (one, two):
            self.call(guest, 5)
            trace.wait_for(f"R {guest.name}")
        os.kill(two.pid, signal.SIGSTOP)
        try:
            trace.wait_for(f"guest {two.name} does not answer")
            trace.interrupt().finish()
        finally:
            os.kill(two.pid, signal.SIGCONT)
        self.assertEqual(self.rows(trace.out, "G"), {one.name: 5, two.name: 5}, trace.story())

    @only_full
    def test_reboot_and_wait(self):
        """A guest that reboots leaves and joins; a session whose last guest has ended waits for the next. By sum(): what the
        VMM itself counts ends with it. A second session says it in lines of JSON."""
        with self.new("last", smp=2) as guest:
            lines = Trace(self.outsight.binary, ["-g", f"{guest.name[:-1]}[t]", "--json", "-x", "maxcost=0", "-n", BEGIN, "-n",
                                                 f"{LOOP} {{ trace(guest); }}"],
                          self.outsight.environment(guest))
            self.outsight.started.append(lines)
            trace = Trace(self.outsight.binary, ["-g", f"{guest.name[:-1]}[t]", "-x", "maxcost=0", "-n", BEGIN, "-n",
                                                 f'{LOOP} {{ @[guest] = sum(1); }} END {{ printa("G %@d %s ;\\n", @); }}'],
                          self.outsight.environment(guest))
            self.outsight.started.append(trace)
            self.addCleanup(self.outsight.kill_all)
            trace.wait_for("begin")
            lines.wait_for("begin")
            self.call(guest, 10)
            guest.qmp("set-action", reboot="reset")
            guest.qmp("system_reset")
            trace.wait_for(f"guest {guest.name} rebooted")
            guest.wait_ready()
            trace.wait_for(f"guest {guest.name}: joined")
            lines.wait_for('"what": "joined"')
            self.call(guest, 20)
            # those of both lives, and two lines about the guest
            lines.wait_for(f'"guest": "{guest.name}"', times=32)
        trace.wait_for("the session waits for the next one")
        with self.new("last", smp=2) as guest:
            trace.wait_for(f"guest {guest.name}: joined", times=2)
            lines.wait_for('"what": "joined"', times=2)
            self.call(guest, 40)
            trace.stop()
            lines.stop()
        self.assertEqual(self.rows(trace.out, "G"), {guest.name: 70}, trace.story() + lines.story())
        self.check_lines([json.loads(line) for line in lines.lines], guest.name)

    def check_lines(self, lines, name):
        """Lines about a guest's coming and going; what was left in its buffers may be behind that of its end."""
        self.assertEqual({line["guest"] for line in lines if line["type"] == "guest"}, {name})
        self.assertEqual([(line["what"], line.get("why")) for line in lines if line["type"] == "guest"],
                         [("left", "rebooted"), ("joined", None), ("left", "ended"), ("joined", None)], lines)
        counts = [0]
        for line in lines:
            if line.get("what") == "joined":
                counts.append(0)
            counts[-1] += line["type"] == "record" and line.get("guest") == name
        self.assertEqual(counts, [10, 20, 40])
        self.assertEqual(lines[-1]["type"], "end")


if __name__ == "__main__":
    sys.exit(main())
