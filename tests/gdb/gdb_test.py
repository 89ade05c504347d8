#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU with nothing but its gdb stub, and the small guest in it: gdb_test.py OUTSIGHT SMALL-GUEST."""
import contextlib
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib import namespaces
from lib.pace import limit, rounds

OUTSIGHT, GUEST = (os.path.abspath(p) for p in sys.argv[1:3])
QEMU = "qemu-system-x86_64"
FUNCTIONS = ("nop", "endbr", "push", "push1", "load", "flags", "frame", "tail")
CALLS = 10
# One round: every function CALLS times on each vCPU.
ROUND = "fbt::round_begin:entry { on = arg0; } %s fbt::round_end:entry /on/ { exit(0); }"
ALL = ROUND % "fbt::probed_*:entry,fbt::probed_*:return /on/ { @[probefunc, probename] = count(); }"
TWO = ROUND % "fbt::probed_push:entry,fbt::probed_frame:return /on/ { @[probefunc, probename] = count(); }"
LOAD = "fbt::probed_*:entry { @ = count(); }"


def have_kvm():
    return os.access("/dev/kvm", os.R_OK | os.W_OK)


def counts_of(output):
    return {tuple(m[:-1]): int(m[-1]) for m in (line.split() for line in output.splitlines()) if m}


def round_counts(cpus):
    return {(f"probed_{f}", end): CALLS * cpus * (2 if f == "load" else 1)
            for f in FUNCTIONS for end in ("entry", "return")}


