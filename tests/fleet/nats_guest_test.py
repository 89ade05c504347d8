#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts behind a broker with a small guest each on /dev/kvm: numbers, and rights. nats_guest_test.py OUTSIGHT SMALL-GUEST [Class.test…].

All guests of the machine are visible to root, so no other test that runs beside this one has guests na* or nb*."""
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kvm"))
# pylint: disable=wrong-import-position
from small_guest import CALLS, GUEST, OUTSIGHT, RESTS, TRAPPED, VMM, GuestTest, elf_text, limit, main
from hosts import NO_NATS, Fleet, wait_until
from relay import Relay

CPUS = 1
# One round of each guest, from its beginning to its end; then it says so.
ONE_ROUND = ("BEGIN { on = 0; over = 0; } fbt::round_begin:entry /!over/ { on = 1; } fbt::probed_*:entry /on/ { @[probefunc] = count(); @all = sum(1); } "
             "fbt::round_end:entry /on/ { on = 0; over = 1; printf(\"over\\n\"); }")


class Vm:
    """A small guest of a name, where those of a user's runtime folder are."""

    def __init__(self, folder, name):
        self.console = os.path.join(folder, f"{name}.console")
        env = {**os.environ, "XDG_RUNTIME_DIR": folder}
        os.makedirs(os.path.join(folder, "outsight"), mode=0o700, exist_ok=True)
        self.process = subprocess.Popen([VMM, "--kernel", GUEST, "--smp", str(CPUS), "--memory", "64", "--name", name, "--append",
                                         f"cpus={CPUS} calls={CALLS} {RESTS}", "--console", self.console], env=env, stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE)
        wait_until(lambda: "READY" in self.text_of_console() or self.process.poll() is not None, self.text_of_console)

    def text_of_console(self):
        if not os.path.exists(self.console):
            return ""
        with open(self.console, encoding="ascii") as f:
            return f.read()

    def text(self):
        """Of the guest, as it is now."""
        paddr, text = elf_text(GUEST)
        fds = f"/proc/{self.process.pid}/fd"
        ram, = [f"{fds}/{fd}" for fd in os.listdir(fds) if "memfd:outsight-ram" in os.readlink(f"{fds}/{fd}")]
        with open(ram, "rb") as f:
            f.seek(paddr)
            return f.read(len(text))

    def close(self):
        self.process.terminate()
        self.process.wait(limit(60))
        self.process.stderr.close()


