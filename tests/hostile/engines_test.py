#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Another user's VMM, and what it may say: engines_test.py OUTSIGHT FAKE-ENGINE [Class.test…]. Fake VMMs of root's and of
nobody's; requires root."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), folder) for folder in ("cli", "linux")]
# pylint: disable=wrong-import-position
from lib import namespaces
from lib.pace import limit
from terminal import is_harmless, on_terminal

OUTSIGHT = os.path.abspath(sys.argv[1])
FAKE = os.path.abspath(sys.argv[2])
NOBODY = 65534
SNAPSHOT = "3"
PLUGIN = "/x/liboutsight-tcg.so"
# Five sockets that never answer took half a minute each.
SILENT, LIMIT = 5, limit(60)
FORGERIES, RECORDS = 11, 64  # of fake_engine.c
NEW = 9  # seconds: less than a socket is new


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="outsight-trust-")
        self.addCleanup(shutil.rmtree, self.dir)
        os.chmod(self.dir, 0o755)
        self.vmm = shutil.copy(FAKE, os.path.join(self.dir, "qemu-system-x86_64"))
        self.program = shutil.copy(OUTSIGHT, self.dir)  # in a directory that user nobody may enter
        self.run_dir = os.path.join(self.dir, "run")
        os.mkdir(self.run_dir, 0o700)
        os.makedirs(os.path.join(self.dir, "nobody"))
        os.chown(os.path.join(self.dir, "nobody"), NOBODY, NOBODY)
        self.env = dict(os.environ, LC_ALL="C", XDG_RUNTIME_DIR=self.run_dir)
        self.number = 0

    def fake(self, name, mode="answer", user=None, host=0x1000, plugin=None):
        """A process that is called QEMU and says that it is an engine; .requests() is what it was asked."""
        self.number += 1
        where = os.path.join(self.dir, "nobody" if user else "", str(self.number))
        who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        process = subprocess.Popen([self.vmm, where + ".log", mode, hex(host), "-name", name, "-plugin",
                                    plugin or f"file={PLUGIN},socket={where}.sock"], env={}, cwd="/",
                                   stdin=subprocess.DEVNULL, **who)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        process.socket = where + ".sock"
        process.requests = lambda: self.read_lines(where + ".log")[1:]
        self.wait(lambda: self.read_lines(where + ".log"))
        return process

    @staticmethod
    def read_lines(path):
        try:
            with open(path, encoding="ascii") as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []

    def wait(self, what):
        end = time.monotonic() + limit(60)
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def outsight(self, *args, user=None, **env):
        who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        done = subprocess.run([self.program, *args], capture_output=True, text=True, timeout=LIMIT, check=False,
                              cwd="/", env=dict(self.env, **env), stdin=subprocess.DEVNULL, **who)
        self.assertNotIn("AddressSanitizer", done.stderr)
        return done

    def guests(self, *pids, **how):
        """The lines about these processes, by PID."""
        done = self.outsight("guests", "--json", **how)
        self.assertEqual(done.returncode, 0, done)
        return {g["pid"]: g for g in json.loads(done.stdout) if g["pid"] in pids}


