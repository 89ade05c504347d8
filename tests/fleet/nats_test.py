#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet over a broker, without a guest: who gets in, who does not, and what is logged. nats_test.py OUTSIGHT [Class.test…]."""
import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import unittest

from hosts import NO_NATS, Client, Fleet, limit, wait_until
from lib.scenario import run_module
from relay import Relay

OUTSIGHT = os.path.abspath(sys.argv[1])
ALL = "guests *\nproviders *"
SHORT = 'BEGIN { printf("began"); exit(3); }'
# The first tick is printed when every host has begun.
LONG = 'tick-50ms /!began/ { began = 1; printf("began\\n"); }'
# What may be said where packets are lost: no more than that it took long.
LATE = r"^(dtrace: hosts: 0 whole, 1 late \(\S+ s\)\n)?$"
LEASE = {"OUTSIGHT_FLEET_LEASE_MS": "3000"}  # more than a heartbeat or two


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.fleet = Fleet(OUTSIGHT)
        self.addCleanup(self.fleet.close)

    def listen(self):
        client = Client(self.fleet.broker.port)
        self.addCleanup(client.close)
        return client

    def relay(self, **kwargs):
        relay = Relay(self.fleet.broker.port, **kwargs)
        self.addCleanup(relay.close)
        return relay

    def begin(self, *args, **kwargs):
        """An operator that traces until it is ended."""
        process = subprocess.Popen(self.fleet.command("-q", *args, "-n", LONG, **kwargs), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        self.assertEqual(process.stdout.readline(), "began\n")
        return process

    def refused(self, host, args, reason, logged, **kwargs):
        status, out, err = self.fleet.run("-q", *args, "-n", SHORT, **kwargs)
        self.assertEqual((status, out), (1, ""), err)
        self.assertRegex(err, reason)
        self.assertRegex(host.log(), logged)
        self.assertNotIn("tracing starts", host.log())


class Sessions(Case):
    def test_two_hosts(self):
        """Both are in the log before anything is done, and after it is over nothing runs on."""
        hosts = [self.fleet.host(name, {"alice": ALL}) for name in ("h1", "h2")]
        status, out, err = self.fleet.run("-q", "-g", "h1/none", "-g", "h2/none", "-n", SHORT)
        self.assertEqual((status, out, err), (3, "began\n", ""))
        for host in hosts:
            host.await_log("a session ended: operator=alice")
            self.assertRegex(host.log(), r'(?s)fleet: allowed: operator=alice as="\S+" asks=run guests="none" session=(\w{32}) run=\w{64}\n'
                                         r'.*key=alice session=\1: tracing starts: .* destructive=no program="BEGIN')
            self.assertEqual(host.sessions(), [])

    def test_broker_reads_nothing(self):
        """Neither the program nor what comes of it."""
        self.fleet.host("h1", {"alice": ALL})
        client = self.listen()
        self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)
        client.flush()
        self.assertGreater(len(client.seen("os.v1.in.")), 3)
        for subject, _, data in client.got:
            for word in (b"BEGIN", b"began", b"dtrace"):
                self.assertNotIn(word, data, subject)

    def test_pattern_without_guests(self):
        """A host that has no such guest is left out, and that none has one is said."""
        self.fleet.host("h1", {"alice": ALL})
        status, _, err = self.fleet.run("-q", "-g", "h*/no-such-guest", "-n", SHORT)
        self.assertEqual(status, 1)
        self.assertIn("no host has a guest that matches -g and can be traced", err)
        status, _, err = self.fleet.run("-q", "-g", "x*/web", "-n", SHORT)
        self.assertEqual(status, 1)
        self.assertIn("-g x*/web: no host of that name is known", err)

    def test_many_are_asked_at_once(self):
        """A question names 64 hosts: no answer is waited for before the last one is asked."""
        client = self.listen()
        self.fleet.know({f"h{n}": self.fleet.key("h") for n in range(130)})
        status, _, err = self.fleet.run("-q", "-x", "hostloss=ok", "-g", "h*/web", "-n", SHORT)
        self.assertEqual(status, 1)
        self.assertIn("host h129 does not answer", err)
        client.flush()
        questions = [data for _, _, data in client.seen("os.v1.who")]
        self.assertEqual(len(set(questions)), 3)
        self.assertEqual(questions, 2 * questions[:3])

    def test_host_ends(self):
        """SIGTERM of the daemon ends its sessions, which the operator is told."""
        host = self.fleet.host("h1", {"alice": ALL})
        operator = self.begin("-g", "h1/none")
        self.assertEqual(host.stop(), 0)
        _, err = operator.communicate(timeout=limit(60))
        self.assertIn("h1", err)
        self.assertEqual(operator.returncode, 1)

    def test_session_killed(self):
        """A process of a session that dies is a line, the operator is told, and others are served."""
        host = self.fleet.host("h1", {"alice": ALL}, env=LEASE)
        operator = self.begin("-g", "h1/none")
        os.kill(host.sessions()[0], signal.SIGKILL)
        host.await_log("the process of a session was ended by signal 9 (Killed): operator=alice")
        _, err = operator.communicate(timeout=limit(60))
        self.assertRegex(err, r"hosts: 0 whole, 1 lost: h1, last heard")
        self.assertEqual(operator.returncode, 1)
        self.assertEqual(self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)[0], 3)

    def test_operator_killed(self):
        host = self.fleet.host("h1", {"alice": ALL}, env=LEASE)
        operator = self.begin("-g", "h1/none")
        self.assertEqual(len(host.sessions()), 1)
        operator.kill()
        wait_until(lambda: not host.sessions(), host.log)

    def test_broker_killed(self):
        """The session goes on where it was."""
        host = self.fleet.host("h1", {"alice": ALL})
        operator = self.begin("-g", "h1/none")
        self.fleet.broker.kill()
        self.fleet.broker.start()
        operator.send_signal(signal.SIGINT)
        _, err = operator.communicate(timeout=limit(60))
        self.assertEqual(operator.returncode, 0, err)
        self.assertRegex(err, LATE)
        host.await_log("a session ended")
        self.assertEqual(self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)[0], 3)

    def test_daemon_killed(self):
        """kill -9 of the daemon ends its sessions too: what serve.conf says could not reach them any more."""
        host = self.fleet.host("h1", {"alice": ALL})
        operator = self.begin("-g", "h1/none")
        session, = host.sessions()
        host.process.kill()
        host.process.wait()
        _, err = operator.communicate(timeout=limit(60))
        self.assertIn("h1: the session was ended on its host", err)
        self.assertEqual(operator.returncode, 1)
        wait_until(lambda: not host.is_session(session), host.log)
        host.start()
        self.assertEqual(self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)[0], 3)

    def test_session_crashes(self):
        """As after a kill: a line, the operator is told, and the other operator's session goes on."""
        host = self.fleet.host("h1", {"alice": ALL, "bob": ALL}, env=LEASE)
        other = self.begin("-g", "h1/none", operator="bob")
        bobs = host.sessions()
        operator = self.begin("-g", "h1/none")
        session, = set(host.sessions()) - set(bobs)
        os.kill(session, signal.SIGSEGV)
        # AddressSanitizer has a handler, which ends the process with a status
        ended = r"(was ended by signal 11 \(Segmentation fault\)|a session failed): operator=alice"
        wait_until(lambda: re.search(ended, host.log()), host.log)
        _, err = operator.communicate(timeout=limit(60))
        self.assertRegex(err, r"hosts: 0 whole, 1 lost: h1, last heard")
        self.assertEqual(operator.returncode, 1)
        self.assertEqual(host.sessions(), bobs)
        other.send_signal(signal.SIGINT)
        _, err = other.communicate(timeout=limit(60))
        self.assertEqual((other.returncode, err), (0, ""))

    def test_nothing_inherited(self):
        """A session has its ticket and its own connection to the broker, and nothing of the daemon's."""
        host = self.fleet.host("h1", {"alice": ALL})

        def files(pid):
            found = set()
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(FileNotFoundError):
                    found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
            return {f for f in found if f.startswith(("socket:", "pipe:")) or "replayed" in f}
        self.begin("-g", "h1/none")
        session, = host.sessions()
        self.assertTrue(any(f.startswith("socket:") for f in files(host.process.pid)))
        self.assertTrue(any(f.startswith("socket:") for f in files(session)))
        self.assertEqual(files(host.process.pid) & files(session), set())

    def test_listing_blocks_nobody(self):
        """A host whose guests take long to list serves invitations meanwhile, and a process that lists may die."""
        os.makedirs(self.fleet.path("run/outsight"), mode=0o700)
        stopped = []
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as engine:
            engine.bind(self.fleet.path(f"run/outsight/{os.getpid()}.sock"))
            engine.listen()

            def accept():
                with contextlib.suppress(OSError):
                    while True:
                        connection, _ = engine.accept()
                        pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
                        if not stopped:
                            os.kill(pid, signal.SIGSTOP)
                            stopped.append(pid)
                        connection.close()
            threading.Thread(target=accept, daemon=True).start()
            host = self.fleet.host("h1", {"alice": ALL}, env={"XDG_RUNTIME_DIR": self.fleet.path("run")})
            asks = subprocess.Popen(self.fleet.command("-q", "-g", "h*/no-such-guest", "-n", SHORT), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(asks.wait)
            self.addCleanup(asks.kill)
            wait_until(lambda: stopped, host.log)
            self.assertEqual(self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)[0], 3)
            with contextlib.suppress(ProcessLookupError):
                os.kill(stopped[0], signal.SIGKILL)
            host.await_log("fleet: guests could not be listed: signal 9")
            status, _, err = self.fleet.run("-q", "-g", "h*/no-such-guest", "-n", SHORT)
            self.assertEqual(status, 1)
            self.assertIn("no host has a guest that matches -g and can be traced", err)
            engine.shutdown(socket.SHUT_RDWR)

    def test_limit(self):
        host = self.fleet.host("h1", {"alice": ALL})
        with open(host.conf, encoding="utf-8") as f:
            text = f.read()
        with open(host.conf, "w", encoding="utf-8") as f:
            f.write(text.replace("operator alice", "workers 1\noperator alice"))
        host.process.send_signal(signal.SIGHUP)
        host.await_log("serve.conf was read again")
        self.begin("-g", "h1/none")
        status, _, err = self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)
        self.assertEqual(status, 1)
        self.assertIn("host h1: refused: 1 sessions already run on this host", err)