def symbol(name):
    out = subprocess.run(["nm", GUEST], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^([0-9a-f]+) \S {name}$", out, re.M)[1], 16)


def listens(sock, path):
    """Connect. QEMU creates the file a moment before it listens."""
    try:
        sock.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    return True


class Qemu:
    """A QEMU without anything of ours. kernel None: firmware only."""

    def __init__(self, cpus=2, accel="tcg", kernel=GUEST):
        self.dir = tempfile.TemporaryDirectory(prefix="outsight-gdb-")
        self.stub = self.path("gdb")
        self.env = {**os.environ, "XDG_RUNTIME_DIR": self.dir.name}
        boot = ["-kernel", kernel, "-append", f"cpus={cpus} calls={CALLS}"] if kernel else []
        self.log = open(self.path("printed"), "w+", encoding="utf-8")
        # kvm64: what an interpreting KVM can do; TCG has that too
        self.process = subprocess.Popen(
            [QEMU, "-accel", accel, "-cpu", "kvm64", "-M", "pc", "-smp", str(cpus), "-m", "64", "-nodefaults",
             "-display", "none", "-serial", f"file:{self.path('console')}", *boot,
             "-gdb", f"unix:{self.stub},server=on,wait=off", "-qmp", f"unix:{self.path('qmp')},server=on,wait=off"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(limit(60))
        self.wait_for(lambda: listens(sock, self.path("qmp")), "QMP")
        # two: a single one for both drops, at a write, its read-ahead (events)
        self.qmp_in, self.qmp_out = sock.makefile("r", encoding="utf-8"), sock.makefile("w", encoding="utf-8")
        sock.close()  # the files keep it
        self.qmp_in.readline()
        self.qmp("qmp_capabilities")

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def state(self):
        """Its exit status, and what it has printed. One that has closed its sockets is about to end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(limit(5))
        with open(self.log.name, encoding="utf-8", errors="replace") as f:
            return f"status {self.process.poll()}: {f.read()}"

    def wait_for(self, true, what, seconds=limit(240)):
        end = time.monotonic() + seconds
        while not true():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"no {what}: {self.state()}")
            time.sleep(0.02)

    def ready(self):
        def said():
            with contextlib.suppress(FileNotFoundError), open(self.path("console"), encoding="ascii") as f:
                return "READY" in f.read()
            return False
        self.wait_for(said, "READY")
        return self

    def qmp(self, command, **arguments):
        try:
            print(json.dumps({"execute": command, "arguments": arguments}), file=self.qmp_out, flush=True)
            while True:
                reply = json.loads(self.qmp_in.readline())
                if "return" in reply:
                    return reply["return"]
                if "error" in reply:
                    raise AssertionError(f"{command}: {reply}")
        except (OSError, ValueError) as err:
            raise AssertionError(f"{command}: no answer from QEMU: {err}: {self.state()}") from err

    def runs(self):
        return self.qmp("query-status")["running"]

    def hmp(self, line):
        return self.qmp("human-monitor-command", **{"command-line": line})

    def rounds(self):
        """How often the guest's barrier was passed: the guest runs if this increases."""
        return int(self.hmp(f"xp /1wx {symbol('generation') - 0xffffffff80000000:#x}").split(":")[1], 16)

    def text(self):
        """The guest's text as QEMU has it now."""
        start, end = symbol("call_all") & ~0xfff, (symbol("probed_tail") | 0xfff) + 1
        self.qmp("pmemsave", val=start - 0xffffffff80000000, size=end - start, filename=self.path("text"))
        with open(self.path("text"), "rb") as f:
            return f.read()

    def command(self, program, *options, where=None):
        return [OUTSIGHT, "-g", f"gdb:{where or self.stub}", "--no-cache", "--vmlinux", GUEST, "-q", "-x", "maxcost=0",
                *options, "-n", program]

    def run(self, program, *options, where=None):
        return subprocess.run(self.command(program, *options, where=where), capture_output=True, text=True, timeout=limit(200),
                              check=False, env=self.env)

    def start(self, program, *options, where=None):
        return subprocess.Popen(self.command(program, *options, where=where), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.env)

    def close(self):
        self.qmp_in.close()
        with contextlib.suppress(BrokenPipeError):
            self.qmp_out.close()
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.dir.cleanup()


class Between:
    """A connection to the stub that passes through us."""

    def __init__(self, vm):
        self.vm = vm
        self.path = vm.path("between")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.listener.settimeout(limit(60))

    def accept(self):
        self.client, _ = self.listener.accept()
        self.stub = socket.socket(socket.AF_UNIX)
        self.stub.connect(self.vm.stub)
        for sock in (self.client, self.stub):
            sock.settimeout(limit(60))

    def relay(self, until=None):
        """Forward until the client sends @until or closes. The read that contains @until is returned and not
        forwarded."""
        open_ends = [self.client, self.stub]
        while self.stub in open_ends:
            for sock in select.select(open_ends, [], [], limit(60))[0]:
                data = sock.recv(65536)
                other = self.stub if sock is self.client else self.client
                if sock is self.client and until and until in data:
                    return data
                if data:
                    other.sendall(data)
                else:
                    open_ends.remove(sock)
                    other.shutdown(socket.SHUT_WR)
        return b""

    def read(self, sock, text):
        data = b""
        while text not in data:
            more = sock.recv(65536)
            if not more:
                raise AssertionError(f"closed before {text}: {data}")
            data += more
        return data

    def close(self):
        for sock in (self.listener, self.client, self.stub):
            sock.close()


class Gdb(unittest.TestCase):
    def vm(self, *args, **kwargs):
        vm = Qemu(*args, **kwargs)
        self.addCleanup(vm.close)
        return vm

    def trace(self, vm, program, *options):
        done = vm.run(program, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"traced through its gdb stub: each hit stops the whole guest, for about \d")
        return done.stdout

    def check_runs_on(self, vm):
        """The guest runs, and no breakpoint is left: each round passes the places of all of them."""
        before = vm.rounds()
        vm.wait_for(lambda: vm.rounds() - before > 3, "progress of the guest", limit(30))

    def refused(self, vm, text, where=None):
        done = vm.run("BEGIN { exit(0); }", where=where)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, text)

    def test_counts(self):
        """Entries and returns of all shapes, on one vCPU and on several that hit at once."""
        for cpus in rounds((2,), (1, 2, 4)):
            with self.subTest(cpus=cpus):
                vm = self.vm(cpus).ready()
                for _ in range(rounds(1, 2)):
                    self.assertEqual(counts_of(self.trace(vm, ALL)), round_counts(cpus))
                    self.check_runs_on(vm)

    def test_arguments(self):
        vm = self.vm().ready()
        out = self.trace(vm, ROUND % "fbt::probed_nop:entry /on/ { @[\"a\", arg1] = count(); @s[\"s\"] = sum(arg0); } "
                         "fbt::probed_push1:return /on/ { @r[\"r\"] = sum(arg1); }")
        total = sum(range(CALLS)) * 2
        self.assertEqual(counts_of(out), {("a", "7"): CALLS * 2, ("s",): total, ("r",): total + 3 * CALLS * 2})

    def test_profile(self):
        """Samples without a breakpoint, of each vCPU: about as often as the other, for a busy host drops some."""
        vm = self.vm().ready()
        counts = counts_of(self.trace(vm, "profile-29 { @[cpu] = count(); } profile-29 /cpu == 0/ { a++; } "
                                      "profile-29 /cpu == 1/ { b++; } profile-29 /a > 15 && b > 15/ { exit(0); }"))
        self.assertEqual(set(counts), {("0",), ("1",)})
        self.assertLess(max(counts.values()), 2 * min(counts.values()), counts)
        self.check_runs_on(vm)

    def test_the_guard_counts_every_vcpu(self):
        """All vCPUs are stopped for a hit, so probes that are hit all the time are removed, and the guest continues."""
        vm = self.vm().ready()
        tracer = vm.start(LOAD, "-x", "maxcost=5")
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        self.assertIn("stops the whole guest", tracer.stderr.readline())
        self.assertRegex(tracer.stderr.readline(), "overload: .* removed")
        self.check_runs_on(vm)
        tracer.send_signal(signal.SIGINT)
        _, err = tracer.communicate(timeout=limit(60))
        self.assertEqual(tracer.returncode, 0)
        # On a busy host the probes that are left may cost too much as well.
        self.assertRegex(err, r"\A(dtrace: overload: [^\n]* (?:was|were) removed; [^\n]*\n)*\Z")

    @unittest.skipUnless(have_kvm(), "there is no /dev/kvm here that can be opened")
    def test_kvm(self):
        """Debug registers only: a software breakpoint would be an int3 in the guest."""
        vm = self.vm(accel="kvm").ready()
        expected = {("probed_push", "entry"): 2 * CALLS, ("probed_frame", "return"): 2 * CALLS}
        self.assertEqual(counts_of(self.trace(vm, TWO)), expected)
        before = vm.text()
        done = vm.run(ALL)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has 4 breakpoints that do not change the guest's memory, and more places are needed",
                      done.stderr)
        self.assertEqual(vm.text(), before)
        self.check_runs_on(vm)
        self.assertEqual(counts_of(self.trace(vm, TWO)), expected)

    def test_interrupt(self):
        vm = self.vm().ready()
        tracer = vm.start(LOAD + ' fbt::probed_*:entry /!n++/ { printf("hit\\n"); }')
        self.addCleanup(tracer.kill)
        self.assertIn("stops the whole guest", tracer.stderr.readline())
        self.assertEqual(tracer.stdout.readline(), "hit\n")
        tracer.send_signal(signal.SIGINT)
        out, err = tracer.communicate(timeout=limit(60))
        self.assertEqual((tracer.returncode, err), (0, ""))
        self.assertGreater(int(out), 0)
        self.check_runs_on(vm)

    def test_kill(self):
        """At any moment, so also with the guest stopped and breakpoints in it; also when QEMU gets no CPU for a while then."""
        vm = self.vm().ready()
        pick = random.Random(3)
        for i in range(rounds(2, 12)):
            tracer = vm.start(LOAD)
            time.sleep(pick.random() * 0.8)
            tracer.kill()
            if i % 2:
                vm.process.send_signal(signal.SIGSTOP)
                time.sleep(0.6)  # longer than the keeper waits before it asks again
                vm.process.send_signal(signal.SIGCONT)
            tracer.communicate()
            self.check_runs_on(vm)
        self.assertEqual(counts_of(self.trace(vm, ALL)), round_counts(2))

    def killed_at(self, vm, program, request):
        """outsight is killed when it sends @request, which QEMU has not read yet."""
        between = Between(vm)
        tracer = vm.start(program, where=between.path)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        between.accept()
        self.addCleanup(between.close)
        data = between.relay(until=request)
        return between, tracer, data

    def test_kill_in_a_step(self):
        """QEMU reads the step request together with the packets that the keeper sends for a killed tracer: no vCPU is
        left stepping."""
        vm = self.vm().ready()
        between, tracer, data = self.killed_at(vm, LOAD, b"$vCont;s:")
        tracer.kill()
        between.stub.sendall(data + between.read(between.client, b"$qSupported#37"))
        between.relay()
        between.close()
        self.check_runs_on(vm)
        self.assertEqual(counts_of(self.trace(vm, TWO)), {("probed_push", "entry"): 2 * CALLS,
                                                          ("probed_frame", "return"): 2 * CALLS})

    def test_kill_after_the_detach(self):
        """A tracer that was killed just after its detach is detached once more: QEMU survives it."""
        vm = self.vm().ready()
        between, tracer, data = self.killed_at(vm, "BEGIN { exit(0); }", b"$D#44")
        between.stub.sendall(data)
        answer = between.read(between.stub, b"$OK#9a")
        tracer.kill()
        between.client.sendall(answer)
        between.relay()
        self.check_runs_on(vm)

    def test_pause(self):
        """A guest that a monitor's user stops stays stopped, also after the tracer's end."""
        vm = self.vm().ready()
        for _ in range(3):
            # no probe that is hit: the guest is stopped for a moment once a second, when its kernel is sampled
            tracer = vm.start("fbt::fail:entry { @ = count(); } tick-1s { n++; } END { @n = sum(n); }")
            self.addCleanup(tracer.kill)
            self.assertIn("stops the whole guest", tracer.stderr.readline())
            time.sleep(0.2)
            vm.wait_for(vm.runs, "running guest")
            vm.qmp("stop")
            before = vm.rounds()
            time.sleep(2.5)
            stopped = vm.rounds() == before
            tracer.send_signal(signal.SIGINT)
            _, err = tracer.communicate(timeout=limit(60))
            self.assertEqual((tracer.returncode, err), (0, ""))
            if stopped:
                break
            vm.qmp("cont")  # the command arrived while we held the guest stopped, and was lost
        self.assertTrue(stopped)
        self.assertFalse(vm.runs())
        self.assertEqual(vm.rounds(), before)
        vm.qmp("cont")
        self.check_runs_on(vm)
        self.assertEqual(counts_of(self.trace(vm, TWO)), {("probed_push", "entry"): 2 * CALLS,
                                                          ("probed_frame", "return"): 2 * CALLS})

    def test_pause_again_and_again(self):
        """Whatever a monitor's user does, hits are still handled, and the guest runs in the end."""
        ways = ((2, ("stop", "cont")), (4, ("stop", "cont")), (2, ("cont",)))
        for cpus, commands in rounds(ways[1:2], ways):
            with self.subTest(cpus=cpus, commands=commands):
                vm = self.vm(cpus).ready()
                tracer = vm.start('BEGIN { printf("tracing\\n"); } fbt::probed_nop:entry,fbt::probed_push:return { @ = count(); }')
                self.addCleanup(tracer.kill)
                self.assertIn("stops the whole guest", tracer.stderr.readline())
                self.assertEqual(tracer.stdout.readline(), "tracing\n")  # every breakpoint is in place
                pick = random.Random(cpus)
                for _ in range(rounds(8, 40) // len(commands)):
                    for command in commands:
                        time.sleep(pick.uniform(0.01, 0.3))
                        vm.qmp(command)
                self.check_runs_on(vm)
                tracer.send_signal(signal.SIGINT)
                out, err = tracer.communicate(timeout=limit(60))
                self.assertEqual((tracer.returncode, err), (0, ""))
                # of the barriers that were waited for at the end two enclose a whole round; a busy host has had little more
                self.assertGreaterEqual(int(out), 2 * CALLS * cpus)
                self.check_runs_on(vm)
                self.assertEqual(counts_of(self.trace(vm, ALL)), round_counts(cpus))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "a log of our own takes root")
    def test_log(self):
        """The user, the guest, the program and the duration: two lines in the system's log, or none where there is
        none."""
        vm = self.vm().ready()
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(log.close)
        log.bind(vm.path("log"))
        log.settimeout(limit(30))
        # in a mount namespace, with a /dev of its own
        enter = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /dev && ln -s $0 /dev/log && exec \"$@\""]
        program = "fbt::probed_nop:entry { exit(3); }"
        done = subprocess.run([*enter, vm.path("log"), *vm.command(program)], stdin=subprocess.PIPE, capture_output=True,
                              text=True, timeout=limit(60), check=False, env=vm.env)
        self.assertEqual(done.returncode, 3, done.stderr)
        # <authpriv.notice>date outsight[PID]: …
        head = r"^<85>.* outsight\[\d+\]: "
        who = r"user=root uid=0 login=\S+ guests=\"%s\" " % re.escape(vm.stub)
        self.assertRegex(log.recv(4096).decode(), head + "tracing starts: " + who + r"probes=1 destructive=no program="
                         r"\"fbt::probed_nop:entry { exit\(3\); }\"$")
        self.assertRegex(log.recv(4096).decode(), head + "tracing ends: " + who + r"seconds=\d+\.\d status=3$")
        done = subprocess.run([*enter, "/nowhere", *vm.command(program)], stdin=subprocess.PIPE, capture_output=True,
                              text=True, timeout=limit(60), check=False, env=vm.env)
        self.assertEqual(done.returncode, 3, done.stderr)
        subprocess.run([*enter, vm.path("log"), OUTSIGHT, "-g", "none", "-qn", "BEGIN { exit(0); }"], check=True,
                       stdin=subprocess.PIPE, timeout=limit(60), env=vm.env, stdout=subprocess.PIPE)
        log.setblocking(False)
        with self.assertRaises(BlockingIOError):  # a session without a guest is not logged
            log.recv(4096)

    def test_time_limit(self):
        vm = self.vm().ready()
        done = vm.run(LOAD + " END { printf(\"end\\n\"); }", "-x", "ttl=1s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("dtrace: the session's time limit has passed: -x ttl=1s\n", done.stderr)
        self.assertRegex(done.stdout, r"^end\n\n\s+\d+\n$")
        self.check_runs_on(vm)

    def test_vmm_ends(self):
        """Or only its stub: one line, and nothing of ours is left."""
        for end in (lambda vm: vm.process.kill(), lambda vm: vm.hmp("gdbserver none")):
            vm = self.vm().ready()
            tracer = vm.start(LOAD)
            self.addCleanup(tracer.kill)
            self.assertIn("stops the whole guest", tracer.stderr.readline())
            with open(f"/proc/{tracer.pid}/task/{tracer.pid}/children", encoding="ascii") as f:
                children = f.read().split()
            self.assertEqual(len(children), 1)
            end(vm)
            out, err = tracer.communicate(timeout=limit(60))
            self.assertEqual(tracer.returncode, 1)
            self.assertRegex(err, r"^dtrace: guest \S+ has ended, or is no longer reachable\n$")
            self.assertRegex(out, r"^\s*\d*\s*$")
            self.assertFalse(os.path.exists(f"/proc/{children[0]}"))

    def test_another_client(self):
        """It is not disturbed, and after it detaches, we don't keep the guest stopped."""
        vm = self.vm().ready()
        other = socket.socket(socket.AF_UNIX)
        other.connect(vm.stub)
        self.refused(vm, r"does not answer: another debugger is connected to it, and a gdb stub serves one at a time")
        # a stub's queue is short: the next client does not wait for ever
        for _ in range(2):
            self.refused(vm, r"does not answer: another debugger is connected to it")
        other.sendall(b"$D#44")
        self.assertEqual(other.recv(16)[:1], b"+")
        other.close()
        self.check_runs_on(vm)
        self.assertEqual(counts_of(self.trace(vm, TWO)), {("probed_push", "entry"): 2 * CALLS,
                                                          ("probed_frame", "return"): 2 * CALLS})

    def test_who_is_no_stub(self):
        vm = self.vm(kernel=None)
        self.refused(vm, r"no gdb stub listens at \S+/none: QEMU has one with -gdb", vm.path("none"))
        self.refused(vm, r"no gdb stub listens at 127\.0\.0\.1:1:", "127.0.0.1:1")
        self.refused(vm, r"a gdb stub is gdb:HOST:PORT", "1234")
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            conn, _ = listener.accept()
            conn.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            conn.close()
        threading.Thread(target=serve, daemon=True).start()
        self.refused(vm, r"is not a gdb stub", "127.0.0.1:%d" % listener.getsockname()[1])

    def test_no_kernel(self):
        """Firmware in 16 bits: no kernel, none of 64 bits at any rate."""
        vm = self.vm(kernel=None)
        self.refused(vm, r"has a guest that does not run a 64-bit kernel, or not yet")
        self.assertTrue(vm.runs())


if __name__ == "__main__":
    if not shutil.which(QEMU):
        print(f"SKIP: there is no {QEMU} here")
        sys.exit(77)
    namespaces.enter()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