class Trust(Case):
    def test_whose_memory_it_is_no_engine_says(self):
        """nobody's fake engine offers this process's memory as its guest's."""
        fake = self.fake("web01", user=NOBODY, host=id(self) & ~0xfff)
        found = self.guests(fake.pid, os.getpid())
        self.assertEqual(list(found), [fake.pid])
        self.assertEqual((found[fake.pid]["uid"], found[fake.pid]["name"]), (NOBODY, "web01"))

    def test_a_stranger_does_not_replace_a_guest(self):
        """Whichever came first, a name is its owner's."""
        strangers = [self.fake("web01", user=NOBODY)]
        real = self.fake("web01")
        strangers.append(self.fake("web01", user=NOBODY))
        found = self.guests(real.pid, *(s.pid for s in strangers))
        self.assertEqual(found[real.pid]["how"], "now")
        for s in strangers:
            self.assertEqual(found[s.pid]["how"],
                             f"now: by -g {s.pid}; the name is another guest's, this one is uid {NOBODY}'s")
        before = [s.requests() for s in (real, *strangers)]
        done = subprocess.Popen([self.program, "-g", "web01", "-n", "BEGIN{exit(0);}"], env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (done.kill(), done.communicate()))
        self.wait(lambda: real.requests()[len(before[0]):] == ["1", "1", SNAPSHOT] or done.poll() is not None)
        self.assertEqual(real.requests()[len(before[0]):], ["1", "1", SNAPSHOT])
        for s, old in zip(strangers, before[1:]):
            self.assertNotIn(SNAPSHOT, s.requests()[len(old):])

    def test_two_strangers_of_one_name_are_named(self):
        a, b = sorted((self.fake("web02", user=NOBODY) for _ in range(2)), key=lambda p: p.pid)
        done = self.outsight("-g", "web02", "-n", "BEGIN")
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"dtrace: two guests are called web02: pick one by PID, {a.pid} or {b.pid}\n"))

    def test_another_process_with_its_socket_is_not_it(self):
        """A VMM's command line says where its engine listens; whoever else listens there is not that engine."""
        fake = self.fake("web03", user=NOBODY)
        victim = self.fake("victim", "none", plugin=f"file={PLUGIN},socket={fake.socket}")
        found = self.guests(fake.pid, victim.pid)
        self.assertEqual(found[fake.pid]["name"], "web03")
        self.assertEqual(found[victim.pid]["how"], f"no: the engine in it does not answer at {fake.socket}")

    def test_silent_sockets_do_not_keep_one_waiting(self):
        silent = [self.fake(f"silent{i}", "silent", user=NOBODY) for i in range(SILENT)]
        found = self.guests(*(s.pid for s in silent))
        self.assertEqual(len(found), SILENT)
        for guest in found.values():
            self.assertEqual(guest["how"], "no: its engine did not answer within a second")
        self.assertEqual(self.outsight("-g", "nosuch", "-n", "BEGIN").returncode, 1)


