# SPDX-License-Identifier: GPL-2.0-or-later
"""The test guest's initrd with the benchmark's own programs behind it: one more cpio archive."""
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def libraries(program):
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", out)


def add_program(root, program):
    """A dynamic program of this machine with its libraries."""
    for path in [program, *libraries(program)]:
        target = os.path.join(root, path.lstrip("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)


def archive(out, keep=None):
    """The loads of bench/guest + bpftrace (when this machine has it) → out; True with bpftrace. The loads are in the folder
    @keep too."""
    bpftrace = shutil.which("bpftrace")
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(f"{root}/bin")
        for load in ("getppid_ns", "gated", "events", "user", "crowd", "execs"):
            subprocess.run(["gcc", "-O2", "-static", "-pthread", "-D_GNU_SOURCE", "-o", f"{root}/bin/{load}",
                            f"{HERE}/guest/{load}.c"], check=True)
            if keep:
                shutil.copy(f"{root}/bin/{load}", keep)
        if bpftrace:
            add_program(root, os.path.realpath(bpftrace))
            if not os.path.realpath(bpftrace).startswith("/bin/"):
                shutil.copy(os.path.realpath(bpftrace), f"{root}/bin/bpftrace")
        with open(out, "wb") as whole:
            subprocess.run("find . | cpio -o -H newc --quiet", shell=True, cwd=root, stdout=whole, check=True)
    return bpftrace is not None


def make(initrd, out, keep=None, more=()):
    """initrd + the archives @more + archive() → out; True with bpftrace."""
    with tempfile.TemporaryDirectory() as folder:
        own = os.path.join(folder, "own.cpio")
        has_bpftrace = archive(own, keep)
        with open(out, "wb") as whole:
            for path in (initrd, *more, own):
                with open(path, "rb") as f:
                    part = f.read()
                whole.write(part + bytes(-len(part) % 512))
    return has_bpftrace
