# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios with Erlang's own emulator, as scripts/guest-erlang builds it; they skip without it."""
import os

from lib.guest import MIB, Guest, cache_dir
from lib.scenario import Scenario

ARCHIVE = os.path.join(cache_dir(), "erlang", "erl.cpio")
# Wait() returns once go() was called.
BEFORE = """
Waits = fun W(F) -> case file:delete(F) of ok -> ok; _ -> timer:sleep(50), W(F) end end,
Wait = fun() -> Waits("/tmp/go") end,
"""
AFTER = ", timer:sleep(100000000)."


class ErlangScenario(Scenario):
    @classmethod
    def setUpClass(cls):
        cls.vm = None
        if not os.path.exists(ARCHIVE):
            return
        cls.vm = Guest(cls.kernel, plugin=cls.outsight.plugin, smp=2, memory=768 * MIB, more_files=ARCHIVE).__enter__()
        cls.vm.check("mount -o bind /dev /erl/dev; mount -o bind /proc /erl/proc; mount -t tmpfs tmpfs /erl/tmp")

    @classmethod
    def tearDownClass(cls):
        if cls.vm:
            cls.vm.close()

    def setUp(self):
        super().setUp()
        if not self.vm:
            self.skipTest("no Erlang with static probes (scripts/guest-erlang builds it)")

    def start(self, program):
        """Run a program, some expressions without quotes, until it has said that it is ready. Returns its PID."""
        text = " ".join(f"{BEFORE}{program}{AFTER}".split())
        self.vm.check(f"printf '%s' '{text}' >/erl/tmp/program")
        pid = self.vm.check("cd /; BINDIR=/bin ROOTDIR=/root EMU=beam PROGNAME=erl HOME=/ chroot /erl /bin/beam.smp -S 1 -- -root /root "
                            "-bindir /bin -progname erl -- -home / -- -boot /root/bin/start_clean -noshell -eval "
                            "\"$(cat /erl/tmp/program)\" >/tmp/said.erl 2>&1 & echo $!")
        self.vm.check("until grep -q ready /tmp/said.erl; do sleep 0.2; done")
        return int(pid)

    def said(self):
        return self.vm.check("cat /tmp/said.erl")

    def go(self):
        """Have it go on until it says that it is done; all that it has said."""
        self.vm.check("touch /erl/tmp/go; until grep -q done /tmp/said.erl; do sleep 0.2; done")
        return self.said()

    def tearDown(self):
        self.outsight.kill_all()
        if self.vm:
            self.vm.run("killall -q -9 beam.smp erl_child_setup inet_gethost; rm -f /tmp/said.erl")
