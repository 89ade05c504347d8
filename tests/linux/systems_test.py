#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Static probes of Debian 12's own programs, unmodified: PHP, Ruby, PostgreSQL and libvirt, each against what the program says
itself; and which of its files have such probes at all. (runtimes_test.py has Python's, hotspot_test.py Java's, erlang_test.py
Erlang's.)"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.pace import LIMIT
from lib.programs import HERE
from lib.scenario import main, only_full
from lib.userland import AT, LineProgram, UserlandScenario, folder

CLOCKS = 0.99  # the guest's clock may be so much faster than the host's
QUERY_TIMES = 5
QUERIES = ("select pg_sleep(0.05)", "select sum(hashtext(a::text)) from generate_series(1, 20000) a", "select 1")
# What of a tree has notes of static probes: {file: providers}
HAVE_PROBES = {
    "usr/bin/php8.2": "php", "usr/bin/python3.11": "python", "usr/lib/postgresql/15/bin/postgres": "postgresql",
    "usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so": "hotspot hotspot_jni hs_private",
    "usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0": "python", "usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2": "ruby",
    "usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30": "libstdcxx", "usr/lib/x86_64-linux-gnu/libvirt.so.0.9000.0": "libvirt",
    # linked with what libstdc++ has of them
    "usr/bin/x86_64-linux-gnu-dwp": "libstdcxx", "usr/bin/x86_64-linux-gnu-ld.gold": "libstdcxx",
}


def providers(path):
    """Those of a file's notes, by readelf(1)."""
    text = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=False).stdout
    return " ".join(sorted(set(re.findall(r"(?m)\bProvider: (\S+)$", text))))


def has_notes(path):
    """Whether it is an ELF file in which a note's owner stands."""
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF" and b"stapsdt" in f.read()