class Guests(GuestTest):
    def setUp(self):
        super().setUp()
        self.fleet = Fleet(OUTSIGHT)
        self.addCleanup(self.fleet.close)
        self.run_dir = tempfile.TemporaryDirectory(prefix="outsight-run-")
        self.addCleanup(self.run_dir.cleanup)
        self.env = {"XDG_RUNTIME_DIR": self.run_dir.name, "OUTSIGHT_FLEET_VMLINUX": GUEST}

    def guest(self, name):
        vm = Vm(self.run_dir.name, name)
        self.addCleanup(vm.close)
        return vm

    def start(self, port, *args):
        process = subprocess.Popen(self.fleet.command("-q", "-x", "maxcost=0", *args, port=port), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, bufsize=1)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def rounds(self, port, hosts, *options):
        """What was counted in a round of each host's guests, and what was printed and said."""
        process = self.start(port, *options, "-g", "h*/*", "-n", ONE_ROUND)
        for _ in range(hosts):
            line = process.stdout.readline()
            self.assertEqual(line, "over\n", line or process.communicate()[1])
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=limit(120))
        self.assertEqual(process.returncode, 0, err)
        counts = dict(re.findall(r"(?m)^ +(probed_\w+) +(\d+)$", out))
        total = re.search(r"(?m)^ +(\d+)$", out)[1]
        return {name: int(n) for name, n in counts.items()}, int(total), out + err

    def check_rounds(self, got, hosts):
        expected = {f"probed_{f}": hosts * CPUS * CALLS * (2 if f == "load" else 1) for f in TRAPPED}
        self.assertEqual(got[0], expected, got[2])
        self.assertEqual(got[1], sum(expected.values()), got[2])

    def test_sums(self):
        """Of two hosts, each of which may show one of the guests of this machine; and the same over a broker that drops, repeats,
        keeps back and forges: not one more or less."""
        vms = [self.guest(name) for name in ("na1", "nb1")]
        relay = Relay(self.fleet.broker.port)
        self.addCleanup(relay.close)
        for name, rights in (("h1", "guests na*"), ("h2", "guests nb*")):
            self.fleet.host(name, {"alice": f"{rights}\nproviders fbt"}, port=relay.port, env=self.env)
        self.check_rounds(self.rounds(relay.port, 2), 2)
        relay.loss, relay.repeat, relay.late, relay.forge = 0.1, 0.2, 0.2, 0.3
        self.check_rounds(self.rounds(relay.port, 2, "-x", "aggrate=50ms"), 2)
        for what in ("dropped", "repeated", "late", "forged"):
            self.assertGreater(relay.counts[what], 0, what)
        for vm in vms:
            self.assertEqual(vm.text(), elf_text(GUEST)[1])

    def test_merged(self):
        """The same through a merger; a key by name is one key of both guests, `guest` is each one's own, and records are their host's."""
        vms = [self.guest(name) for name in ("na1", "nb1")]
        for name, rights in (("h1", "guests na*"), ("h2", "guests nb*")):
            self.fleet.host(name, {"alice": f"{rights}\nproviders fbt"}, env=self.env)
        self.fleet.merger("m1")
        port, option = self.fleet.broker.port, ("-x", "fleetmergers=m1")
        self.check_rounds(self.rounds(port, 2, *option), 2)
        program = ("fbt::round_end:entry { @f[func(arg0)] = count(); @s[stack(1)] = count(); @g[guest] = count(); "
                   "printf(\"%s %s\\n\", guest, probefunc); }")
        process = self.start(port, *option, "-g", "h*/*", "-n", program)
        seen = set()
        while len(seen) < 2:
            line = process.stdout.readline()
            self.assertTrue(line, line or process.communicate()[1])
            seen.add(line)
        self.assertEqual(seen, {"h1/na1 round_end\n", "h2/nb1 round_end\n"})
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=limit(120))
        self.assertEqual((process.returncode, err), (0, ""))
        guests = dict(re.findall(r"(?m)^ +(h\d/\w+) +(\d+)$", out))
        self.assertEqual(sorted(guests), ["h1/na1", "h2/nb1"])
        rounds = sum(map(int, guests.values()))
        frames = re.findall(r"(?m)^ +\S*`round_end(?:\+0x\w+)?\n +(\d+)$", out)
        self.assertEqual(frames, [str(rounds)], out)
        for vm in vms:
            self.assertEqual(vm.text(), elf_text(GUEST)[1])

    def refused(self, host, program, reason, *options):
        process = self.start(self.fleet.broker.port, *options, "-g", "h1/*", "-n", program)
        out, err = process.communicate(timeout=limit(120))
        self.assertEqual((process.returncode, out), (1, ""), err)
        self.assertRegex(err, reason)
        self.assertIn(": refused: ", host.log())
        self.assertNotIn("tracing starts", host.log())

    def test_policy(self):
        """What serve.conf does not allow is refused, and logged: another's guest, a provider, an action on the guest."""
        vm, other = self.guest("na1"), self.guest("nb1")
        host = self.fleet.host("h1", {"alice": "guests na*\nproviders profile"}, env=self.env)
        self.refused(host, "fbt::probed_nop:entry { @ = count(); }", "fbt")
        self.refused(host, "profile-100 { stop(); }", "destructive", "-w")
        for guest in "nb1", "nb*", str(other.process.pid):
            process = self.start(self.fleet.broker.port, "-g", f"h1/{guest}", "-n", "profile-100 { @ = count(); }")
            _, err = process.communicate(timeout=limit(120))
            self.assertEqual(process.returncode, 1, err)
            self.assertNotIn("nb1", err.replace("-g nb1:", ""))
        self.assertNotIn("tracing starts", host.log())
        self.assertEqual(vm.text(), elf_text(GUEST)[1])

    def test_others_guests_are_not_told(self):
        """Not by a pattern that would mean them, nor as an answer to who is there."""
        self.guest("na1")
        self.guest("nb1")
        self.fleet.host("h1", {"alice": "guests na*\nproviders fbt"}, env=self.env)
        process = self.start(self.fleet.broker.port, "-g", "h1/*", "-n", "fbt::round_end:entry { printf(\"over\"); exit(0); }")
        out, err = process.communicate(timeout=limit(120))
        self.assertEqual((process.returncode, out.strip("\n")), (0, "over"), err)
        self.assertNotIn("nb1", err)

    def test_operator_killed(self):
        """Its lease ends, and the guest's text is as it was."""
        vm = self.guest("na1")
        host = self.fleet.host("h1", {"alice": "guests na*\nproviders fbt"}, env={**self.env, "OUTSIGHT_FLEET_LEASE_MS": "3000"})
        process = self.start(self.fleet.broker.port, "-g", "h1/na1", "-n", "fbt::probed_nop:entry { @ = count(); } tick-50ms { printf(\"on\\n\"); }")
        self.assertEqual(process.stdout.readline(), "on\n")
        self.assertNotEqual(vm.text(), elf_text(GUEST)[1])
        process.kill()
        wait_until(lambda: vm.text() == elf_text(GUEST)[1], host.log)
        wait_until(lambda: not host.sessions(), host.log)

    def test_two_operators(self):
        """Over the same guest at once: each counts all of a round, and the one that ends first takes nothing of the other's out."""
        vm = self.guest("na1")
        host = self.fleet.host("h1", {"alice": "guests na*\nproviders fbt", "bob": "guests *\nproviders *"}, env=self.env)
        bob = subprocess.Popen(self.fleet.command("-q", "-x", "maxcost=0", "-g", "h1/na1", "-n",
                                                  "fbt::probed_nop:entry { @ = count(); } tick-50ms { printf(\"on\\n\"); }", operator="bob"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, bufsize=1)
        for f in bob.stdout, bob.stderr:
            self.addCleanup(f.close)
        self.addCleanup(bob.wait)
        self.addCleanup(bob.kill)
        self.assertEqual(bob.stdout.readline(), "on\n")
        self.check_rounds(self.rounds(self.fleet.broker.port, 1), 1)
        wait_until(lambda: len(host.sessions()) == 1, host.log)
        self.assertNotEqual(vm.text(), elf_text(GUEST)[1])
        self.check_rounds(self.rounds(self.fleet.broker.port, 1), 1)
        bob.send_signal(signal.SIGINT)
        out, err = bob.communicate(timeout=limit(120))
        self.assertEqual((bob.returncode, err), (0, ""))
        self.assertGreaterEqual(int(out.split()[-1]), 2 * CALLS)
        wait_until(lambda: vm.text() == elf_text(GUEST)[1], host.log)

    def ended_by(self, end, logged):
        """What @end does to the host leaves the guest's text as it was, and the operator is told; a new session counts again."""
        vm = self.guest("na1")
        host = self.fleet.host("h1", {"alice": "guests na*\nproviders fbt"}, env={**self.env, "OUTSIGHT_FLEET_LEASE_MS": "3000"})
        process = self.start(self.fleet.broker.port, "-g", "h1/na1", "-n", "fbt::probed_nop:entry { @ = count(); } tick-50ms { printf(\"on\\n\"); }")
        self.assertEqual(process.stdout.readline(), "on\n")
        self.assertNotEqual(vm.text(), elf_text(GUEST)[1])
        end(host)
        wait_until(lambda: vm.text() == elf_text(GUEST)[1], host.log)
        _, err = process.communicate(timeout=limit(120))
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("h1", err)
        if logged:
            self.assertRegex(host.log(), logged)
        else:
            host.start()
        self.check_rounds(self.rounds(self.fleet.broker.port, 1), 1)

    def test_session_crashes(self):
        self.ended_by(lambda host: os.kill(host.sessions()[0], signal.SIGSEGV), "was ended by signal 11|a session failed")

    def test_daemon_killed(self):
        def kill(host):
            host.process.kill()
            host.process.wait()
        self.ended_by(kill, None)

    def test_revoked(self):
        def revoke(host):
            host.write({"alice": "guests nb*\nproviders fbt"})
            host.process.send_signal(signal.SIGHUP)
            host.await_log("serve.conf has other rights: operator=alice")
            host.write({"alice": "guests na*\nproviders fbt"})
            host.process.send_signal(signal.SIGHUP)
            wait_until(lambda: host.log().count("serve.conf was read again") == 2, host.log)
        self.ended_by(revoke, "serve.conf was read again")


if __name__ == "__main__":
    main(NO_NATS)
