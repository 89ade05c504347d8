#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs: outsight guests, outsight run; and -g in all its spellings."""
import collections
import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import KERNEL_ARGS, image_dir
from lib.outsight import LIMIT, Trace, numbers
from lib.pace import rounds
from lib.scenario import Scenario, main, only_full

COUNT_READS = 'syscall::read:entry /execname == "reads"/ { @ = count(); }'


def processes_with(word):
    """PIDs of the other processes that have word on their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if word.encode() in f.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            continue
    return found


class Guests(Scenario):
    def verb(self, guest, *args):
        return subprocess.run([self.outsight.binary, *args], env=self.outsight.environment(guest), timeout=LIMIT,
                              capture_output=True, text=True, check=False)

    def test_listing(self):
        """outsight guests names the guest, its process and its vCPUs, as a table and as JSON."""
        with self.guest() as guest:
            done = self.verb(guest, "guests")
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [line.split() for line in done.stdout.splitlines()]
            self.assertEqual(rows[0][:5], ["NAME", "PID", "STATE", "VCPUS", "ACCEL"])
            # Other guests of this machine may be listed too.
            self.assertIn([guest.name, str(guest.pid), "running", str(guest.smp), "tcg"], [row[:5] for row in rows[1:]])
            listed = json.loads(self.verb(guest, "guests", "--json").stdout)
            release = guest.check("uname -r").strip()
            self.assertIn((guest.name, guest.pid, guest.smp, release, "now"),
                          [(g["name"], g["pid"], g["vcpus"], g["kernel"], g["trace"]) for g in listed])

    def test_every_spelling_of_a_guest(self):
        """By name, by PID, by socket, and without -g when it is the only one."""
        with self.guest() as guest:
            spellings = [["-g", guest.name], ["-g", str(guest.pid)], ["-g", guest.control_socket()]]
            if sum(g["backend"] != "" for g in json.loads(self.verb(guest, "guests", "--json").stdout)) == 1:
                spellings.append([])
            for spelling in spellings[rounds(2, 0):]:
                with self.subTest(spelling=spelling):
                    trace = Trace(self.outsight.binary,
                                  [*spelling, "-q", "-x", "switchrate=20hz", "-n", 'BEGIN { printf("tracing\\n"); }',
                                   "-n", COUNT_READS], self.outsight.environment(guest))
                    trace.wait_for("tracing")
                    guest.check("reads 20")
                    trace.stop()
                    self.assertEqual(numbers(trace.out), [20], trace.story())
            self.check_names(guest)

    def check_names(self, guest):
        """The error for a mistyped probe suggests the right one; a compiler's copy is found without its suffix."""
        at = ["-g", guest.name]
        done = self.verb(guest, *at, "-n", "fbt::vfs_raed:entry")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"fbt::vfs_raed:entry does not match any probes\n  \(did you mean fbt::vfs_read:entry\?\)\n$")
        listed = self.verb(guest, *at, "-l", "-n", "fbt:vmlinux::entry").stdout
        names = [line.split()[3] for line in listed.splitlines()[1:]]
        of_one_function = collections.Counter(name.split(".")[0] for name in names)
        alone = [n for n in names if n.endswith((".isra.0", ".constprop.0")) and n.count(".") == 2 and
                 of_one_function[n.split(".")[0]] == 1]
        self.assertTrue(alone, "this kernel's compiler made no copies")
        done = self.verb(guest, *at, "-n", f"fbt:vmlinux:{alone[0].split('.', maxsplit=1)[0]}:entry, BEGIN {{ exit(0); }}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"dtrace: {alone[0].split('.', maxsplit=1)[0]}: the compiler made {alone[0]} of it, which is probed\n", done.stderr)
        self.assertIn("matched 2 probes", done.stderr)


@contextlib.contextmanager
def looping(guest):
    """The PID of a process of the guest that calls getppid() all the time."""
    job = guest.spawn("getppid_loop 1 1000000000")
    try:
        while not (pid := guest.run("pidof getppid_loop")[1].strip()):
            pass
        yield pid
    finally:
        guest.run("killall getppid_loop")
        job.wait_end()


class Flame(Scenario):
    def rows(self, guest, *args):
        """What the page of outsight flame shows."""
        path = guest.path("flame.html")
        trace = Trace(self.outsight.binary, ["flame", "-g", guest.name, *args, "-o", path], self.outsight.environment(guest))
        self.assertEqual((trace.finish(), trace.err), (0, ""), trace.story())
        with open(path, encoding="utf-8") as f:
            page = f.read()
        self.assertEqual([name for name in os.listdir(guest.dir) if name.startswith("flame.html.")], [])
        return json.loads(re.search(r'<script id="rows" type="application/json">(.*?)</script>', page, re.S).group(1))

    @only_full
    def test_samples(self):
        """Each vCPU's, for a second: a process's name, then the kernel's frames from the outermost on."""
        with self.guest() as guest, looping(guest):
            rows = self.rows(guest, "-d", "1")
        self.assertTrue(any(line.startswith("getppid_loop;") for line, *_ in rows), rows)
        self.assertTrue(any("vmlinux`" in line for line, *_ in rows), rows)
        self.assertTrue(all(keys == 1 and value > 0 for _, keys, _, value in rows), rows)

    def test_event(self):
        """The stacks at a probe, of one process; the file is replaced."""
        with self.guest() as guest, looping(guest) as pid:
            for _ in range(2):
                rows = self.rows(guest, "-d", "1", "-e", "syscall::getppid:entry", "-p", pid)
            self.assertEqual(self.rows(guest, "-d", "1", "-e", "syscall::getppid:entry", "-p", "1"), [])
        self.assertTrue(rows)
        for line, keys, _, value in rows:
            self.assertTrue(line.startswith("getppid_loop;") and line.endswith("sys_getppid"), line)
            self.assertEqual((keys, value > 0), (1, True), line)


class Run(Scenario):
    @only_full
    def test_boots_traces_and_stops(self):
        """outsight run: boots a guest, traces it as soon as its kernel can be read, and ends it. The guest's init
        makes system calls for as long as it lives, so it does not matter when tracing begins."""
        image = image_dir(self.kernel)
        env = dict(os.environ, LC_ALL="C")
        trace = Trace(self.outsight.binary,
                      ["run", "-kernel", f"{image}/vmlinuz", "-initrd", f"{image}/initrd", "-m", "512", "-smp", "2",
                       "-append", f"{KERNEL_ARGS} rdinit=/bin/getppid_loop -- 1 1000000000",
                       "-name", f"run{os.getpid()}", "--", "-q", "-n",
                       'syscall::getppid:entry /pid == 1/ { @[execname] = count(); n++; } '
                       'syscall::getppid:entry /n == 1000/ { exit(5); }'], env)
        self.assertEqual(trace.finish(), 5, trace.story())
        self.assertRegex(trace.out, r"getppid_loop +1000\b", trace.story())
        self.assertEqual(processes_with(f"run{os.getpid()}"), [], "the guest's QEMU still runs")

    @only_full
    def test_qemus_own_error(self):
        """QEMU's own error is printed, not only that there is no answer."""
        with tempfile.NamedTemporaryFile("w") as kernel:
            kernel.write("no kernel")
            kernel.flush()
            done = subprocess.run([self.outsight.binary, "run", "-vmm", "qemu", "-kernel", kernel.name, "--", "-q", "-n",
                                   "BEGIN { exit(0); }"], capture_output=True, text=True, timeout=LIMIT, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"^dtrace: QEMU ended: \S*qemu\S*: invalid kernel header\n$")
            done = subprocess.run([self.outsight.binary, "run", "-kernl", kernel.name, "--", "-n", "BEGIN { exit(0); }"],
                                  capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^dtrace: QEMU ended: [^\n]*: -kernl: invalid option\n  \(-kernl: did you mean -kernel\?\)\n$")

    def test_interrupted_while_booting(self):
        """Ctrl-C before there is a kernel (its CPU does not run): no process, no socket, no half line on the terminal."""
        image, name = image_dir(self.kernel), f"stop{os.getpid()}"
        command = [self.outsight.binary, "run", "-vmm", "qemu", "-kernel", f"{image}/vmlinuz", "-initrd", f"{image}/initrd",
                   "-append", KERNEL_ARGS, "-m", "512", "-name", name, "-S", "--", "-q", "-n", "tick-60s { exit(0); }"]
        with tempfile.TemporaryDirectory() as folder:
            ours, terminal = pty.openpty()
            process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal,
                                       env=dict(os.environ, LC_ALL="C", XDG_RUNTIME_DIR=folder))
            os.close(terminal)
            text = b""
            while b"waiting for the guest's kernel" not in text: # shown after a second
                text += os.read(ours, 4096)
            self.assertEqual(len(processes_with(name)), 2, "outsight and its QEMU")
            process.send_signal(signal.SIGINT)
            while not re.search(rb"interrupted.*\n", text):
                text += os.read(ours, 4096)
            self.assertEqual(process.wait(LIMIT), 1)
            os.close(ours)
            self.assertEqual(text.replace(b"\r\n", b"\n").split(b"\r\033[K")[-1],
                             b"dtrace: interrupted before the guest's kernel was up\n")
            self.assertEqual(processes_with(name), [])
            self.assertEqual([f for _, _, files in os.walk(folder) for f in files], [])

    @only_full
    def test_reader_that_has_enough(self):
        """outsight run … -- -l | head: no message, and nothing is left."""
        image = image_dir(self.kernel)
        with tempfile.TemporaryDirectory() as folder:
            listing = subprocess.Popen([self.outsight.binary, "run", "-vmm", "qemu", "-kernel", f"{image}/vmlinuz", "-initrd",
                                        f"{image}/initrd", "-append", KERNEL_ARGS, "-m", "512", "-name", f"head{os.getpid()}", "--", "-q", "-l"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env=dict(os.environ, LC_ALL="C", XDG_RUNTIME_DIR=folder))
            self.assertIn("PROVIDER", listing.stdout.readline())
            listing.stdout.close()
            self.assertEqual((listing.wait(LIMIT), listing.stderr.read()), (1, ""))
            listing.stderr.close()
            self.assertEqual([f for _, _, files in os.walk(folder) for f in files], [])
        self.assertEqual(processes_with(f"head{os.getpid()}"), [])

    @only_full  # linux.examples does the same
    def test_traces_from_boot(self):
        """With -A tracing begins before drivers start: their initcalls are seen, and the first exec."""
        image = image_dir(self.kernel)
        trace = Trace(self.outsight.binary,
                      ["run", "-kernel", f"{image}/vmlinuz", "-initrd", f"{image}/initrd", "-m", "512", "-smp", "2",
                       "-append", KERNEL_ARGS, "-name", f"boot{os.getpid()}", "--", "-A", "-q",
                       "-n", 'fbt::do_one_initcall:entry { initcalls++; } '
                       'syscall::execve:entry { printf("%s %d\\n", execname, initcalls); exit(0); }'],
                      dict(os.environ, LC_ALL="C"))
        self.assertEqual(trace.finish(), 0, trace.story())
        name, initcalls = trace.lines[0].split()
        self.assertEqual(name, "init", trace.story())
        self.assertGreater(int(initcalls), 100, trace.story())


if __name__ == "__main__":
    sys.exit(main())
