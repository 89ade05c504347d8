# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples on the small guest of tests/kvm, on /dev/kvm: it counts its own actions in each round."""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
import unittest

import qemu
from lib.outsight import keyed
from lib.pace import limit
from patching_test import ENTRIES, RETURNS, ROUNDS, PatchingVm
from small_guest import CALLS, OUTSIGHT, Vm, counts_of
from truths import LIMIT, Examples, shape, truth

LOG = ("tracing starts: user=root uid=0 login=alice guests=\"web01\" probes=1 destructive=no "
       "program=\"syscall::read:entry { ... }\" tracing ends: user=root uid=0 login=alice guests=\"web01\" "
       "seconds=12.3 status=0")
RECORDS = ("tracing is served: guest=\"web01\" uid=0 pid=4243 comm=\"outsight\" enablings=12 "
           "first=\"syscall:vmlinux:read:entry\" destructive=no "
           "record of a VMM: guest=\"web01\" vmm=4242 uid=0 pid=4243 comm=\"sh\" enablings=1 "
           "first=\"fbt:vmlinux:do_exit:entry\" started=yes destructive=no began=2026-11-23T03:54:46Z "
           "ended=2026-11-23T03:55:01Z")
FIELDS = r"(\w+)=(?:\"[^\"]*\"|\S+)"
# With the log $1, and of /dev else the KVM; $2 is an empty directory.
LOGGED = ["unshare", "-m", "sh", "-c", "mount --bind /dev \"$2\" && mount -t tmpfs none /dev && ln -s \"$2/kvm\" /dev/kvm && "
          "ln -s \"$2/null\" /dev/null && ln -s \"$1\" /dev/log && shift 2 && exec \"$@\"", "sh"]
OVERLOAD = ("dtrace: overload: 34 % of vCPU time in probes (limit 20 %): fbt:vmlinux:foo:entry (EPID 3) was removed; "
            "-x maxcost=PCT changes the limit")
PATCHED = "dtrace: probes were removed 12 times, for 3.4 ms in all, while the guest patched its own text"
LOST = "dtrace: 1 probe site lost: the guest changed its text there"
ONE = ("outsight-vmm --kernel vmlinuz --initrd initrd.img --append console=ttyS0 --memory 1024 --smp 2 --name web01")
TO_A_FILE = "outsight-vmm --kernel vmlinuz --initrd initrd.img --console console.log --append 'console=ttyS0 panic=-1'"
ALL = qemu.ALL.replace("'", "'\\''")


