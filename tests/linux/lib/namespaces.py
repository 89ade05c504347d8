# SPDX-License-Identifier: GPL-2.0-or-later
"""Namespaces of a test's own: it sees no process, and so no guest, of another test or suite, and is not seen by one."""
import os
import shutil
import subprocess
import sys

INSIDE = "OUTSIGHT_TEST_INSIDE"
PROCESSES = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def can_make(namespaces):
    return (os.geteuid() == 0 and shutil.which("unshare") is not None and
            subprocess.run(["unshare", *namespaces, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0)


def be_init():
    """The namespace's first process waits for all that end in it: a killed VMM whose parent has ended would stay a zombie."""
    child = os.fork()
    while child:
        pid, status = os.wait()
        if pid == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xff)


def enter(*more):
    """Run this program again among processes of its own, and in @more namespaces ("--net": abstract sockets too). Where that
    takes rights that we lack, other guests are seen."""
    if os.environ.pop(INSIDE, None):
        be_init()
    elif can_make([*PROCESSES, *more]):
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", *PROCESSES, *more, sys.executable, "-B", *sys.argv])
