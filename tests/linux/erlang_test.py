#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Erlang's own emulator with its static probes, as scripts/guest-erlang builds it: scripts for it as they were printed, each
line compared with what a program in Erlang has done. (runtimes_test.py has them on a stand-in.)"""
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import MIB, Guest, cache_dir
from lib.outsight import keyed
from lib.scenario import Scenario, main, only_full

ARCHIVE = os.path.join(cache_dir(), "erlang", "erl.cpio")
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runtimes")
PROBES = 1007  # that are listed, of which 951 are user_trace-n0 to -n950
TIMES = 1000
# Each round waits for a file; it says who it is.
PROGRAM = """
Wait = fun W(F) -> case file:delete(F) of ok -> ok; _ -> timer:sleep(50), W(F) end end,
io:format("ready ~p~n", [self()]),
Wait("/tmp/go"),
Me = self(),
[spawn(fun() -> ok end) || _ <- lists:seq(1, N)],
Echo = spawn(fun() -> (fun L() -> receive {From, X} -> From ! X, L(); stop -> exit(enough) end end)() end),
[begin Echo ! {Me, X}, receive X -> ok end end || X <- lists:seq(1, N)],
Echo ! stop,
[erlang:garbage_collect() || _ <- lists:seq(1, N)],
io:format("done ~p~n", [Echo]),
timer:sleep(100000000).
"""


class Erlang(Scenario):
    @classmethod
    def setUpClass(cls):
        cls.vm = None
        if not os.path.exists(ARCHIVE):
            return
        cls.folder = tempfile.mkdtemp(prefix="outsight-erlang-")
        cls.vm = Guest(cls.kernel, plugin=cls.outsight.plugin, smp=2, memory=768 * MIB, more_files=ARCHIVE).__enter__()
        cls.vm.check("mount -o bind /dev /erl/dev; mount -o bind /proc /erl/proc; mount -t tmpfs tmpfs /erl/tmp")

    @classmethod
    def tearDownClass(cls):
        if cls.vm:
            cls.vm.close()
            shutil.rmtree(cls.folder)

    def setUp(self):
        if not self.vm:
            self.skipTest("no Erlang with static probes (scripts/guest-erlang builds it)")
        program = " ".join(PROGRAM.split()).replace("N)", f"{TIMES})")
        self.vm.check(f"printf '%s' '{program}' >/erl/tmp/program")
        self.vm.check("cd /; BINDIR=/bin ROOTDIR=/root EMU=beam PROGNAME=erl HOME=/ chroot /erl /bin/beam.smp -S 1 -- -root /root "
                      "-bindir /bin -progname erl -- -home / -- -boot /root/bin/start_clean -noshell -eval "
                      "\"$(cat /erl/tmp/program)\" >/tmp/said.erl 2>&1 &")
        self.vm.check("until grep -q ready /tmp/said.erl; do sleep 0.2; done")
        self.me = re.search(r"ready (\S+)", self.vm.check("cat /tmp/said.erl")).group(1)

    def tearDown(self):
        self.outsight.kill_all()
        if self.vm:
            self.vm.run("killall -q -9 beam.smp erl_child_setup inet_gethost; rm -f /tmp/said.erl")

    def work(self):
        """The program does what it does; returns its echoing process."""
        self.vm.check("touch /erl/tmp/go; until grep -q done /tmp/said.erl; do sleep 0.2; done")
        return re.search(r"done (\S+)", self.vm.check("cat /tmp/said.erl")).group(1)

    @only_full
    def test_spawn_exit(self):
        """The script as it was printed: who begins, who ends, and why."""
        trace = self.outsight.start(self.vm, "-x", "switchrate=20hz", "-s", os.path.join(FOLDER, "spawn-exit.d"), "-q", "-n",
                                    'BEGIN { printf("tracing\\n"); }').wait_for("tracing")
        echo = self.work()
        trace.stop()
        self.assertEqual(len(re.findall(r"(?m)^pid <\S+> mfa erlang:apply/2$", trace.out)), TIMES + 1, trace.story())
        self.assertEqual(len(re.findall(r"(?m)^pid <\S+> reason normal$", trace.out)), TIMES, trace.story())
        self.assertIn(f"\npid {echo} reason enough", trace.out)

    @only_full
    def test_messages(self):
        """One message there and one back, each time."""
        trace = self.outsight.trace(
            self.vm, "erlang*:::message-send { @[copyinstr(arg0), copyinstr(arg1)] = count(); } "
                     "erlang*:::message-queued { @q[copyinstr(arg0)] = count(); }")
        echo = self.work()
        trace.stop()
        sent = {(a, b): int(n) for a, b, n in re.findall(r"(?m)^ +(<\S+>) +(<\S+>) +(\d+)$", trace.out)}
        self.assertEqual((sent[self.me, echo], sent[echo, self.me]), (TIMES + 1, TIMES), trace.story())
        queued = {a: int(n) for a, n in re.findall(r"(?m)^ +(<\S+>) +(\d+)$", trace.out)}
        self.assertEqual(queued[echo], TIMES + 1, trace.story())

    @only_full
    def test_memory(self):
        """Collections that the program asks for; each that begins also ends."""
        trace = self.outsight.trace(
            self.vm, f'erlang*:::gc_major-start, erlang*:::gc_major-end /copyinstr(arg0) == "{self.me}"/ {{ @[probename] = count(); }}')
        self.work()
        trace.stop()
        counts = keyed(trace.out)
        self.assertGreaterEqual(counts["gc_major-start"], TIMES, trace.story())
        self.assertEqual(counts["gc_major-start"], counts["gc_major-end"], trace.story())

    @only_full
    def test_scheduling(self):
        """The process is taken off its scheduler as often as it was put on it, but for the last time."""
        trace = self.outsight.trace(
            self.vm, f'erlang*:::process-scheduled, erlang*:::process-unscheduled /copyinstr(arg0) == "{self.me}"/ '
                     '{ @[probename] = count(); }')
        self.work()
        trace.stop()
        counts = keyed(trace.out)
        self.assertGreaterEqual(counts["process-scheduled"], TIMES, trace.story())  # it waits for each echo
        self.assertLessEqual(abs(counts["process-scheduled"] - counts["process-unscheduled"]), 1, trace.story())

    @only_full
    def test_list(self):
        """All probes of the emulator."""
        status, out, err = self.outsight.run(self.vm, "-l", "-n", "erlang*:::")
        self.assertEqual((status, err), (0, ""))
        names = set(re.findall(r"(?m)^ *\d+ +erlang\d+ +beam\.smp +.*?(\S+)$", out))
        self.assertEqual(len(names), PROBES)
        self.assertEqual({name for name in names if name.startswith("user_trace-n")}, {f"user_trace-n{n}" for n in range(951)})


if __name__ == "__main__":
    sys.exit(main())
