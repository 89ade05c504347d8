#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The live view on a terminal, and its lines for scripts: top_test.py OUTSIGHT [Class.test…]. Guests are processes that look like
QEMU's and have none; what is asked of a real one is in tests/linux/top_test.py."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "linux"), HERE]
# pylint: disable=wrong-import-position
from lib import screen as terminal
from lib.pace import limit
from lib.screen import DOWN, ENTER, ESCAPE, Screen
from terminal import is_harmless

OUTSIGHT = None
LIMIT = limit(120)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="outsight-top-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ, LC_ALL="C.UTF-8", XDG_RUNTIME_DIR=self.dir, HOME=self.dir, XDG_CACHE_HOME=f"{self.dir}/cache")
        for name in ("LINES", "COLUMNS"):
            self.env.pop(name, None)
        # sh under the name of a VMM: what it is told to do stands in front of the options that QEMU's would have.
        self.vmm = os.path.join(self.dir, "qemu-system-x86_64")
        shutil.copy(os.path.realpath("/bin/sh"), self.vmm)
        self.tag = f"t{os.getpid()}"

    @contextlib.contextmanager
    def guest(self, name, work="read x"):
        """A guest of that name, on one vCPU. It sleeps, or does other work."""
        process = subprocess.Popen([self.vmm, "-c", f"{work}; exit 0", "-name", f"guest={name}", "-smp", "2"], stdin=subprocess.PIPE,
                                   env=self.env)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def top(self, *args, term="xterm"):
        return Screen([OUTSIGHT, "top", "-d", "0.5", "-g", f"{self.tag}*", *args], dict(self.env, TERM=term), cwd=self.dir)

    def batch(self, *args, status=0):
        done = subprocess.run([OUTSIGHT, "top", *args], capture_output=True, timeout=LIMIT, check=False, env=self.env,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done)
        return done.stdout.decode(), done.stderr.decode()


