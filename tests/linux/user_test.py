#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's programs, read from outside: what they have mapped equals what their guest says of it."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.scenario import Scenario, main


def without_names(text):
    """/proc/PID/maps without the names of what is no file, but for the vdso's, which we have too."""
    return [re.sub(r" +\[(?!vdso\]).*\]$", " ", line) for line in text.splitlines()]


class Maps(Scenario):
    def agrees(self, guest, pid):
        """--dump-maps is the guest's own /proc/PID/maps, once that no longer changes; returns it."""
        before = None
        while True:
            status, out, err = self.outsight.run(guest, "--dump-maps", str(pid))
            self.assertEqual((status, err), (0, ""))
            after = guest.check(f"cat /proc/{pid}/maps")
            if before == after:
                break
            before = after
        self.assertEqual(out.splitlines(), without_names(after))
        return out

    def start(self, guest, command):
        """The PID of a command that is started in the background."""
        return int(guest.check(f"{command} >/dev/null 2>&1 & echo $!"))

    def test_maps(self):
        """The shell, a program, a program with many mappings; files behind mounts, renamed and deleted ones."""
        with self.guest() as guest:
            self.agrees(guest, 1)
            self.assertIn(" /bin/spin\n", self.agrees(guest, self.start(guest, "spin 1000 20")))
            guest.check("mkdir -p /mnt/a/b /tmp/over && cp /bin/spin /mnt/a/b/one && cp /bin/spin /mnt/a/b/two")
            guest.check("mount -o bind /mnt/a /tmp/over")
            pids = [self.start(guest, f"{path} 1000") for path in ("/mnt/a/b/one", "/tmp/over/b/one", "/mnt/a/b/two")]
            guest.check("mv /mnt/a/b/one /mnt/a/b/three; rm /mnt/a/b/two")
            one, over, two = (self.agrees(guest, pid) for pid in pids)
            self.assertIn(" /mnt/a/b/three\n", one)
            self.assertIn(" /tmp/over/b/three\n", over)
            self.assertIn(" /mnt/a/b/two (deleted)\n", two)
            guest.check("killall -9 spin one two; umount /tmp/over; rm -r /mnt/a /tmp/over")

    def test_no_such_process(self):
        """A number that is no process's, a kernel thread's, and a word that is none."""
        with self.guest() as guest:
            for pid, why in (("1000000", "no process 1000000"), ("2", "process 2 has no memory of its own")):
                status, out, err = self.outsight.run(guest, "--dump-maps", pid)
                self.assertEqual((status, out), (1, ""))
                self.assertIn(why, err)
            status, out, err = self.outsight.run(guest, "--dump-maps", "init")
            self.assertEqual((status, out), (2, ""))
            self.assertIn("it takes the PID of a process in the guest", err)


if __name__ == "__main__":
    sys.exit(main())
