#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""outsight -g ssh://HOST/GUEST with two hosts, each with a small guest on /dev/kvm: operator_test.py OUTSIGHT SMALL-GUEST
[Class.test…]. In place of ssh there is a script that runs outsight-serve here."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kvm"))
# pylint: disable=wrong-import-position
from small_guest import CALLS, GUEST, OUTSIGHT, RESTS, TRAPPED, GuestTest, Vm, elf_text, limit, main

SERVE = os.path.join(os.path.dirname(OUTSIGHT), "outsight-serve")
NOTES = re.compile(r"(?m)^dtrace: .*: (no types|no modules|not every vCPU).*\n")


class Fleet(GuestTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="outsight-fleet-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        ssh = os.path.join(self.folder, "ssh")
        with open(ssh, "w", encoding="ascii") as f:
            f.write(f'#!/bin/sh\necho $$ > {self.folder}/$1\n[ "$1" = none ] && exit 255\nexec {SERVE} --stdio\n')
        os.chmod(ssh, 0o755)
        self.env = {**os.environ, "OUTSIGHT_SSH": ssh, "OUTSIGHT_FLEET_VMLINUX": GUEST}

    def vms(self, cpus=1):
        vms = []
        for name in ("web01", "web02"):
            vms.append(Vm(cpus, RESTS, name=name))
            self.addCleanup(vms[-1].close)
        return vms

    def command(self, vms, *options):
        guests = [word for i, vm in enumerate(vms) for word in ("-g", f"ssh://h{i + 1}/{vm.socket}")]
        return [OUTSIGHT, *guests, "-x", "maxcost=0", *options]

    def run_fleet(self, vms, program, *options, status=0):
        """What it prints, and its messages, without what is said of every small guest."""
        done = subprocess.run(self.command(vms, *options, "-n", program), capture_output=True, text=True, env=self.env,
                              timeout=limit(120), check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, NOTES.sub("", done.stderr)

    def trace(self, vms, program, *options, status=0):
        out, messages = self.run_fleet(vms, program, "-q", *options, status=status)
        self.assertEqual(messages, "")
        return out

    def started(self, vms, program, *options):
        """A session that goes on, whose probes are in the guests."""
        process = subprocess.Popen(self.command(vms, *options, "-n", program), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=self.env)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        end = time.monotonic() + limit(60)
        while any(vm.text() == elf_text(GUEST)[1] for vm in vms):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return process

    def clean(self, vms):
        for vm in vms:
            vm.wait_clean()
            self.check_unharmed(vm)

    def pid_of(self, host):
        with open(os.path.join(self.folder, host), encoding="ascii") as f:
            return int(f.read())


class Data(Fleet):
    def test_exact_sums(self):
        """Each host counts one round; both rounds are in one aggregation, whose keys are names."""
        vms = self.vms(cpus=2)
        # once both have counted a round, nothing changes any more
        out = self.trace(vms, "BEGIN { done = 0; } fbt::round_begin:entry { on = !done; } "
                         "fbt::probed_*:entry /on/ { @[probefunc] = count(); @s[func(caller)] = sum(1); } "
                         "fbt::round_end:entry /on/ { on = 0; done = 1; } tick-3s { exit(0); } "
                         'END { printa("%s %@d\\n", @); printa("caller %a %@d\\n", @s); }', "-x", "aggrate=100ms")
        rows = dict(line.rsplit(" ", 1) for line in out.splitlines() if line)
        calls = {f: CALLS * 2 * (2 if f == "load" else 1) for f in TRAPPED}
        self.assertEqual({k: int(v) for k, v in rows.items() if k.startswith("probed_")},
                         {f"probed_{f}": 2 * n for f, n in calls.items()})
        self.assertEqual(sum(int(v) for k, v in rows.items() if k.startswith("caller vmlinux`")), 2 * sum(calls.values()))
        self.clean(vms)

    def test_matched(self):
        """All probes are counted, those of BEGIN and ticks once."""
        vms = self.vms()
        _, messages = self.run_fleet(vms, "BEGIN { exit(0); } fbt::probed_nop:entry { @ = count(); } tick-1s { }")
        self.assertEqual(messages, "dtrace: description 'BEGIN ' matched 4 probes\n")

    def test_stacks_merge(self):
        """One stack of both hosts is one key."""
        vms = self.vms()
        out = self.trace(vms, "fbt::probed_nop:entry { @[stack(2)] = count(); @g[guest] = count(); } tick-2s { exit(0); }",
                         "-x", "stackindent=0")
        self.assertEqual(out.count("vmlinux`probed_nop\n"), 1)
        guests = dict(line.split() for line in out.splitlines() if line.strip().startswith("h"))
        self.assertEqual(sorted(guests), ["h1/web01", "h2/web02"])
        total = int(out[out.index("vmlinux`call_all"):].splitlines()[1])
        self.assertEqual(total, sum(int(n) for n in guests.values()))

    def test_records(self):
        """Each has its guest, with its host, and they are in order of time."""
        vms = self.vms()
        out = self.trace(vms, 'fbt::round_begin:entry { printf("%s %s", probefunc, guest); } tick-1s { exit(0); }', "--json")
        records = [r for r in map(json.loads, out.splitlines()) if r["type"] == "record" and "guest" in r]
        self.assertEqual({r["guest"] for r in records}, {"h1/web01", "h2/web02"})
        for r in records:
            self.assertEqual(r["output"][0]["message"], f"round_begin {r['guest']}")
        times = [r["time"] for r in records]
        self.assertEqual(times, sorted(times))

    def test_formats(self):
        """What prints at the operator: histograms, %a, print(); and variables and keys of clauses that compile only where their
        kernel's symbol is."""
        vms = self.vms()
        out, messages = self.run_fleet(
            vms, "typedef struct { int a; } thing_t; "
            "fbt::round_begin:entry { this->one = (int)(&`generation != 0); @q = quantize(4); @l = lquantize(5, 0, 10, 5); "
            '@v[this->one] = avg(6); where = "there"; n[this->one] = 1; printf("%a\\n", caller); print(*(thing_t *)caller); '
            'exit(3); } END { printf("%s|%d\\n", where, n[1]); printa("%d %@d\\n", @v); }', "-q", status=3)
        # both hosts say it
        self.assertRegex(messages, r"^dtrace: h[12]: \w+ and others: each guest has its own in clauses of its probes, .*\n$")
        self.assertRegex(out, r"(?m)^vmlinux`\w+\+0x[0-9a-f]+\n")
        self.assertIn("thing_t {", out)
        self.assertIn("|0\n1 6\n", out)
        self.assertRegex(out, r"(?m)^ +4 \|@{40} +\d+ +$")
        self.assertRegex(out, r"(?m)^ +5 \|@{40} +\d+ +$")

    def test_with_local_guest(self):
        """One host's guest and one of this host's own in one session."""
        near, far = self.vms()
        done = subprocess.run([OUTSIGHT, "--vmlinux", GUEST, "--no-cache", "-g", near.socket, "-g", f"ssh://h1/{far.socket}", "-q",
                               "-x", "maxcost=0", "-n", "fbt::probed_nop:entry { @[guest] = count(); @s[stack(2)] = count(); } "
                               "tick-2s { exit(0); }"], capture_output=True, text=True, env=self.env, timeout=limit(120), check=True)
        counts = dict(line.split() for line in done.stdout.splitlines() if "web0" in line)
        self.assertEqual(sorted(counts), ["h1/web02", "web01"])
        self.assertEqual(done.stdout.count("vmlinux`probed_nop\n"), 1)
        self.clean([near, far])

    def test_tick_acts_on_all(self):
        """trunc(), clear() and printa() of the operator's tick."""
        vms = self.vms()
        out = self.trace(vms, "fbt::probed_*:entry { @[probefunc] = count(); } tick-1500ms { trunc(@, 2); } "
                         'tick-1500ms { printa("%s\\n", @); exit(0); } END { clear(@); }')
        self.assertEqual(len([line for line in out.split("\n\n")[0].splitlines() if line.startswith("probed_")]), 2)


class End(Fleet):
    def test_exit(self):
        """A guest's clause ends the session with its status, and END runs once."""
        vms = self.vms()
        self.assertEqual(self.trace(vms, 'fbt::round_begin:entry { exit(7); } END { printf("end\\n"); }', status=7).strip(), "end")
        self.clean(vms)

    def test_interrupt(self):
        """Ctrl-C: what the hosts had is printed."""
        vms = self.vms()
        process = self.started(vms, "fbt::probed_nop:entry { @[guest] = count(); }", "-q")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, messages = process.communicate(timeout=limit(60))
        self.assertEqual(NOTES.sub("", messages), "")
        self.assertEqual(process.returncode, 0)
        self.assertIn("h1/web01", out)
        self.clean(vms)

    def test_host_killed(self):
        """A host is lost: it is said, the other goes on, status 1; not with hostloss=ok."""
        for options, status in (((), 1), (("-x", "hostloss=ok"), 0)):
            vms = self.vms()
            process = self.started(vms, "fbt::probed_nop:entry { @[guest] = count(); } tick-4s { exit(0); }", "-q", *options)
            os.kill(self.pid_of("h1"), signal.SIGKILL)
            out, messages = process.communicate(timeout=limit(60))
            self.assertEqual(process.returncode, status, messages)
            self.assertRegex(messages, r"dtrace: h1: the host is lost: ")
            self.assertRegex(messages, r"dtrace: hosts: 1 whole, 1 lost: h1, last heard \d+ s ago\n$")
            self.assertIn("h2/web02", out)
            self.clean(vms)

    def test_operator_killed(self):
        """The hosts take their probes out."""
        vms = self.vms()
        process = self.started(vms, "fbt::probed_*:entry { @ = count(); }")
        process.kill()
        self.clean(vms)

    def test_ttl(self):
        vms = self.vms()
        _, messages = self.run_fleet(vms, "fbt::probed_nop:entry { @ = count(); }", "-q", "-x", "ttl=1s")
        self.assertEqual(messages, "dtrace: the session's time limit has passed: -x ttl=1s\n")


class Refused(Fleet):
    def test_program(self):
        """As for a local session: an error of one host alone has no name in front."""
        vms = self.vms()
        local = subprocess.run([OUTSIGHT, "--vmlinux", GUEST, "--no-cache", "-g", vms[0].socket, "-n", "fbt::nosuch:entry { }"],
                               capture_output=True, text=True, timeout=limit(60), check=False)
        _, messages = self.run_fleet(vms[:1], "fbt::nosuch:entry { }", status=1)
        self.assertEqual(messages, local.stderr)
        _, messages = self.run_fleet(vms, "fbt::nosuch:entry { }", status=1)
        self.assertRegex(messages, r"^dtrace: host h[12]: invalid probe specifier fbt::nosuch:entry")

    def test_syntax(self):
        """Found here, before a host is asked."""
        done = subprocess.run([OUTSIGHT, "-g", "ssh://none/web", "-n", "BEGIN { x = ; }"], capture_output=True, text=True,
                              env=self.env, timeout=limit(60), check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'dtrace: invalid probe specifier BEGIN { x = ; }: syntax error near ";"\n'))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "none")))

    def test_no_host(self):
        done = subprocess.run([OUTSIGHT, "-g", "ssh://none/web", "-n", "BEGIN { }"], capture_output=True, text=True, env=self.env,
                              timeout=limit(60), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^dtrace: host none: outsight-serve has not answered: ssh to none ended with status 255")

    def test_modes(self):
        """What is about one host's guests is asked there."""
        for words in (["-l"], ["-e", "-n", "BEGIN"], ["--plan", "-n", "BEGIN"], ["-S", "-n", "BEGIN"]):
            done = subprocess.run([OUTSIGHT, "-g", "ssh://none/web", *words], capture_output=True, text=True, env=self.env,
                                  timeout=limit(60), check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("is about the guests of one host", done.stderr)


if __name__ == "__main__":
    main()
