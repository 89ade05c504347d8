#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""outsight attach and detach on a QEMU that was started without us: attach_test.py OUTSIGHT SMALL-GUEST INJECTOR OTHER-VMM
PROGRAM-OF-32-BITS. Ends with 77 where that can't be."""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import qemu
from lib import namespaces
from lib.memory_group import MemoryGroup, NoGroup
from lib.pace import limit, rounds
from qemu import ALL, Disk, Qemu, counts_of, round_counts

INJECTOR, OTHER_VMM, PROGRAM32 = (os.path.abspath(p) for p in sys.argv[3:6])
LOAD = "fbt::probed_*:entry,fbt::probed_*:return { @[probefunc] = count(); }"
TIMES = rounds(4, 20)
PTRACE_SEIZE = 0x4206


class Attach(unittest.TestCase):
    def vm(self, *args, **kwargs):
        vm = Qemu(*args, **kwargs)
        self.addCleanup(vm.close)
        return vm.wait_ready()

    def attach(self, vm):
        done = vm.outsight("attach", str(vm.pid))
        self.assertEqual(done.returncode, 0, done.stderr + vm.errors())
        self.assertEqual(vm.stopped_threads(), [])
        return done.stdout

    def detach(self, vm):
        done = vm.outsight("detach", str(vm.pid))
        self.assertEqual((done.returncode, done.stdout), (0, f"{vm.pid}: detached\n"), done.stderr + vm.errors())

    def refused(self, args, text, vm=None, env=None):
        done = subprocess.run([qemu.OUTSIGHT, *args], capture_output=True, text=True, timeout=limit(60), check=False,
                              env=env or (vm.env if vm else None))
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, text)

    def test_counts(self):
        for cpus in (1, 4):
            with self.subTest(cpus=cpus):
                vm = self.vm(cpus, name=f"attached{cpus}")
                out = self.attach(vm)
                self.assertRegex(out, rf"attached in \d+ ms: {cpus} vCPU.*{qemu.MIB - 1} MiB")
                self.assertEqual(vm.guests()[0]["name"], f"attached{cpus}")
                self.assertEqual(counts_of(vm.trace(ALL)), round_counts(cpus))
                self.assertIn("attached already", self.attach(vm))
                self.detach(vm)
                self.assertEqual(vm.guests(), [])
                vm.check_unharmed(self)

    def test_memory_limit(self):
        """A QEMU that may have 64 MiB more: buffers of 200 MiB are not charged to it, and a session that does not fit
        is refused."""
        try:
            group = self.enterContext(MemoryGroup())
        except NoGroup as err:
            self.skipTest(str(err))
        vm = self.vm(name="limited")
        group.add(vm.pid)
        group.leave_room(1 << 20)
        self.refused(["attach", str(vm.pid)], r"whose cgroup .* has \d\.\d MiB left of \d", vm)
        group.leave_room(64 << 20)
        self.attach(vm)
        attached = group.usage()
        self.assertLess(attached, 4 << 20)
        done = vm.outsight(*vm.trace_command("fbt::probed_*:entry { trace(probefunc); } tick-2s { exit(0); }")[1:],
                           "-b", "50m", "-x", "strsize=64k", "-x", "bufpolicy=ring", "-x", "maxcost=0")
        self.assertEqual(done.returncode, 0, done.stderr + vm.errors())
        self.assertGreater(done.stdout.count("probed_"), 1000)
        self.assertLess(group.usage(), 48 << 20)
        group.leave_room(2 << 20)
        self.refused(vm.trace_command("fbt::probed_nop:entry { @ = count(); }")[1:],
                     r"would take up to .* MiB of the memory of its VMM", vm)
        self.detach(vm)
        vm.check_unharmed(self)

    def test_plan(self):
        vm = self.vm(2)
        with open(f"/proc/{vm.pid}/maps", encoding="ascii") as f:
            before = f.read()
        done = vm.outsight("attach", "--plan", str(vm.pid))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"guest small, 2 vCPUs(.|\n)*dlopen(.|\n)*liboutsight-kvm.so(.|\n)*ioctl")
        with open(f"/proc/{vm.pid}/maps", encoding="ascii") as f:
            self.assertEqual("liboutsight" in f.read(), "liboutsight" in before)

    def test_by_itself(self):
        """-g PID, and nothing else."""
        vm = self.vm(2, args=["-object", f"memory-backend-memfd,id=ram,size={qemu.MIB}M,share=on",
                              "-machine", "memory-backend=ram"])
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        other = self.vm(1)
        self.attach(other)
        done = vm.outsight("detach", "--all")
        self.assertEqual(done.returncode, 0, done.stderr)
        for pid in (vm.pid, other.pid):
            self.assertIn(f"{pid}: detached", done.stdout)
        self.assertEqual(vm.guests() + other.guests(), [])
        vm.check_unharmed(self)
        other.check_unharmed(self)

    def test_counters(self):
        """A counter of each vCPU's thread, in a QEMU that was started without us. They go with the tracer, and QEMU with its
        monitor lives on."""
        def counters():
            fds = f"/proc/{vm.pid}/fd"
            return sum(os.path.islink(p) and os.readlink(p) == "anon_inode:[perf_event]"
                       for p in (os.path.join(fds, fd) for fd in os.listdir(fds)))
        vm = self.vm(2)
        clock = "cpc:::cpu_clock-all-2000000"
        out = vm.trace(clock + " { @[cpu] = count(); } " + clock + " /cpu == 0/ { a++; } " + clock + " /cpu == 1/ { b++; } " +
                       clock + " /a > 20 && b > 20/ { exit(0); }")
        counts = counts_of(out)
        self.assertEqual(set(counts), {("0",), ("1",)})
        self.assertGreater(min(counts.values()), 20)
        tracer = subprocess.Popen(vm.trace_command(clock + " { @ = count(); }"), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env=vm.env)
        vm.wait_for(lambda: tracer.poll() is not None or counters() == 2, "counters")
        self.assertIsNone(tracer.poll())
        tracer.kill()
        tracer.wait()
        vm.wait_for(lambda: not counters(), "counters' end")
        self.detach(vm)
        vm.check_unharmed(self)

    def test_many_times(self):
        """Attached and detached again and again, the guest and a tracer under load."""
        vm = self.vm(4)
        for i in range(TIMES):
            self.attach(vm)
            if i % 10 == 0:
                self.assertEqual(counts_of(vm.trace(ALL)), round_counts(4))
            elif i % 10 == 5:
                # detached under load: the session ends, the guest continues
                tracer = subprocess.Popen(vm.trace_command(LOAD), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                          env=vm.env)
                vm.wait_for(lambda: vm.text() != qemu.elf_text()[1], "trap in the guest")
                self.detach(vm)
                self.assertEqual(tracer.wait(limit(60)), 1)
                self.assertEqual(vm.text(), qemu.elf_text()[1])
                continue
            self.detach(vm)
        vm.check_unharmed(self)

    def start_load(self, vm):
        tracer = subprocess.Popen(vm.trace_command(LOAD), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=vm.env,
                                  text=True)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        vm.wait_for(lambda: tracer.poll() is not None or vm.text() != qemu.elf_text()[1], "trap in the guest")
        self.assertIsNone(tracer.poll(), tracer.poll() is not None and tracer.stderr.read() + vm.errors())
        return tracer

    def test_afterwards(self):
        """QEMU's own operations on its guest after detach: unchanged."""
        vm = self.vm(2, args=["-M", "q35", *Disk(self).args])
        self.attach(vm)
        tracer = self.start_load(vm)
        self.detach(vm)
        self.assertEqual(tracer.wait(limit(60)), 1)
        for _ in range(rounds(5, 20)):
            vm.qmp("stop")
            self.assertEqual(vm.qmp("query-status")["status"], "paused")
            vm.hmp("info registers -a")
            vm.qmp("cont")
        vm.check_running()
        self.assertEqual(vm.hmp("savevm one"), "")
        vm.check_running()
        self.assertEqual(vm.hmp("loadvm one"), "")
        vm.check_unharmed(self)
        if shutil.which("gdb"):
            vm.check_breakpoint(self)
        vm.qmp("system_reset")
        vm.wait_for(lambda: vm.console().count("READY") == 2, "second boot")
        self.attach(vm)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        self.detach(vm)
        vm.check_unharmed(self)

    def ended(self, vm, act, text, status, counted=True, aside=None):
        """A session during which @act happens: all counts are printed, also KVM's, and one line reports how it ended.
        @aside is another message that may occur."""
        tracer = subprocess.Popen(vm.trace_command(LOAD), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=vm.env, text=True)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        vm.wait_for(lambda: tracer.poll() is not None or vm.text() != qemu.elf_text()[1], "trap in the guest")
        start = vm.rounds()
        vm.wait_for(lambda: vm.rounds() > start + 2, "whole round", limit(30))
        act()
        out, err = tracer.communicate(timeout=limit(60))
        lines = [line for line in err.splitlines() if "injecting the engine into" not in line and not (aside and aside in line)]
        self.assertEqual((tracer.returncode, len(lines)), (status, 1), err)
        self.assertRegex(lines[0], rf"\Adtrace: guest small{text}\Z")
        if counted:
            self.assertEqual({name for name, in counts_of(out)}, {f"probed_{f}" for f in qemu.FUNCTIONS})

    def test_endings(self):
        """Each way in which a session ends while its QEMU continues has its own message."""
        vm = self.vm(2, smp=Qemu.HOTPLUG, args=Disk(self).args)
        self.ended(vm, lambda: vm.qmp("system_reset"), " rebooted: the kernel that was traced has ended", 0)
        vm.wait_for(lambda: vm.console().count("READY") == 2, "second boot")
        self.ended(vm, lambda: vm.hmp("savevm one"), " is being migrated or saved: its probes are out, -g traces it again afterwards", 1)
        vm.wait_engine()
        self.ended(vm, lambda: vm.hmp("loadvm one"), " continued from a saved state: the traced kernel has ended", 1,
                   aside=" lost: the guest changed its text there")  # QEMU resets it first, and may take long to load
        vm.check_unharmed(self)
        self.ended(vm, lambda: self.detach(vm), " was detached: `outsight detach` removed its engine", 1)
        self.ended(vm, vm.plug, " was given other memory or vCPUs: its probes are removed, -g traces it again", 1)
        self.ended(vm, lambda: vm.qmp("migrate", uri=f"file:{vm.path('saved')}"),
                   " is being migrated or saved: its probes are out, -g traces it again afterwards", 1)
        vm.wait_for(lambda: vm.qmp("query-migrate")["status"] == "completed", "end of the migration")
        vm.qmp("cont")
        vm.wait_engine()
        self.ended(vm, vm.process.kill, rf": its VMM \(PID {vm.pid}\) has ended", 1, False)

    def test_machine_changes(self):
        """A reboot, another vCPU, another DIMM, during a session: it ends or continues, and the next one is correct."""
        vm = self.vm(2, smp=Qemu.HOTPLUG, args=["-m", f"{qemu.MIB},slots=2,maxmem=1G"])
        self.attach(vm)
        tracer = self.start_load(vm)
        vm.qmp("system_reset")
        vm.wait_for(lambda: vm.console().count("READY") == 2, "second boot")
        tracer.terminate()
        tracer.communicate(timeout=limit(60))
        vm.wait_engine()
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        tracer = self.start_load(vm)
        vm.plug()
        self.assertEqual(tracer.wait(limit(60)), 1)
        vm.wait_for(lambda: [g["vcpus"] for g in vm.guests()] == [3], "engine for 3 vCPUs")
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        vm.qmp("object-add", **{"qom-type": "memory-backend-ram", "id": "more", "size": qemu.MIB << 20})
        vm.qmp("device_add", driver="pc-dimm", id="dimm", memdev="more")
        time.sleep(1)  # it records that
        vm.wait_engine()
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        self.detach(vm)
        vm.check_unharmed(self)

    def test_unplugged(self):
        """QEMU keeps the descriptor of a vCPU that was unplugged, without a thread, and uses it again."""
        vm = self.vm(2, smp=Qemu.HOTPLUG)
        vm.plug()
        vm.unplug()
        self.assertIn("anon_inode:kvm-vcpu:2", [os.readlink(f"/proc/{vm.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{vm.pid}/fd")])
        self.attach(vm)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        tracer = self.start_load(vm)
        vm.plug()
        vm.check_running()
        vm.unplug()
        vm.check_running()
        self.assertIsNone(tracer.poll())
        tracer.terminate()
        tracer.communicate(timeout=limit(60))
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        self.detach(vm)
        vm.check_unharmed(self)
        vm.plug()
        self.attach(vm)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        self.detach(vm)
        vm.check_unharmed(self)

    def test_two_at_once(self):
        """Two operators: one attaches, the other gets an error that names it."""
        vm = self.vm(2)
        for _ in range(rounds(2, 5)):
            both = [subprocess.Popen([qemu.OUTSIGHT, "attach", str(vm.pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     text=True, env=vm.env) for _ in range(2)]
            said = [p.communicate(timeout=limit(60))[0] for p in both]
            self.assertIn(0, [p.returncode for p in both], said)
            for p, line in zip(both, said):
                self.assertRegex(line, "attached" if p.returncode == 0 else "another outsight")
            self.assertEqual(vm.stopped_threads(), [])
            self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
            self.detach(vm)
        vm.check_unharmed(self)

    @unittest.skipIf(os.geteuid(), "only root can have a mount namespace of its own")
    def test_mount_namespace(self):
        """A QEMU that can see neither our sockets' directories nor, then, the library."""
        hidden = tempfile.TemporaryDirectory(prefix="outsight-lib-")
        self.addCleanup(hidden.cleanup)
        shutil.copy(qemu.HOOK, hidden.name)
        vm = self.vm(2, prefix=["unshare", "-m", "sh", "-c", 'mkdir "$XDG_RUNTIME_DIR/outsight" && '
                                'mount -t tmpfs none "$XDG_RUNTIME_DIR/outsight" && mount -t tmpfs none "$0" && exec "$@"',
                                hidden.name])
        self.refused(["attach", str(vm.pid)], "is not in process .* view of the file system: copy it to",
                     env={**vm.env, "OUTSIGHT_PLUGIN_DIR": hidden.name})
        self.attach(vm)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        self.assertNotEqual(os.listdir(vm.path("outsight")), [])
        self.assertEqual(os.listdir(f"/proc/{vm.pid}/root{vm.path('outsight')}"), [])
        self.detach(vm)
        vm.check_unharmed(self)

    def test_ports(self):
        """A device on a port that traps use. QEMU's machines have none there."""
        for at in rounds((0xa8,), (0x99, 0xa8, 0xe7)):
            vm = self.vm(1, args=["-chardev", "null,id=n", "-device", f"isa-debugcon,iobase={at:#x},chardev=n"])
            self.refused(["attach", str(vm.pid)], f"a device on I/O port {at:#x}, which traps use", vm)
            self.assertEqual(vm.guests(), [])
            vm.check_unharmed(self)
            vm.close()

    def test_no_kernel(self):
        """Firmware only, which runs in 16 and 32 bits."""
        vm = Qemu(1, kernel=None)
        self.addCleanup(vm.close)
        vm.wait_for(lambda: vm.qmp("query-status")["status"] == "running", "start")
        self.attach(vm)
        for _ in range(50):  # the firmware still moves its memory, which ends sessions
            done = vm.outsight("-g", str(vm.pid), "-n", "tick-1s { exit(0); }")
            if "machine is changing" not in done.stderr:
                break
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "kernel")
        self.detach(vm)
        self.assertEqual(vm.qmp("query-status")["status"], "running")

    def test_killed(self):
        """kill -9 of outsight at random moments of attaching: nothing stays stopped, and the next attach works."""
        vm = self.vm(2)
        rnd = random.Random(1)
        start = time.monotonic()
        self.attach(vm)
        whole = time.monotonic() - start
        self.detach(vm)
        for i in range(TIMES):
            process = subprocess.Popen([qemu.OUTSIGHT, "attach", str(vm.pid)], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=vm.env)
            time.sleep(rnd.uniform(0, 1.2 * whole))
            process.kill()
            process.wait()
            self.assertEqual(vm.stopped_threads(), [])
            self.assertEqual(vm.qmp("query-status")["status"], "running")
            if i % 5 == 4:
                self.attach(vm)
                self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
            if i % 3 == 0:
                vm.outsight("detach", str(vm.pid))
        self.attach(vm)
        self.detach(vm)
        vm.check_unharmed(self)

    def test_injector_killed(self):
        """The same for the part that stops a thread, alone."""
        vm = self.vm(2)
        rnd = random.Random(2)
        for _ in range(TIMES):
            process = subprocess.Popen([INJECTOR, str(vm.pid), "/no/such/library.so"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            time.sleep(rnd.uniform(0.01, 0.1))
            self.assertIsNone(process.poll(), process.poll() is not None and process.stderr.read())
            process.kill()
            process.communicate()
            self.assertEqual(vm.stopped_threads(), [])
            self.assertEqual(vm.qmp("query-status")["status"], "running")
        vm.check_running()
        self.attach(vm)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        self.detach(vm)
        vm.check_unharmed(self)

    def test_paused(self):
        """A guest that is paused: its vCPUs' threads never run our code, and need not."""
        vm = self.vm(2)
        vm.qmp("stop")
        self.attach(vm)
        self.assertEqual([(g["state"], g["how"]) for g in vm.guests()], [("paused", "once resumed")])
        vm.qmp("cont")
        self.assertEqual([(g["state"], g["how"]) for g in vm.guests()], [("running", "now")])
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        for _ in range(rounds(5, 20)):
            vm.qmp("stop")
            vm.qmp("cont")
        vm.qmp("stop")
        self.detach(vm)
        vm.qmp("cont")
        vm.check_unharmed(self)

    def test_migrated(self):
        vm = self.vm(2)
        self.attach(vm)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        tracer = subprocess.Popen(vm.trace_command(LOAD), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=vm.env)
        vm.wait_for(lambda: vm.text() != qemu.elf_text()[1], "trap in the guest")
        vm.qmp("migrate", uri=f"file:{vm.path('saved')}")
        vm.wait_for(lambda: vm.qmp("query-migrate")["status"] == "completed", "end of the migration")
        self.assertEqual(vm.text(), qemu.elf_text()[1])
        self.assertEqual(tracer.wait(limit(60)), 1)
        with open(vm.path("saved"), "rb") as f:
            self.assertIn(qemu.elf_text()[1][:4096], f.read())
        vm.qmp("cont")
        vm.wait_engine()
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        self.detach(vm)
        vm.check_unharmed(self)

    def test_ends(self):
        """QEMU's own end, and its death, while it is attached to."""
        for end in (signal.SIGTERM, signal.SIGKILL):
            vm = self.vm(1)
            self.attach(vm)
            tracer = subprocess.Popen(vm.trace_command(LOAD), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=vm.env,
                                      text=True)
            vm.wait_for(lambda: vm.text() != qemu.elf_text()[1], "trap in the guest")
            vm.process.send_signal(end)
            vm.process.wait(limit(30))
            _, errors = tracer.communicate(timeout=limit(60))
            self.assertEqual(tracer.returncode, 1)
            self.assertTrue(errors)
            self.assertEqual(vm.guests(), [])

    def test_another_user(self):
        """A QEMU that gave its privileges away, and can't open /dev/kvm any more."""
        vm = self.vm(2, args=["-run-with", "user=nobody"], sandbox="on")
        os.chmod(vm.dir.name, 0o777)  # where it writes the files of its monitor's commands
        self.attach(vm)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(2))
        self.detach(vm)
        vm.check_unharmed(self)

    def test_refused(self):
        self.refused(["attach", "999999999"], "no process 999999999")
        self.refused(["attach", "no-such-guest"], "no guest no-such-guest is running here")
        self.refused(["attach", str(os.getpid())], "runs no guest with KVM")
        self.refused(["detach", str(os.getpid())], "no library of Outsight")
        vm = self.vm(1)
        vm.process.send_signal(signal.SIGSTOP)
        vm.wait_for(vm.stopped_threads, "stop")
        self.refused(["attach", str(vm.pid)], "is stopped", vm)
        vm.process.send_signal(signal.SIGCONT)
        # a debugger at it
        tracer = subprocess.Popen([sys.executable, "-c", f"""
import ctypes, sys
print(ctypes.CDLL(None).ptrace({PTRACE_SEIZE}, {vm.pid}, None, None), flush=True)
sys.stdin.read()"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(tracer.stdout.readline(), "0\n")
        self.refused(["attach", str(vm.pid)], f"is being traced by process {tracer.pid}", vm)
        tracer.communicate("")
        # no library at the path that the target opens
        self.refused(["attach", str(vm.pid)], "is not there", env={**vm.env, "OUTSIGHT_PLUGIN_DIR": "/nonexistent"})
        os.chmod(vm.dir.name, 0o755)
        shutil.copy(qemu.GUEST, vm.path("liboutsight-kvm.so"))
        self.refused(["attach", str(vm.pid)], "did not load the library", env={**vm.env, "OUTSIGHT_PLUGIN_DIR": vm.dir.name})
        vm.check_unharmed(self)

    def test_debugged(self):
        """A client of QEMU's gdbstub: its requests to KVM can't be determined. A gdbstub without a client is no
        obstacle."""
        vm = self.vm(1)
        vm.hmp(f"gdbserver unix:{vm.path('gdb')},server=on,wait=off")
        with socket.socket(socket.AF_UNIX) as gdb:
            gdb.connect(vm.path("gdb"))
            vm.wait_for(lambda: "gdb: filename=unix:" in vm.hmp("info chardev"), "connection")
            self.refused(["attach", str(vm.pid)], "debugger is connected to its gdbstub", vm)
        vm.wait_for(lambda: "gdb: filename=disconnected" in vm.hmp("info chardev"), "end of it")
        vm.qmp("cont")
        self.attach(vm)
        self.assertEqual(counts_of(vm.trace(ALL)), round_counts(1))
        self.detach(vm)
        vm.check_unharmed(self)

    def test_other_vmms(self):
        tcg = subprocess.Popen([qemu.QEMU, "-M", "none", "-display", "none", "-nodefaults", "-S"], stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (tcg.kill(), tcg.wait()))
        self.refused(["attach", str(tcg.pid)], "without KVM: start it with the plugin")
        own = subprocess.Popen([os.path.join(os.path.dirname(qemu.OUTSIGHT), "outsight-vmm"), "--kernel", qemu.GUEST,
                                "--memory", "64", "--console", "/dev/null"], stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (own.kill(), own.wait()))
        end = time.monotonic() + limit(60)
        while not any("kvm-vcpu" in os.readlink(f"/proc/{own.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{own.pid}/fd")):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.refused(["attach", str(own.pid)], "is not QEMU.* -g peek:")

    def start(self, *command, **options):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_strange_vmms(self):
        """Programs that have a vCPU and can't be injected into, each for a reason of its own; --plan gives the same
        one."""
        for command, text in (([OTHER_VMM], "is linked statically.* -g peek:"),
                              ([OTHER_VMM, "-object", "sev-snp-guest,id=sev"], "guest is encrypted"),
                              (["firecracker", "seccomp"], "has its own seccomp filter.* -g peek:"),
                              ([PROGRAM32], "not a 64-bit program")):
            vmm = self.start(*command, executable=command[0] if os.path.isabs(command[0]) else os.path.join(os.path.dirname(OTHER_VMM), "other-vmm"))
            for args in ([], ["--plan"]):
                self.refused(["attach", *args, str(vmm.pid)], text)
            self.assertIsNone(vmm.poll())

    def test_no_permission(self):
        if os.geteuid():
            self.skipTest("only root can give its rights away")
        vm = self.vm(1)
        done = subprocess.run([qemu.OUTSIGHT, "attach", str(vm.pid)], capture_output=True, text=True, check=False,
                              env={**vm.env, "XDG_RUNTIME_DIR": "/tmp"}, user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "may not be accessed: .*CAP_SYS_PTRACE")


if __name__ == "__main__":
    if qemu.reason_to_skip():
        print(f"SKIP: {qemu.reason_to_skip()}")
        sys.exit(77)
    namespaces.enter()
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