class Refused(Case):
    def test_unknown_key(self):
        host = self.fleet.host("h1", {"alice": ALL})
        self.refused(host, ("-g", "h1/none"), "host h1 does not answer: -x hostloss=ok continues without it",
                     re.escape(f"fleet: refused: serve.conf has no operator with the key {self.fleet.key('mallory')}\n"), operator="mallory")

    def test_key_taken_away(self):
        host = self.fleet.host("h1", {"alice": ALL})
        host.write({"bob": ALL})
        host.process.send_signal(signal.SIGHUP)
        host.await_log("serve.conf was read again")
        self.refused(host, ("-g", "h1/none"), "does not answer", "no operator with the key")

    def reload(self, host, operators):
        before = host.log().count("serve.conf was read again")
        host.write(operators)
        host.process.send_signal(signal.SIGHUP)
        wait_until(lambda: host.log().count("serve.conf was read again") > before, host.log)

    def test_revoked(self):
        """SIGHUP ends sessions of an operator who is taken out of serve.conf, or may do something else now; others go on."""
        host = self.fleet.host("h1", {"alice": ALL, "bob": ALL})
        bob, alice = self.begin("-g", "h1/none", operator="bob"), self.begin("-g", "h1/none")
        self.reload(host, {"carol": ALL, "alice": ALL, "bob": ALL})
        self.assertEqual(len(host.sessions()), 2)
        self.reload(host, {"bob": ALL})
        _, err = alice.communicate(timeout=limit(60))
        self.assertIn("h1: the session was ended on its host", err)
        self.assertEqual(alice.returncode, 1)
        host.await_log("fleet: serve.conf no longer has the operator: operator=alice session=")
        wait_until(lambda: len(host.sessions()) == 1, host.log)  # it is said before the process has ended
        self.reload(host, {"bob": "guests *\nproviders syscall"})
        _, err = bob.communicate(timeout=limit(60))
        self.assertEqual(bob.returncode, 1)
        host.await_log("fleet: serve.conf has other rights: operator=bob session=")
        wait_until(lambda: host.sessions() == [], host.log)

    def test_conf_of_others(self):
        """A serve.conf that others can write is not believed: not read again, and no session begins by it."""
        host = self.fleet.host("h1", {"alice": ALL})
        os.chmod(host.conf, 0o666)
        host.process.send_signal(signal.SIGHUP)
        host.await_log(f"serve.conf is not read again: {host.conf} has mode 666, and others may change it")
        status, out, err = self.fleet.run("-q", "-x", "hostloss=ok", "-g", "h1/none", "-n", SHORT)
        self.assertEqual((status, out), (1, ""), err)
        self.assertNotIn("tracing starts", host.log())
        self.assertIsNone(host.process.poll())

    def test_too_large(self):
        """An honest operator's outsight does not send it."""
        host = self.fleet.host("h1", {"alice": ALL})
        path = self.fleet.path("large.d")
        with open(path, "w", encoding="utf-8") as f:
            f.write("/*" + "x" * (1 << 20) + "*/ BEGIN { exit(3); }")
        status, out, err = self.fleet.run("-q", "-g", "h1/none", "-s", path)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("large.d: a text of more than 1048576 bytes is not sent to other hosts", err)
        self.assertNotIn("allowed", host.log())

    def test_other_hosts_key(self):
        """Whoever answers by h1's name, it has not h1's key."""
        self.fleet.host("h1", {"alice": ALL})
        self.fleet.know({"h1": self.fleet.key("another")})
        status, out, err = self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("host h1 does not answer", err)
        self.assertRegex(err, "[123] answers were ignored: they are not signed by the hosts that they name")

    def test_foreign_guest(self):
        host = self.fleet.host("h1", {"alice": "guests web*\nproviders *"})
        self.refused(host, ("-g", "h1/db1"), "host h1: .*db1", 'key=alice session=.*: refused: operator=.* guests="db1"')

    def test_replayed(self):
        """By whoever has seen it go by, at once, after a restart, and to another host."""
        host, other = self.fleet.host("h1", {"alice": ALL}), self.fleet.host("h2", {"alice": ALL})
        client = self.listen()
        self.assertEqual(self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)[0], 3)
        client.flush()
        (subject, _, data), = client.seen("os.v1.run.")
        self.assertEqual(subject, "os.v1.run.h1")
        client.publish(subject, data, "os.v1.mine")
        host.await_log("the invitation was used before: it was replayed")
        host.stop()
        host.start()
        client.publish(subject, data, "os.v1.mine")
        wait_until(lambda: host.log().count("used before") == 2, host.log)
        client.publish("os.v1.run.h2", data, "os.v1.mine")
        other.await_log("the request is for another host")
        for at in range(0, len(data), 7):  # and changed
            client.publish(subject, data[:at] + bytes([data[at] ^ 1]) + data[at + 1:], "os.v1.mine")
        client.flush()
        self.assertEqual(self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)[0], 3)
        self.assertEqual(host.log().count("fleet: allowed"), 2)
        self.assertEqual(other.log().count("fleet: allowed"), 0)
        # what a repeated one is told: nothing; another host's refusal is for the operator's eyes
        self.assertEqual([m for m in client.seen("os.v1.mine") if b"another host" in m[2] or b"used" in m[2]], [])

    def test_noise(self):
        """From anybody, as much as they like: the log has a line for some, and requests are served."""
        host = self.fleet.host("h1", {"alice": ALL})
        client = self.listen()
        for i in range(2000):
            client.publish("os.v1.run.h1" if i % 2 else "os.v1.who", os.urandom(i % 300), "os.v1.mine")
        client.publish("os.v1.run.h1", b"x" * 900000, "os.v1.mine")
        client.publish("os.v1.run.h1", b"no reply")
        client.flush()
        self.assertEqual(self.fleet.run("-q", "-g", "h1/none", "-n", SHORT)[0], 3)
        self.assertLessEqual(host.log().count("fleet: refused: "), 60)
        self.assertIsNone(host.process.poll())
        self.assertEqual(client.seen("os.v1.mine")[:1], [])


