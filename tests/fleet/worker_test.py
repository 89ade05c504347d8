#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""outsight-serve --stdio as an operator meets it, without a guest: worker_test.py OUTSIGHT-SERVE [Class.test…]."""
import os
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit
from lib.scenario import run_module
import protocol

SERVE = os.path.abspath(sys.argv[1])
REASON_PROGRAM, REASON_GUEST, REASON_OTHER = 1, 2, 5


class Case(unittest.TestCase):
    maxDiff = None

    def worker(self, **env):
        worker = protocol.Worker(SERVE, env)
        self.addCleanup(worker.close)
        return worker

    def refused(self, *args, **kwargs):
        """Why: (reason, text). Its process ends with 1, and has said nothing else."""
        worker = self.worker()
        worker.send("HELLO", protocol.hello())
        worker.send("RUN", protocol.run(*args, **kwargs))
        reason = worker.await_("REFUSED", limit(60))
        self.assertEqual(worker.wait(limit(60)), 1)
        self.assertEqual(worker.process.stderr.read(), b"")
        return reason


def is_pending(pid, sig):
    """Has the process not taken the signal yet? False: it has, or is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            masks = [int(line.split()[1], 16) for line in f if line.startswith(("SigPnd:", "ShdPnd:"))]
    except FileNotFoundError:
        return False
    return any(mask >> (sig - 1) & 1 for mask in masks)


class Program(Case):
    """The command line of the program itself."""

    def run_it(self, *args):
        # what --stdio says is no text
        done = subprocess.run([SERVE, *args], capture_output=True, text=True, errors="replace", input="", timeout=limit(60),
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def test_help(self):
        status, out, err = self.run_it("--help")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("Usage: outsight-serve "), out)

    def test_version(self):
        status, out, err = self.run_it("--version")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^outsight-serve \d+\.\d+\.\d+\n$")

    def test_usage(self):
        for args in (("--sdtio",), ("--stdio", "x"), ("-h",)):
            with self.subTest(args):
                status, out, err = self.run_it(*args)
                self.assertEqual((status, out), (2, ""))
                self.assertIn("Usage: outsight-serve ", err)

    def test_nobody(self):
        """Standard input has ended before anything was said."""
        status, _, err = self.run_it("--stdio")
        self.assertEqual((status, err), (1, ""))


class Session(Case):
    def test_operators_clauses(self):
        """BEGIN, END and ticks match no probe of a host's, nor does what they do happen there."""
        worker = self.worker()
        matched = worker.begin("none", 'BEGIN { x = 1; printf("%d", x); trace(x); @b = count(); exit(4); }',
                               'tick-10ms { printf("tick"); @t = count(); exit(5); } END { @e = count(); }', "ERROR { exit(6); }")
        self.assertEqual(matched, 0)
        worker.start()
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            worker.poll()
        self.assertEqual(worker.stop(limit(60)), (0, 0, 0, ""))
        self.assertEqual(worker.wait(limit(60)), 0)
        self.assertEqual([kind for kind, _ in worker.got], ["HELLO", "PROGRAM", "READY", "STARTED", "ENDED"])

    def test_begin_acts_on_nothing(self):
        """Not even with -w: system() and freopen() are the operator's, and not in what a host sends."""
        worker = self.worker()
        path = f"/tmp/outsight-fleet-{os.getpid()}"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        worker.begin("none", f'BEGIN {{ system("touch {path}"); freopen("{path}"); printf("x"); stop(); }} END {{ system("true"); }}',
                     options=[("destructive", None)])
        dof = worker.all("PROGRAM")[0][0]
        self.assertNotIn(b"touch", dof)
        self.assertNotIn(path.encode(), dof)
        worker.start()
        worker.stop(limit(60))
        self.assertEqual(worker.wait(limit(60)), 0)
        self.assertFalse(os.path.exists(path))

    def test_stop_before_start(self):
        worker = self.worker()
        worker.begin("none", "BEGIN")
        self.assertEqual(worker.stop(limit(60)), (0, 0, 0, ""))
        self.assertEqual(worker.wait(limit(60)), 0)

    def test_sizes(self):
        """Those that the operator lays records out by."""
        worker = self.worker()
        worker.begin("none", "BEGIN", options=[("strsize", "99"), ("stackframes", "7"), ("ustackframes", "8"), ("jstackframes", "9"),
                                               ("jstackstrsize", "1k"), ("quiet", None), ("cpppath", "/bin/false"), ("cpp", None)])
        self.assertEqual(worker.all("PROGRAM")[0][1:], (99, 7, 8, 9, 1024))

    def test_signals(self):
        for sig in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            with self.subTest(sig):
                worker = self.worker()
                worker.begin("none", "BEGIN")
                worker.start()
                worker.process.send_signal(sig)
                self.assertEqual(worker.await_("ENDED", limit(60)), (0, 0, 1, "the session was ended on its host"))
                self.assertEqual(worker.wait(limit(60)), 1)

    def test_signals_at_once(self):
        """A daemon that is killed has its sessions told more than once: the operator is told all the same."""
        for _ in range(5):
            worker = self.worker()
            worker.begin("none", "BEGIN")
            worker.start()
            for _ in range(3):
                worker.process.send_signal(signal.SIGTERM)
                while is_pending(worker.process.pid, signal.SIGTERM):
                    time.sleep(0.0002)
            self.assertEqual(worker.await_("ENDED", limit(60)), (0, 0, 1, "the session was ended on its host"))
            self.assertEqual(worker.wait(limit(60)), 1)

    def test_time_limit(self):
        worker = self.worker()
        worker.begin("none", "BEGIN", options=[("ttl", "100ms")])
        worker.start()
        self.assertEqual(worker.await_("ENDED", limit(60)), (0, 0, 0, "the session's time limit has passed"))
        self.assertEqual(worker.wait(limit(60)), 0)

    def test_silent_operator(self):
        """It reads nothing and says nothing: the worker ends by itself."""
        worker = self.worker(OUTSIGHT_FLEET_LEASE_MS="2000")
        worker.begin("none", "BEGIN")
        worker.start()
        self.assertEqual(worker.process.wait(limit(60)), 1)

    def test_silent_from_the_first(self):
        worker = self.worker(OUTSIGHT_FLEET_LEASE_MS="2000")
        self.assertEqual(worker.process.wait(limit(60)), 1)

    def test_operator_gone(self):
        worker = self.worker()
        worker.begin("none", "BEGIN")
        worker.start()
        worker.process.stdin.close()
        self.assertEqual(worker.process.wait(limit(60)), 1)


