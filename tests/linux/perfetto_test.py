# SPDX-License-Identifier: GPL-2.0-or-later
"""-o FILE.pftrace: threads of a stock guest as tracks of their own, whichever vCPU they run on."""
import collections
import os
import sys
import tempfile
import time

from lib import perfetto, protoc
from lib.pace import LIMIT
from lib.scenario import Scenario, main, only_full

THREADS, CALLS = 4, 200


class Threads(Scenario):
    def traced(self, guest, program, load):
        """What @program says of @load, which runs once the probes are in place."""
        with tempfile.TemporaryDirectory() as folder:
            path, begun = (os.path.join(folder, name) for name in ("x.pftrace", "begun"))
            trace = self.outsight.start(guest, "-qw", "-o", path, "-x", "bufsize=4m", "-n", program, "-n",
                                        f'BEGIN {{ system("touch {begun}"); }}')
            end = time.monotonic() + LIMIT
            while not os.path.exists(begun):
                self.assertTrue(trace.process.poll() is None and time.monotonic() < end, trace.story())
                time.sleep(0.02)
            guest.check(load)
            trace.stop()
            with open(path, "rb") as f:
                self.data = f.read()
            return perfetto.Trace(self.data)

    def check_by_protoc(self, slices):
        """A second reader finds the same, and so many slices."""
        with self.subTest(reader="protoc"):
            if protoc.MISSING:
                self.skipTest(protoc.MISSING)
            self.assertEqual(protoc.check_trace(self.data), slices)

    @only_full
    def test_threads(self):
        """Each thread's calls are slices on its track, whichever vCPU it runs on."""
        program = ('syscall::getppid:entry, syscall::getppid:return /execname == "getppid_loop"/ { trace(tid); trace(execname); } '
                   'syscall::getppid:entry /execname == "getppid_loop"/ { @calls[tid] = count(); }')
        with self.guest() as guest:
            found = self.traced(guest, program, f"getppid_loop {THREADS} {CALLS}")
            vmm = [track for track in found.tracks if track.process]
            self.assertEqual([track.process[0] for track in vmm], [guest.pid])
        threads = [track for track in found.tracks if track.name.startswith("getppid_loop ")]
        for track in threads:
            self.assertIs(track.parent, vmm[0])
            self.assertEqual({(event.kind, event.name) for event in track.events}, {(perfetto.BEGIN, "getppid")})
            self.assertTrue(all(event.end >= event.time for event in track.events))
            counter = found.named(f"@calls[{track.name.split()[1]}]")
            self.assertEqual(counter.events[-1].value, len(track.events))
        self.check_by_protoc(sum(len(track.events) for track in threads))
        # the first thread makes a call more
        self.assertEqual(sorted(len(track.events) // CALLS for track in threads)[-THREADS:], [1] * THREADS)

    def test_vcpus(self):
        """Functions within each other, on the track of the vCPU, which has its thread of this host."""
        calls = 'syscall::read:entry, fbt::vfs_read:entry, fbt::vfs_read:return, syscall::read:return'
        with self.guest() as guest:
            found = self.traced(guest, calls + ' /execname == "dd"/ { }', f"dd if=/dev/zero of=/dev/null bs=1 count={CALLS}")
            tids = os.listdir(f"/proc/{guest.pid}/task")
        vcpus = [track for track in found.tracks if track.thread]
        for track in vcpus:
            self.assertEqual(track.thread[0], guest.pid)
            self.assertIn(str(track.thread[1]), tids)
        self.assertEqual(len({track.thread[1] for track in vcpus}), len(vcpus))
        slices = collections.Counter((event.name, event.depth) for track in vcpus for event in track.events
                                     if event.kind == perfetto.BEGIN)
        self.assertEqual(slices["read", 0], slices["vfs_read", 1])
        self.assertGreaterEqual(slices["read", 0], CALLS)
        self.assertEqual(len(slices), 2, slices)
        self.check_by_protoc(sum(slices.values()))


if __name__ == "__main__":
    sys.exit(main())
