# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of many simulated hosts have in common."""
import os
import re
import signal
import subprocess
import sys
import unittest

from hosts import NATS, Fleet, limit, wait_until
from lib.scenario import run_module
from simulated import Simulated, totals

OUTSIGHT = os.path.abspath(sys.argv[1])
BEGUN = "every host has begun\n"
COUNT = "fbt:::entry { @[execname] = count(); }"
FUNCTIONS = ("fbt:::entry { @s[execname] = sum(arg0); @m = max(arg0); @q = quantize(arg0); } "
             "END { printa(\"m %@d\\n\", @m); printa(\"%s %@d\\n\", @s); printa(@q); }")
RECORDS = "fbt:::entry { printf(\"%s %d\", guest, arg0); stack(); }"
HOSTILE = {1: ("epid", "an aggregation that its program does not have"), 2: ("tuple", "an aggregation that its program does not have"),
           3: ("name", r"a name's number, \d+, is another's"), 4: ("order", "STARTED out of order")}


def rows(text):
    """{"key00007": value} of an aggregation with one string and a number."""
    return {name: int(n) for name, n in re.findall(r"(?m)^ +(\S+) +(\d+)$", text)}


class Case(unittest.TestCase):
    maxDiff = None
    HOSTS, KEYS, SECONDS, RATE_MS = 20, 50, 4, 300
    OPTIONS = ()

    def setUp(self):
        self.fleet = Fleet(OUTSIGHT)
        self.addCleanup(self.fleet.close)

    def simulate(self, *args, port=None):
        simulated = Simulated(self.fleet, self.HOSTS, "--keys", str(self.KEYS), "--seconds", str(self.SECONDS), "--rate",
                              str(self.RATE_MS), *args, port=port)
        self.addCleanup(simulated.close)
        self.simulated = simulated
        return simulated

    def begin(self, program, *args):
        """An operator, once every host has begun."""
        with open(self.fleet.path("operator.out"), "w", encoding="utf-8") as f, open(self.fleet.path("operator.err"), "w", encoding="utf-8") as e:
            process = subprocess.Popen(self.fleet.command("-q", "-x", "aggrate=100ms", *self.OPTIONS, *args, "-g", "h*/web", "-n", program,
                                                          "-n", f"tick-50ms /!begun/ {{ begun = 1; printf(\"{BEGUN[:-1]}\\n\"); }}"),
                                       stdin=subprocess.DEVNULL, stdout=f, stderr=e)

        def end():
            process.kill()
            process.wait()
        self.addCleanup(end)

        def begun():
            if process.poll() is not None:
                self.fail(self.text("err") + self.simulated.state())
            return BEGUN[:-1] in self.text("out")
        wait_until(begun, "every host has begun")
        return process

    def text(self, which):
        """What the operator has written, to "out" or "err"."""
        with open(self.fleet.path(f"operator.{which}"), encoding="utf-8") as f:
            return f.read()

    def await_error(self, regex):
        wait_until(lambda: re.search(regex, self.text("err")), lambda: f"{regex} in {self.text('err')}")

    def end(self, process):
        """(status, stdout, stderr)"""
        process.send_signal(signal.SIGINT)
        process.wait(limit(120))
        return process.returncode, self.text("out").replace(BEGUN, "", 1), self.text("err")

    def expected(self, seconds=None, hosts=None):
        """Of each key, by hosts with these numbers; of all."""
        hosts = range(1, self.HOSTS + 1) if hosts is None else hosts
        sums = totals({f"h{n}": seconds or self.SECONDS for n in hosts}, self.KEYS)
        return {f"key{k:05}": n for k, n in enumerate(sums)}

    # --- what is to be true however data has come

    def check_functions(self, status, out, err):
        """Of FUNCTIONS: the key's number is what is aggregated."""
        counts = self.expected()
        self.assertEqual((status, err), (0, ""))
        self.assertEqual({k: int(n) for k, n in re.findall(r"(?m)^(key\d+) (\d+)$", out)}, {k: n * int(k[3:]) for k, n in counts.items()})
        self.assertIn(f"m {self.KEYS - 1}\n", out)
        buckets = {int(value): int(n) for value, n in re.findall(r"(?m)^ +(\d+) \|[@ ]+ (\d+) *$", out)}
        powers = {}
        for key, n in counts.items():
            number = int(key[3:])
            power = 1 << (number.bit_length() - 1) if number else 0
            powers[power] = powers.get(power, 0) + n
        self.assertEqual({value: n for value, n in buckets.items() if n}, powers)

    def check_hostile(self, status, out, err):
        """Of counts by execname and by stack, where HOSTILE are."""
        self.assertEqual(status, 1, err)
        for n, (_, reason) in HOSTILE.items():
            self.assertRegex(err, rf"(?m)^dtrace: h{n}: the host is lost: {reason}")
        self.assertRegex(err, rf"hosts: {self.HOSTS - len(HOSTILE)} whole, {len(HOSTILE)} lost: h1, last heard \d+ s ago; h2,")
        self.assertEqual({k: n for k, n in rows(out).items() if k.startswith("key")},
                         self.expected(hosts=range(len(HOSTILE) + 1, self.HOSTS + 1)))

    def check_records(self, status, out, err):
        """Of RECORDS, one a second."""
        self.assertEqual((status, err), (0, ""))
        blocks = re.findall(r"(?m)^(h\d+)/web (\d+)\n +vmlinux`simulated_(\d+)\n +vmlinux`simulated_(\d+)\n +vmlinux`simulated_(\d+)$", out)
        self.assertEqual(sorted(blocks), sorted((f"h{h}", str(k), *(str((k + i) % 16) for i in range(3)))
                                                for h in range(1, self.HOSTS + 1) for k in range(self.SECONDS)))


def hostile_options():
    return [word for n, (kind, _) in HOSTILE.items() for word in ("--hostile", f"h{n}:{kind}")]


def main():
    run_module(sys.argv[2:], None if NATS else "no nats-server here (scripts/test gets one)")