class Collected(Case):
    """What a command line with mergers may ask, and whom. What they do is merge_test.py's."""

    def fails(self, status, reason, *args):
        got, out, err = self.fleet.run("-q", *args, "-n", SHORT)
        self.assertEqual((got, out), (status, ""), err)
        self.assertIn(reason, err)

    def test_without_broker(self):
        done = subprocess.run([OUTSIGHT, "-q", "-x", "fleetmergers=m*", "-g", "web", "-n", SHORT], capture_output=True, text=True,
                              timeout=limit(60), check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("-x fleetmergers: mergers are reached through a broker, and there is none", done.stderr)

    def test_with_ssh(self):
        self.fails(2, "-x fleetmergers: mergers can't collect from ssh://h2/web, a host of ssh",
                   "-x", "fleetmergers=m*", "-g", "h1/none", "-g", "ssh://h2/web")

    def test_unknown(self):
        self.fleet.know({"h1": self.fleet.key("h1"), "m1": self.fleet.key("m1")})
        self.fails(1, "fleetmergers: no merger x* is known", "-x", "fleetmergers=m1,x*", "-g", "h1/none")
        self.fails(1, "fleetmergers names no merger", "-x", "fleetmergers=, ,", "-g", "h1/none")
        self.fails(1, "-g m1/none: a merger has no guests", "-x", "fleetmergers=m1", "-g", "m1/none")

    def test_silent(self):
        """It is not there; the host is not asked by anybody."""
        host = self.fleet.host("h1", {"alice": ALL})
        self.fleet.know({"h1": host.key, "m1": self.fleet.key("m1")})
        self.fails(1, "merger m1 does not answer", "-x", "fleetmergers=m1", "-g", "h1/none")
        self.assertNotIn("fleet: allowed", host.log())


class Hostile(Case):
    def test_broker(self):
        """It drops, repeats, keeps back and forges: what was asked for happens, once."""
        relay = self.relay(loss=0.1, repeat=0.2, late=0.2, forge=0.3)
        self.fleet.host("h1", {"alice": ALL}, port=relay.port)
        for _ in range(3):
            status, out, err = self.fleet.run("-q", "-g", "h1/none", "-n", SHORT, port=relay.port)
            self.assertEqual((status, out), (3, "began\n"), err)
            self.assertRegex(err, LATE)
        self.assertGreater(relay.counts["forged"], 0)

    def test_withheld(self):
        """A host of whom nothing comes any more is lost, and said to be."""
        relay = self.relay()
        self.fleet.host("h1", {"alice": ALL}, port=relay.port)
        self.fleet.host("h2", {"alice": ALL})
        operator = self.begin("-g", "h1/none", "-g", "h2/none")
        relay.withhold.add("h1")
        wait_until(lambda: relay.counts["withheld"] > 12, "packets are withheld")
        operator.send_signal(signal.SIGINT)
        _, err = operator.communicate(timeout=limit(120))
        self.assertRegex(err, r"hosts: 1 whole, 1 lost: h1, last heard", operator.returncode)
        self.assertEqual(operator.returncode, 1)


class Mergers(Case):
    """outsight-serve --merge as a daemon, with hosts that are whole."""
    OPTION = ("-x", "fleetmergers=m*")

    def test_two_hosts(self):
        """The operator's name is in each log: a merger invites nobody in its own."""
        hosts = [self.fleet.host(name, {"alice": ALL}) for name in ("h1", "h2")]
        merger = self.fleet.merger("m1")
        status, out, err = self.fleet.run("-q", *self.OPTION, "-g", "h1/none", "-g", "h2/none", "-n", SHORT)
        self.assertEqual((status, out, err), (3, "began\n", ""))
        merger.await_log("a session ended: operator=alice")
        self.assertRegex(merger.log(), r'(?s)fleet: allowed: operator=alice as="\S+" asks=merge session=(\w{32})\n'
                                       r".*key=alice session=\1: merging begins: .*session=\1: merging ends: 2 hosts, 0 of them lost")
        for host in hosts:
            host.await_log("a session ended: operator=alice")
            self.assertRegex(host.log(), r'fleet: allowed: operator=alice as="\S+" asks=run guests="none"')
        self.assertEqual([daemon.sessions() for daemon in (merger, *hosts)], [[], [], []])

    def test_no_merger(self):
        """A host that is named as one says that it is none."""
        self.fleet.host("h1", {"alice": ALL})
        host = self.fleet.host("m1", {"alice": ALL})
        self.refused(host, (*self.OPTION, "-g", "h1/none"), "m1: refused: this is no merger: outsight-serve --merge is one",
                     "fleet: refused: operator=alice .* asks=merge .*no merger")

    def test_no_host(self):
        merger = self.fleet.merger("m1")
        self.refused(merger, ("-g", "m1/none"), "m1: refused: this is a merger, and has no guests", "fleet: refused: operator=alice .* asks=run")

    def test_ended(self):
        """SIGTERM: its hosts stop at once, not by their lease, and the operator has them begin again without it."""
        host = self.fleet.host("h1", {"alice": ALL})
        merger = self.fleet.merger("m1")
        operator = self.begin(*self.OPTION, "-g", "h1/none")
        self.assertEqual(merger.stop(), 0)
        self.assertIn("merging ends: 1 hosts", merger.log())
        host.await_log("a session ended: operator=alice")
        wait_until(lambda: host.log().count("allowed: operator=alice") == 2, host.log)
        wait_until(lambda: host.log().count("tracing starts") == 2, host.log)
        operator.send_signal(signal.SIGINT)
        _, err = operator.communicate(timeout=limit(60))
        self.assertEqual(operator.returncode, 1)
        self.assertIn("merger m1 is lost: ", err)

    def test_operator_killed(self):
        """Its lease ends the merger's session, which stops the hosts."""
        host = self.fleet.host("h1", {"alice": ALL})
        merger = self.fleet.merger("m1", env=LEASE)
        operator = self.begin(*self.OPTION, "-g", "h1/none")
        operator.kill()
        wait_until(lambda: not merger.sessions() and not host.sessions(), merger.log)
        self.assertIn("the operator is lost: its hosts are stopped", merger.log())
        host.await_log("a session ended: operator=alice")


class Command(Case):
    """outsight-serve's own command line."""

    def serve(self, *args):
        done = subprocess.run([self.fleet.serve, *args], capture_output=True, text=True, timeout=limit(60), check=False)
        return done.returncode, done.stdout, done.stderr

    def test_keys(self):
        path = self.fleet.path("k")
        status, key, err = self.serve("--make-key", path)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(key, r"^[A-Za-z0-9+/]{43}=\n$")
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o600)
        self.assertEqual(self.serve("--show-key", path), (0, key, ""))
        self.assertEqual(self.serve("--make-key", path), (1, "", f"outsight-serve: no key is made: {path}: File exists\n"))
        os.chmod(path, 0o640)
        self.assertEqual(self.serve("--show-key", path)[2],
                         f"outsight-serve: {path} has mode 640, and others may use the key: chmod 600 {path}\n")

    def test_check(self):
        conf, key = self.fleet.path("c"), self.fleet.path("k")
        self.serve("--make-key", key)
        with open(conf, "w", encoding="utf-8") as f:
            f.write(f"name h1\nkey {key}\n")
        os.chmod(conf, 0o644)
        self.assertEqual(self.serve("--check", "--conf", conf), (0, f"{conf}: h1, 0 operators, no broker\n", ""))
        self.assertEqual(self.serve("--conf", conf),
                         (1, "", f"outsight-serve: {conf} names no broker: a line \"nats nats://HOST:PORT\"\n"))
        with open(conf, "a", encoding="utf-8") as f:
            f.write("nets nats://x\n")
        self.assertEqual(self.serve("--check", "--conf", conf),
                         (1, "", f"outsight-serve: {conf}:3: there is no setting nets, did you mean nats\n"))

    def test_check_of_a_merger(self):
        """Operators need no rights; those that they have there mean nothing, which is said."""
        conf, key = self.fleet.path("c"), self.fleet.path("k")
        public = self.serve("--make-key", key)[1].strip()
        with open(conf, "w", encoding="utf-8") as f:
            f.write(f"name m1\nkey {key}\noperator alice {public}\n")
        os.chmod(conf, 0o644)
        self.assertEqual(self.serve("--check", "--merge", "--conf", conf), (0, f"{conf}: m1, 1 operators, no broker\n", ""))
        self.assertEqual(self.serve("--check", "--conf", conf),
                         (1, "", f"outsight-serve: {conf}:3: operator alice has no line \"guests\", and may trace nothing\n"))
        with open(conf, "a", encoding="utf-8") as f:
            f.write("guests web*\n")
        self.assertEqual(self.serve("--check", "--merge", "--conf", conf)[1].splitlines()[1:],
                         [f"{conf}:3: operator alice: lines about guests have no effect on a merger"])

    def test_state_is_one_daemons(self):
        host = self.fleet.host("h1", {"alice": ALL})
        status, _, err = self.serve("--conf", host.conf)
        self.assertEqual(status, 1)
        self.assertIn("another outsight-serve uses this state folder", err)


if __name__ == "__main__":
    run_module(sys.argv[2:], NO_NATS)
