#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""liboutsight on a stock kernel, by Python's module: what it counts and hands out is what the guest did."""
import os
import sys
import time
import unittest.mock

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import cache_dir
from lib.pace import LIMIT
from lib.scenario import Scenario, main, only_full

HERE = os.path.dirname(os.path.abspath(__file__))


class Library(Scenario):
    def session(self, guest, program, name=None, options=None, **more):
        """The library of the build that is tested, in this process, which sees the guest as `outsight` does."""
        build = os.path.dirname(os.path.dirname(self.outsight.binary))
        # the images of further guests are where they were
        environment = {**self.outsight.environment(guest), "OUTSIGHT_CACHE": cache_dir(),
                       "OUTSIGHT_LIBRARY": os.path.join(build, "lib", "liboutsight.so.1")}
        patch = unittest.mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
        self.addCleanup(sys.path.pop, 0)
        import outsight  # pylint: disable=import-outside-toplevel
        session = outsight.Session(name or guest.name, {"maxcost": 0, **(options or {})}, **more)
        self.addCleanup(session.close)
        session.compile(program)
        session.go()
        return session

    def test_counts(self):
        """Every call of four threads, and records with the guest's name, its vCPU and the names of its functions."""
        with self.guest() as guest:
            job = guest.spawn("getppid_loop 4 10000 wait")
            job.wait_output("waiting")
            session = self.session(guest, 'syscall::getppid:entry { @[execname, probefunc] = count(); } '
                                          'syscall::exit_group:entry /execname == "getppid_loop"/ { trace(execname); stack(1); exit(3); }')
            job.send("go")
            records = list(session.records())
            job.wait_end()
            self.assertEqual(session.aggregations(), {"_": {("getppid_loop", "getppid"): 40000}})
            self.assertEqual(session.exit_status, 3)
            (record,) = records
            self.assertEqual(record.guest, session.guests[0])
            self.assertIn(record.cpu, range(8))
            self.assertEqual(record.probe, ("syscall", "vmlinux", "exit_group", "entry"))
            self.assertEqual(record.values[0], "getppid_loop")
            self.assertRegex(record.values[1], r"vmlinux`\w*sys_exit_group")
            session.close()

    def follow(self, session, done, said):
        """Take its records until something is so."""
        end = time.monotonic() + LIMIT
        while not done():
            self.assertLess(time.monotonic(), end, said)
            list(session.records(seconds=0.1))

    @only_full
    def test_joining(self):
        """A guest that starts while the session runs, and that its pattern means, joins it; one that ends leaves it."""
        said = []
        with self.guest() as one:
            session = self.session(one, 'syscall::getppid:entry /execname == "getppid_loop"/ { @[guest, probefunc] = sum(1); }',
                                   f"{one.name}*", {"switchrate": "20hz", "aggrate": "20hz"}, message=said.append)
            self.assertEqual(session.guests, [one.name])
            one.check("getppid_loop 1 100")
            with self.own_guest(smp=1, name=f"{one.name}-late") as two:
                self.follow(session, lambda: f"guest {two.name}: joined" in said, said)
                self.assertEqual(session.guests, [one.name, two.name])
                two.check("getppid_loop 1 200")
                want = {"_": {(two.name, "getppid"): 200, (one.name, "getppid"): 100}}
                self.follow(session, lambda: session.aggregations() == want, said)
            self.follow(session, lambda: any(two.name in text and text.endswith("; the others go on") for text in said), said)
            one.check("getppid_loop 1 1000")
            session.stop()
            want["_"][one.name, "getppid"] += 1000
            self.assertEqual(session.aggregations(), want)
            session.close()


if __name__ == "__main__":
    sys.exit(main())
