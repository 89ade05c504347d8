# SPDX-License-Identifier: GPL-2.0-or-later
"""A stock Debian kernel in QEMU, driven over a virtio serial port.

    with Guest("6.1", smp=4) as guest:
        status, text = guest.run("uname -r")

Every wait has a time limit; a limit that passes raises GuestError with the end of the guest's console. The
limits are there to end a hang, no test depends on them. Always TCG: the plugin needs it, and so do hosts
without good KVM.
"""
import contextlib
import glob
import gzip
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from lib.pace import LIMIT, limit

MIB = 1 << 20
BOOT_SECONDS = limit(50)
# If a busy host does not schedule a vCPU for a while, its kernel assumes a broken timer and panics.
# For the same reason a CPU is locked up only after two minutes.
KERNEL_ARGS = "console=ttyS0 quiet no_timer_check watchdog_thresh=60"


class GuestError(Exception):
    """The guest did not do what was asked in time, or at all."""


def cache_dir():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("OUTSIGHT_CACHE") or os.path.join(base, "outsight")


def image_dir(kernel):
    return os.path.join(cache_dir(), "guests", kernel)


def some_kernel():
    """A kernel of which there is a guest image: 6.1 where there is one, for a test that any will do for."""
    hashes = sorted(glob.glob(os.path.join(image_dir("*"), "hash")))
    there = [os.path.basename(os.path.dirname(path)) for path in hashes]
    return "6.1" if "6.1" in there or not there else there[0]


def why_no_guest(kernel):
    """None when a guest with this kernel can be booted here, else the reason."""
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        return "qemu-system-x86_64 is not installed"
    version = subprocess.run([qemu, "--version"], capture_output=True, text=True, check=False).stdout
    major = re.search(r"version (\d+)\.", version)
    if not major or int(major.group(1)) < 10:
        return "QEMU is older than 10"
    if not os.path.exists(os.path.join(image_dir(kernel), "hash")):
        return f"no guest image {kernel} (scripts/guest-image {kernel} makes it where the release has that kernel)"
    return None


