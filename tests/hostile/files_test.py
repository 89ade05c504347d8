#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Another user's files in the places where ours are looked for: files_test.py OUTSIGHT FAKE-ENGINE. In a mount namespace with a
/run of its own; requires root.

The cache: guest_symtab_test. The socket that an engine makes: engine_server_access_test. The claim on a VMM: client_trust_test."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib import namespaces
from lib.pace import limit

OUTSIGHT = os.path.abspath(sys.argv[1])
NOBODY = 65534
SYSTEM = "/run/outsight"


class Sockets(unittest.TestCase):
    """The directory of the sockets. `doctor` makes it as each engine does."""

    def setUp(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
        self.addCleanup(subprocess.run, ["umount", "/run"], check=True)
        self.dir = tempfile.mkdtemp(prefix="outsight-files-")
        self.addCleanup(shutil.rmtree, self.dir)
        os.chmod(self.dir, 0o755)

    def sockets(self, **env):
        done = subprocess.run([OUTSIGHT, "doctor"], capture_output=True, text=True, timeout=limit(120), check=False,
                              stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "LC_ALL": "C", "OUTSIGHT_QEMU": "/nonexistent", **env})
        return next(line for line in done.stdout.splitlines() if line.startswith("sockets"))

    def refused(self):
        self.assertRegex(self.sockets(), r"^sockets no: /run/outsight can't be used for sockets: it must be a directory of uid 0's "
                         r"own, in which no other user may write")

    def test_its_own(self):
        self.assertEqual(self.sockets(), f"sockets yes: {SYSTEM}")
        self.assertEqual(os.stat(SYSTEM).st_mode & 0o7777, 0o700)

    def test_another_users(self):
        os.mkdir(SYSTEM)
        os.chown(SYSTEM, NOBODY, NOBODY)
        self.refused()

    def test_writable(self):
        os.mkdir(SYSTEM)
        for mode in (0o770, 0o707, 0o1777):
            os.chmod(SYSTEM, mode)
            self.refused()

    def test_link(self):
        """Wherever it leads, and whoever made it."""
        os.mkdir(f"{self.dir}/real", 0o700)
        os.symlink(f"{self.dir}/real", SYSTEM)
        self.refused()
        os.lchown(SYSTEM, NOBODY, NOBODY)
        self.refused()

    def test_another_users_run_directory(self):
        """As su leaves it in the environment."""
        os.chown(self.dir, NOBODY, NOBODY)
        self.assertEqual(self.sockets(XDG_RUNTIME_DIR=self.dir), f"sockets yes: {SYSTEM}")
        self.assertEqual(os.listdir(self.dir), [])
        os.chown(self.dir, 0, 0)
        self.assertEqual(self.sockets(XDG_RUNTIME_DIR=self.dir), f"sockets yes: {self.dir}/outsight")


if __name__ == "__main__":
    if os.geteuid() or not namespaces.can_make([*namespaces.PROCESSES, "--net"]):
        print("SKIP: files of several users and mounts take root")
        sys.exit(77)
    namespaces.enter("--net")
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
