#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a host can trace, and the errors if it can't: host_test.py OUTSIGHT SMALL-GUEST. Ends with 77 without KVM."""
import os
import pwd
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit

OUTSIGHT, GUEST = (os.path.abspath(p) for p in sys.argv[1:3])
VMM = os.path.join(os.path.dirname(OUTSIGHT), "outsight-vmm")


def command(*args, env=None, user=None, timeout=limit(120)):
    return subprocess.run(args, capture_output=True, text=True, timeout=timeout, check=False, user=user,
                          env=dict(os.environ, **(env or {})), stdin=subprocess.DEVNULL)


def without_kvm(*args, **kwargs):
    """With another /dev, without /dev/kvm."""
    script = "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && exec \"$@\""
    return command("unshare", "-m", "sh", "-c", script, "sh", *args, **kwargs)


class Doctor(unittest.TestCase):
    def doctor(self, *args, run=command, **kwargs):
        return run(OUTSIGHT, "doctor", *args, **kwargs)

    WAYS = ["kvm", "tcg", "attach", "peek", "cpc", "libvirt", "sockets", "log", "run"]

    def test_here(self):
        """A line for each way; KVM's behaviour at a probe only with -v."""
        done = self.doctor()
        self.assertEqual(done.returncode, 0, done.stdout)
        words = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual([w for i, w in enumerate(words) if w not in words[:i]], self.WAYS, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^kvm     (yes: |for small guests: )")
        for way in ("attach", "peek"):
            self.assertRegex(done.stdout, rf"(?m)^{way:7} (yes|no): ")
            if os.geteuid() == 0:
                self.assertRegex(done.stdout, rf"(?m)^{way:7} yes: ")
        self.assertNotIn("int3", done.stdout)
        self.assertNotIn("a hit:", done.stdout)

    def test_details(self):
        done = self.doctor("-v")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^kvm     int3=[\w-]+, inject=[\w+]+, hw=(yes|no), step=(yes|no), "
                                      r"ioeventfd=(yes|no), out=(yes|no), .*user=(yes|no), hw_misses=(yes|no), vcpus=\d+$")
        self.assertRegex(done.stdout, r"(?m)^        a hit: out, exit and return +[\d.]+ us ")
        self.assertRegex(done.stdout, r"(?m)^run     guests ")

    @unittest.skipIf(os.geteuid(), "is not root")
    def test_no_device(self):
        done = self.doctor(run=without_kvm, env={"OUTSIGHT_QEMU": "/nonexistent"})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^kvm     no: /dev/kvm: No such file or directory: no KVM here \(is virt")
        self.assertRegex(done.stdout, r"(?m)^tcg     no: /nonexistent is not installed \(.*apt install")
        self.assertRegex(done.stdout, r"(?m)^attach  no: .*see kvm$")
        self.assertRegex(done.stdout, r"(?m)^run     no guest can be traced here$")

    @unittest.skipIf(os.geteuid(), "is not root")
    def test_no_permission(self):
        done = self.doctor(user=pwd.getpwnam("nobody").pw_uid, env={"OUTSIGHT_QEMU": "/nonexistent"})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^kvm     no: /dev/kvm: no permission: add yourself to the group")
        self.assertRegex(done.stdout, r"(?m)^sockets no: /run/outsight can't be")
        self.assertRegex(done.stdout, r"(?m)^peek    (yes: .*only those of this user|no: .*ptrace_scope)")

    def test_wrong_words(self):
        for word, text in (("x", "unexpected argument"), ("--verbos", "no option --verbos, did you mean --verbose")):
            done = command(OUTSIGHT, "doctor", word)
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
            self.assertIn(text, done.stderr)


class Run(unittest.TestCase):
    APPEND = "cpus=4 calls=50"
    PROGRAM = ("fbt::round_begin:entry { on = 1; } fbt::probed_nop:entry /on/ { @calls = count(); }"
               "fbt::probed_push:return /on/ { @returns = count(); } fbt::round_end:entry /on/ { exit(0); }")

    def run_small(self, *options, program=PROGRAM, append=APPEND, **kwargs):
        return command(OUTSIGHT, "run", *options, "--kernel", GUEST, "-smp", "4", "-m", "64", "-append", append, "--",
                       "-q", "-n", program, **kwargs)

    def check_counts(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["200", "200"])

    def test_builtin(self):
        """Symbols come from the kernel's file."""
        self.check_counts(self.run_small("--vmm", "builtin"))

    def test_powered_off(self):
        done = self.run_small("--vmm", "builtin", append="cpus=1 calls=5 rounds=20 await=1", program="fbt::round_end:entry { @ = count(); }")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^dtrace: guest \S+ powered off$")

    def test_exit_stops_the_guest(self):
        done = self.run_small("--vmm", "builtin", program="BEGIN { printf(\"%d\\n\", 1); exit(3); }")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(command("pgrep", "-f", f"^{VMM} --kernel {GUEST} .*{self.APPEND}").stdout, "")

    def test_without_qemu(self):
        """Without a QEMU auto chooses KVM, whatever its behaviour."""
        done = command(OUTSIGHT, "run", "--kernel", GUEST, "-m", "64", "--", "-n", "BEGIN { exit(0); }",
                       env={"OUTSIGHT_QEMU": "/nonexistent"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^dtrace: guest runs under kvm: (there is no QEMU .* but this KVM|traps exit to the host)")

    @unittest.skipIf(os.geteuid(), "is not root")
    def test_no_permission(self):
        with tempfile.TemporaryDirectory() as run_dir:
            nobody = pwd.getpwnam("nobody").pw_uid
            os.chown(run_dir, nobody, -1)
            kwargs = {"user": nobody, "env": {"XDG_RUNTIME_DIR": run_dir}}
            done = self.run_small("--vmm", "builtin", **kwargs)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"(?m)^dtrace: the monitor ended: outsight-vmm: /dev/kvm: Permission denied")
            kwargs["env"]["OUTSIGHT_QEMU"] = "/nonexistent"
            done = self.run_small(**kwargs)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"(?m)^dtrace: /nonexistent is not installed")

    def test_wrong_words(self):
        for options, text in ((["--vmm", "xen"], "needs auto, builtin or qemu"),
                              (["--vmm", "builtin", "-cpu", "max"], "boots a kernel, and no options of QEMU's")):
            with self.subTest(options=options):
                done = self.run_small(*options)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, text)


