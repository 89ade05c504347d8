# SPDX-License-Identifier: GPL-2.0-or-later
"""A real system-wide libvirtd, for tests only: in mount, network and PID namespaces of its own, with empty
directories where the machine's libvirt has its own, and a user libvirt-qemu that only it knows. Nothing outside
sees it, and it ends with the test."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.namespaces import PROCESSES, be_init, can_make
from lib.pace import limit

INSIDE = "OUTSIGHT_TEST_NAMESPACES"
NAMESPACES = ["--net", *PROCESSES]
UID = 64055  # libvirt-qemu's on Debian
CONFIG = 'cgroup_controllers = [ ]\nstdio_handler = "file"\nremember_owner = 0\nmax_core = "unlimited"\n'


def reason_to_skip():
    for program in ("libvirtd", "virsh", "unshare", "qemu-system-x86_64"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
            return f"there is no {program} here"
    if os.geteuid() != 0:
        return "a libvirtd of its own takes root"
    if not can_make(NAMESPACES):
        return "no namespaces can be made here"
    return None


def enter_namespaces():
    """Run this program again in namespaces, or exit with 77."""
    if os.environ.get(INSIDE):
        be_init()
        return
    reason = reason_to_skip()
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(77)
    os.environ[INSIDE] = "1"
    # An operator's session daemon must not be used instead.
    for name in ("XDG_RUNTIME_DIR", "LIBVIRT_DEFAULT_URI"):
        os.environ.pop(name, None)
    os.execvp("unshare", ["unshare", *NAMESPACES, sys.executable, "-B", *sys.argv])


def mount(*args):
    subprocess.run(["mount", *args], check=True)


def add_line(path, line, fake):
    """A line more at the end of a file, for this namespace only."""
    copy = os.path.join(fake, os.path.basename(path))
    shutil.copy(path, copy)
    with open(copy, "a", encoding="utf-8") as f:
        f.write(line)
    mount("--bind", copy, path)


def run(*args, status=0, **options):
    done = subprocess.run(args, capture_output=True, text=True, timeout=limit(180), check=False, **options)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def virsh(*args):
    return run("virsh", "-q", *args).stdout.strip()


class Daemon:
    """Made once, inside the namespaces. dir: files that libvirt-qemu may read, with our libraries in dir/lib."""

    def __init__(self, libraries):
        os.makedirs("/etc/libvirt", exist_ok=True)
        for path in ("/run", "/var/lib", "/var/log", "/var/cache", "/etc/libvirt"):
            mount("-t", "tmpfs", "-o", "mode=755", "none", path)
        os.makedirs("/run/fake")
        add_line("/etc/passwd", f"libvirt-qemu:x:{UID}:{UID}::/var/lib/libvirt:/bin/false\n", "/run/fake")
        add_line("/etc/group", f"libvirt-qemu:x:{UID}:\n", "/run/fake")
        with contextlib.suppress(OSError):
            device = os.stat("/dev/kvm").st_rdev
            os.mknod("/run/fake/kvm", 0o020666, device)
            os.chmod("/run/fake/kvm", 0o666)
            mount("--bind", "/run/fake/kvm", "/dev/kvm")
        with open("/etc/libvirt/qemu.conf", "w", encoding="utf-8") as f:
            f.write(CONFIG)
        self.dir = tempfile.mkdtemp(prefix="outsight-libvirt-")
        os.chmod(self.dir, 0o755)
        os.mkdir(self.path("lib"))
        for name in ("liboutsight-tcg.so", "liboutsight-kvm.so"):
            shutil.copy(os.path.join(libraries, name), self.path("lib"))
        os.environ["OUTSIGHT_PLUGIN_DIR"] = self.path("lib")
        self.log = open(self.path("libvirtd.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([shutil.which("libvirtd", path=os.environ["PATH"] + ":/usr/sbin"),
                                         "--pid-file", "/run/libvirtd.pid"], stdout=self.log, stderr=self.log)
        self.wait()

    def wait(self):
        end = time.monotonic() + limit(60)
        while run("virsh", "-q", "list", status=None).returncode:
            if self.process.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                raise AssertionError(f"libvirtd does not answer: {self.log.read()}")
            time.sleep(0.1)

    def path(self, name):
        return os.path.join(self.dir, name)

    def copy(self, path, name):
        """A file where libvirt-qemu may read it."""
        shutil.copy(path, self.path(name))
        os.chmod(self.path(name), 0o644)
        return self.path(name)

    def domain_log(self, name):
        """The messages of libvirt and of its QEMU about it."""
        with contextlib.suppress(OSError), open(f"/var/log/libvirt/qemu/{name}.log", encoding="utf-8", errors="replace") as f:
            return f.read()[-4000:]
        return ""

    def close(self):
        for name in virsh("list", "--name").split():
            run("virsh", "-q", "destroy", name, status=None)
        self.process.terminate()
        self.process.wait(limit(60))
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def guests(outsight, *args):
    """`outsight guests` by name."""
    return {g["name"]: g for g in json.loads(run(outsight, "guests", "--json", *args).stdout)}


def qemu_log(name):
    with contextlib.suppress(OSError), open(f"/var/log/libvirt/qemu/{name}.log", encoding="utf-8") as f:
        return f.read()
    return ""


def paste(xml, lines):
    """Edit the domain, as `virsh edit` would."""
    return xml.replace("</domain>", lines + "</domain>")
