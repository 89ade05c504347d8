#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker of a fleet with the small guest on /dev/kvm: guest_test.py OUTSIGHT SMALL-GUEST [Class.test…]."""
import concurrent.futures
import os
import struct
import sys
import tempfile
import time
import unittest.mock

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kvm"))
# pylint: disable=wrong-import-position
from small_guest import CALLS, GUEST, OUTSIGHT, RESTS, ROUND, TRAPPED, GuestTest, Vm, elf_text, limit, main
import protocol

SERVE = os.path.join(os.path.dirname(OUTSIGHT), "outsight-serve")
EXACT = (("maxcost", "0"),)


class FleetTest(GuestTest):
    def vm(self, cpus, extra=RESTS):
        return super().vm(cpus, extra)

    def worker(self, **env):
        worker = protocol.Worker(SERVE, {"OUTSIGHT_FLEET_VMLINUX": GUEST, **env})
        self.addCleanup(worker.close)
        return worker

    def traced(self, vm, *programs, options=EXACT, **env):
        worker = self.worker(**env)
        worker.begin(vm.socket, *programs, options=options)
        worker.start()
        return worker

    def by_function(self, worker):
        """What a clause with the key probefunc has counted."""
        return {key.strip(b"\0").decode(): n for (_, key), n in worker.sums().items()}

    def clean(self, vm):
        vm.wait_clean()
        self.check_unharmed(vm)

    def begun(self, worker):
        """Its first data has come."""
        worker.await_(("AGGREGATES", "RECORDS"), limit(60))


