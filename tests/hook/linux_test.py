#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock Debian kernels in a QEMU that was started without us, on a KVM that runs them well: here, or in
scripts/kvm-lab's host.

    linux_test.py --build build/release [--kernel 6.1] [--here|--lab] [Class.method…]
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TESTS, "kvm-lab"), os.path.join(TESTS, "linux")]
# pylint: disable=wrong-import-position
from lib.guest import Guest, why_no_guest
from lib.outsight import LIMIT, Outsight, Trace, keyed, numbers
from lib.host_kvm import why_not_kvm
from lib.programs import Programs as BuiltPrograms
from lib.vmm_guest import TROUBLE
from processes import GUARDED, Processes
from run import why_no_lab

LAB_SECONDS = 2400
TIMES = 20
# Processes, files and memory, until it is stopped; it ends at the first wrong byte.
LOAD = ("sh -c 'dd if=/dev/urandom of=/tmp/a bs=64k count=8 2>/dev/null || exit 1; "
        "while [ ! -e /tmp/enough ]; do cp /tmp/a /tmp/b && cmp /tmp/a /tmp/b && ls -l /bin >/dev/null || exit 1; done; echo clean'")
ARGS = None


class QemuGuest(Guest):
    """QEMU with KVM and its sandbox, and nothing of ours. preload: with the hook from the start."""

    STARTED_ANEW = False

    def __init__(self, *args, preload=None, **kwargs):
        super().__init__(*args, cpu="host", **kwargs)
        self.preload = preload

    def command(self):
        args = super().command()
        args[args.index("tcg,thread=multi")] = "kvm"
        args += ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"]
        return ["env", f"LD_PRELOAD={self.preload}", *args] if self.preload else args

    def trouble(self):
        return [line for line in self.check("dmesg").splitlines()
                if TROUBLE.search(line) and "ommand line:" not in line and "report a bug" not in line]


class QemuTest(unittest.TestCase):
    maxDiff = 4000

    def boot(self, **options):
        guest = QemuGuest(ARGS.kernel, smp=2, **options)
        self.addCleanup(guest.close)
        return guest.boot()

    def outsight(self, guest, *args):
        env = dict(os.environ, XDG_RUNTIME_DIR=guest.dir)
        done = subprocess.run([os.path.join(ARGS.build, "bin", "outsight"), *args], capture_output=True, text=True,
                              timeout=LIMIT, check=False, env=env)
        self.assertEqual(done.returncode, 0, done.stderr + guest.console())
        return done.stdout

    def started(self, guest, *args):
        outsight = Outsight(ARGS.build)
        trace = Trace(outsight.binary, ["-g", str(guest.pid), "-x", "maxcost=0", *args], outsight.environment(guest))
        self.addCleanup(lambda: (trace.kill(), trace.process.stdout.close(), trace.process.stderr.close()))
        return trace

    def trace(self, guest, program, *args):
        return self.started(guest, "-q", *args, "-n", 'BEGIN { printf("tracing\\n"); }', "-n", program).wait_for("tracing", LIMIT)