class Refused(Case):
    def test_program(self):
        """In the words of a local session."""
        reason, text = self.refused("none", "BEGIN { x }}")
        self.assertEqual(reason, REASON_PROGRAM)
        self.assertTrue(text.startswith("invalid probe specifier BEGIN { x }}: "), text)

    def test_script(self):
        """Its file need not be here."""
        reason, text = self.refused("none", script=("/no/such/x.d", "BEGIN\n{\n\ttrace(1 +);\n}\n"))
        self.assertEqual(reason, REASON_PROGRAM)
        self.assertTrue(text.startswith("failed to compile script /no/such/x.d: line 3: syntax error near"), text)

    def test_arguments(self):
        reason, text = self.refused("none", "BEGIN { trace($1); }", args=("x", "1", "surplus"))
        self.assertEqual((reason, text), (REASON_PROGRAM, "invalid probe specifier BEGIN { trace($1); }: "
                                          "extraneous argument 'surplus' ($2 is not referenced)"))

    def test_guest(self):
        reason, text = self.refused("no-such-guest-anywhere", "BEGIN")
        self.assertEqual(reason, REASON_GUEST)
        self.assertIn("no-such-guest-anywhere", text)

    def test_pattern(self):
        reason, text = self.refused("no-such-guest*", "BEGIN")
        self.assertEqual((reason, text), (REASON_GUEST, "-g no-such-guest*: no running guest that can be traced has such a name; "
                                          "'outsight guests' lists all"))

    def test_option(self):
        for option, text in ((("bufsize", "much"), "failed to set -x bufsize=much: Invalid value for specified option"),
                             (("no_such", None), "failed to set -x no_such: Invalid option name")):
            with self.subTest(option):
                self.assertEqual(self.refused("none", "BEGIN", options=[option]), (REASON_PROGRAM, text))

    def test_no_program(self):
        self.assertEqual(self.refused("none"), (REASON_PROGRAM, "no program"))

    def test_broken(self):
        """RUN that is none."""
        for data in (b"", b"\xff" * 100, protocol.run("none", "BEGIN")[:-1], protocol.run("none", "BEGIN") + b"x"):
            with self.subTest(data):
                worker = self.worker()
                worker.send("HELLO", protocol.hello())
                worker.send("RUN", data)
                self.assertRegex(worker.await_("REFUSED", limit(60))[1], r"^a (broken )?message RUN")
                self.assertEqual(worker.wait(limit(60)), 1)

    def test_does_not_arrive(self):
        """A guest that is said to come from another host is waited for, and for no longer than that is wanted."""
        reason, text = self.refused("arriving:none:2b9f0d52-5f0e-4a58-9a55-3c2f6d1e7a10", "BEGIN")
        self.assertEqual((reason, text), (REASON_GUEST, "guest none has not arrived at this host"))
        worker = self.worker()
        worker.send("HELLO", protocol.hello())
        worker.send("RUN", protocol.run("arriving:none", "BEGIN"))
        worker.poll(0.5)
        self.assertEqual(worker.all("REFUSED"), [])
        worker.send("STOP")
        self.assertEqual(worker.await_("REFUSED", limit(60)), (REASON_GUEST, "guest none is no longer waited for"))
        self.assertEqual(worker.wait(limit(60)), 1)

    def test_other_protocol(self):
        worker = self.worker()
        other = protocol.PROTOCOL + 1
        worker.send("HELLO", protocol.hello(protocol=other))
        reason, text = worker.await_("REFUSED", limit(60))
        self.assertEqual(reason, REASON_OTHER)
        self.assertRegex(text, rf"^\S+ speaks protocol {other - 1} of the fleet, and this outsight {other}: both need the same release$")
        self.assertEqual(worker.wait(limit(60)), 1)

    def test_out_of_turn(self):
        """Messages that may not come then end it."""
        for kinds in (("RUN",), ("HELLO", "START"), ("HELLO", "HELLO"), ("READY",)):
            with self.subTest(kinds):
                worker = self.worker()
                for kind in kinds:
                    worker.send(kind, protocol.hello() if kind == "HELLO" else protocol.run("none", "BEGIN"))
                self.assertEqual(worker.wait(limit(60)), 1)

    def test_no_link(self):
        """Bytes that are no packets of a link."""
        for data in (struct.pack("<I", 0xffffffff), b"GET / HTTP/1.0\r\n\r\n" * 100):
            with self.subTest(data[:4]):
                worker = self.worker()
                try:
                    worker.process.stdin.write(data)
                    worker.process.stdin.flush()
                except BrokenPipeError:
                    pass
                self.assertEqual(worker.wait(limit(60)), 1)