class Small(Examples):
    def setUp(self):
        super().setUp()
        self.link(vmlinuz=self.small_guest, initrd_img=os.path.abspath(__file__))  # it has no use for one

    def functions(self):
        out = subprocess.run(["nm", self.small_guest], capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"(?m)^\w+ [tT] (\S+)$", out))

    def count(self, guest="web01"):
        """The guest is traced, and all of a round is counted."""
        out = self.done(f"outsight -g {guest} --no-cache --vmlinux {self.small_guest} -x maxcost=0 -qn '{ALL}'")
        self.assertEqual(qemu.counts_of(out), qemu.round_counts(2))

    def check_profile(self, example, status_line=None):
        """Its functions, by their names in its file."""
        trace = self.trace(example, f"--no-cache --vmlinux {self.small_guest}")
        time.sleep(2)
        trace.stop()
        counts = keyed(trace.out)
        self.assertGreater(sum(counts.values()), 50, trace.story())
        self.assertEqual({name.split("`")[-1] for name in counts} - self.functions(), set(), trace.story())
        if status_line:
            self.assertIn(status_line, trace.err)

    def qemu(self):
        vm = qemu.Qemu(name="web01")
        self.addCleanup(vm.close)
        vm.wait_ready()
        self.env["XDG_RUNTIME_DIR"] = vm.dir.name
        return vm

    def mapped(self, vm):
        with open(f"/proc/{vm.pid}/maps", encoding="ascii") as f:
            return "liboutsight" in f.read()

    @truth("outsight attach --plan web01", "outsight attach web01", "outsight detach web01")
    def test_attach(self, plan, attach, detach):
        vm = self.qemu()
        self.assertRegex(self.done(plan), r"guest web01, 2 vCPUs(.|\n)*dlopen(.|\n)*ioctl")
        self.assertFalse(self.mapped(vm))
        self.assertRegex(self.done(attach), "^web01: attached in ")
        self.assertTrue(self.mapped(vm))
        self.count()
        self.assertEqual(self.done(detach), "web01: detached\n")
        self.assertEqual(vm.guests(), [])
        vm.check_unharmed(self)

    @truth("-x inject=on")
    def test_inject(self, example):
        """Each call is counted, by the guest itself or, where a trap is cheaper, by one; which it is is said."""
        vm = Vm(2, "await=20 rounds=6", os.path.join(os.path.dirname(self.small_guest), "resident-guest"))
        self.addCleanup(vm.close)
        program = ("fbt::round_end:entry { @never = count(); } fbt::probed_nop:entry /arg1 == 7/ { @[probefunc] = count(); } "
                   "END { clear(@never); trunc(@never); }")
        done = subprocess.run(vm.command(program, *example.text.split()), capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr + vm.console())
        self.assertEqual(counts_of(done.stdout), {("probed_nop",): 5 * CALLS * 2})
        self.assertIn("resident probes", done.stderr)

    @truth("outsight -g peek:web01 -n 'profile-99 { @[func(arg0)] = count(); }'")
    def test_peek(self, example):
        vm = self.qemu()
        self.check_profile(example)
        self.assertFalse(self.mapped(vm))
        vm.check_unharmed(self)

    @truth("outsight -g web01 -n 'cpc:::cpu_clock-kernel-5000000 { @[func(arg0)] = count(); }'")
    def test_counter(self, example):
        vm = self.qemu()
        self.check_profile(example)
        vm.check_unharmed(self)

    def monitor(self, example, more):
        vm = self.start(example, more)
        end = time.monotonic() + LIMIT
        while not any("READY" in line for line in vm.lines + self.console().splitlines()):
            self.assertIsNone(vm.process.poll(), vm.story())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        return vm

    def console(self):
        with contextlib.suppress(FileNotFoundError), open(self.path("console.log"), encoding="ascii") as f:
            return f.read()
        return ""

    @truth(ONE, "outsight -g web01 -n 'profile-997 { @[func(arg0)] = count(); }'")
    def test_monitor(self, example, profile):
        """It has the vCPUs and the memory that the line gives it, and its console on stdout."""
        vm = self.monitor(example, f"--append 'cpus=2 calls={qemu.CALLS}'")
        self.assertIn("READY", vm.out)
        row = next(line.split() for line in self.done("outsight guests").splitlines() if line.startswith("web01 "))
        self.assertEqual(row[:5], ["web01", str(vm.process.pid), "running", "2", "kvm"])
        with open(f"/proc/{vm.process.pid}/smaps", encoding="ascii") as f:
            self.assertRegex(f.read(), r"memfd:outsight-ram.*\nSize: +1048576 kB")
        self.check_profile(profile)
        self.count()

    @truth(TO_A_FILE)
    def test_console(self, example):
        vm = self.monitor(example, f"--append 'cpus=1 calls={qemu.CALLS} rounds=3'")
        self.assertEqual(vm.finish(LIMIT), 0, vm.story())
        self.assertIn("DONE", self.console())
        self.assertEqual(vm.out, "")

    # --- messages -------------------------------------------------------------------------------------

    @truth(OVERLOAD)
    def test_overload(self, example):
        vm = Vm(1)
        self.addCleanup(vm.close)
        done = subprocess.run(vm.command("fbt::probed_nop:entry { @ = sum(arg0); } tick-4s { exit(0); }", "-x", "maxcost=1"),
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        text = shape(example.text).replace("vmlinux", r"\S*")
        self.assertRegex(done.stderr, f"(?m)^{text}$")

    @truth(PATCHED, LOST)
    def test_patched(self, patched, lost):
        vm = PatchingVm(1)
        self.addCleanup(vm.close)
        trace = vm.started(ROUNDS % (f"{ENTRIES},{RETURNS} /on/ {{ @ = sum(1); }}", 4))
        vm.go()
        _, err = trace.communicate(timeout=LIMIT)
        for example in (patched, lost):
            self.assertRegex(err, f"(?m)^{shape(example.text)}$")
        vm.quiet()

    @truth("-x oformat=folded")
    def test_folded(self, example):
        vm = Vm(1)
        self.addCleanup(vm.close)
        done = subprocess.run(vm.command("fbt::probed_nop:entry { @[stack()] = count(); exit(0); }", *example.text.split()),
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertRegex(done.stdout, r"^(\S+`\w+;)+\S+`probed_nop 1\n$", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "a log of our own takes root")
    @truth(LOG, "journalctl -t outsight")
    def test_log(self, example, journal):
        """The same two lines with the same fields, under the name for which the journal is queried."""
        vm = Vm(1)
        self.addCleanup(vm.close)
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(log.close)
        log.bind(self.path("log"))
        log.settimeout(limit(30))
        enter = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /dev && ln -s $0 /dev/log && exec \"$@\"", self.path("log")]
        done = subprocess.run([*enter, *vm.command("fbt::probed_nop:entry { exit(0); }")], stdin=subprocess.PIPE,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for shown in re.split(r" (?=tracing ends)", example.text):
            said = log.recv(4096).decode()
            self.assertRegex(said, rf" {journal.text.split()[-1]}\[\d+\]: {shown.split(':')[0]}: ")
            fields = r"(\w+)=(?:\"[^\"]*\"|\S+)"
            self.assertEqual(re.findall(fields, said), re.findall(fields, shown))
            self.assertIn("user=root uid=0", said)
        # an attempt too, though this process is no VMM
        refused = subprocess.run([*enter, OUTSIGHT, "attach", str(os.getpid())], capture_output=True, text=True, timeout=LIMIT,
                                 check=False)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertRegex(log.recv(4096).decode(), rf": attaching: user=root uid=0 .* guests=\"{os.getpid()}\"")


    def log(self, name):
        """A log, and the command with which a program has it."""
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(log.close)
        log.bind(self.path(name))
        log.settimeout(limit(30))
        os.mkdir(self.path(f"{name}.dev"))
        return log, [*LOGGED, self.path(name), self.path(f"{name}.dev")]

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "a log of our own takes root")
    @truth(RECORDS, "outsight guests -v")
    def test_records(self, example, listing):
        """A client that writes no line is on record: by its VMM in the log, or in that of root's next session."""
        served, record = re.split(r" (?=record of)", example.text)
        of_vmm, prefix = self.log("vmm")
        vm = Vm(1, prefix=prefix)
        self.addCleanup(vm.close)
        vm.trace("fbt::probed_nop:entry { exit(0); }")
        said = of_vmm.recv(4096).decode()
        self.assertRegex(said, r"^<85>.* outsight\[\d+\]: tracing is served: guest=\"small\" uid=0 pid=\d+ comm=\"outsight\" "
                         r"enablings=1 first=\"fbt:\w+:probed_nop:entry\" destructive=no$")
        self.assertEqual(re.findall(FIELDS, said), re.findall(FIELDS, served))
        # a VMM without a log
        vm = Vm(1)
        self.addCleanup(vm.close)
        self.env["XDG_RUNTIME_DIR"] = self.dir
        vm.trace("fbt::probed_push:entry { exit(0); }", "-w")
        text = self.done(listing, "2>&1")
        self.assertRegex(text, r"(?m)^small: traced by uid 0, PID \d+ \(outsight\), from \S+Z to \S+Z: 1 enabling, of "
                         r"fbt:\w+:probed_push:entry first, destructive; in no log$")
        log, prefix = self.log("log")
        done = subprocess.run([*prefix, *vm.command("fbt::probed_nop:entry { exit(0); }")], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(": tracing starts: ", log.recv(4096).decode())
        said = log.recv(4096).decode()
        self.assertRegex(said, r": record of a VMM: guest=\"small\" vmm=%d uid=0 pid=\d+ comm=\"outsight\" enablings=1 "
                         r"first=\"fbt:\w+:probed_push:entry\" started=yes destructive=yes began=\S+Z ended=\S+Z$" % vm.process.pid)
        self.assertEqual(re.findall(FIELDS, said), re.findall(FIELDS, record))
        self.assertIn(": tracing ends: ", log.recv(4096).decode())
        self.assertNotIn("in no log", self.done(listing, "2>&1"), "each is told once")


def load_tests(loader, tests, pattern):  # pylint: disable=unused-argument
    """Only these: the imported ones have a run of their own."""
    return loader.loadTestsFromTestCase(Small)
