# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that scenarios share: booted when the first one asks, checked after each, and booted anew only after one
that left something behind."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from lib import agent as ga
from lib.guest import Guest, GuestError
from lib.pace import LIMIT
from lib.programs import Programs

# What a kernel says when it, or what is done to it, is wrong.
TROUBLE = re.compile(r"BUG|WARNING|Oops|general protection|refcount|list_del corruption|scheduling while atomic|"
                     r"Call Trace|left behind")
MODULES = ("outsight", "hide", "pulse")
LEFT = re.compile(rf"module ({'|'.join(MODULES)})$")
WORKLOADS = "mixed writer reader looper spawner child spin reads getppid_loop sleep"


class SharedGuest:
    """One guest for many scenarios. @engine: with the TCG plugin; without it, the guest has a gdb stub at stub()."""

    SMP = 4

    def __init__(self, kernel, outsight, engine=True):
        self.kernel, self.outsight, self.engine = kernel, outsight, engine
        self.guest = None
        self.folder = None

    def get(self):
        if self.guest and not self.guest.alive():
            self.close()
        if not self.guest:
            self.guest = self._new().__enter__()
        return self.guest

    def _new(self):
        if not self.engine:
            guest = Guest(self.kernel, smp=2)
            guest.qemu_args = ["-gdb", f"unix:{guest.path('stub')},server=on,wait=off"]
            return guest
        self.folder = tempfile.mkdtemp(prefix="outsight-modules-")
        modules = [name for name in MODULES if not ga.why_no_agent(self.kernel, name)]
        archive = ga.archive(self.kernel, os.path.join(self.folder, "modules.cpio"), *modules) if modules else None
        return Guest(self.kernel, plugin=self.outsight.plugin, smp=self.SMP, more_files=archive)

    def close(self):
        if self.guest:
            self.guest.close()
            self.guest = None
        if self.folder:
            shutil.rmtree(self.folder)
            self.folder = None

    def check_clean(self):
        """End what a scenario left running, then raise AssertionError if the guest is not as it was booted."""
        self.outsight.kill_all()
        if not self.guest:  # its boot failed, which is the error to report
            return
        try:
            found = self._found()
        except GuestError as err:
            self.close()
            raise AssertionError(f"the shared guest is lost: {err}") from err
        if found:
            self.close()
            raise AssertionError("the scenario left behind: " + "; ".join(found))

    def _found(self):
        modules = " ".join(reversed(MODULES))
        # One command: each new process of the guest costs a tenth of a second.
        said = self.guest.check(f"killall -q -9 {WORKLOADS}; for m in {modules}; do [ ! -e /sys/module/$m ] || rmmod $m; done; "
                                f"rm -f /tmp/enough; for m in {modules}; do [ ! -e /sys/module/$m ] || echo module $m; done; dmesg")
        lines = said.splitlines()
        found = [line for line in lines if TROUBLE.search(line) or LEFT.match(line)]
        trouble = next((i for i, line in enumerate(lines) if TROUBLE.search(line)), None)
        if trouble is not None:
            found.append("\n".join(["the guest's kernel:", *lines[max(trouble - 20, 0):trouble + 100]]))
        if self.engine and not self._sessions_end():
            found.append("a session of the engine")
        return found

    def _sessions_end(self):
        """Has the engine let go of every session? It notices a killed client by itself, a little later."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            done = subprocess.run([self.outsight.binary, "guests", "--json"], env=self.outsight.environment(self.guest),
                                  capture_output=True, text=True, timeout=LIMIT, check=True)
            if [row["sessions"] for row in json.loads(done.stdout) if row["pid"] == self.guest.pid] == [0]:
                return True
            time.sleep(0.1)
        return False


class ProgramGuest(SharedGuest):
    """The same for scenarios with programs of ours: two vCPUs, and all that lib/programs.py builds."""

    programs = None

    def _new(self):
        self.folder = tempfile.mkdtemp(prefix="outsight-programs-")
        self.programs = Programs(self.folder, cxx=True, python=True, runtimes=True)
        return Guest(self.kernel, plugin=self.outsight.plugin, smp=2, more_files=self.programs.archive)