class Systems(UserlandScenario):
    def tearDown(self):
        if self.vm:
            self.vm.run("for p in php ruby virsh psql; do killall -q -9 $p; done; userland pg_ctlcluster -m immediate 15 main stop; "
                        f"rm -f /tmp/said.* /tmp/to.* {AT}/tmp/virsh.log", timeout=LIMIT)
        super().tearDown()

    def check_flow(self, program, clauses):
        """Each call and return, in their order, at the level that the program says."""
        trace = self.outsight.trace(self.vm, f"self int level; {clauses}", "-p", str(program.pid), "-x", "bufsize=4m")
        said = [line for line in program.ask("one", "two").splitlines() if line.startswith(("->", "<-"))]
        trace.stop()
        self.assertEqual(len(said), 2 * 106)
        self.assertEqual([line for line in trace.lines if line.startswith(("->", "<-"))], said, trace.story())

    @only_full
    def test_php(self):
        """Functions and methods, one that is left by an exception too."""
        self.read_in("usr/bin/php8.2")
        self.bring(os.path.join(HERE, "shop.php"))
        program = LineProgram(self.vm, "env USE_ZEND_DTRACE=1 php -n /tmp/shop.php").wait("^ready$")
        name = "copyinstr(arg3), copyinstr(arg4), copyinstr(arg0)"
        self.check_flow(program,
                        f'php$target:::function-entry {{ printf("-> %d %s%s%s\\n", self->level, {name}); self->level++; }} '
                        f'php$target:::function-return {{ self->level--; printf("<- %d %s%s%s\\n", self->level, {name}); }}')
        trace = self.outsight.trace(self.vm, "php*:::function-entry, php*:::function-return "
                                             "{ @[probename, basename(copyinstr(arg1)), copyinstr(arg0)] = count(); }")
        said = program.ask("three")
        trace.stop()
        for probe, sign in (("function-entry", "->"), ("function-return", "<-")):
            rows = dict(re.findall(rf"(?m)^ +{probe} +shop\.php +(\w+) +(\d+)$", trace.out))
            names = [line.split()[-1].split("::")[-1] for line in said.splitlines() if line.startswith(sign)]
            self.assertEqual(rows, {name: str(names.count(name)) for name in set(names)}, trace.story())

    @only_full
    def test_ruby(self):
        """Methods, one that is left by an exception too; and those in C, which no TracePoint is needed for."""
        self.read_in("usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1")
        self.bring(os.path.join(HERE, "shop.rb"))
        program = LineProgram(self.vm, "ruby --disable-gems /tmp/shop.rb").wait("^ready$")
        self.check_flow(program,
                        'ruby$target:::method-entry { printf("-> %d %s#%s\\n", self->level, copyinstr(arg0), copyinstr(arg1)); '
                        'self->level++; } ruby$target:::method-return { self->level--; '
                        'printf("<- %d %s#%s\\n", self->level, copyinstr(arg0), copyinstr(arg1)); }')
        trace = self.outsight.trace(self.vm, 'ruby*:::cmethod-entry /copyinstr(arg0) == "Integer" && copyinstr(arg1) == "gcd"/ '
                                             '{ @[basename(copyinstr(arg2))] = count(); }')
        said = program.ask("three")
        trace.stop()
        self.assertEqual(keyed(trace.out), {"shop.rb": int(re.search(r"(?m)^gcd (\d+)$", said)[1])}, trace.story())

    @only_full
    def test_postgres(self):
        """Each query's latency: not shorter than the server's executor says, and not longer than its client."""
        self.read_in("usr/lib/postgresql/15/bin/postgres")
        self.vm.check("userland pg_ctlcluster 15 main start", timeout=3 * LIMIT)
        options = "-c jit=off -c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c client_min_messages=log"
        program = LineProgram(self.vm, f"setpriv --reuid=postgres --regid=postgres --init-groups env PGOPTIONS='{options}' "
                                       "stdbuf -oL psql -XqAt -h /run/postgresql")
        program.ask("\\timing on \\echo done")
        trace = self.outsight.trace(
            self.vm, 'postgresql*:::query-start { self->start = timestamp; } postgresql*:::query-done /self->start/ '
                     '{ printf("%d ns %s\\n", timestamp - self->start, copyinstr(arg0)); self->start = 0; }')
        said = [program.ask(f"{query}; \\echo done") for query in QUERIES for _ in range(QUERY_TIMES)]
        trace.stop()
        rows = re.findall(r"(?m)^(\d+) ns (.*);$", trace.out)
        self.assertEqual([query for _, query in rows], [query for query in QUERIES for _ in range(QUERY_TIMES)], trace.story())
        for (ns, _), text in zip(rows, said):
            server = float(re.search(r"duration: ([\d.]+) ms +plan:", text)[1])
            client = float(re.search(r"(?m)^Time: ([\d.]+) ms", text)[1])
            self.assertGreaterEqual(int(ns), server * 1e6 * CLOCKS, text)
            self.assertLessEqual(int(ns) * CLOCKS, client * 1e6, text)

    @only_full
    def test_libvirt(self):
        """Objects that its client makes, by their class, and references to them, as its own log has them."""
        self.read_in("usr/lib/x86_64-linux-gnu/libvirt.so.0")
        log = f"{AT}/tmp/virsh.log"
        program = LineProgram(self.vm, "env LIBVIRT_LOG_FILTERS=1:object LIBVIRT_LOG_OUTPUTS=1:file:/tmp/virsh.log stdbuf -oL virsh "
                                       "-c test:///default")
        program.ask("list; echo done")
        before = len(self.vm.check(f"cat {log}"))
        trace = self.outsight.trace(self.vm, "libvirt$target:::object_new { @[copyinstr(arg1)] = count(); } "
                                             "libvirt$target:::object_ref, libvirt$target:::object_unref, "
                                             "libvirt$target:::object_dispose { @[probename] = count(); }", "-p", str(program.pid))
        program.ask("version; echo done", "connect test:///default; list --all; echo done")
        trace.stop()
        truth = {}
        for event, name in re.findall(r"OBJECT_(\w+): obj=\w+(?: classname=(\w+))?", self.vm.check(f"cat {log}")[before:]):
            key = name or f"object_{event.lower()}"
            truth[key] = truth.get(key, 0) + 1
        self.assertGreater(len(truth), 6)
        self.assertEqual(keyed(trace.out), truth, trace.story())

    @only_full
    def test_packages(self):
        """Which files of it have static probes; nothing else has any."""
        found, tree = {}, os.path.join(folder(), "u")
        for at, _, names in os.walk(os.path.join(tree, "usr")):
            paths = [os.path.join(at, name) for name in names]
            found |= {os.path.relpath(path, tree): providers(path) for path in paths
                      if os.path.isfile(path) and not os.path.islink(path) and has_notes(path)}
        # Debuggers and the like have the word, and no such note.
        self.assertEqual({path: names for path, names in found.items() if names}, HAVE_PROBES)


if __name__ == "__main__":
    sys.exit(main())
