#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Many hosts that an operator collects from directly; they are simulated. many_test.py OUTSIGHT [Class.test…]."""
import os
import re
import signal
import subprocess
import sys
import unittest

from hosts import NATS, Fleet, limit
from lib.scenario import LineResult
from simulated import Simulated, totals

OUTSIGHT = os.path.abspath(sys.argv[1])
COUNT = "fbt:::entry { @[execname] = count(); }"


def rows(text):
    """{"key00007": value} of an aggregation with one string and a number."""
    return {name: int(n) for name, n in re.findall(r"(?m)^ +(\S+) +(\d+)$", text)}


class Case(unittest.TestCase):
    maxDiff = None
    HOSTS, KEYS, SECONDS = 20, 50, 4

    def setUp(self):
        self.fleet = Fleet(OUTSIGHT)
        self.addCleanup(self.fleet.close)

    def simulate(self, *args, port=None):
        simulated = Simulated(self.fleet, self.HOSTS, "--keys", str(self.KEYS), "--seconds", str(self.SECONDS), "--rate", "300", *args,
                              port=port)
        self.addCleanup(simulated.close)
        return simulated

    def begin(self, *args):
        process = subprocess.Popen(self.fleet.command("-q", "-x", "aggrate=100ms", "-g", "h*/web", *args), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def end(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=limit(120))
        return process.returncode, out, err

    def expected(self, seconds=None, hosts=None):
        hosts = range(1, self.HOSTS + 1) if hosts is None else hosts
        sums = totals({f"h{n}": seconds or self.SECONDS for n in hosts}, self.KEYS)
        return {f"key{k:05}": n for k, n in enumerate(sums)}


class Direct(Case):
    def collect(self, *args, program=COUNT):
        simulated = self.simulate(*args)
        process = self.begin("-n", program)
        simulated.await_word("done")
        return (*self.end(process), simulated.stop())

    def test_counts(self):
        """Every key of every host, to one."""
        status, out, err, done = self.collect()
        self.assertEqual((status, err, rows(out)), (0, "", self.expected()))
        self.assertEqual(done["hosts"], {f"h{n}": [self.SECONDS, True] for n in range(1, self.HOSTS + 1)})

    def test_loss(self):
        """A twelfth of all packets is lost, in either direction."""
        status, out, err, done = self.collect("--loss", "0.08")
        self.assertEqual((status, rows(out)), (0, self.expected()), err)
        self.assertGreater(done["again"], 0)

    def test_functions(self):
        """Sums, greatest values and distributions: the key's number is what is aggregated."""
        status, out, err, _ = self.collect(program="fbt:::entry { @s[execname] = sum(arg0); @m = max(arg0); @q = quantize(arg0); } "
                                                   "END { printa(\"m %@d\\n\", @m); printa(\"%s %@d\\n\", @s); printa(@q); }")
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

    def test_records(self):
        """With frames whose names are each host's to give, and guests of one name on all of them."""
        status, out, err, _ = self.collect("--records", "1", program="fbt:::entry { printf(\"%s %d\", guest, arg0); stack(); }")
        self.assertEqual((status, err), (0, ""))
        blocks = re.findall(r"(?m)^(h\d+)/web (\d+)\n +vmlinux`simulated_(\d+)\n +vmlinux`simulated_(\d+)\n +vmlinux`simulated_(\d+)$", out)
        self.assertEqual(sorted(blocks), sorted((f"h{h}", str(k), *(str((k + i) % 16) for i in range(3)))
                                                for h in range(1, self.HOSTS + 1) for k in range(self.SECONDS)))

    def test_hostile(self):
        """Whatever a host does wrong, it alone is lost, and the others' numbers are theirs."""
        kinds = ("epid", "tuple", "name", "order")
        hostile = [word for n, kind in enumerate(kinds, 1) for word in ("--hostile", f"h{n}:{kind}")]
        status, out, err, _ = self.collect(*hostile, program="fbt:::entry { @[execname] = count(); @s[stack()] = count(); }")
        self.assertEqual(status, 1, err)
        for n, reason in enumerate(("an aggregation that is none of its program", "an aggregation that is none of its program",
                                    r"a name's number, \d+, is another's", "STARTED out of its order"), 1):
            self.assertRegex(err, rf"(?m)^dtrace: h{n}: the host is lost: {reason}")
        self.assertRegex(err, r"hosts: 16 whole, 4 lost: h1, last heard \d+ s ago; h2,")
        self.assertEqual({k: n for k, n in rows(out).items() if k.startswith("key")}, self.expected(hosts=range(len(kinds) + 1, self.HOSTS + 1)))

    def test_late(self):
        """A host that needs a while for its end is waited for, and said."""
        status, out, err, _ = self.collect("--slow", "h3:1500")
        self.assertEqual((status, rows(out)), (0, self.expected()), err)
        self.assertRegex(err, r"^dtrace: hosts: 19 whole, 1 late \(1\.\d s\)\n$")


def main():
    if not NATS:
        print("SKIP: no nats-server here (scripts/test gets one)")
        sys.exit(77)
    result = LineResult()
    loader = unittest.defaultTestLoader
    module = sys.modules["__main__"]
    (loader.loadTestsFromNames(sys.argv[2:], module) if sys.argv[2:] else loader.loadTestsFromModule(module)).run(result)
    sys.exit(not result.wasSuccessful() or not result.testsRun)


if __name__ == "__main__":
    main()
