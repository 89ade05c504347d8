#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Many hosts that an operator collects from directly; they are simulated. many_test.py OUTSIGHT [Class.test…]."""
from many import COUNT, FUNCTIONS, RECORDS, Case, hostile_options, main, rows


class Direct(Case):
    def collect(self, program, *args):
        """(status, stdout, stderr, what the hosts have done)"""
        simulated = self.simulate(*args)
        process = self.begin(program)
        simulated.await_word("done")
        return (*self.end(process), simulated.stop())

    def test_counts(self):
        """Every key of every host, to one."""
        status, out, err, done = self.collect(COUNT)
        self.assertEqual((status, err, rows(out)), (0, "", self.expected()))
        self.assertEqual(done["hosts"], {f"h{n}": [self.SECONDS, True] for n in range(1, self.HOSTS + 1)})

    def test_loss(self):
        """A twentieth of all packets is lost, in either direction."""
        status, out, err, done = self.collect(COUNT, "--loss", "0.05")
        self.assertEqual((status, rows(out)), (0, self.expected()), err)
        self.assertGreater(done["again"], 0)

    def test_functions(self):
        """Sums, greatest values and distributions."""
        self.check_functions(*self.collect(FUNCTIONS)[:3])

    def test_records(self):
        """With frames whose names are each host's to give, and guests of one name on all of them."""
        self.check_records(*self.collect(RECORDS, "--records", "1")[:3])

    def test_hostile(self):
        """Whatever a host does wrong, it alone is lost, and the others' numbers are theirs."""
        self.check_hostile(*self.collect(COUNT + " fbt:::entry { @s[stack()] = count(); }", *hostile_options())[:3])

    def test_late(self):
        """A host that needs a while for its end is waited for, and said."""
        status, out, err, _ = self.collect(COUNT, "--slow", "h3:1500")
        self.assertEqual((status, rows(out)), (0, self.expected()), err)
        self.assertRegex(err, r"^dtrace: hosts: 19 whole, 1 late \(\d\.\d s\)\n$")


if __name__ == "__main__":
    main()
