#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fbt::FUNCTION:inlined of a stock kernel, by its debugging information (scripts/guest-image --debug): counts and arguments
against what the guest's own tracing counts."""
import os
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import image_dir
from lib.scenario import Scenario, main, only_full
from lib.truth import Truth, agree

STAT, LSEEK = "syscalls/sys_exit_newfstatat", "syscalls/sys_enter_lseek"
# What reads the guest's tables afterwards runs stat too.
LOAD = ("for i in 1 2 3 4 5; do stat /init; ls -l /bin; done; stat /no/such/file; "
        "for i in 1 2 3; do dd if=/init of=/dev/null skip=$i count=1; done")
OUR = ("ls", "dd")
ALL_STAT = 0x7ff


class Inlined(Scenario):
    def debug(self):
        path = os.path.join(image_dir(self.kernel), "vmlinux.debug")
        if not os.path.exists(path):
            self.skipTest(f"no debugging information of this kernel: scripts/guest-image --debug {self.kernel} fetches it")
        return path

    def list(self, guest, probe, *args):
        return self.outsight.run(guest, *args, "-lvn", probe)

    def test_counts(self):
        """Copies fire as often as the guest counts the calls that pass them, with the arguments of the call."""
        ours = "/" + " || ".join(f'execname == "{name}"' for name in OUR) + "/"
        program = (f'fbt::vfs_getattr:inlined {ours} {{ @calls[probefunc] = count(); @[execname] = count(); }} '
                   'fbt::vfs_getattr:inlined /execname == "stat" && stringof(args[0]->dentry->d_name.name) == "init"/ '
                   '{ @masks[args[2]] = count(); } '
                   f'fbt::vfs_llseek:inlined {ours} {{ @whence[args[2]] = count(); @offsets[args[1]] = count(); }} '
                   'END { printa("call %s %@d\\n", @calls); printa("by %s %@d\\n", @); '
                   'printa("mask %d %@d\\n", @masks); printa("whence %d %@d\\n", @whence); printa("offset %d %@d\\n", @offsets); }')
        comm = "(" + " || ".join(f'comm == "{name}"' for name in OUR) + ")"
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program, "--vmlinux", self.debug())
            with Truth(guest, {STAT: ((), f"{comm} && ret == 0"), LSEEK: (("offset",), comm)}) as truth:
                guest.check(f"{{ {LOAD}; }} >/dev/null 2>&1")
                truth.read()
            trace.stop()
        self.compare(trace, truth)

    def compare(self, trace, truth):
        found = re.search(r"(?m)^call vfs_getattr (\d+)$", trace.out)
        self.assertTrue(found, trace.story())
        self.assertGreater(truth.hits(STAT), 100, trace.story())
        self.assertGreater(truth.hits(LSEEK), 2, trace.story())
        agree(self, "fbt::vfs_getattr:inlined", int(found.group(1)), truth.hits(STAT), STAT, trace.story())
        offsets = {int(k): int(v) for k, v in re.findall(r"(?m)^offset (\d+) (\d+)$", trace.out)}
        agree(self, "fbt::vfs_llseek:inlined by offset", offsets, truth.rows(LSEEK, "offset"), LSEEK, trace.story())
        self.assertIn(f"whence {os.SEEK_CUR} 3", trace.lines, trace.story())
        self.assertIn(f"mask {ALL_STAT} 5", trace.lines, trace.story())

    def test_lacking(self):
        """A copy that lacks an argument is a fault where it is asked for, and fires all the same."""
        functions = ("folio_put", "put_page", "fdget", "task_sigpending")
        program = "".join(f'fbt::{name}:inlined /execname == "dd"/ {{ @all["{name}"] = count(); }} '
                          f'fbt::{name}:inlined /execname == "dd"/ {{ this->a = arg0; @known["{name}"] = count(); }} '
                          for name in functions)
        program += ('dtrace:::ERROR { @errors = count(); } END { printa("all %s %@d\\n", @all); '
                    'printa("known %s %@d\\n", @known); printa("errors %@d\\n", @errors); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program, "--vmlinux", self.debug())
            guest.check("dd if=/init of=/tmp/copy bs=4096 count=50 2>/dev/null && rm /tmp/copy")
            trace.stop()
        count = {kind: sum(int(n) for n in re.findall(rf"(?m)^{kind} (?:\w+ )?(\d+)$", trace.out))
                 for kind in ("all", "known", "errors")}
        self.assertGreater(count["known"], 0, trace.story())
        self.assertGreater(count["errors"], 0, trace.story())
        self.assertEqual(count["all"], count["known"] + count["errors"], trace.story())
        self.assertIn("invalid address (0x0)", trace.err)

    def test_listing(self):
        """-lv says where the copies are, and what they lack; no other description finds them."""
        with self.guest() as guest:
            vmlinux = ("--vmlinux", self.debug())
            status, out, err = self.list(guest, "fbt::vfs_getattr:inlined", *vmlinux)
            self.assertEqual(status, 0, err)
            copies = int(re.search(r"Inlined Copies: (\d+)", out).group(1))
            self.assertEqual(len(re.findall(r"(?m)^\t\t\w+\+0x\w+$", out)), copies, out)
            self.assertIn("args[0]: struct path * path", out)
            self.assertIn("args[2]: u32 request_mask", out)
            _, out, _ = self.list(guest, "fbt::vfs_getattr:", *vmlinux)
            self.assertEqual(re.findall(r"vfs_getattr (\w+)", out), ["entry", "return"])
            lacking = re.findall(r"args\[\d\] \(\w+\) is not available in (\d+) of (\d+) copies", self.list(
                guest, "fbt::ext4_*:inlined", *vmlinux)[1])
            self.assertTrue(lacking)
            self.assertTrue(all(0 < int(n) < int(of) for n, of in lacking), lacking)

    @only_full
    def test_all(self):
        """Most functions have their probe; of the others -lv says why not."""
        with self.guest() as guest:
            _, out, _ = self.list(guest, "fbt:::inlined", "--vmlinux", self.debug())
        probes = re.findall(r"inlined\n\n\tInlined Copies: (\d+)\n", out)
        refused = re.findall(r"inlined\n\n\tCannot be enabled: (.*)", out)
        self.assertGreater(len(probes), 20000)
        self.assertGreater(len(probes), 3 * len(refused))
        known = "initialisation code|too often|two copies|not all of its copies|no instruction|in no function"
        self.assertEqual([reason for reason in refused if not re.search(known, reason)], [])

    @only_full
    def test_messages(self):
        """Without the file, with one that has no debugging information, and with another kernel's."""
        with self.guest() as guest:
            _, _, err = self.list(guest, "fbt::vfs_getattr:inlined")
            self.assertIn("--vmlinux", err)
            _, _, err = self.list(guest, "fbt::no_such_function:inlined", "--vmlinux", self.debug())
            self.assertIn("no inlined copy", err)
            status, _, err = self.list(guest, "fbt::vfs_getattr:inlined", "--no-cache", "--vmlinux", self.vmlinux())
            self.assertNotEqual(status, 0)
            self.assertIn("it has no debugging information (DWARF)", err)


if __name__ == "__main__":
    sys.exit(main())