class Linux(QemuTest):
    def count_getppid(self, guest):
        job = guest.spawn("getppid_loop 4 2500 wait")
        job.wait_output("waiting")
        trace = self.trace(guest, 'syscall::getppid:entry /execname == "getppid_loop"/ { @a = count(); @b = sum(1); } '
                            'fbt::__x64_sys_getppid:return { @c = count(); @d = sum(1); }')
        job.send("go")
        job.wait_end()
        trace.stop()
        self.assertEqual(numbers(trace.out), [10000] * 4, trace.story())

    def text(self, guest):
        return guest.check("textsum")

    def by_name(self, guest):
        """All system calls of one program; and of each program."""
        trace = self.trace(guest, 'syscall:::entry /execname == "reads"/ { @[probefunc] = count(); }')
        guest.check("reads 3000")
        calls = keyed(trace.stop().out)
        self.assertEqual([calls.get("read"), calls.get("lseek")], [3000, 3000], trace.story())
        trace = self.trace(guest, "syscall:::entry { @[execname] = count(); }")
        guest.check("reads 3000")
        names = keyed(trace.stop().out)
        self.assertGreaterEqual(names.get("reads", 0), 6000, trace.story())
        self.assertGreater(len(names), 1, trace.story())

    def test_attached(self):
        """Attached and detached again and again, under load."""
        guest = self.boot()
        text = self.text(guest)
        load = guest.spawn(LOAD)
        for i in range(TIMES):
            out = self.outsight(guest, "attach", str(guest.pid))
            print(out.strip(), flush=True)
            self.assertRegex(out, "attached in .* 2 vCPUs")
            if i % 5 == 0:
                self.count_getppid(guest)
            elif i % 10 == 1:
                self.by_name(guest)
            elif i % 5 == 2:
                # detached under load
                trace = self.trace(guest, "syscall:::entry,syscall:::return { @[probefunc] = count(); }")
                self.assertEqual(self.outsight(guest, "detach", str(guest.pid)), f"{guest.pid}: detached\n")
                self.assertEqual(trace.finish(), 1, trace.story())
                continue
            self.assertEqual(self.outsight(guest, "detach", str(guest.pid)), f"{guest.pid}: detached\n")
        guest.check("touch /tmp/enough")
        self.assertIn("clean", load.done())
        self.assertEqual(guest.trouble(), [])
        self.assertEqual(self.text(guest), text)

    def test_preloaded(self):
        guest = self.boot(preload=os.path.join(ARGS.build, "lib", "liboutsight-kvm.so"))
        text = self.text(guest)
        for _ in range(3):
            self.count_getppid(guest)
        self.assertEqual(guest.trouble(), [])
        self.assertEqual(self.text(guest), text)

    def test_looked_at(self):
        """A QEMU without injection: names and stacks of its guest's kernel from outside."""
        guest = self.boot()
        text = self.text(guest)
        load = guest.spawn(LOAD)
        out = self.outsight(guest, "-g", str(guest.pid), "-q", "-n", "profile-99 { @f[func(arg0)] = count(); n++; "
                            "@s[stack()] = count(); @e[execname] = count(); } profile-99 /n >= 400/ { exit(0); }")
        print(out[-4000:], flush=True)
        functions = dict(re.findall(r"^  vmlinux`(\w+) +(\d+)$", out, re.M))
        self.assertGreater(len(functions), 3, out)
        # down to the kernel's entry point
        self.assertRegex(out, r"(vmlinux`\w+(\+0x\w+)?\n\s+){2,}vmlinux`(do_syscall_64|asm_exc_page_fault|do_idle)")
        self.assertRegex(out, r"(?m)^  (dd|cp|cmp|ls|sh|swapper/\d) +\d+$")
        with open(f"/proc/{guest.pid}/maps", encoding="ascii") as f:
            self.assertNotIn("liboutsight", f.read())
        guest.check("touch /tmp/enough")
        self.assertIn("clean", load.done())
        self.assertEqual(guest.trouble(), [])
        self.assertEqual(self.text(guest), text)


class Resident(QemuTest):
    """Code of ours in the guest's own path, in a QEMU that does with its guest what it does with any."""

    def said(self, trace):
        """(places, traps) as the session said."""
        match = re.search(r"resident probes: (\d+) places(?:, \d+ of which exit[^;\n]*)?(?:; (\d+) places are trapped)?",
                          trace.story())
        self.assertTrue(match, trace.story())
        return int(match[1]), int(match[2] or 0)

    def all_functions(self, guest):
        trace = self.trace(guest, "fbt:::entry { @[probefunc] = count(); }", "-x", "inject=force")
        self.assertGreater(self.said(trace)[0], 20000, trace.story())
        return trace

    def exact(self, guest):
        """A load of known calls, counted in place; a key's first hit exits."""
        job = guest.spawn("getppid_loop 4 2500 wait")
        job.wait_output("waiting")
        trace = self.trace(guest, 'fbt::__x64_sys_getppid:entry /execname == "getppid_loop"/ { @a = count(); @b = sum(1); }',
                           "-x", "inject=force")
        job.send("go")
        job.wait_end()
        trace.stop()
        self.assertEqual(self.said(trace), (1, 0), trace.story())
        self.assertEqual(numbers(trace.out), [10000] * 2, trace.story())

    def test_sessions(self):
        """One after another, in one engine and after a detach: the room is taken away and made anew."""
        guest = self.boot()
        text = guest.check("textsum")
        load = guest.spawn(LOAD)
        for _ in range(4):
            self.all_functions(guest).stop()
            self.exact(guest)
            self.assertEqual(self.outsight(guest, "detach", str(guest.pid)), f"{guest.pid}: detached\n")
            fds = f"/proc/{guest.pid}/fd"
            links = [os.readlink(os.path.join(fds, fd)) for fd in os.listdir(fds) if os.path.islink(os.path.join(fds, fd))]
            self.assertFalse([link for link in links if "outsight-resident" in link], links)
        guest.check("touch /tmp/enough")
        self.assertIn("clean", load.done())
        self.assertEqual(guest.trouble(), [])
        self.assertEqual(guest.check("textsum"), text)

    def test_saved(self):
        """Saved under load with all functions in: what was saved goes on in another QEMU, and so does the guest itself."""
        guest = self.boot()
        text = guest.check("textsum")
        load = guest.spawn(LOAD)
        trace = self.all_functions(guest)
        saved = guest.path("saved")
        guest.qmp("migrate", uri=f"file:{saved}")
        self.assertEqual(trace.finish(), 1, trace.story())
        until = time.monotonic() + LIMIT
        while guest.qmp("query-migrate")["status"] not in ("completed", "failed"):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        self.assertEqual(guest.qmp("query-migrate")["status"], "completed")
        with open(guest.path("qemu.log"), encoding="utf-8", errors="replace") as f:
            self.assertNotIn("may crash when it is loaded", f.read())
        other = QemuGuest(ARGS.kernel, smp=2, qemu_args=["-incoming", f"file:{saved}"])
        self.addCleanup(other.close)
        other.start()
        guest.qmp("cont")
        for one in (guest, other):
            one.check("touch /tmp/enough")
            one.check("until [ -e /tmp/.job*.rc ]; do sleep 0.1; done; grep clean /tmp/.job*.out")
            self.assertEqual(one.trouble(), [])
            self.assertEqual(one.check("textsum"), text)
            self.exact(one)
        self.assertEqual(load.done().strip(), "clean")


