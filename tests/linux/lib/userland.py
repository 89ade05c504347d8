# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian 12's programs in a guest (scripts/guest-userland): mounted on /u as a container's root is."""
import base64
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from lib.guest import MIB, Guest, cache_dir
from lib.pace import LIMIT
from lib.programs import HERE, Programs, library_symbols, load_bias, names_of, symbols
from lib.scenario import Scenario

AT = "/u"


def folder():
    """What --sysroot is given; the tree is below it where the guest has it."""
    return os.path.join(cache_dir(), "userland")


def why_no_userland(kernel):
    """None when a guest with this kernel can have it, else the reason."""
    if all(os.path.exists(os.path.join(folder(), name)) for name in ("hash", "disk", f"{kernel}.cpio")):
        return None
    return f"no userland for {kernel} (scripts/guest-userland {kernel} makes it)"


class UserlandScenario(Scenario):
    """One guest with the userland, and the programs of lib/programs.py."""

    @classmethod
    def setUpClass(cls):
        cls.vm = None
        cls.reason = why_no_userland(cls.kernel)
        if cls.reason:
            return
        cls.folder = tempfile.mkdtemp(prefix="outsight-userland-")
        cls.programs = Programs(cls.folder)
        both = os.path.join(cls.folder, "both.cpio")
        with open(both, "wb") as out:
            for path in (cls.programs.archive, os.path.join(folder(), f"{cls.kernel}.cpio")):
                out.write(bytes(-out.tell() % 512))
                with open(path, "rb") as f:
                    shutil.copyfileobj(f, out)
        disk = os.path.join(folder(), "disk")
        cls.vm = Guest(cls.kernel, plugin=cls.outsight.plugin, smp=2, memory=1536 * MIB, more_files=both, qemu_args=[
            "-drive", f"file={disk},if=none,id=userland,format=raw,readonly=on", "-device", "virtio-blk-pci,drive=userland"])
        cls.vm.__enter__()
        cls.vm.check("userland")

    @classmethod
    def tearDownClass(cls):
        if cls.vm:
            cls.vm.close()
            shutil.rmtree(cls.folder)

    @classmethod
    def bring(cls, path):
        """A file into the userland's /tmp."""
        with open(path, "rb") as f:
            cls.vm.check(f"echo {base64.b64encode(f.read()).decode()} | base64 -d >'{AT}/tmp/{os.path.basename(path)}'")

    def read_in(self, *paths):
        """What a program does not use of its file is in memory once the file has been read: notes of static probes, which belong to
        no segment, and code that has not run yet."""
        self.vm.check(f"cat {' '.join(f'{AT}/{path}' for path in paths)} >/dev/null")

    def setUp(self):
        if self.reason:
            self.skipTest(self.reason)

    def tearDown(self):
        self.outsight.kill_all()


class JavaScenario(UserlandScenario):
    """… and the classes of a program in Java."""
    source = ""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not cls.vm:
            return
        path, classes = os.path.join(HERE, cls.source), os.path.join(cls.folder, "classes")
        if shutil.which("javac") and not subprocess.run(["javac", "--release", "17", "-d", classes, path],
                                                        capture_output=True, check=False).returncode:
            for name in os.listdir(classes):
                cls.bring(os.path.join(classes, name))
        else:  # the guest's own compiler, under TCG
            cls.bring(path)
            cls.vm.check("userland java -XX:TieredStopAtLevel=1 -m jdk.compiler/com.sun.tools.javac.Main "
                         f"-d /tmp /tmp/{cls.source}", timeout=10 * LIMIT)


class LineProgram:
    """A program of the userland that does something at each line of its input, and then prints "done". @command keeps its
    process: it may be "env A=B PROGRAM", but not a shell's."""

    def __init__(self, vm, command, name="a"):
        self.vm, self.name, self.answers = vm, name, 0
        vm.check(f"rm -f /tmp/to.{name}; mkfifo /tmp/to.{name}; : >/tmp/said.{name}")
        self.pid = int(vm.check(f"userland {command} <>/tmp/to.{name} >/tmp/said.{name} 2>&1 & echo $!"))

    def said(self):
        """All that it has printed."""
        return self.vm.check(f"cat /tmp/said.{self.name}")

    def wait(self, pattern, count=1):
        """Until it has printed so many such lines."""
        self.vm.check(f"until [ $(grep -c '{pattern}' /tmp/said.{self.name}) -ge {count} ]; do sleep 0.1; done", 3 * LIMIT)
        return self

    def ask(self, *lines):
        """Give it a line, then wait until it has done it, for each; what it printed meanwhile."""
        before = len(self.said())
        for line in lines:
            self.answers += 1
            self.vm.check(f"printf '%s\\n' {shlex.quote(line)} >/tmp/to.{self.name}")
            self.wait("^done$", self.answers)
        return self.said()[before:]


class Names:
    """What an address of a process may be called: by its mappings, and nm(1) of the userland's files, or of @more's
    ({path in the guest: file of the host})."""

    def __init__(self, maps, more):
        self.maps, self.more = maps, more
        self.ranges = [(int(a, 16), int(b, 16), path) for a, b, path in
                       re.findall(r"(?m)^([0-9a-f]+)-([0-9a-f]+) ..x. .* (\S+)$", maps)]
        self.tables = {}

    def _of(self, path):
        if path not in self.tables:
            host = self.more.get(path, folder() + path)
            table = library_symbols(host) + (symbols(host) if path in self.more else [])
            self.tables[path] = (load_bias(host, self.maps, os.path.basename(path)), table)
        return self.tables[path]

    def fits(self, text, pc):
        """Is that "object`symbol+0x12" of @pc? None: no; "named", "unnamed" (sub_OFFSET), "bare" (object`ADDRESS), "other" (of
        no file)."""
        path = next((path for start, end, path in self.ranges if start <= pc < end), "")
        if not path.startswith(f"{AT}/"):
            return "other"
        bias, table = self._of(path)
        name, _, symbol = text.partition("`")
        if name != os.path.basename(path):
            return None
        right = names_of(pc, bias, table)
        if right:
            return "named" if symbol in right else None
        if symbol == f"{pc:#x}":
            return "bare"
        found = re.fullmatch(r"sub_([0-9a-f]+)(?:\+0x([0-9a-f]+))?", symbol)
        return "unnamed" if found and bias + int(found[1], 16) + int(found[2] or "0", 16) == pc else None


