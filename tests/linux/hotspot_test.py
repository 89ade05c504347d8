#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Java's own static probes, in the guest's OpenJDK 17 as it comes: collections, classes, threads and methods, against the
machine's own log (-Xlog) and what the program says. (runtimes_test.py has the same on a stand-in, java_test.py frames.)"""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.scenario import main, only_full
from lib.userland import AT, JavaScenario, LineProgram

# A text of a given length, without a NUL, as scripts for Java take one.
TEXT = "this->{0} = (char *)copyin({1}, {2} + 1); this->{0}[{2}] = 0;"
CLOCKS = 0.99  # the guest's clock may be so much faster than the host's


class Hotspot(JavaScenario):
    source = "Watched.java"

    def start(self, *options):
        """The program, and a function that gives what the machine has written to its log since."""
        self.read_in("usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so")
        program = LineProgram(self.vm, f"java -Xmx64m -XX:+UseSerialGC -cp /tmp {' '.join(options)} Watched").wait("^ready$")
        log = f"{AT}/tmp/java.log"
        before = self.vm.run(f"cat {log} 2>/dev/null")[1]
        return program, lambda: self.vm.check(f"cat {log}")[len(before):].splitlines()

    def tearDown(self):
        if self.vm:
            self.vm.run(f"killall -q -9 java; rm -f /tmp/said.* /tmp/to.* {AT}/tmp/java.log")
        super().tearDown()

    @only_full
    def test_collections(self):
        """Each that begins and ends, of which kind; none is shorter than the machine says that its pause was."""
        program, log = self.start("-Xlog:gc:file=/tmp/java.log:none")
        trace = self.outsight.trace(
            self.vm, 'hotspot$target:::gc-begin { self->begun = timestamp; @[arg0 ? "Full" : "Young"] = count(); } '
                     'hotspot$target:::gc-end /self->begun/ { printf("took %d ns\\n", timestamp - self->begun); '
                     'self->begun = 0; }',
            "-p", str(program.pid))
        program.ask("gc 5", "garbage 200", "gc 2")
        trace.stop()
        pauses = []
        for kind, why, ms in re.findall(r"(?m)^GC\(\d+\) Pause (\w+) \((.*?\)?)\) .* ([\d.]+)ms$", "\n".join(log())):
            # One of all that follows a young one, which has not made room enough, is of the same collection.
            follows = kind == "Full" and why != "System.gc()"
            pauses = [*pauses[:-1], (pauses[-1][0], pauses[-1][1] + float(ms))] if follows else [*pauses, (kind, float(ms))]
        counts = {kind: sum(kind == one for one, _ in pauses) for kind in ("Full", "Young")}
        self.assertEqual(keyed(trace.out), counts, trace.story())
        self.assertEqual(counts["Full"], 7)
        self.assertGreater(counts["Young"], 2)
        took = [int(ns) for ns in re.findall(r"(?m)^took (\d+) ns$", trace.out)]
        self.assertEqual(len(took), len(pauses), trace.story())
        for ns, (kind, ms) in zip(took, pauses):
            self.assertGreaterEqual(ns, ms * 1e6 * CLOCKS, f"{kind}: {pauses}\n{trace.story()}")

    @only_full
    def test_classes(self):
        """Each class, in the order in which the machine loads them."""
        program, log = self.start("-Xlog:class+load:file=/tmp/java.log:none")
        trace = self.outsight.trace(self.vm, f"hotspot$target:::class-loaded {{ {TEXT.format('name', 'arg0', 'arg1')} "
                                             'printf("class %s %d\\n", stringof(this->name), arg3); }', "-p", str(program.pid))
        program.ask("load", "threads 1", "load")
        trace.stop()
        # A class without a name of its own has an address after it, behind another sign.
        found = [(name.replace("+0x", "/0x"), int(shared)) for name, shared in re.findall(r"(?m)^class (\S+) (\d)$", trace.out)]
        truth = [(name.split("/0x")[0].replace(".", "/") + "/0x" * ("/0x" in name) + name.partition("/0x")[2],
                  int("shared objects file" in rest)) for name, rest in (line.split(" ", 1) for line in log())]
        self.assertLessEqual({"Watched$Named", "Watched$Heir", "Watched$Kind"}, {name for name, _ in found}, trace.story())
        self.assertEqual(found, truth, trace.story())

    @only_full
    def test_threads(self):
        """Names, numbers, and who is a daemon, by the thread itself."""
        program, _ = self.start()
        trace = self.outsight.trace(self.vm, f"hotspot$target:::thread-start {{ {TEXT.format('name', 'arg0', 'arg1')} "
                                             'printf("thread %d %d %s|%d\\n", arg2, arg4, stringof(this->name), arg3 == tid); }',
                                    "-p", str(program.pid))
        said = program.ask("threads 7")
        trace.stop()
        # The machine may begin compilers' threads.
        found = re.findall(r"(?m)^(thread .*)\|(\d)$", "\n".join(line for line in trace.lines if "Compiler" not in line))
        self.assertEqual([line for line, _ in found], re.findall(r"(?m)^thread .*$", said), trace.story())
        self.assertEqual([own for _, own in found], ["1"] * 7, trace.story())

    @only_full
    def test_methods(self):
        """-XX:+DTraceMethodProbes: interpreted and compiled, entries and returns, of one that only throws too."""
        program, _ = self.start("-XX:+DTraceMethodProbes")
        trace = self.outsight.trace(
            self.vm, f"hotspot$target:::method-entry, hotspot$target:::method-return {{ {TEXT.format('class', 'arg1', 'arg2')} "
                     f"{TEXT.format('method', 'arg3', 'arg4')} "
                     "@[probename, stringof(this->class), stringof(this->method)] = count(); }",
            "-p", str(program.pid), "-x", "aggsize=16m")
        said = program.ask("calls 10", "calls 3000")
        trace.stop()
        truth = {}
        for method, times in re.findall(r"(?m)^calls (\w+) (\d+)$", said):
            truth[method] = truth.get(method, 0) + int(times)
        self.assertEqual(set(truth), {"leaf", "middle", "fail"})
        for probe in ("method-entry", "method-return"):
            found = {method: int(n) for method, n in re.findall(rf"(?m)^ +{probe} +Watched +(\S+) +(\d+)$", trace.out)}
            self.assertEqual({method: found.get(method) for method in truth}, truth, f"{probe}: {trace.story()}")

    @only_full
    def test_methods_not_asked_for(self):
        """Without that option the machine does not pass them."""
        program, _ = self.start()
        trace = self.outsight.trace(self.vm, "hotspot$target:::method-entry, hotspot$target:::method-return { @ = count(); } "
                                             "hotspot$target:::gc-begin { @g = count(); }", "-p", str(program.pid))
        program.ask("calls 100", "gc 3")
        trace.stop()
        self.assertEqual(re.findall(r"(?m)^ +(\d+)$", trace.out), ["3"], trace.story())


if __name__ == "__main__":
    sys.exit(main())
