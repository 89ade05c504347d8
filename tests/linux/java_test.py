#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""jstack(): the frames of a Java program, interpreted and compiled, against the dump of its threads that OpenJDK prints itself
(what jstack(1) shows), in the guest's own OpenJDK 17."""
import itertools
import re
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import LIMIT
from lib.scenario import main, only_full
from lib.userland import JavaScenario, folder

THREADS = 4  # that stay where they are
EACH = 5     # stacks of each of them
COMPLETE = 0.95
# java/lang/Thread.sleep(J)V* (Thread.java:12)
FRAME = re.compile(r"([^.`\s]+\.[^.(\s]+)\([^)]*\)[^\s*]+(\*?)(?: \(([^)]*)\))?")


def program_frames(stack):
    """[("java/lang/Thread.sleep", "Thread.java:12", compiled?)] of a stack as it is printed; the place is "" without a line."""
    found = [FRAME.fullmatch(line.strip()) for line in stack.splitlines()]
    return [(m[1].replace("+", "/"), m[3] if ":" in (m[3] or "") else "", bool(m[2])) for m in found if m]


def dumped(text):
    """{thread: (tid, [(method, place)])} of a dump."""
    threads = {}
    for name, tid, frames in re.findall(r'(?m)^"([^"]+)" #\d+ .*\bnid=0x([0-9a-f]+) .*\n +java\.lang\.Thread\.State.*\n((?:\t.*\n)*)', text):
        at = re.findall(r"(?m)^\tat (\S+\.[^.(]+)\((?:\S+@[^/]+/)?(.*)\)$", frames)
        threads[name] = (int(tid, 16), [(method.replace(".", "/"), place if ":" in place else "") for method, place in at])
    return threads


def with_slashes(frames):
    """The method's own '.' is a '/' in what dumped() returns."""
    return [(method.replace(".", "/"), place) for method, place, _ in frames]


