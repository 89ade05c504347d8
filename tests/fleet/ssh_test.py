#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""outsight -g ssh://HOST/GUEST through a real ssh and sshd, without a guest: what a user sees when it does not work.
ssh_test.py OUTSIGHT [Class.test…]."""
import os
import pty
import re
import select
import subprocess
import sys
import time
import unittest

from hosts import free_port, limit
from lib.scenario import run_module
from sshd import Sshd, served, why_not

OUTSIGHT = os.path.abspath(sys.argv[1])
FOLDER = os.path.dirname(OUTSIGHT)
WHY_NOT = why_not()
UNANSWERED = "dtrace: host {0}: outsight-serve has not answered: ssh to {0} ended with status {1}"


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        # what it may be reached with has no outsight-serve; a shell that talks on standard output, and one on standard error
        users = {"fine": (served(FOLDER), ""), "bare": ({"PATH": "/usr/bin:/bin"}, ""),
                 "noisy": (served(FOLDER), "echo; echo Welcome to this machine\n"),
                 "newline": (served(FOLDER), "echo\n"),
                 "muttering": (served(FOLDER), "echo disk is nearly full >&2\n"),
                 "leaving": (served(FOLDER), "exit 0\n")}
        cls.sshd = Sshd(users)
        cls.addClassCleanup(cls.sshd.close)
        hosts = {user: [f"User {user}"] for user in users}
        hosts["down"] = [f"Port {free_port()}"]
        hosts["nowhere"] = ["HostName nowhere.invalid"]
        hosts["refused"] = ["User fine", f"IdentityFile {cls.sshd.path('stranger')}"]
        hosts["strange"] = ["User fine", "HostKeyAlias strange"]
        hosts["busy"] = ["User fine", "RequestTTY force", "RemoteCommand echo no", f"LocalForward {cls.sshd.port} localhost:1",
                         "ExitOnForwardFailure yes"]
        cls.sshd.configure(hosts)

    def command(self, *hosts, program='BEGIN { printf("began"); exit(3); }'):
        guests = [word for host in hosts for word in ("-g", f"ssh://{host}/none")]
        return [OUTSIGHT, *guests, "-q", "-n", program]

    def run_on(self, *hosts, **more):
        """(status, stdout, stderr)"""
        done = subprocess.run(self.command(*hosts, **more), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=self.sshd.env(), timeout=limit(60), check=False)
        return done.returncode, done.stdout, done.stderr

    def fails(self, host, *lines):
        """It says this, each a pattern, and nothing else."""
        status, out, err = self.run_on(host)
        self.assertEqual((status, out), (1, ""), err)
        self.assertEqual(len(err.splitlines()), len(lines), err)
        for said, pattern in zip(err.splitlines(), lines):
            self.assertRegex(said, f"^{pattern}$")


class Works(Case):
    def test_session(self):
        """And two hosts in one."""
        self.assertEqual(self.run_on("fine"), (3, "began\n", ""))
        self.assertEqual(self.run_on("fine", "busy"), (3, "began\n", ""))

    def test_configuration(self):
        """What a user's configuration has for sessions at a terminal does not get in the way."""
        self.assertEqual(self.run_on("busy"), (3, "began\n", ""))

    def test_said(self):
        """What ssh and the shell there say on standard error is shown, with the host's name, and is no failure."""
        self.assertEqual(self.run_on("muttering"), (3, "began\n", "dtrace: muttering: disk is nearly full\n"))

    def test_own_words(self):
        """$OUTSIGHT_SSH is what is run."""
        env = self.sshd.env(OUTSIGHT_SSH=f"{self.sshd.path('bin', 'ssh')} -o User=bare -o RequestTTY=no")
        done = subprocess.run(self.command("fine"), capture_output=True, text=True, env=env, timeout=limit(60), check=False)
        self.assertIn("ssh to fine ended with status 127", done.stderr)


class Fails(Case):
    def test_unreachable(self):
        self.fails("down", r"dtrace: down: ssh: connect to host 127\.0\.0\.1 port \d+: Connection refused", UNANSWERED.format("down", 255))
        self.fails("nowhere", "dtrace: nowhere: ssh: Could not resolve hostname nowhere.invalid: .*", UNANSWERED.format("nowhere", 255))

    def test_wrong_key(self):
        self.fails("refused", r"dtrace: refused: fine@127\.0\.0\.1: Permission denied \(publickey,password\)\.",
                   UNANSWERED.format("refused", 255) + ": ssh can't ask for a password here: use an agent, or a key without a passphrase")

    def test_unknown_host(self):
        self.fails("strange", r"dtrace: strange: No ED25519 host key is known for strange and you have requested strict checking\.",
                   r"dtrace: strange: Host key verification failed\.", UNANSWERED.format("strange", 255))

    def test_not_installed(self):
        self.fails("bare", "dtrace: bare: .*outsight-serve: command not found",
                   UNANSWERED.format("bare", 127) + ": outsight-serve is not installed there, or not in the PATH of a shell without a terminal")

    def test_noise(self):
        """Of a startup file, on standard output; one byte of it is enough."""
        for host, text in (("noisy", "Welcome to this machine"), ("newline", ".*")):
            with self.subTest(host):
                self.fails(host, f'dtrace: host {host}: output precedes that of outsight-serve: "{text}"; without a '
                           r"terminal, the shell's startup files, such as ~/\.bashrc, must print nothing")

    def test_shell_leaves(self):
        self.fails("leaving", UNANSWERED.format("leaving", 0))

    def test_asks_nothing(self):
        """On a terminal neither, where two that ask would take each other's answers."""
        pid, master = pty.fork()
        if not pid:
            os.execve(OUTSIGHT, self.command("refused"), self.sshd.env())
        said, end = b"", time.monotonic() + limit(60)
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    said += os.read(master, 4096)
                except OSError:
                    break
        os.close(master)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 1, said)
        self.assertNotRegex(said.decode(), "(?i)password:")
        self.assertIn("Permission denied", said.decode())

    def test_one_of_two(self):
        """A host that is not reached ends the session before it begins, and its lines bear its name."""
        status, out, err = self.run_on("fine", "down")
        self.assertEqual((status, out), (1, ""))
        self.assertTrue(all(re.match("dtrace: (host )?down: ", line) for line in err.splitlines()), err)


if __name__ == "__main__":
    run_module(sys.argv[2:], WHY_NOT)
