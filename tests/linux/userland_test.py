#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of Debian's own programs (PostgreSQL, Python, nginx) and of a C program without frame pointers: each is stopped at
moments of no one's choosing, while it works, and its stack at that moment is the one that gdb shows in the guest."""
import base64
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import LIMIT, rounds
from lib.scenario import main, only_full
from lib.userland import AT, Names, UserlandScenario, folder

STOPS = rounds(10, 40)  # of each program
FRAMES = 100
EQUAL = 0.95
SIGINT = 2
PSQL = "psql -qAt -h /run/postgresql"
QUERY = ("select count(*), sum(length(md5(a::text || b::text))) from generate_series(1, 30000) a, generate_series(1, 30000) b "
         "where (a * b) % 7 = 3 or a::text like '%' || b::text")
PYTHON = """
import json, re
def tree(n):
    return {"n": n, "left": tree(n - 1), "right": tree(n - 2)} if n > 1 else {"n": n}
while True:
    text = json.dumps(tree(9), sort_keys=True)
    sorted(re.findall("[0-9]+", text), key=lambda s: (len(s), int(s)))
    json.loads(text)
"""
GDB = """set pagination off
set confirm off
set debuginfod enabled off
set backtrace past-main on
set backtrace past-entry on
handle SIGINT stop nopass
"""


class Truth(UserlandScenario):
    """What each program does is written for it; the comparison is one for all."""

    def sysroot(self):
        return ("--sysroot", folder())

    # --- the programs: each returns the PID of one that works ----------------------------------------

    def pid_of(self, pattern):
        """The newest process whose command line has that."""
        find = f"pgrep -n -f '{pattern}'"
        self.vm.check(f"until userland {find} >/dev/null; do sleep 0.2; done")
        return int(self.vm.check(f"userland {find}"))

    def start_c(self):
        self.vm.check("cp /bin/sorting /u/usr/local/bin/")
        self.vm.check("userland sorting 1000000 >/tmp/said.sorting 2>&1 & until grep -q ready /tmp/said.sorting; do sleep 0.2; done")
        pid = self.pid_of("^sorting 1000000")
        self.vm.check(f"kill -USR1 {pid}")
        return pid

    def start_python(self):
        self.vm.check(f"echo {self.base64(PYTHON)} | base64 -d >/u/tmp/work.py")
        self.vm.check("userland python3 -IS /tmp/work.py >/dev/null 2>&1 &")
        return self.pid_of("^python3 .*work.py")

    def start_postgres(self):
        self.vm.check("userland pg_ctlcluster 15 main start", timeout=3 * LIMIT)
        self.vm.check(f"userland su postgres -c \"export PGOPTIONS='-c jit=off'; while {PSQL} -c \\\"{QUERY}\\\"; do :; done\" >/dev/null 2>&1 &")
        return self.pid_of("^postgres: .* SELECT")

    def start_nginx(self):
        self.vm.check("userland nginx")
        self.vm.check("(while :; do wget -q -O /dev/null http://127.0.0.1/; done) >/dev/null 2>&1 &")
        return self.pid_of("^nginx: worker")

    @staticmethod
    def base64(text):
        return base64.b64encode(text.encode()).decode()

    # --- the comparison --------------------------------------------------------------------------------

    def stop_often(self, pid):
        """[[address]] of the process at each of its stops, by gdb in the guest."""
        stop = f"shell (sleep 0.1; kill -{SIGINT} {pid}) &\ncontinue\necho <\\n\nbacktrace {FRAMES}\necho >\\n\n"
        script = GDB + stop * STOPS + "detach\n"
        self.vm.check(f"echo {self.base64(script)} | base64 -d >/u/tmp/stops.gdb")
        self.vm.run(f"userland timeout {LIMIT} gdb -nx -p {pid} -batch -x /tmp/stops.gdb >/tmp/gdb.out 2>/tmp/gdb.err", 2 * LIMIT)
        out = self.vm.check("cat /tmp/gdb.out")
        found = [re.findall(r"(?m)^#\d+ +(?:0x([0-9a-f]+) in |(<signal handler called>))", text)
                 for text in re.findall(r"(?ms)^<\n(.*?)^>$", out)]
        self.assertEqual(len(found), STOPS, out[-2000:] + self.vm.check("tail -5 /tmp/gdb.err"))
        return [[int(at, 16) if at else None for at, _ in stack] for stack in found]

    def compare(self, what, pid, options):
        """Prints the shares; returns how many of the stacks are gdb's."""
        trace = self.outsight.trace(
            self.vm, f'fbt::do_notify_parent_cldstop:entry /pid == {pid} && curthread->exit_code == {SIGINT}/ '
                     f'{{ printf("<"); ustack({FRAMES}); printf(">\\n"); }}',
            *options)
        truth = self.stop_often(pid)
        names = Names(self.vm.check(f"cat /proc/{pid}/maps"), {f"{AT}/usr/local/bin/sorting": self.programs.sorting})
        while trace.out.count(">") < STOPS:
            time.sleep(0.1)
        trace.stop()
        seen = [text.split() for text in re.findall("<([^>]*)>", trace.out)]
        kinds = {"named": 0, "unnamed": 0, "bare": 0, "other": 0}
        equal = 0
        for ours, gdbs in zip(seen, truth):
            fits = [names.fits(text, pc) if pc else "named" for text, pc in zip(ours, gdbs)]
            if len(ours) == len(gdbs) and all(fits):
                equal += 1
                for kind in fits:
                    kinds[kind] += 1
            else:
                self.tell(what, ours, gdbs, fits)
        total = sum(kinds.values()) or 1
        self.say(f"{what}: {equal} of {STOPS} stacks are gdb's ({equal / STOPS:.1%}), of {total / max(equal, 1):.1f} frames; names: "
                 f"{kinds['named'] / total:.1%} nm's, {kinds['unnamed'] / total:.1%} sub_OFFSET, {kinds['bare'] / total:.1%} none, "
                 f"{kinds['other'] / total:.1%} of no file" + "".join(f"\n  {line}" for line in trace.errors if "dtrace:" in line))
        return equal

    @staticmethod
    def say(text):
        print(text, flush=True)

    def tell(self, what, ours, gdbs, fits):
        """One that differs: up to the first frame that does."""
        at = next((i for i, fit in enumerate(fits) if not fit), len(fits))
        self.say(f"{what}: {len(ours)} frames, gdb has {len(gdbs)}; frame {at} of " + " < ".join(ours[:at + 1]) +
                 f" and gdb's {[f'{pc or 0:x}' for pc in gdbs[at:at + 2]]}")

    def both(self, what, pid):
        with_files = self.compare(what, pid, self.sysroot())
        self.compare(f"{what}, without --sysroot", pid, ())
        self.assertGreaterEqual(with_files, STOPS * EQUAL)

    @only_full
    def test_c(self):
        """qsort() calls back from within the C library."""
        self.both("a C program", self.start_c())

    @only_full
    def test_python(self):
        self.both("python3", self.start_python())

    @only_full
    def test_postgres(self):
        """A backend that computes."""
        self.both("postgres", self.start_postgres())

    @only_full
    def test_nginx(self):
        """A worker with one request after another."""
        self.both("nginx", self.start_nginx())

    def tearDown(self):
        if self.vm:
            self.vm.run("for p in gdb sorting python3 wget; do killall -q -9 $p; done; killall -q nginx; "
                        "userland pg_ctlcluster -m immediate 15 main stop; rm -f /tmp/said.*", timeout=LIMIT)
        super().tearDown()


if __name__ == "__main__":
    sys.exit(main())
