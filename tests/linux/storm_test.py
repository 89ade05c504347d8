#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that fork, call exec(), and load and unload a library, while the guest's kernel moves and drops the pages of
their files: no call of theirs is missed, by whichever provider; and whatever ends the session, files and semaphores are as
they were."""
import random
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import rounds
from lib.program_scenario import ProgramScenario, counts_by_word
from lib.scenario import main
from lib.truth import agree

CHILDREN = rounds(60, 1000)
CHILDREN_AFTER = 20
FOREVER = 1 << 30
CALLS = 20
PROGRAM, LIBRARY = "/mnt/storm", "/mnt/libstorm.so"
COMPACT, DROP = "echo 1 >/proc/sys/vm/compact_memory", "echo 3 >/proc/sys/vm/drop_caches"
# Each count is a word of its own.
EVERY_PROCESS = " ".join(f'user:{file}:{function}:{name} {{ @["{function}-{name}"] = count(); }}' for file, function, name in (
    (PROGRAM, "work", "entry"), (PROGRAM, "work", "return"), (LIBRARY, "leaf", "entry"), (LIBRARY, "leaf", "return")))
LOADED = 'user:libc.so.6:dlopen:entry /execname == "storm" || execname == "exe"/ { @["dlopen"] = count(); }'
PARENT = ('pid$target:a.out:turns:entry { @["turns"] = count(); } storm$target:::turn { @["turn"] = count(); } '
          'storm$target:::guarded { @["guarded"] = count(); }')


class Storm(ProgramScenario):
    aslr = True
    names = "storm exe"
    last_line = "^done$"

    def setUp(self):
        super().setUp()
        self.vm.check(f"cp /bin/storm {PROGRAM} && cp /lib/x86_64-linux-gnu/libstorm.so {LIBRARY} && sync")
        self.before = self.files()
        self.start_idle(f"{PROGRAM} keep {LIBRARY}", "keeper")
        self.mover = None

    def move(self, *what):
        """Every 100 ms, until the test ends."""
        self.mover = self.vm.check(f"while :; do {'; '.join(what)}; sleep 0.1; done >/dev/null 2>&1 & echo $!").strip()

    def tearDown(self):
        if self.mover:
            self.vm.run(f"kill -9 {self.mover}")
        super().tearDown()
        self.vm.run(f"rm -f {PROGRAM} {LIBRARY}")

    def files(self):
        """Their sums, read from the disk: nobody has them mapped."""
        return self.vm.check(f"sync; {DROP}; sha256sum {PROGRAM} {LIBRARY}")

    def start(self, children):
        return self.start_idle(f"{PROGRAM} {children} {CALLS} {LIBRARY}", "parent")

    def storm(self, pid):
        """One storm; what the parent has in its semaphore after it."""
        self.work_once(pid, "parent")
        said = self.vm.check("cat /tmp/said.parent")
        self.assertEqual(set(re.findall(r"(?m)^wrong (\d+)$", said)), {"0"})
        return self.last_semaphore(said)

    @staticmethod
    def last_semaphore(said):
        return int(re.findall(r"(?m)^semaphore (\d+)$", said)[-1])

    def semaphore(self, pid):
        seen = self.vm.check("cat /tmp/said.parent").count("semaphore")
        self.vm.check(f"kill -USR2 {pid}")
        self.wait_lines("^semaphore", seen + 1, "parent")
        return self.last_semaphore(self.vm.check("cat /tmp/said.parent"))

    def end_all(self):
        self.vm.run(f"killall -q -9 {self.names}; while grep -q ' {PROGRAM}$' /proc/[0-9]*/maps 2>/dev/null; do sleep 0.1; done")

    def test_none_missed(self):
        """Functions in every process, in the program and in the library, by their entries and returns; the parent's own, and its
        static probes, one of them with a semaphore that its children inherit."""
        parent = self.start(CHILDREN)
        trace = self.outsight.trace(self.vm, f"{EVERY_PROCESS} {LOADED} {PARENT}", "-p", str(parent))
        self.move(COMPACT, DROP)
        self.assertEqual(self.storm(parent), 1)
        trace.stop()
        found, story = counts_by_word(trace.out), trace.story()
        for what, name, true in (("user:storm:work:entry", "work-entry", CALLS), ("user:storm:work:return", "work-return", CALLS),
                                 ("user:libstorm.so:leaf:entry", "leaf-entry", CALLS), ("user:libstorm.so:leaf:return", "leaf-return", CALLS),
                                 ("user:libc.so.6:dlopen:entry", "dlopen", 1), ("pid::turns:entry", "turns", 1),
                                 ("storm:::turn", "turn", 1), ("storm:::guarded, with a semaphore", "guarded", 1)):
            agree(self, f"{what}, {CHILDREN} processes", found.get(name, 0), CHILDREN * true, story=story)
        self.assertEqual(self.semaphore(parent), 0)
        self.end_all()
        self.assertEqual(self.files(), self.before)

    def in_memory(self, pid):
        return self.semaphore_in_memory(pid, self.programs.path("bin/storm"), "storm_semaphore")

    def test_killed(self):
        """kill -9 of outsight at any moment of its start and of its session, in a storm that goes on until all is over: each time
        the files are as they were, and the semaphore too; no child suffers, and the next session counts each call."""
        parent = self.start(FOREVER)
        self.vm.check(f"kill -USR1 {parent}")
        self.move(COMPACT)
        for nth in range(rounds(2, 100)):
            trace = self.outsight.start(self.vm, "-q", "-p", str(parent), "-n", 'BEGIN { printf("tracing\\n"); }', "-n",
                                        f"{EVERY_PROCESS} {PARENT}")
            if nth % 2:
                trace.wait_for("tracing")
                self.assertEqual(self.in_memory(parent), 1, trace.story())
            time.sleep(random.uniform(0, 0.5 if nth % 2 else 2))
            self.assertIsNone(trace.process.poll(), trace.story())
            trace.kill()
            while self.in_memory(parent):
                pass  # the engine notices at once, but this program may be faster
            self.assertEqual(self.files(), self.before)
        self.vm.check(f"kill -USR2 {parent}")
        self.wait_lines(self.last_line, 1, "parent")
        self.assertRegex(self.vm.check("cat /tmp/said.parent"), r"wrong 0\nsemaphore 0\ndone")
        self.vm.run(f"kill -9 {parent}")
        self.check_count(self.start(CHILDREN_AFTER))
        self.end_all()
        self.assertEqual(self.files(), self.before)

    def check_count(self, parent):
        """A storm under trace, after all those that were killed."""
        self.rounds["parent"] = 0
        trace = self.outsight.trace(self.vm, f"{EVERY_PROCESS} {PARENT}", "-p", str(parent))
        self.assertEqual(self.storm(parent), 1)
        trace.stop()
        calls = CHILDREN_AFTER * CALLS
        expected = {name: calls for name in ("work-entry", "work-return", "leaf-entry", "leaf-return")}
        expected |= {name: CHILDREN_AFTER for name in ("turns", "turn", "guarded")}
        self.assertEqual(counts_by_word(trace.out), expected, trace.story())
        self.assertEqual(self.semaphore(parent), 0)


if __name__ == "__main__":
    sys.exit(main())