class Traced(FleetTest):
    # --- data

    def test_counts(self):
        """A round's calls, each once, over all deltas; exit() ends it with its status, and says so."""
        vm = self.vm(2)
        worker = self.worker()
        matched = worker.begin(vm.socket, "BEGIN { on = 0; } fbt::round_begin:entry { on = arg0; } "
                               "fbt::probed_*:entry /on/ { @[probefunc] = count(); } fbt::round_end:entry /on/ { exit(7); } "
                               "tick-1s { x++; } END { printa(@); }", options=(*EXACT, ("aggrate", "50ms"), ("switchrate", "20ms")))
        self.assertEqual(matched, len(TRAPPED) + 2)
        self.assertEqual([g[:5] for g in worker.all("GUEST")], [(0, "small", 1, 0, "")])
        worker.start()
        self.assertEqual(worker.await_("ENDED", limit(60)), (1, 7, 0, ""))
        self.assertEqual(self.by_function(worker), {f"probed_{f}": CALLS * 2 * (2 if f == "load" else 1) for f in TRAPPED})
        self.assertEqual(set(worker.enabled().values()), {f"fbt:vmlinux:probed_{f}:entry" for f in TRAPPED} |
                         {"fbt:vmlinux:round_end:entry"})
        self.assertEqual(worker.wait(limit(60)), 0)
        self.check_unharmed(vm)

    def test_operator_does_not_read(self):
        """Nothing is lost while it takes nothing, but says that it is there: deltas fold, and records are counted that have no
        room."""
        vm = self.vm(1)
        worker = self.traced(vm, "fbt::round_begin:entry { on = 1; } fbt::probed_nop:entry /on/ { @ = count(); } "
                             "fbt::probed_nop:entry /on/ { trace(probefunc); }",
                             options=(*EXACT, ("strsize", "4k"), ("bufsize", "64k"), ("aggrate", "10ms"), ("switchrate", "2ms"),
                                      ("bufresize", "manual")))
        self.begun(worker)
        rounds = vm.barriers()
        while vm.barriers() < rounds + 90:  # 30 rounds of 50 records, of 4 KiB each
            worker.packet(0)
            time.sleep(0.1)
        worker.stop(limit(60))
        records = sum(len(r) for r in worker.all("RECORDS"))
        dropped = sum(d[2] for drops in worker.all("DROPS") for d in drops if d[0] == 0)
        total = sum(worker.sums().values())
        self.assertGreater(records, 0)
        self.assertGreater(dropped, 0)
        self.assertEqual(records + dropped, total)
        self.check_unharmed(vm)

    def test_variables(self):
        """Guests' begin as BEGIN left them, and are not what a tick writes."""
        vm = self.vm(1)
        worker = self.traced(vm, "BEGIN { n = 40; n += 2; s = \"left\"; exit(n); } tick-1ms { n = 1; } "
                             "fbt::round_begin:entry { trace(n); trace(s); exit(0); }", options=(*EXACT, ("strsize", "8")))
        self.assertEqual(worker.await_("ENDED", limit(60))[:2], (1, 0))
        data = worker.all("RECORDS")[0][0][3]
        self.assertEqual((struct.unpack_from("<i", data, 12)[0], data[16:24]), (42, b"left\0\0\0\0"))

    def test_two_variables(self):
        """A variable that a tick is to show is another one there, which is said once, and the session goes on."""
        vm = self.vm(1)
        worker = self.traced(vm, "fbt::round_begin:entry { n++; m++; } tick-1s { trace(n); } END { trace(m); }",
                             "fbt::round_begin:entry { @ = count(); }")
        self.begun(worker)
        self.assertEqual([text for _, text in worker.all("SAY") if "each guest has its own" in text],
                         ["n and others: each guest has its own in clauses of its probes, the operator another in END and ticks: "
                          "neither sees what the other writes (aggregations are common to all)"])
        worker.stop(limit(60))

    # --- names

    def local(self, vm, program):
        """The texts that a session of this host's own prints."""
        return vm.trace(ROUND % program, "-x", "stackindent=0").split()

    def test_names(self):
        """Stacks and symbols go as numbers of what this host's own outsight prints."""
        vm = self.vm(1)
        program = "fbt::probed_nop:entry /on/ { @[stack(3), sym(caller), mod(caller)] = count(); }"
        local = self.local(vm, program)
        worker = self.traced(vm, ROUND % program)
        self.assertEqual(worker.await_("ENDED", limit(60))[:2], (1, 0))
        names = worker.names()
        shown = []
        for (_, key), n in sorted(worker.sums().items(), key=lambda x: x[1]):
            words = struct.unpack_from("<5Q", key, 4)  # 4 more before them, for their alignment
            shown += [names[w][0] for w in words if w] + [str(n)]
        self.assertEqual(sorted(shown), sorted(local))
        self.assertGreaterEqual(min(names), 0x10000)

    def test_formats(self):
        """%a of a number, in a record and in the key of a printa(); a number that is printed as one stays."""
        vm = self.vm(1)
        program = ('fbt::probed_nop:entry /on/ { printf("%*d %a %x", 3, 1, caller, caller); @a[caller] = count(); '
                   '@b[caller] = count(); } END { printa("%a %@d\\n", @a); printa("%x %@d\\n", @b); }')
        worker = self.traced(vm, ROUND % program)
        self.assertEqual(worker.await_("ENDED", limit(60))[:2], (1, 0))
        names = worker.names()
        data = worker.all("RECORDS")[0][0][3]
        width, one, number, address = struct.unpack_from("<ii4xQQ" if len(data) >= 40 else "<iiQQ", data, 12)
        self.assertEqual((width, one), (3, 1))
        self.assertRegex(names[number][0], r"^vmlinux`\w+\+0x[0-9a-f]+$")
        self.assertGreater(address, 1 << 63)
        keys = {struct.unpack_from("<Q", key, 4)[0] for _, key in worker.sums()} - {address}
        self.assertEqual([names[key][0] for key in keys], [names[number][0]])

    # --- the end

    def test_stopped(self):
        vm = self.vm(2)
        worker = self.traced(vm, "fbt::probed_*:entry { @[probefunc] = count(); }")
        self.begun(worker)
        self.assertNotEqual(vm.text(), elf_text(GUEST)[1])
        self.assertEqual(worker.stop(limit(60)), (0, 0, 0, ""))
        self.assertEqual(vm.text(), elf_text(GUEST)[1])
        self.assertEqual(worker.wait(limit(60)), 0)
        self.check_unharmed(vm)

    def test_killed(self):
        """kill -9 of the worker: the engine takes its probes out."""
        vm = self.vm(2)
        worker = self.traced(vm, "fbt::probed_*:entry { @[probefunc] = count(); }")
        self.begun(worker)
        worker.process.kill()
        self.clean(vm)

    def test_silent(self):
        """An operator that is silent, and one that is gone: the worker takes its probes out, and ends."""
        for how in "silent", "gone":
            with self.subTest(how):
                vm = self.vm(2)
                worker = self.traced(vm, "fbt::probed_*:entry { @[probefunc] = count(); }", OUTSIGHT_FLEET_LEASE_MS="2000")
                self.begun(worker)
                if how == "gone":
                    worker.process.stdin.close()
                self.clean(vm)
                self.assertEqual(worker.process.wait(limit(60)), 1)

    def test_guest_ends(self):
        """A lost guest is a failure, and its name and end are news."""
        vm = self.vm(1)
        worker = self.traced(vm, "fbt::probed_*:entry { @[probefunc] = count(); }")
        self.begun(worker)
        vm.process.kill()
        exited, _, failed, text = worker.await_("ENDED", limit(60))
        self.assertEqual((exited, failed, text), (0, 1, f"guest small: its VMM (PID {vm.process.pid}) has ended"))
        self.assertEqual([(g[0], g[1], g[2]) for g in worker.all("GUEST")], [(0, "small", 1), (0, "small", 0)])

    def test_refused(self):
        """What would act on the operator's machine, and what is destructive without -w; nothing of the guest changes."""
        vm = self.vm(1)
        line = ("failed to compile script x.d: line 2: {}( ) in a clause of a guest's probes: no host decides what is done on the "
                "operator's machine; use it in BEGIN, in END or in a tick")
        for action, text in (('system("true");', line.format("system")), ('freopen("/dev/null");', line.format("freopen")),
                             ('setopt("quiet");', line.format("setopt")), ("ftruncate();", line.format("ftruncate")),
                             ("stop();", "could not enable tracing: Destructive actions not allowed")):
            with self.subTest(action):
                worker = self.worker()
                worker.send("HELLO", protocol.hello())
                options = [] if action == "stop();" else [("destructive", None)]
                worker.send("RUN", protocol.run(vm.socket, script=("x.d", "BEGIN { x = 1; }\nfbt::probed_nop:entry { " + action + " }"),
                                                options=options))
                self.assertEqual(worker.await_("REFUSED", limit(60))[1], text)
                self.assertEqual(worker.wait(limit(60)), 1)
        self.check_unharmed(vm)