class Programs(Processes, QemuTest):
    """Probes in the guest's programs; QEMU is attached to when the first of them needs it."""
    kills = 4

    @classmethod
    def setUpClass(cls):
        cls.archive = ARGS.programs
        cls.vm = QemuGuest(ARGS.kernel, smp=2, more_files=cls.archive).boot()

    @classmethod
    def tearDownClass(cls):
        cls.vm.close()

    def setUp(self):
        self.prepare()

    def tearDown(self):
        self.tidy()
        self.assertEqual(self.vm.trouble(), [])

    def traced(self, program, *args):
        return self.trace(self.vm, program, *args)

    def refused(self, *args):
        trace = self.started(self.vm, *args)
        self.assertEqual(trace.finish(LIMIT), 1, trace.story())
        return trace.story()

    def test_a_sample(self):
        """Before QEMU is attached to, as the name sorts: stacks of a program without frame pointers from outside."""
        self.last_line = "^done$"
        one = self.start_idle("sorting 400")
        trace = self.traced("profile-199hz /pid == $target/ { printf(\"<\"); ustack(40); printf(\">\"); }", "-p", str(one))
        self.work_once(one)
        trace.stop()
        with open(f"/proc/{self.vm.pid}/maps", encoding="ascii") as f:
            self.assertNotIn("liboutsight", f.read())
        stacks = [text.split() for text in re.findall("<([^>]*)>", trace.out) if text.strip()]
        # by frame pointers none would have more than two frames
        whole = [stack for stack in stacks if len(stack) > 6 and re.fullmatch(r"sorting`_start\+0x\w+", stack[-1])]
        self.assertGreater(len(whole), 5, trace.story())
        self.assertGreater(len(whole), len(stacks) / 2, trace.story())

    def test_detached(self):
        """The engine goes while the program runs: it lowers what it has raised."""
        one = self.start_probed()
        trace = self.traced(f"{GUARDED} {{ @ = count(); }}", "-p", str(one))
        self.assertEqual(self.semaphore(one), 1)
        self.assertEqual(self.outsight(self.vm, "detach", str(self.vm.pid)), f"{self.vm.pid}: detached\n")
        self.assertEqual(trace.finish(), 1, trace.story())
        self.assertEqual(self.semaphore(one), 0)


def run_in_lab(why_not):
    reason = why_no_lab()
    if reason:
        print(f"SKIP: {why_not}; {reason}")
        return 77
    print(f"in scripts/kvm-lab, as {why_not}", flush=True)
    root = os.path.dirname(TESTS)
    command = [os.path.join(root, "scripts", "kvm-lab"), "--", "python3", "-B", os.path.abspath(__file__), "--here",
               "--build", ARGS.build, "--kernel", ARGS.kernel, "--programs", ARGS.programs, *ARGS.tests]
    return subprocess.run(["setpriv", "--pdeathsig", "TERM", *command], timeout=LAB_SECONDS, check=False).returncode


def main():
    global ARGS
    parser = argparse.ArgumentParser(description="stock Debian kernels in QEMU, attached to")
    parser.add_argument("--build", default=os.path.join(os.path.dirname(TESTS), "build", "release"))
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--lab", action="store_true")
    parser.add_argument("--programs", help="the archive of lib/programs.py, instead of making it")
    parser.add_argument("tests", nargs="*")
    ARGS = parser.parse_args()
    ARGS.build = os.path.abspath(ARGS.build)
    reason = why_no_guest(ARGS.kernel)
    if reason:
        print(f"SKIP: {reason}")
        return 77
    why_not = None if ARGS.here else "the lab was asked for" if ARGS.lab else \
        why_not_kvm(os.path.join(ARGS.build, "bin", "outsight"))
    with tempfile.TemporaryDirectory(prefix="outsight-programs-") as folder:
        ARGS.programs = ARGS.programs or BuiltPrograms(folder).archive
        return run_in_lab(why_not) if why_not else run()


def run():
    return 0 if unittest.main(argv=[sys.argv[0], *ARGS.tests], verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
