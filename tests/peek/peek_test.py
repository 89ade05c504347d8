#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that are sampled externally, in a QEMU without any library of ours: peek_test.py OUTSIGHT SMALL-GUEST
PEEKER. Ends with 77 where that can't be."""
import contextlib
import ctypes
import math
import mmap
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hook"))
# pylint: disable=wrong-import-position
import qemu
from lib import namespaces
from lib.pace import limit, rounds
from qemu import ALL, Qemu, counts_of, round_counts

PEEKER = os.path.abspath(sys.argv[3])
SYS_PIDFD_OPEN, SYS_PIDFD_GETFD = 434, 438
VALID_REGS = 288  # of struct kvm_run: kvm_valid_regs, kvm_dirty_regs
SYNC, OTHERS = 3, 1  # the bits that we request; those that we never request
SAMPLES = 400
KICKS = rounds(20, 50)
KILLS = rounds(4, 15)
PROFILE = f"profile-997 {{ @[func(arg0)] = count(); n++; }} profile-997 /n >= {SAMPLES}/ {{ exit(0); }}"
LIBC = ctypes.CDLL(None, use_errno=True)


def syscall(*args):
    result = LIBC.syscall(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def asked_of_kvm(vm):
    """(kvm_valid_regs, kvm_dirty_regs) of each vCPU."""
    words = []
    each_run(vm, mmap.PROT_READ, lambda page: words.append(struct.unpack_from("<QQ", page, VALID_REGS)))
    return words


def ask_of_kvm(vm, valid_regs):
    each_run(vm, mmap.PROT_READ | mmap.PROT_WRITE, lambda page: struct.pack_into("<Q", page, VALID_REGS, valid_regs))


def each_run(vm, prot, act):
    pidfd = syscall(SYS_PIDFD_OPEN, vm.pid, 0)
    for fd in os.listdir(f"/proc/{vm.pid}/fd"):
        if not os.readlink(f"/proc/{vm.pid}/fd/{fd}").startswith("anon_inode:kvm-vcpu:"):
            continue
        mine = syscall(SYS_PIDFD_GETFD, pidfd, int(fd), 0)
        with mmap.mmap(mine, mmap.PAGESIZE, mmap.MAP_SHARED, prot) as page:
            act(page)
        os.close(mine)
    os.close(pidfd)


class Peek(unittest.TestCase):
    maxDiff = None

    def vm(self, *args, **kwargs):
        vm = Qemu(*args, **kwargs)
        self.addCleanup(vm.close)
        vm.wait_ready()
        vm.threads = self.threads(vm)
        return vm

    @staticmethod
    def threads(vm):
        return sorted(os.listdir(f"/proc/{vm.pid}/task"))

    @staticmethod
    def is_entered(vm):
        with open(f"/proc/{vm.pid}/maps", encoding="ascii") as f:
            return "liboutsight" in f.read()

    def check_untouched(self, vm):
        # an engine that was attached for one session takes itself out when its client has gone
        vm.wait_for(lambda: not self.is_entered(vm), "end of the engine")
        self.assertEqual(asked_of_kvm(vm), [(0, 0)] * vm.cpus)
        self.assertEqual(vm.stopped_threads(), [])
        self.assertEqual(vm.qmp("query-status")["status"], "running")
        vm.check_unharmed(self)

    def run_on(self, vm, program, *options, prefix="peek:", vmlinux=True, stdin=None, status=0):
        command = [qemu.OUTSIGHT, "-g", f"{prefix}{vm.pid}", "--no-cache", *(["--vmlinux", qemu.GUEST] if vmlinux else []),
                   *options, *(["-n", program] if program else [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit(240), check=False, env=vm.env, input=stdin)
        self.assertEqual(done.returncode, status, done.stderr + vm.errors())
        return done

    def shares(self, vm, prefix):
        """How many samples, and of each function the part."""
        out = self.run_on(vm, PROFILE, "-q", prefix=prefix).stdout
        counts = {name: n for (name,), n in counts_of(out).items()}
        total = sum(counts.values())
        return total, {name: n / total for name, n in counts.items()}

    def test_proportions(self):
        """External samples are distributed over the functions like those of an engine in the VMM."""
        vm = self.vm(1)
        n, beside = self.shares(vm, "peek:")
        self.assertGreaterEqual(n, SAMPLES)
        self.check_untouched(vm)
        vm.outsight("attach", str(vm.pid))
        m, inside = self.shares(vm, "")
        self.assertIn("vmlinux`call_all", beside)
        for name in set(beside) | set(inside):
            a, b = beside.get(name, 0), inside.get(name, 0)
            sigma = math.sqrt(max(a, b) * (1 - max(a, b)) * (1 / n + 1 / m))
            self.assertLess(abs(a - b), 5 * sigma + 0.02, (name, beside, inside))

    def test_every_kick(self):
        """Each kick brings the registers of its vCPU, once. One whose answer takes over a second on a busy host is repeated."""
        for cpus in (1, 3):
            with self.subTest(cpus=cpus):
                vm = self.vm(cpus)
                done = subprocess.run([PEEKER, str(vm.pid), str(KICKS)], capture_output=True, text=True, timeout=limit(240), check=True)
                kicks, answers, dropped, came, elsewhere, ram = (int(n) for n in re.findall(r"\d+", done.stdout))
                self.assertEqual((dropped, elsewhere, ram), (0, 0, qemu.MIB << 20), done.stdout)
                self.assertEqual(came, answers, done.stdout)
                self.assertTrue(KICKS * cpus * 3 // 4 <= answers <= KICKS * cpus <= kicks, done.stdout)
                self.check_untouched(vm)

    def test_memory_and_statistics(self):
        """The guest's memory as a probe reads it is that of the time; so are KVM's counts."""
        vm = self.vm(2, args=["-object", f"memory-backend-memfd,id=ram,size={qemu.MIB}M,share=on",
                              "-machine", "memory-backend=ram"])
        before = vm.rounds()
        done = self.run_on(vm, 'vm::signal_exits:stat /arg0/ { @s = sum(arg0); t = 1; } profile-97 { @[stack(1)] = count(); '
                           f'@c[vcpu] = count(); n++; @m = min(*(unsigned int *){vm.symbol("generation"):#x}); '
                           f'@M = max(*(unsigned int *){vm.symbol("generation"):#x}); }} profile-97 /t && n > 100/ '
                           '{ printa("exits %@d\\n", @s); printa("vcpu %d %@d\\n", @c); printa("round %@d\\n", @m); '
                           'printa("round %@d\\n", @M); printa(@); exit(0); }', "-q")
        after = vm.rounds()
        first, last = (int(n) for n in re.findall(r"round (\d+)", done.stdout))
        self.assertTrue(before <= first < last <= after, (before, first, last, after))
        self.assertRegex(done.stdout, r"\n\s+vmlinux`\w+\+0x\w+\n\s+\d+\n")
        self.assertGreater(int(re.search(r"exits (\d+)", done.stdout)[1]), 0)
        self.assertEqual(sorted(re.findall(r"vcpu (\d)", done.stdout)), ["0", "1"])
        self.check_untouched(vm)

    def test_live_view(self):
        """outsight top counts a guest's exits by QEMU's own descriptors of KVM's statistics; nothing is loaded into QEMU."""
        vm = self.vm(2)
        done = vm.outsight("top", "-b", "-x", "-n", "1", "-d", "1", "-g", str(vm.pid))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        titles, row = (line.replace("*", "").split() for line in done.stdout.splitlines()[:2])
        exits = dict(zip(titles, row))
        self.assertNotIn(exits["EXITS"], ("-", "0"), done.stdout)
        self.assertNotEqual(exits["IO"], "-", done.stdout)
        self.check_untouched(vm)

    def test_no_symbols(self):
        vm = self.vm(2)
        done = self.run_on(vm, "profile-97 { @[func(arg0)] = count(); n++; } profile-97 /n > 50/ { exit(0); }", vmlinux=False)
        self.assertIn("no kernel was found, so there are no names", done.stderr)
        self.assertRegex(done.stdout, r"\n +0xffffffff81\w{6} +\d+\n")
        self.check_untouched(vm)

    def test_choice(self):
        """Without an option: external sampling if it suffices, else the engine is injected and a notice is printed;
        after an error in the program nothing is injected."""
        vm = self.vm(2)
        done = self.run_on(vm, "profile-97 { exit(0); }", prefix="")
        self.assertIn(f"small: sampled from outside its VMM (PID {vm.pid})", done.stderr)
        done = self.run_on(vm, None, "-s", "/dev/stdin", prefix="", stdin="BEGIN { exit(0); }")
        self.assertIn("sampled from outside", done.stderr)
        done = self.run_on(vm, "fbt::round_begin:entry { nonsense(); }", prefix="", status=1)
        self.assertIn("nonsense", done.stderr)
        self.assertEqual(done.stderr.count("nonsense( )"), done.stderr.count("nonsense( )") and 1)
        done = self.run_on(vm, ALL, status=1)
        self.assertRegex(done.stderr, "small is only sampled from outside.*fbt:vmlinux:.* does not")
        done = self.run_on(vm, "cpc:::cpu_clock-all-1000000", status=1)
        self.assertIn("can't be enabled: the peek backend keeps no counters: cpc probes are", done.stderr)
        self.check_untouched(vm)
        done = self.run_on(vm, None, "-q", "-s", "/dev/stdin", prefix="", stdin=ALL)
        self.assertEqual(counts_of(done.stdout), round_counts(2))
        self.assertRegex(done.stderr, rf"\Adtrace: guest small: injecting the engine into its VMM \(PID {vm.pid}; `outsight detach "
                         rf"{vm.pid}` disables it\): fbt:vmlinux:\w+:\w+ needs it\n\Z")
        self.assertTrue(self.is_entered(vm))
        vm.outsight("detach", str(vm.pid))
        done = self.run_on(vm, "fbt::round_begin:entry { exit(0); }", prefix="")
        self.assertIn("matched 1 probe", done.stderr)
        vm.check_unharmed(self)

    def test_wrong_file(self):
        """A file that is not a kernel's: one line reports it on each path, and nothing is injected."""
        vm = self.vm(1)
        for option, name, text in (("--vmlinux", sys.executable, "is not a Linux kernel"), ("--vmlinux", __file__, "is not an ELF file"),
                                   ("--vmlinux", "/nonexistent", "No such file"), ("--symbols", "/nonexistent", "No such file")):
            for prefix in ("", "peek:"):
                done = self.run_on(vm, "profile-97 { exit(0); }", option, name, prefix=prefix, vmlinux=False, status=1)
                self.assertRegex(done.stderr, rf"\Adtrace: [^\n]*{text}[^\n]*\n\Z")
        self.check_untouched(vm)

    def test_fall_back(self):
        """A kernel that is not found: an engine would find none either, so none is injected. If none can be, samples
        have no names."""
        vm = self.vm(2)
        nothing = {**os.environ, "OUTSIGHT_PLUGIN_DIR": vm.dir.name}
        done = subprocess.run([qemu.OUTSIGHT, "-g", str(vm.pid), "--no-cache", "-n", "profile-97 { exit(0); }"], capture_output=True,
                              text=True, timeout=limit(60), check=True, env={**vm.env, **nothing})
        self.assertEqual(done.stderr.count("no engine can be injected into its VMM: the library"), 1, done.stderr)
        self.assertEqual(done.stderr.count("no kernel was found, so there are no names: "), 1, done.stderr)
        done = self.run_on(vm, "profile-97 { exit(0); }", "-x", "noattach", prefix="", vmlinux=False)
        self.assertEqual(done.stderr.count("no kernel was found, so there are no names: "), 1, done.stderr)
        for program in ("profile-97 { exit(0); }", ALL):
            done = self.run_on(vm, program, prefix="", vmlinux=False, status=1)
            self.assertRegex(done.stderr, rf"\Adtrace: guest small: its kernel can't be read: [^\n]*; -g peek:{vm.pid} samples it "
                             r"without names\n\Z")
        self.check_untouched(vm)

    def test_dormant(self):
        """After attach and detach a QEMU is sampled as any other; before the detach, the error names `outsight detach`."""
        vm = self.vm(2, smp=Qemu.HOTPLUG)
        vm.plug()  # a vCPU that the library has recorded, and that is unplugged
        vm.outsight("attach", str(vm.pid))
        self.assertEqual(counts_of(self.run_on(vm, ALL, "-q", "-x", "maxcost=0", prefix="").stdout), round_counts(2))
        self.refused(f"peek:{vm.pid}", rf"contains an engine: -g {vm.pid} .*`outsight detach {vm.pid}`", env=vm.env)
        # nor by an operator with another runtime directory: the VMM's own is searched too
        self.refused(f"peek:{vm.pid}", rf"contains an engine: .*`outsight detach {vm.pid}`",
                     env={**vm.env, "XDG_RUNTIME_DIR": "/nonexistent"})
        vm.outsight("detach", str(vm.pid))
        vm.unplug()
        for prefix in ("", "peek:"):
            done = self.run_on(vm, PROFILE, prefix=prefix)
            self.assertIn("sampled from outside", done.stderr)
            self.assertIn("vmlinux`", done.stdout)
        vm.outsight("attach", str(vm.pid))
        self.assertEqual(counts_of(self.run_on(vm, ALL, "-q", prefix="").stdout), round_counts(2))
        vm.outsight("detach", str(vm.pid))
        vm.check_unharmed(self)

    def test_unplugged(self):
        """A vCPU of which QEMU keeps only the descriptor."""
        vm = self.vm(2, smp=Qemu.HOTPLUG)
        vm.plug()
        vm.unplug()
        n, _ = self.shares(vm, "peek:")
        self.assertGreaterEqual(n, SAMPLES)
        done = self.run_on(vm, "profile-97 { @[vcpu] = count(); n++; } profile-97 /n > 50/ { exit(0); }", "-q")
        self.assertEqual(sorted(v for v, in counts_of(done.stdout)), ["0", "1"])
        vm.cpus = 3  # descriptors
        self.check_untouched(vm)

    def test_paused(self):
        vm = self.vm(2)
        vm.qmp("stop")
        program = "profile-97 { @ = count(); } tick-300ms { exit(0); }"
        done = self.run_on(vm, program, "-q")
        self.assertEqual(done.stdout.strip(), "")
        self.assertEqual(asked_of_kvm(vm), [(0, 0)] * 2)
        self.assertEqual(vm.qmp("query-status")["status"], "paused")
        vm.qmp("cont")
        vm.check_running()
        self.run_on(vm, PROFILE, "-q")
        self.check_untouched(vm)

    def test_ends(self):
        """QEMU ends under a session: what was collected is printed."""
        vm = self.vm(1)
        tracer = subprocess.Popen([qemu.OUTSIGHT, "-g", f"peek:{vm.pid}", "--no-cache", "--vmlinux", qemu.GUEST, "-q", "-n",
                                   'profile-997 { @ = count(); } profile-997 /!said++/ { printf("sampled\\n"); }'],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=vm.env)
        self.addCleanup(tracer.kill)
        self.assertEqual(tracer.stdout.readline(), "sampled\n")
        vm.process.kill()
        out, err = tracer.communicate(timeout=limit(60))
        self.assertRegex(err, rf"guest small: its VMM \(PID {vm.pid}\) has ended")
        self.assertRegex(out, r"\d+")

    def test_killed(self):
        """kill -9 of outsight at random moments: its requests to KVM are undone without it."""
        vm = self.vm(2)
        rnd = random.Random(3)
        for _ in range(KILLS):
            tracer = subprocess.Popen([qemu.OUTSIGHT, "-g", f"peek:{vm.pid}", "--no-cache", "-q", "-n", "profile-4999 { @ = count(); }"],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=vm.env)
            time.sleep(rnd.uniform(0, 0.3))
            tracer.kill()
            tracer.wait()
            vm.wait_for(lambda: asked_of_kvm(vm) == [(0, 0)] * 2, "end of what was asked of KVM", limit(30))
            self.assertEqual(vm.stopped_threads(), [])
        # the process that undoes keeps the claim until it has
        vm.wait_for(lambda: vm.outsight("-g", f"peek:{vm.pid}", "-q", "-n", "profile-97 { exit(0); }").returncode == 0,
                    "session after the kills", limit(30))
        self.check_untouched(vm)

    def kill_with_all(self, vm):
        """All of outsight's processes killed at once, with requests to KVM pending. The guest is paused, so none is
        answered."""
        tracer = subprocess.Popen([qemu.OUTSIGHT, "-g", f"peek:{vm.pid}", "--no-cache", "-q", "-n", "profile-4999 { @ = count(); }"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=vm.env)
        self.addCleanup(lambda: (tracer.kill(), tracer.wait()))
        vm.wait_for(lambda: (SYNC, 0) in asked_of_kvm(vm), "wish of a sample", limit(60))
        with open(f"/proc/{tracer.pid}/task/{tracer.pid}/children", encoding="ascii") as f:
            all_of_it = [int(pid) for pid in f.read().split()] + [tracer.pid]
        self.assertEqual(len(all_of_it), 2)
        for pid in all_of_it:
            os.kill(pid, signal.SIGSTOP)
        for pid in all_of_it:
            os.kill(pid, signal.SIGKILL)
        tracer.wait()

    def test_killed_with_all(self):
        """The next sampling, and the next attach, undo our own requests of KVM, and no other process's."""
        vm = self.vm(2)
        for command in (["-g", f"peek:{vm.pid}", "-q", "-n", "profile-97 { exit(0); }"], ["-g", str(vm.pid), "-q", "-n", "BEGIN { exit(0); }"]):
            vm.qmp("stop")
            self.kill_with_all(vm)
            left = asked_of_kvm(vm)
            vm.qmp("cont")
            self.assertIn((SYNC, 0), left)
            vm.check_running()
            self.assertEqual(asked_of_kvm(vm), left)
            done = vm.outsight("--no-cache", "--vmlinux", qemu.GUEST, *command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_untouched(vm)
        ask_of_kvm(vm, OTHERS)
        self.refused(f"peek:{vm.pid}", "uses KVM's synchronised registers itself")
        self.assertEqual(asked_of_kvm(vm), [(OTHERS, 0)] * 2)
        ask_of_kvm(vm, SYNC)
        self.assertEqual(vm.outsight("attach", str(vm.pid)).returncode, 0)
        self.assertEqual(vm.outsight("detach", str(vm.pid)).returncode, 0)
        self.assertEqual([words[0] for words in asked_of_kvm(vm)], [0] * 2)

    def test_refused(self):
        vm = self.vm(2)
        with contextlib.ExitStack() as stack:
            other = subprocess.Popen(["sleep", "1000"])
            stack.callback(other.wait)
            stack.callback(other.kill)
            self.refused(f"peek:{other.pid}", f"process {other.pid} runs no guest on KVM")
        self.refused("peek:999999999", "there is no process 999999999")
        self.refused("peek:nothing", "no guest nothing is running here; ")
        if os.geteuid() == 0:
            self.refused(f"peek:{vm.pid}", "may not be accessed", ["setpriv", "--reuid", "65534", "--clear-groups",
                                                                     "--bounding-set=-all", "--inh-caps=-all"])
        done = vm.outsight("--no-cache", "--vmlinux", qemu.GUEST, "-g", str(vm.pid), "-g", f"peek:{vm.pid}", "-n", "BEGIN")
        self.assertEqual((done.returncode, f"(PID {vm.pid}) is named twice" in done.stderr), (1, True), done.stderr)
        self.check_untouched(vm)
        tracer = subprocess.Popen([qemu.OUTSIGHT, "-g", f"peek:{vm.pid}", "--no-cache", "-q", "-n", 'BEGIN { printf("on\\n"); }'],
                                  stdout=subprocess.PIPE, text=True, env=vm.env)
        self.assertEqual(tracer.stdout.readline(), "on\n")
        self.refused(f"peek:{vm.pid}", "another outsight is sampling process")
        done = vm.outsight("attach", str(vm.pid))
        self.assertEqual((done.returncode, "another outsight is sampling process" in done.stderr), (1, True), done.stderr)
        tracer.terminate()
        tracer.communicate(timeout=limit(60))
        self.check_untouched(vm)
        done = vm.outsight("attach", str(vm.pid))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refused(f"peek:{vm.pid}", "contains an engine", env=vm.env)
        vm.outsight("detach", str(vm.pid))

    def refused(self, guest, text, before=(), env=None):
        done = subprocess.run([*before, qemu.OUTSIGHT, "-g", guest, "-n", "BEGIN { exit(0); }"], capture_output=True, text=True,
                              timeout=limit(60), check=False, env=env)
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, text)


if __name__ == "__main__":
    reason = qemu.reason_to_skip()
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(77)
    namespaces.enter()
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