class Hostile(Case):
    """Operators that keep a session without using it, or send more than it takes."""

    def test_byte_by_byte(self):
        """A packet that never becomes whole is nothing that was heard."""
        worker = self.worker(OUTSIGHT_FLEET_LEASE_MS="1000")
        packet = struct.pack("<I", 200000) + b"x" * 200000
        for i in range(len(packet)):
            if worker.process.poll() is not None:
                break
            try:
                worker.process.stdin.write(packet[i:i + 1])
                worker.process.stdin.flush()
            except BrokenPipeError:
                break
            time.sleep(0.05)
        self.assertEqual(worker.process.wait(limit(60)), 1)

    def test_never_begins(self):
        """What was enabled is not held by heartbeats for ever."""
        worker = self.worker(OUTSIGHT_FLEET_LEASE_MS="1000")
        worker.begin("none", "BEGIN")
        end = time.monotonic() + limit(120)
        while worker.process.poll() is None:
            self.assertLess(time.monotonic(), end)
            worker.packet(0)
            worker.poll(0.05)
        worker.poll(0.05)
        self.assertEqual(worker.all("ENDED"), [(0, 0, 1, "the operator did not start the session in time")])
        self.assertEqual(worker.process.returncode, 1)

    def test_acknowledges_nothing(self):
        """At the end, what the operator never says that it has."""
        worker = self.worker(OUTSIGHT_FLEET_LEASE_MS="1000")
        worker.begin("none", "BEGIN")
        worker.send("START")
        worker.send("STOP")
        end = time.monotonic() + limit(120)
        while worker.process.poll() is None:
            self.assertLess(time.monotonic(), end)
            worker.packet(0)
            time.sleep(0.05)

    def test_largest_run(self):
        """A RUN of as many bytes as a message may have is compiled; one byte more ends the link."""
        def texts(last):
            return [f"BEGIN /*{'x' * ((1 << 20) - 20)}*/" for _ in range(15)] + [f"BEGIN /*{'x' * last}*/"]
        size = (16 << 20) - len(protocol.run("none", *texts(0)))
        data = protocol.run("none", *texts(size))
        self.assertEqual(len(data), 16 << 20)
        worker = self.worker()
        worker.send("HELLO", protocol.hello())
        worker.send("RUN", data)
        self.assertEqual(worker.await_(("READY", "REFUSED"), limit(120))[0], 0, worker.all("REFUSED"))
        worker = self.worker()
        worker.send("HELLO", protocol.hello())
        worker.send("RUN", data + b"x")
        self.assertEqual(worker.wait(limit(60)), 1)
        self.assertEqual(worker.all("REFUSED"), [])

    def test_too_large_a_program(self):
        """One text of more than a text may have."""
        reason, text = self.refused("none", f"BEGIN /*{'x' * (1 << 20)}*/")
        self.assertEqual((reason, text), (REASON_PROGRAM, "a broken message RUN (2)"))

    def test_truncated(self):
        """The operator's end closes in the middle of a message, and of a packet."""
        for cut in (9, 60):
            with self.subTest(cut):
                worker = self.worker()
                worker.send("HELLO", protocol.hello())
                worker.await_("HELLO")
                worker.number += 1
                worker.turn += 1
                stream = struct.pack("<II", 2, 5000) + b"x" * 100
                packet = protocol.HEADER.pack(protocol.MAGIC, 0, worker.number, worker.turn, worker.taken, worker.heard) + stream
                whole = struct.pack("<I", len(packet)) + packet
                worker.process.stdin.write(whole[:len(whole) - cut if cut > 9 else len(whole)])
                worker.process.stdin.close()
                self.assertEqual(worker.process.wait(limit(60)), 1)


if __name__ == "__main__":
    run_module(sys.argv[2:])