class Pattern(FleetTest):
    """Guests by a pattern: their monitors' sockets are where those of this user are looked for."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="outsight-fleet-")
        self.addCleanup(folder.cleanup)
        patch = unittest.mock.patch.dict(os.environ, XDG_RUNTIME_DIR=folder.name)
        patch.start()
        self.addCleanup(patch.stop)
        self.folder = folder.name

    def named(self, name):
        # without the option --socket, which small_guest.py gives its monitors
        vm = Vm(1, f"input=1 end=0 {RESTS}", told=True, name=name, prefix=("bash", "-c", 'exec "$0" "${@:1:8}" "${@:11}"'))
        self.addCleanup(vm.close)
        vm.socket = os.path.join(self.folder, "outsight", f"{vm.process.pid}.sock")
        return vm

    def test_guests(self):
        """Two there are, and one that joins; a third name is not meant. One ends, and the others go on."""
        vms = [self.named(name) for name in ("wg1", "wg2", "db")]
        worker = self.worker()
        worker.begin("wg*", "BEGIN { n = 7; } fbt::round_begin:entry { @[guest, n] = count(); }",
                     options=(*EXACT, ("strsize", "8"), ("aggrate", "50ms"), ("switchrate", "20ms")))
        self.assertEqual(sorted(g[:5] for g in worker.all("GUEST")), [(0, "wg1", 1, 0, ""), (1, "wg2", 1, 0, "")])
        worker.start()
        self.until(worker, {"wg1", "wg2"})
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            joining = thread.submit(self.named, "wg3")
            while not joining.done():
                worker.poll()  # a lease may be shorter than a busy host takes to start a guest
        vms.append(joining.result())
        self.until(worker, {"wg1", "wg2", "wg3"})
        self.assertIn((2, "wg3", 1, 0, ""), [g[:5] for g in worker.all("GUEST")])
        vms[0].tell(b"e")
        while len(worker.all("GUEST")) < 4:
            worker.poll()
        self.assertEqual(worker.all("GUEST")[-1][:3], (0, "wg1", 0))
        self.assertEqual(worker.stop(limit(60)), (0, 0, 0, ""))
        self.assertEqual({key[12:16] for _, key in worker.sums()}, {struct.pack("<i", 7)})
        self.assertEqual(len(worker.all("PROGRAM")), 1)
        for vm in vms[1:]:
            self.assertEqual(vm.text(), elf_text(GUEST)[1])

    def until(self, worker, guests):
        end = time.monotonic() + limit(60)
        while {key[4:12].rstrip(b"\0").decode() for _, key in worker.sums()} != guests:
            self.assertIsNone(worker.process.poll(), worker.got)
            self.assertLess(time.monotonic(), end, worker.got)
            worker.poll()


if __name__ == "__main__":
    main()