class Vouched(Case):
    """A domain's process is the one that the system's libvirt has written down, which only root can do."""

    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
        self.addCleanup(subprocess.run, ["umount", "/run"], check=True)
        self.pids = "/run/libvirt/qemu"
        os.makedirs(self.pids)

    def write(self, name, fake, owner=0):
        path = os.path.join(self.pids, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(f"{fake.pid}\n")
        os.chown(path, owner, owner)
        return path

    def check_equal(self, how):
        """Neither of them has the name more than the other, though one has done this."""
        done = self.outsight("-g", "web04", "-n", "BEGIN")
        self.assertRegex(done.stderr, r"\Adtrace: two guests are called web04", how)

    def test_by_whom(self):
        real, other = (self.fake("web04", user=NOBODY) for _ in range(2))
        self.check_equal("nothing")
        mine = self.write("web04.pid", other, owner=NOBODY)
        self.check_equal("a file of its own")
        os.unlink(mine)
        os.symlink(self.write("elsewhere", other), mine)
        self.check_equal("a link")
        os.unlink(mine)
        os.chmod(self.pids, 0o777)
        self.write("web04.pid", other)
        self.check_equal("where all may write")
        os.chmod(self.pids, 0o755)
        self.write("web04.pid", real)
        found = self.guests(real.pid, other.pid)
        self.assertEqual(found[real.pid]["how"], "now")
        self.assertIn("the name is another guest's", found[other.pid]["how"])


class Forged(Case):
    """A VMM under another's control answers what it likes."""

    def test_replies(self):
        """None of them ends the list, commands the terminal, or makes lines of its own."""
        fakes = [self.fake(f"forged{n}", f"forge{n}") for n in range(FORGERIES)]
        for option in ("guests", "-v"), ("guests", "-v", "--json"):
            status, out = on_terminal([self.program, *option], env=dict(self.env, LC_ALL="C.UTF-8"))
            self.assertEqual(status, 0, out)
            self.assertTrue(is_harmless(out), out)
        found = self.guests(*(f.pid for f in fakes))
        self.assertEqual(set(found), {f.pid for f in fakes})
        text = self.outsight("guests", "-v").stdout
        records = [line for line in text.splitlines() if ": traced by uid " in line]
        self.assertEqual(len(records), RECORDS, text)
        for line in records:
            self.assertRegex(line, r"^forged\d+: traced by uid \d+, PID -?\d+ \(\?{15}\), from \S+ to \S+: \d+ enablings, of "
                             r"\?{95} first, destructive; in no log$")

    def test_sessions(self):
        """Each is one line, and none waits."""
        for n in range(FORGERIES):
            with self.subTest(forgery=n):
                fake = self.fake(f"forged{n}", f"forge{n}")
                done = self.outsight("-g", str(fake.pid), "-n", "BEGIN { exit(0); }")
                self.assertEqual(done.returncode, 1, done)
                self.assertRegex(done.stderr, r"\Adtrace: .*\n\Z")


class Told(Case):
    def test_what_nobody_may_not_see(self):
        """A VMM of root's is there, and why it can't be traced."""
        real = self.fake("web01")
        guest = self.guests(real.pid, user=NOBODY)[real.pid]
        self.assertEqual((guest["name"], guest["trace"]), ("web01", "no"))
        self.assertEqual(guest["how"], f"no: process {real.pid} may not be accessed: it is root's, or has had other "
                         "privileges than its owner: this requires CAP_SYS_PTRACE (root)")
        done = self.outsight("-g", "web01", "-n", "BEGIN", user=NOBODY)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"no guest web01 is running here.*; [0-9]+ more VMMs? (is|are) of other users: "
                         "root may trace (it|them)")

    def test_a_name_that_is_none_tells_which_there_are(self):
        real = self.fake("web01")
        done = self.outsight("-g", "nosuch", "-n", "BEGIN")
        self.assertEqual(done.returncode, 1)
        self.assertIn("dtrace: no guest nosuch is running here; there are: ", done.stderr)
        self.assertIn(f"web01 (PID {real.pid})", done.stderr)

    def test_where_a_socket_is_looked_for(self):
        vmm = self.fake("far", "none", plugin=f"file={PLUGIN}")
        done = self.outsight("-g", "far", "-n", "BEGIN")
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"dtrace: guest far (PID {vmm.pid}) was started with an engine, which does not answer "
                          f"at {self.run_dir}/outsight/{vmm.pid}.sock, "
                          f"/run/outsight/{vmm.pid}.sock. If it listens elsewhere, -g takes the socket's path\n"))


    def test_names_do_not_command_a_terminal(self):
        names = [bytes(range(1, 60)).decode("latin-1"), "\033[2J\u009b\u202e\r\b\n\x7f\u2028name"]
        fakes = [self.fake(name, mode) for name in names for mode in ("answer", "none")]
        status, out = on_terminal([self.program, "guests"], env=dict(self.env, LC_ALL="C.UTF-8"))
        self.assertEqual(status, 0)
        self.assertTrue(is_harmless(out), out)
        self.assertEqual(len(self.guests(*(f.pid for f in fakes))), len(fakes))
        text = self.outsight("guests").stdout
        for fake in fakes:
            self.assertRegex(text, rf"(?m)^\?+.* {fake.pid} running", "one line each, in a file too")
        error = self.outsight("-g", "nosuch", "-n", "BEGIN").stderr
        text = r"[^\0-\x1f\x7f-\x9f\u2028-\u202e]*"
        self.assertRegex(error, rf"\A{text}; there are: {text}PID {fakes[-2].pid}{text}\n\Z")


class Sockets(Case):
    def test_dead_ones_are_swept(self):
        """Ours, of a process that is no more, and not just made."""
        sockets = os.path.join(self.run_dir, "outsight")
        os.mkdir(sockets, 0o700)
        gone = subprocess.Popen(["true"])
        gone.wait()
        others, mine = 4194303, gone.pid  # no process has the largest PID
        names = {f"{mine}.sock": False, f"{os.getpid()}.sock": True, "name.sock": True, f"{others}.sock": True}
        began = time.monotonic()
        script = "import socket, sys\nfor p in sys.argv[1:]:\n\tsocket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(p)"
        subprocess.run([sys.executable, "-c", script, *(os.path.join(sockets, n) for n in names)], check=True)
        with open(os.path.join(sockets, "1234567.sock"), "w", encoding="ascii"):
            pass
        os.chown(os.path.join(sockets, f"{others}.sock"), NOBODY, NOBODY)
        self.outsight("guests")
        # on a busy host they may be old by now
        if time.monotonic() - began < NEW:
            self.assertEqual(set(os.listdir(sockets)), {*names, "1234567.sock"}, "all of them are new")
        self.age()
        self.outsight("guests")
        self.assertEqual(set(os.listdir(sockets)), {n for n in names if names[n]} | {"1234567.sock"})

    def age(self):
        """ctime can't be set: it takes as long as it takes."""
        time.sleep(NEW + 2)


if __name__ == "__main__":
    if os.geteuid():
        print("SKIP: processes of several users take root")
        sys.exit(77)
    namespaces.enter("--net")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