class Monitor(unittest.TestCase):
    STOCK = os.path.expanduser("~/.cache/outsight/guests/6.1/vmlinuz")

    def test_stock_kernel(self):
        """On a KVM whose guests can have no processes: by one line, before it boots."""
        if "executes system calls wrongly" not in command(OUTSIGHT, "doctor").stdout:
            self.skipTest("this host's KVM runs stock kernels")
        if not os.path.exists(self.STOCK):
            self.skipTest("no stock kernel here: scripts/guest-image makes one")
        self.refused("vmlinuz can't run here: this KVM executes system calls wrongly", "--kernel", self.STOCK)

    def refused(self, text, *args, run=command, status=1, **kwargs):
        done = run(VMM, *args, **kwargs)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, text)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    @unittest.skipIf(os.geteuid(), "is not root")
    def test_no_kvm(self):
        self.refused(r"^outsight-vmm: /dev/kvm: No such file .*`outsight doctor`", "--kernel", GUEST, run=without_kvm)
        with tempfile.TemporaryDirectory() as run_dir:
            nobody = pwd.getpwnam("nobody").pw_uid
            os.chown(run_dir, nobody, -1)
            self.refused(r"^outsight-vmm: /dev/kvm: Permission denied .*doctor", "--kernel", GUEST,
                         user=nobody, env={"XDG_RUNTIME_DIR": run_dir})

    def test_what_does_not_fit(self):
        self.refused("its segment at .* is outside the guest's memory|at least 16 MiB", "--kernel", GUEST, "--memory", "1")
        with tempfile.NamedTemporaryFile() as initrd:
            initrd.truncate(64 << 20)
            self.refused("does not fit into 32 MiB of memory after the kernel", "--kernel", GUEST, "--memory", "32",
                         "--initrd", initrd.name)

    def test_numbers(self):
        for option, value, most in (("--smp", "65", 64), ("--smp", "0", 64), ("--memory", "much", 1 << 20)):
            done = command(VMM, "--kernel", GUEST, option, value)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f'outsight-vmm: {option} "{value}": a number from 1 to {most} is needed', done.stderr)

    def test_sockets(self):
        self.refused("too long for a socket's path", "--kernel", GUEST, "--socket", "/tmp/" + "x" * 200)
        self.refused("exists and is no socket", "--kernel", GUEST, "--socket", __file__)

    def test_default_socket(self):
        with tempfile.TemporaryDirectory() as run_dir:
            env = {"XDG_RUNTIME_DIR": run_dir}
            with subprocess.Popen([VMM, "--kernel", GUEST, "--memory", "64", "--name", "found", "--console", "/dev/null"],
                                  env=dict(os.environ, **env), stdin=subprocess.DEVNULL) as vmm:
                try:
                    out, end = "", time.monotonic() + limit(60)
                    while "found" not in out and time.monotonic() < end:
                        out = command(OUTSIGHT, "guests", env=env).stdout
                    self.assertRegex(out, rf"found.*{vmm.pid}|{vmm.pid}.*found")
                finally:
                    vmm.terminate()
                self.assertEqual(vmm.wait(limit(20)), 0)
            self.assertEqual(os.listdir(os.path.join(run_dir, "outsight")), [])

    def test_help(self):
        done = command(VMM, "--help")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, "^Usage: outsight-vmm")


if __name__ == "__main__":
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        print("SKIP: there is no /dev/kvm here that can be opened")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