class Batch(Case):
    def rows(self, text):
        """The rows of each period, as dicts by title."""
        periods = []
        for table in text.strip().split("\n\n"):
            titles, *lines = table.splitlines()
            periods.append([dict(zip(titles.replace("*", "").split(), line.split())) for line in lines])
        return periods

    def test_numbers(self):
        """A guest that is busy, and one that sleeps."""
        with self.guest(f"{self.tag}busy", "while :; do :; done") as busy, self.guest(f"{self.tag}idle") as idle:
            periods = self.rows(self.batch("-b", "-n", "2", "-d", "1", "-g", f"{self.tag}*")[0])
            self.assertEqual(len(periods), 2)
            for rows in periods:
                self.assertEqual([(r["GUEST"], r["PID"], r["VCPU"]) for r in rows],
                                 [(f"{self.tag}busy", str(busy.pid), "2"), (f"{self.tag}idle", str(idle.pid), "2")])
                self.assertGreater(float(rows[0]["%CPU"]), 0)
                self.assertEqual((rows[1]["%CPU"], rows[1]["EXITS"], rows[1]["CALLS"]), ("0.0", "-", "-"))
                self.assertRegex(rows[0]["%STEAL"], r"^\d+\.\d$")

    def test_order(self):
        with self.guest(f"{self.tag}a"), self.guest(f"{self.tag}b", "while :; do :; done"), self.guest(f"{self.tag}c"):
            for column, want in (("GUEST", "abc"), ("%CPU", "bac")):
                out, _ = self.batch("-b", "-n", "1", "-d", "1", "-g", f"{self.tag}*", "-o", column)
                self.assertEqual("".join(row["GUEST"][-1] for row in self.rows(out)[0]), want)
                self.assertIn("*" if column != "GUEST" else "GUEST*", out.splitlines()[0])
            out, err = self.batch("-b", "-n", "1", "-o", "NOSUCH", status=1)
            self.assertEqual(out, "")
            self.assertRegex(err, r"^dtrace: top: -o NOSUCH: there is no such column; there are GUEST PID VCPU %CPU")

    def test_exits(self):
        with self.guest(f"{self.tag}a"):
            titles, row = self.batch("-b", "-x", "-n", "1", "-d", "0.5", "-g", f"{self.tag}a")[0].splitlines()[:2]
            self.assertEqual(titles.replace("*", "").split(), ["GUEST", "EXITS", "HALT", "IO", "MMIO", "IRQ", "IRQWIN", "EMUL", "SIGNAL", "PGFLT"])
            self.assertEqual(row.split()[1:], ["-"] * 9)

    def test_names(self):
        """Whole, and nothing in them is a control."""
        name = f"{self.tag}" + "x" * 50
        with self.guest(name), self.guest(f"{self.tag}\x1b[31m\u202e\u6f22e\u0301\u00fc"):
            out, _ = self.batch("-b", "-n", "1", "-d", "0.5", "-g", f"{self.tag}*")
            self.assertTrue(is_harmless(out.encode()), out)
            self.assertIn(name + " ", out)
            self.assertIn(f"{self.tag}?[31m?\\xe6\\xbc\\xa2e\\xcc\\x81\u00fc", out)

    def test_no_terminal(self):
        """An error that says what to do, and nothing else."""
        for args in ((), ("-n", "1")):
            self.assertEqual(self.batch(*args, status=1),
                             ("", "dtrace: top: not a terminal: `outsight top -b` prints lines instead\n"))

    def test_misused(self):
        for args, want in ((("-d", "0"), "-d: 0 is not a number"), (("-n", "x"), "-n: x is not a number"), (("-q",), "there is no option -q"),
                           (("-d",), "-d needs a value"), (("web",), 'unexpected argument "web"')):
            out, err = self.batch(*args, status=2)
            self.assertEqual(out, "")
            self.assertIn(want, err)

    def test_reader_ends(self):
        """`outsight top -b | head -1` ends."""
        with subprocess.Popen([OUTSIGHT, "top", "-b", "-d", "0.5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            process.wait(LIMIT)


@unittest.skipIf(terminal.WHY_NOT, f"SKIP: {terminal.WHY_NOT}")
class Terminal(Case):
    def test_guests_come_and_go(self):
        with self.top() as top:
            top.wait_for("0 guests")
            with self.guest(f"{self.tag}a"), self.guest(f"{self.tag}b"):
                top.wait_for(f"{self.tag}a")
                top.wait_for("2 guests, 4 vCPUs")
            top.wait(lambda screen: f"{self.tag}" not in screen.text, "empty list")
            top.press("q")
            self.assertEqual(top.end(), 0)

    def test_screen(self):
        """80 columns and 24 lines: each column has its place, the row that is selected stands out, and the terminal is given back."""
        with self.guest(f"{self.tag}a"), self.top() as top:
            top.wait_for("1 guest,")
            top.wait(lambda screen: " 0.0 " in screen.lines[3], "a rate")
            self.assertRegex(top.lines[0], r"^outsight top - \d\d:\d\d:\d\d  1 guest, 2 vCPUs  CPU \d+\.\d %  steal \d+\.\d %")
            self.assertEqual(top.lines[2].split(), ["GUEST", "PID", "VCPU", "*%CPU", "%STEAL", "EXITS", "CALLS", "FAULTS", "READ", "WRITE"])
            self.assertRegex(top.lines[3], rf"^{self.tag}a +\d+ +2 +0\.0 ")
            self.assertIn("h help", top.lines[23])
            self.assertTrue(all(top.screen.buffer[3][x].reverse for x in range(80)))
            self.assertFalse(any(top.screen.buffer[4][x].reverse for x in range(80)))
            self.assertIn(b"\x1b[?1049h", top.raw)
            top.press("q")
            self.assertEqual(top.end(), 0)
            self.assertIn(b"\x1b[?1049l", top.raw)

    def test_resized(self):
        """Down to sizes in which nothing has room, and up."""
        with self.guest(f"{self.tag}a"), self.top() as top:
            top.wait_for(f"{self.tag}a")
            for rows, columns in ((10, 40), (4, 20), (1, 1), (50, 200), (24, 80)):
                top.resize(rows, columns)
                # the keys are in the last line, cut off where the screen ends
                want = "Enter open  q back" if rows > 4 else "too small" if columns > 8 else "+"
                top.wait(lambda screen, want=want, rows=rows: screen.lines[rows - 1 if rows > 4 else 0].startswith(want), f"{rows}x{columns}")
            top.wait_for("h help")
            top.wait_for(f"{self.tag}a ")
            top.press("q")
            self.assertEqual(top.end(), 0)

    def test_keys(self):
        """Rows are selected and stay so, whatever the order; help and the text of `d` come and go."""
        with self.guest(f"{self.tag}a"), self.guest(f"{self.tag}b"), self.guest(f"{self.tag}c"), self.top("-o", "GUEST") as top:
            top.wait_for("3 guests")
            top.wait_for(f"{self.tag}c")

            def selected(screen):
                return [y for y in range(3, 23) if screen.screen.buffer[y][0].reverse]

            def names(screen):
                return "".join((line.split() or [" "])[0][-1] for line in screen.lines[3:6])
            self.assertEqual((names(top), selected(top)), ("abc", [3]))
            top.press(DOWN)
            top.wait(lambda screen: selected(screen) == [4], "second row")
            top.press(DOWN, DOWN, DOWN)
            top.wait(lambda screen: selected(screen) == [5], "last row")
            top.press("R")
            top.wait(lambda screen: names(screen) == "cba" and selected(screen) == [3], "the same guest, first now")
            for key, what in (("h", "PgUp PgDn Home End"), ("?", "PgUp PgDn Home End"), ("d", "/proc/PID/stat of the VMM")):
                top.press(key)
                top.wait_for(what)
                top.press(ESCAPE)
                top.wait(lambda screen: names(screen) == "cba", "rows")
            top.press("x")
            top.wait_for("IRQWIN")
            top.press("x")
            top.wait_for("%STEAL")
            top.press("s")
            top.wait_for("this screen has no program")
            top.press("q")
            self.assertEqual(top.end(), 0)

    def test_asks_first(self):
        """Without a "y" no session begins."""
        with self.guest(f"{self.tag}a"), self.top() as top:
            top.wait_for(f"{self.tag}a ")
            for answer in ("n", ESCAPE):
                top.press("e")
                top.wait_for(f"Enable probes in {self.tag}a")
                self.assertEqual(self.children(top.process.pid), [])
                top.press(answer)
                top.wait_for("nothing was injected")
            top.press("e", "y")
            # it is no QEMU, so the session ends and says why
            top.wait(lambda screen: screen.lines[1].strip() not in ("", "asking the guest …"), "the session's message")
            top.wait(lambda screen: self.children(screen.process.pid) == [], "no session")
            top.press("q")
            self.assertEqual(top.end(), 0)

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return f.read().split()

    def test_back_and_save(self):
        """A guest that can't be read says so on its screen; its program is shown, saved, and compiles; a file that is there is left alone."""
        with self.guest(f"{self.tag}a") as guest, self.top() as top:
            top.wait_for(f"{self.tag}a ")
            top.press(ENTER)
            top.wait_for(f"{self.tag}a: processes, by samples")
            top.wait(lambda screen: screen.lines[1].strip() not in ("", "asking the guest …"), "the session's message")
            top.press("d")
            top.wait_for("profile-97")
            self.assertIn(f"outsight -g {guest.pid} -q -x noattach", top.text)
            top.press("s")
            top.wait_for("Save the program to: outsight-top.d_")
            top.press("\x7f\x7f", "2.d", ENTER)
            top.wait_for("outsight-top2.d: saved")
            top.press("s", "\x7f\x7f", "2.d", ENTER)
            top.wait_for("outsight-top2.d: File exists")
            with open(f"{self.dir}/outsight-top2.d", encoding="utf-8") as f:
                text = f.read()
            self.assertIn("@samples[pid, execname] = count();", text)
            top.press(ESCAPE)
            top.wait_for("1 guest,")
            top.press("q")
            self.assertEqual(top.end(), 0)

    def test_guest_ends_while_shown(self):
        with self.guest(f"{self.tag}a") as guest, self.top() as top:
            top.wait_for(f"{self.tag}a ")
            top.press(ENTER)
            top.wait_for(f"{self.tag}a: processes")
            guest.kill()
            guest.wait()
            top.wait_for("the guest has ended")
            top.wait_for("0 guests")
            top.press("q")
            self.assertEqual(top.end(), 0)

    def test_hostile_names(self):
        """Nothing of a name reaches the terminal as a control, and columns stay in place."""
        evil = f"{self.tag}\x1b[2J\x07\u6f22\u202e\udc9b1m"
        with self.guest(evil), self.guest(f"{self.tag}b"), self.top() as top:
            top.wait_for(f"{self.tag}b ")
            top.wait(lambda screen: screen.line_with(f"{self.tag}?"), "the other")
            rows = [line for line in top.lines if line.startswith(self.tag)]
            self.assertEqual(len({line.rstrip().rfind(" ") for line in rows}), 1, rows)
            self.assertNotIn(b"\x07", top.raw)
            self.assertNotIn("\u6f22".encode(), top.raw)
            top.press("q")
            self.assertEqual(top.end(), 0)

    def test_ended_by_signals(self):
        """Ctrl-C and kill give the terminal back."""
        for end in (lambda top: top.press("\x03"), lambda top: top.process.send_signal(signal.SIGTERM)):
            with self.top() as top:
                top.wait_for("0 guests")
                end(top)
                self.assertEqual(top.end(), 0)
                self.assertIn(b"\x1b[?1049l", top.raw)

    def test_times(self):
        with self.top("-n", "2") as top:
            self.assertEqual(top.end(), 0)

    def test_unknown_terminal(self):
        with self.top(term="nosuch") as top:
            top.wait_for('the terminal "nosuch" is unknown here: TERM=xterm may do')
            self.assertEqual(top.end(), 1)


if __name__ == "__main__":
    OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