class Java(JavaScenario):
    source = "Framed.java"

    def start(self, times, *options):
        """Its PID, and its threads as it says itself."""
        pid = int(self.vm.check(f"userland java -Xmx64m -cp /tmp {' '.join(options)} Framed {times} >/tmp/said.java 2>&1 & echo $!"))
        self.vm.check("until grep -q ready /tmp/said.java; do sleep 0.2; done", timeout=3 * LIMIT)
        for times in itertools.count(1):
            threads = self.dump(pid, times)
            if all(at and at[0][0] == "java/lang/Thread/sleep" for name, (_, at) in threads.items() if name.startswith("framed-")):
                break
        self.assertLessEqual({f"framed-{i}" for i in range(THREADS)} | {"computing"}, set(threads))
        return pid, threads

    def dump(self, pid, times):
        """Its threads; a framed-N may be on its way to where it stays."""
        self.vm.check(f"kill -QUIT {pid}; until [ $(grep -c '^JNI global' /tmp/said.java) -ge {times} ]; do sleep 0.2; done")
        return dumped(self.vm.check("cat /tmp/said.java"))

    def tearDown(self):
        if self.vm:
            self.vm.run("killall -q -9 java; rm -f /tmp/said.*")
        super().tearDown()

    def check_stacks(self, times, *options):
        """Each stack of each thread that stays where it is; returns all frames."""
        pid, threads = self.start(times, *options)
        staying = {tid: frames for name, (tid, frames) in threads.items() if name.startswith("framed-")}
        trace = self.outsight.trace(self.vm, 'syscall::futex:entry /pid == $target/ { printf("<%d", tid); jstack(60, 8192); '
                                             'printf(">END\\n"); }', "-p", str(pid), "--sysroot", folder())
        until = time.monotonic() + LIMIT
        while min(trace.out.count(f"<{tid}\n") for tid in staying) < EACH and time.monotonic() < until:
            time.sleep(0.1)
        trace.stop()
        seen = [(int(tid), stack) for tid, stack in re.findall(r"(?ms)^<(\d+)\n(.*?)^>END$", trace.out) if int(tid) in staying]
        every = []
        for tid, stack in seen:
            frames = program_frames(stack)
            self.assertEqual(with_slashes(frames), staying[tid], stack)
            self.assertRegex(stack, r"(?s)`.*Thread\.sleep\(J\)V.*Thread\.run\(\)V.*\n +StubRoutines \(1\)\n +libjvm\.so`.*libc\.so\.6`")
            every += frames
        self.assertEqual({tid for tid, _ in seen}, set(staying), trace.story())
        return every

    @only_full
    def test_interpreted(self):
        frames = self.check_stacks(0, "-Xint")
        self.assertFalse([frame for frame in frames if frame[2]])

    @only_full
    def test_compiled(self):
        """By the client compiler: each method by itself, or inlined."""
        frames = self.check_stacks(2000, "-XX:TieredStopAtLevel=1", "-Xbatch")
        self.assertTrue({"Framed.leaf", "Framed$Nested.deeper", "Framed.byLambda"} <= {frame[0] for frame in frames if frame[2]})

    @only_full
    def test_optimised(self):
        """By the server compiler, which inlines most of it."""
        frames = self.check_stacks(2000, "-XX:-TieredCompilation", "-XX:CompileThreshold=200", "-Xbatch")
        self.assertTrue([frame for frame in frames if frame[2]])

    def check_samples(self, times, *options):
        pid, threads = self.start(times, *options)
        tid, frames = threads["computing"]
        trace = self.outsight.trace(self.vm, f"profile-997hz /pid == $target && tid == {tid}/ {{ @[jstack(60, 8192)] = count(); }} "
                                             "tick-5s { exit(0); }", "-p", str(pid), "--sysroot", folder())
        trace.finish()
        rows = [(program_frames(stack), int(n)) for stack, n in re.findall(r"(?m)((?:^ +\S.*\n)+?) +(\d+)$", trace.out)]
        callers = [method for method, _ in frames[-2:]]
        complete = sum(n for stack, n in rows if [method for method, _ in with_slashes(stack)[-2:]] == callers and
                       "Framed.compute" in {method for method, *_ in stack})
        total = sum(n for _, n in rows)
        print(f"{' '.join(options)}: {complete} of {total} samples are complete", flush=True)
        self.assertGreater(total, 100, trace.story())
        self.assertGreaterEqual(complete, COMPLETE * total, trace.story())

    @only_full
    def test_samples_interpreted(self):
        """Wherever it is: its callers."""
        self.check_samples(0, "-Xint")

    @only_full
    def test_samples_compiled(self):
        self.check_samples(2000, "-XX:TieredStopAtLevel=1", "-Xbatch")

    @only_full
    def test_folded(self):
        """As folded stacks: a method that is inlined is a frame, and nothing in a name ends one."""
        pid, _ = self.start(2000, "-XX:TieredStopAtLevel=1", "-Xbatch")
        trace = self.outsight.start(
            self.vm, "-x", "oformat=folded", "-p", str(pid), "--sysroot", folder(), "-n",
            'BEGIN { n = 0; } syscall::futex:entry /pid == $target/ { @[jstack(60, 8192)] = count(); } '
            'syscall::futex:entry /pid == $target && ++n == 200/ { exit(0); }')
        trace.finish()
        lines = [line.rpartition(" ")[0].split(";") for line in trace.lines if "Framed.byLibrary" in line]
        self.assertTrue(lines, trace.story())
        for line in lines:
            self.assertTrue(any(re.fullmatch(r"Framed\.byLibrary\(JJ\)J\*? \(Framed\.java:\d+\)", frame) for frame in line), line)
            self.assertTrue(any(frame.startswith("java/lang/Thread.run()V") for frame in line), line)


if __name__ == "__main__":
    sys.exit(main())