class Guest:
    _numbers = itertools.count(1)

    def __init__(self, kernel, smp=2, memory=512 * MIB, cpu="max", append="", plugin=None, name=None,
                 socket_path=None, qemu_args=(), more_files=None, layout=None):
        self.kernel = kernel
        self.name = name or f"test{os.getpid()}-{next(self._numbers)}"
        self.smp, self.memory, self.cpu, self.append = smp, memory, cpu, append
        self.plugin, self.socket_path, self.qemu_args = plugin, socket_path, list(qemu_args)
        self.layout = layout  # arguments for the machine and its memory, of the default's size; None: one block
        self.more_files = more_files  # a cpio archive that is unpacked over the initramfs
        self.dir = tempfile.mkdtemp(prefix="outsight-guest-")
        self.process = None
        self.channel = None
        self.pending = b""
        self.tokens = itertools.count(1)

    # Where it runs, for people to read.
    HOST = "QEMU, TCG"
    popen = staticmethod(subprocess.Popen)  # or another, that starts it elsewhere
    # One of some thousand boots under TCG hangs before init, or ends in an assertion of QEMU's own (OF_QEMU). This is
    # logged, and the guest is started once more.
    STARTED_ANEW = True
    # QEMU frees a dispatch map by RCU, and a vCPU between two runs may still use it: a race with a BAR that the booting
    # kernel moves. No session is there yet, and the plugin maps nothing.
    OF_QEMU = "iotlb_to_section: Assertion"

    # --- life ---------------------------------------------------------------------------------------

    def __enter__(self):
        try:
            return self.boot()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def path(self, name):
        return os.path.join(self.dir, name)

    def initrd(self):
        path = os.path.join(image_dir(self.kernel), "initrd")
        if not self.more_files:
            return path
        with open(self.path("initrd"), "wb") as out:
            with open(path, "rb") as f:
                shutil.copyfileobj(f, out)
            # The kernel wants the next archive aligned.
            out.write(bytes(-out.tell() % 512))
            with open(self.more_files, "rb") as f:
                shutil.copyfileobj(f, out)
        return self.path("initrd")

    def command(self):
        image = image_dir(self.kernel)
        layout = self.layout or ["-machine", "q35,memory-backend=mem",
                                 "-object", f"memory-backend-memfd,id=mem,size={self.memory},share=on"]
        args = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", *layout,
                "-cpu", self.cpu, "-smp", str(self.smp), "-nodefaults", "-no-reboot", "-display", "none",
                "-name", self.name,
                "-chardev", f"file,id=console,path={self.path('console')}", "-serial", "chardev:console",
                "-chardev", f"socket,id=channel,path={self.path('channel')},server=on,wait=off",
                "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=channel,name=channel",
                "-qmp", f"unix:{self.path('qmp')},server=on,wait=off",
                "-kernel", os.path.join(image, "vmlinuz"), "-initrd", self.initrd(),
                "-append", f"{KERNEL_ARGS} panic=-1 {self.append}".strip()]
        if self.plugin:
            plugin = f"{self.plugin},name={self.name}"
            if self.socket_path:
                plugin += f",socket={self.socket_path}"
            args += ["-plugin", plugin]
        return args + self.qemu_args

    def boot(self):
        self.start()
        try:
            return self.wait_ready()
        except GuestError as err:
            if not self.STARTED_ANEW or not (self.alive() or self.OF_QEMU in str(err)):
                raise
            print(f"{err}\n{self.where()}\nstarted once more", file=sys.stderr, flush=True)
        self.close()
        os.mkdir(self.dir, 0o700)  # the same: qemu_args may have paths in it
        self.pending = b""
        self.start()
        return self.wait_ready()

    def where(self):
        """The state of its vCPUs, to debug a hang."""
        try:
            lines = self.qemu_command("info status") + self.qemu_command("info cpus")
            for _ in range(3):
                lines += self.qemu_command("info registers -a")
                time.sleep(0.2)
        except (GuestError, OSError, ValueError) as err:
            return f"its monitor does not answer: {err}"
        return "\n".join(line.strip() for line in lines.splitlines() if re.search("RIP|CPU|status", line))

    def start(self):
        with open(self.path("qemu.log"), "wb") as log:
            # The plugin puts its socket below XDG_RUNTIME_DIR.
            self.process = self.popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                      start_new_session=True, env=dict(os.environ, XDG_RUNTIME_DIR=self.dir))
        self.channel = self._connect("channel")

    def wait_ready(self):
        self._read_until(b"READY\n", time.monotonic() + BOOT_SECONDS, "boot")
        return self

    @property
    def pid(self):
        return getattr(self.process, "inside", self.process.pid)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """kill -9 of QEMU."""
        if self.process:
            self.process.kill()
            self.process.wait(timeout=LIMIT)

    def close(self):
        self.kill()
        if self.channel:
            self.channel.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    # --- commands in the guest ----------------------------------------------------------------------

    def run(self, command, timeout=LIMIT):
        """Run a shell command; returns (status, stdout and stderr as text)."""
        status, out = self._request(command, timeout)
        return status, out.decode("utf-8", "replace")

    def check(self, command, timeout=LIMIT):
        """Run a shell command that must succeed; returns its output."""
        status, out = self.run(command, timeout)
        if status != 0:
            raise GuestError(f"in the guest: {command!r} ended with {status}: {out.strip()}")
        return out

    def builtin(self, command, timeout=LIMIT):
        """Run shell built-ins in the guest's init itself: no new process, and no system call of a new one."""
        return self._request(f"!{command}", timeout)[0]

    def spawn(self, command):
        """Start a shell command in the background; see Job."""
        job = Job(self, next(self.tokens), command)
        inner = (f"{command} >{job.base}.out 2>&1 <{job.base}.in; echo $? >{job.base}.tmp; "
                 f"mv {job.base}.tmp {job.base}.rc")
        # The fifo is held open for both ways, so that opening it never waits.
        self.check(f"mkfifo {job.base}.in; exec 9<>{job.base}.in; setsid sh -c {shlex.quote(inner)} >/dev/null 2>&1 & ")
        return job

    @contextlib.contextmanager
    def load(self):
        """In a with statement: processes that read, write, call, sleep, start others, and end well."""
        job = self.spawn("mixed 100000")
        yield job
        said = job.output()
        self.run("killall -9 mixed")
        job.wait_end()
        if said:
            raise GuestError(f"in the guest: the load failed: {said}")

    def read_file(self, path, timeout=LIMIT):
        """The bytes of a file in the guest (any /proc file too)."""
        copy = f"/tmp/.copy{next(self.tokens)}"
        size = int(self.check(f"gzip -1c {path} >{copy} && stat -c %s {copy}", timeout))
        data = b""
        step = 1 << 20
        for part in range(0, size, step):
            status, out = self._request(f"dd if={copy} bs={step} skip={part // step} count=1 2>/dev/null", timeout)
            if status != 0:
                raise GuestError(f"in the guest: reading {path} failed")
            data += out
        self.check(f"rm {copy}")
        if len(data) != size:
            raise GuestError(f"in the guest: {path}: {len(data)} bytes of {size} came over")
        return gzip.decompress(data)

    def _request(self, command, timeout):
        token = f"T{next(self.tokens)}"
        if "\n" in command:
            raise ValueError("one line only")
        try:
            self.channel.sendall(f"{token} {command}\n".encode())
        except OSError:
            raise GuestError(self._story(f"QEMU is gone: {command}")) from None
        deadline = time.monotonic() + timeout
        out = self._read_until(f"\n{token} ".encode(), deadline, command)
        status = self._read_until(b"\n", deadline, command)
        return int(status), out

    # --- from outside -------------------------------------------------------------------------------

    def qmp(self, command, **arguments):
        """One QMP command; returns its "return" value."""
        with self._connect("qmp") as sock, sock.makefile("rwb") as f:
            def call(request):
                f.write(json.dumps(request).encode() + b"\n")
                f.flush()
                while True:
                    answer = json.loads(f.readline())
                    if "error" in answer:
                        raise GuestError(f"QMP {request['execute']}: {answer['error']['desc']}")
                    if "return" in answer:
                        return answer["return"]
            f.readline()
            call({"execute": "qmp_capabilities"})
            return call({"execute": command, "arguments": arguments})

    def qemu_command(self, line):
        """One line of QEMU's own monitor language; its answer as text."""
        return self.qmp("human-monitor-command", **{"command-line": line})

    def control_socket(self):
        """The engine's socket, which the plugin has made below XDG_RUNTIME_DIR."""
        folder = os.path.join(self.dir, "outsight")
        return os.path.join(folder, next(name for name in os.listdir(folder) if name.endswith(".sock")))

    def ram_path(self):
        """The guest's RAM as a file of the host. On q35 with less than 2 GiB, offset is physical address."""
        fds = f"/proc/{self.pid}/fd"
        for fd in os.listdir(fds):
            try:
                if "memfd:memory-backend-memfd" in os.readlink(f"{fds}/{fd}"):
                    return f"{fds}/{fd}"
            except OSError:
                continue
        raise GuestError("QEMU has no memfd with the guest's RAM")

    def console(self):
        try:
            with open(self.path("console"), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def _connect(self, name):
        deadline = time.monotonic() + LIMIT
        while True:
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            sock.settimeout(LIMIT)
            try:
                sock.connect(self.path(name))
                return sock
            except OSError:
                sock.close()
                if not self.alive() or time.monotonic() > deadline:
                    raise GuestError(self._story("QEMU did not start")) from None
                time.sleep(0.02)

    def _read_until(self, marker, deadline, what):
        """Bytes up to marker, which is taken out too."""
        searched = 0
        while True:
            at = self.pending.find(marker, searched)
            if at >= 0:
                out, self.pending = self.pending[:at], self.pending[at + len(marker):]
                return out
            searched = max(0, len(self.pending) - len(marker))
            left = deadline - time.monotonic()
            if left <= 0:
                raise GuestError(self._story(f"no answer in time: {what}"))
            self.channel.settimeout(left)
            try:
                chunk = self.channel.recv(1 << 18)
            except TimeoutError:
                continue
            except OSError:
                chunk = b""
            if not chunk:
                raise GuestError(self._story(f"QEMU is gone: {what}"))
            self._received(chunk)
            self.pending += chunk

    def _received(self, chunk):
        """For guests whose channel carries more than answers."""

    def _story(self, what):
        try:
            with open(self.path("qemu.log"), encoding="utf-8", errors="replace") as f:
                log = f.read()
        except OSError:
            log = ""
        return "\n".join([f"{self.kernel} guest {self.name}: {what}", self._fate(), log[-2000:],
                          self.console()[-2000:]]).rstrip()

    def _fate(self):
        """How QEMU ended: a signal's number is negative, and 0 is the guest's own power-off or triple fault."""
        try:
            return f"QEMU ended with {self.process.wait(timeout=5)}"
        except subprocess.TimeoutExpired:
            return "QEMU runs"


class Job:
    """A command running in the guest's background."""

    def __init__(self, guest, number, command):
        self.guest, self.command, self.base = guest, command, f"/tmp/.job{number}"

    def send(self, line):
        """A line to its stdin."""
        if self.guest.builtin(f"echo {shlex.quote(line)} >{self.base}.in") != 0:
            raise GuestError(f"in the guest: no stdin of {self.command!r}")

    def output(self):
        return self.guest.run(f"cat {self.base}.out")[1]

    def wait_output(self, text, timeout=LIMIT):
        """Until it has printed text."""
        deadline = time.monotonic() + timeout
        while text not in self.output():
            if time.monotonic() > deadline:
                raise GuestError(f"in the guest: {self.command!r} did not print {text!r}: {self.output()[-500:]}")
            time.sleep(0.05)
        return self

    def ended(self):
        """Asked by built-ins, so that nothing else runs in the guest meanwhile."""
        return self.guest.builtin(f"[ -e {self.base}.rc ]") == 0

    def wait_end(self, timeout=LIMIT):
        """Until it has ended."""
        deadline = time.monotonic() + timeout
        while not self.ended():
            if time.monotonic() > deadline:
                raise GuestError(f"in the guest: {self.command!r} did not end in time: {self.output()[-500:]}")
            time.sleep(0.1)
        return self

    def wait(self, timeout=LIMIT):
        """Wait until it ends; returns (status, output)."""
        self.wait_end(timeout)
        return int(self.guest.check(f"cat {self.base}.rc")), self.output()

    def done(self, timeout=LIMIT):
        """Wait; must have ended with 0; returns its output."""
        status, text = self.wait(timeout)
        if status != 0:
            raise GuestError(f"in the guest: {self.command!r} ended with {status}: {text.strip()}")
        return text
