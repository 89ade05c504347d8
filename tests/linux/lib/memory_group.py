# SPDX-License-Identifier: GPL-2.0-or-later
"""A memory cgroup of a test's own, of version 1 or 2."""
import contextlib
import os
import tempfile
import time

VERSION_1 = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
VERSION_2 = ("/sys/fs/cgroup", "memory.max", "memory.current")


class NoGroup(Exception):
    """There can be none here."""


def _make(top):
    try:
        return tempfile.mkdtemp(prefix="outsight-test-", dir=top)
    except OSError as err:
        raise NoGroup(f"no cgroup can be made in {top}: {err.strerror}") from None


class MemoryGroup:
    """Use it in a with statement; whoever is in it should have ended when that ends."""

    def __init__(self):
        two = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        top, self.limit_file, self.usage_file = VERSION_2 if two else VERSION_1
        if two:
            with contextlib.suppress(OSError), open(f"{top}/cgroup.subtree_control", "w", encoding="ascii") as f:
                f.write("+memory")
        self.path = _make(top)
        if not os.path.exists(self._file(self.limit_file)):
            os.rmdir(self.path)
            raise NoGroup(f"cgroups in {top} have no limit of memory")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end = time.monotonic() + 20
        while os.path.isdir(self.path) and time.monotonic() < end:
            with contextlib.suppress(OSError):
                os.rmdir(self.path)
            time.sleep(0.05)

    def _file(self, name):
        return os.path.join(self.path, name)

    def _write(self, name, value):
        with open(self._file(name), "w", encoding="ascii") as f:
            f.write(str(value))

    def add(self, pid):
        """What it has got until now stays where it is charged."""
        self._write("cgroup.procs", pid)

    def leave_room(self, size):
        """@size bytes more than what is in use now."""
        self._write(self.limit_file, self.usage() + size)

    def usage(self):
        with open(self._file(self.usage_file), encoding="ascii") as f:
            return int(f.read())
