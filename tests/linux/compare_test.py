#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is hidden in a guest is reported, by its agent and by texts of its own tools, and nothing else."""
import json
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.agent_scenario import AgentScenario
from lib.outsight import Trace
from lib.scenario import main, only_full

PARAMETERS = "/sys/module/hide/parameters"


class CompareScenario(AgentScenario):
    MODULES = ("outsight", "hide")

    def compare(self, *args):
        """(status, stdout, stderr)"""
        trace = Trace(self.outsight.binary, ["compare", "-g", self.vm.name, *args], self.outsight.environment(self.vm))
        return trace.finish(), trace.out, trace.err

    def differing(self, *what, status=1):
        """What --json prints of each difference, without what is in none of these tests' interest."""
        got, out, err = self.compare(*what, "--json")
        self.assertEqual(got, status, f"{out}\n{err}")
        *items, result = (json.loads(line) for line in out.splitlines())
        self.assertEqual((result["type"], result["differences"]), ("result", len(items)), out)
        for item in items:
            self.assertEqual((item.pop("type"), item.pop("list")), ("difference", result["list"]), out)
            self.assertTrue(item.pop("meaning"), out)
        return items

    def hide(self, mode, **parameters):
        for name, value in parameters.items():
            self.vm.check(f"echo {value} >{PARAMETERS}/{name}")
        self.vm.check(f"echo {mode} >{PARAMETERS}/mode")

    def start(self, command="sleep 100000"):
        """A process that goes on for a long time; its PID."""
        return int(self.vm.check(f"{command} >/dev/null 2>&1 </dev/null & echo $!"))


class Hidden(CompareScenario):
    def test_processes(self):
        self.load("outsight", "hide")
        pid = self.start()
        with self.subTest("nothing is hidden"):
            self.assertEqual(self.differing("--tasks", status=0), [])
            status, out, err = self.compare("--tasks")
            self.assertEqual(status, 0, err)
            self.assertRegex(out, r"\Anothing hidden[^\n]*\Z")
        with self.subTest("unlinked from the list of tasks"):
            self.hide("list", pid=pid)
            self.assertEqual(self.differing("--tasks"),
                             [{"pid": pid, "name": "sleep", "seen": ["pids", "children", "proc"], "missing": ["tasks"],
                               "outside": True, "inside": True}])
            self.hide("off")
            self.assertEqual(self.differing("--tasks", status=0), [])
        with self.subTest("not in /proc"):
            self.hide("proc", pid=pid)
            self.assertNotIn(str(pid), self.vm.check("ls /proc").split())
            self.assertEqual(self.differing("--tasks"),
                             [{"pid": pid, "name": "sleep", "seen": ["tasks", "pids", "children"], "missing": ["proc"],
                               "outside": True, "inside": False}])
            status, out, err = self.compare("--tasks")
            self.assertEqual(status, 1, err)
            self.assertRegex(out, rf"(?m)^ +PID +NAME +tasks +pids +children +proc\n +{pid}  sleep +seen +seen +seen +-\n"
                                  r" +the guest's /proc does not list it\Z")
            self.vm.check("rmmod hide")
            self.assertIn(str(pid), self.vm.check("ls /proc").split())
            self.assertEqual(self.differing("--tasks", status=0), [])
        with self.subTest("the hidden one ends"):
            self.vm.check("insmod /modules/hide.ko")
            self.hide("list", pid=pid)
            self.vm.check(f"kill {pid}; while [ -e /proc/{pid} ]; do sleep 0.1; done")
            self.assertEqual(self.differing("--tasks", status=0), [])
            self.vm.check("rmmod hide && rmmod outsight")
        self.assert_unharmed()

    @only_full
    def test_processes_that_come_and_go(self):
        """Only the process that stays hidden is reported."""
        self.load("outsight", "hide")
        pid = self.start()
        job = self.vm.spawn("while [ ! -e /tmp/enough ]; do /bin/true; done")
        for _ in range(3):
            self.assertEqual(self.differing("--tasks", status=0), [])
        self.hide("proc", pid=pid)
        self.assertEqual([task["pid"] for task in self.differing("--tasks")], [pid])
        self.vm.check("touch /tmp/enough")
        job.done()
        self.vm.check("rmmod hide && rmmod outsight")
        self.assert_unharmed()

    def test_modules(self):
        self.load("outsight", "hide")
        self.assertEqual(self.differing("--modules", status=0), [])
        self.hide("self")
        self.assertNotIn("hide ", self.vm.check("cat /proc/modules"))
        self.assertEqual(self.differing("--modules"),
                         [{"name": "hide", "seen": ["sysfs", "addresses"], "missing": ["modules", "proc"],
                           "outside": True, "inside": False}])
        status, out, err = self.compare("--modules")
        self.assertEqual(status, 1, err)
        self.assertRegex(out, r"(?m)^NAME +modules +sysfs +addresses +proc\nhide +- +seen +seen +-\n +unlinked from the list of modules.*\Z")
        self.hide("off")
        self.assertEqual(self.differing("--modules", status=0), [])
        self.vm.check("rmmod hide && rmmod outsight")
        self.assert_unharmed()


class Texts(CompareScenario):
    """The guest's own view as a text: no agent is loaded."""
    NET = "cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6"

    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.text = os.path.join(folder, "text")

    def inside(self, command):
        """The options with the text that a command prints in the guest."""
        with open(self.text, "w", encoding="utf-8") as f:
            f.write(self.vm.check(command) + "\n")
        return "--inside", self.text

    def start_sockets(self):
        """Sockets that listen and that are connected, of both protocols and both versions of IP; the PID of port 31337's process."""
        self.start("syslogd -n -O /tmp/log -R 127.0.0.1:9999 -R [::1]:9999")
        self.start("httpd -f -p 127.0.0.1:31338")
        server = self.start("nc -ll -p 31337 -e cat")
        self.vm.check(f"until {self.NET} | grep -q :7A69; do sleep 0.1; done")
        for address in ("127.0.0.1", "::1"):
            self.start(f"sh -c 'sleep 100000 | nc {address} 31337'")
        # One listens, and both ends of two connections have the port, 31337 in hexadecimal.
        self.vm.check(f"until [ $({self.NET} | grep -c :7A69) = 5 ]; do sleep 0.1; done")
        self.vm.check("until logger hello && [ $(cat /proc/net/udp | wc -l) -gt 1 ]; do sleep 0.1; done")
        return server

    def end_sockets(self):
        self.vm.check("killall -9 syslogd httpd nc sleep; rm -f /tmp/log /dev/log")

    def test_sockets(self):
        self.load("hide")
        server = self.start_sockets()
        with self.subTest("nothing is hidden"):
            text = self.inside(self.NET)
            with open(self.text, encoding="utf-8") as f:
                self.assertGreater(len(f.read().splitlines()), 4 + 6)
            self.assertEqual(self.differing("--sockets", *text, status=0), [])
            self.assertEqual(self.differing("--sockets", status=0), [])  # tables and open files agree
        with self.subTest("a port that /proc does not list"):
            self.hide("socket", port=31337)
            text = self.inside(self.NET)
            *connected, listening = sorted(self.differing(*text), key=lambda item: item["name"].endswith("listening"))
            self.assertEqual(listening, {"name": "tcp6 [::]:31337 listening", "owner": server, "seen": ["tables", "files"],
                                         "missing": ["text"], "outside": True, "inside": False})
            self.assertEqual(sorted(item["name"].rpartition(":")[0] for item in connected),
                             ["tcp6 [::1]:31337 [::1]", "tcp6 [::ffff:127.0.0.1]:31337 [::ffff:127.0.0.1]"])
            status, out, err = self.compare("--sockets", *text)
            self.assertEqual(status, 1, err)
            self.assertRegex(out, r"(?m)^NAME +tables +files +text$")
            self.assertRegex(out, rf"(?m)^tcp6 \[::\]:31337 listening +seen +seen +-\n +the text does not list it: .* \(process {server}\)$")
            self.hide("off")
            self.assertEqual(self.differing(*self.inside(self.NET), status=0), [])
        self.end_sockets()
        self.vm.check("rmmod hide")
        self.assert_unharmed()

    @only_full
    def test_processes(self):
        self.load("hide")
        pid = self.start()
        self.hide("proc", pid=pid)
        # What the text lists and has ended since is there too: the shell that ps was started by.
        found = [item for item in self.differing(*self.inside("ps")) if item["outside"]]
        self.assertEqual(found, [{"pid": pid, "name": "sleep", "seen": ["tasks", "pids", "children"], "missing": ["text"],
                                  "outside": True, "inside": False}])
        self.hide("off")
        self.vm.builtin("ps >/tmp/ps")
        self.assertEqual(self.differing("--tasks", *self.inside("cat /tmp/ps; rm /tmp/ps"), status=0), [])
        self.vm.check(f"kill {pid}; rmmod hide")
        self.assert_unharmed()

    @only_full
    def test_modules(self):
        self.load("hide")
        self.assertEqual(self.differing(*self.inside("lsmod"), status=0), [])
        self.hide("self")
        for command in ("lsmod", "cat /proc/modules"):
            self.assertEqual(self.differing(*self.inside(command)),
                             [{"name": "hide", "seen": ["sysfs", "addresses"], "missing": ["modules", "text"],
                               "outside": True, "inside": False}])
        self.hide("off")
        self.vm.check("rmmod hide")
        self.assert_unharmed()

    @only_full
    def test_mounts(self):
        """One that came after the text, with a name that /proc/mounts writes otherwise."""
        text = self.inside("cat /proc/mounts")
        self.assertEqual(self.differing("--mounts", *text, status=0), [])
        self.vm.check("mkdir -p '/tmp/a b' && mount -t tmpfs none '/tmp/a b'")
        self.assertEqual(self.differing(*text),
                         [{"name": "/tmp/a b tmpfs", "seen": ["list", "tree"], "missing": ["text"], "outside": True,
                           "inside": False}])
        self.assertEqual(self.differing(*self.inside("cat /proc/mounts"), status=0), [])
        self.assertEqual(self.differing("--mounts", status=0), [])
        self.vm.check("umount '/tmp/a b' && rmdir '/tmp/a b'")

    def test_libraries(self):
        """busybox has none: the program itself is what is mapped."""
        pid = self.start()
        self.assertEqual(self.differing("--libraries", str(pid), *self.inside(f"cat /proc/{pid}/maps"), status=0), [])
        item, = self.differing("--libraries", str(pid), *self.inside(f"grep -v r-xp /proc/{pid}/maps"))
        self.assertEqual((item["name"], item["owner"], item["missing"]), ("/bin/busybox", pid, ["text"]))
        # ldd does not list the program
        with open(self.text, "w", encoding="utf-8") as f:
            f.write("\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/libc.so.6 (0x00007f00)\n")
        item, = self.differing("--libraries", str(pid), "--inside", self.text)
        self.assertEqual((item["name"], item["inside"], item["outside"]), ("libc.so.6", True, False))
        self.vm.check(f"kill {pid}")

    def test_watch(self):
        """What is new and what has gone, until Ctrl-C."""
        text = self.inside(self.NET)
        trace = Trace(self.outsight.binary, ["compare", "-g", self.vm.name, "--sockets", *text, "--watch", "--json"],
                      self.outsight.environment(self.vm)).wait_for('"result"')
        pid = self.start("httpd -f -p 127.0.0.1:31337")
        trace.wait_for('"new"')
        self.vm.check(f"kill {pid}")
        trace.wait_for('"gone"')
        trace.stop()
        lines = [json.loads(line) for line in trace.lines]
        self.assertEqual([(line["type"], line.get("name")) for line in lines],
                         [("result", None), ("new", "tcp 127.0.0.1:31337 listening"), ("gone", "tcp 127.0.0.1:31337 listening")],
                         trace.story())
        self.assertTrue(0 <= time.time_ns() - lines[1]["time"] < 600 * 10**9, lines[1])


class Programs(CompareScenario):
    def trace(self, program, *args):
        # The first line is BEGIN's: all else is the comparison.
        return Trace(self.outsight.binary,
                     ["compare", *args, "-g", self.vm.name, "-q", "-n", 'BEGIN { printf("tracing\\n"); }', "-n", program],
                     self.outsight.environment(self.vm)).wait_for("tracing")

    def test_json(self):
        self.load()
        mine = 'execname == "getppid_loop"'
        trace = self.trace(f"syscall::getppid:entry /{mine}/ {{ @n[probefunc, pid > 0] = count(); @q[view] = quantize(100); }}"
                           f"syscall::getppid:entry /{mine} && view == \"inside\"/ {{ @i = sum(3); }}", "--json")
        self.vm.check("getppid_loop 2 1000")
        trace.stop()
        got = json.loads("\n".join(trace.lines[1:]))
        self.assertEqual(got["aggregations"],
                         [{"aggregation": "n", "keys": ["getppid", 1], "outside": 2000, "inside": 2000, "difference": 0},
                          {"aggregation": "q", "keys": ["inside"], "outside": {}, "inside": {"64": 2000}},
                          {"aggregation": "q", "keys": ["outside"], "outside": {"64": 2000}, "inside": {}},
                          {"aggregation": "i", "keys": [], "outside": 0, "inside": 6000, "difference": 6000}])
        guest, = got["guests"]
        self.assertEqual(guest["guest"], self.vm.name)
        self.assertGreater(guest["clock"]["bound_ns"], 0)
        self.assertGreater(guest["clock"]["tsc"], 0)
        # The mark was made in the window, by the clock that this process reads too.
        self.assertTrue(0 <= time.monotonic_ns() - guest["clock"]["host_ns"] < 600 * 10**9, guest)
        self.assertIsNone(guest["stolen_ns"])  # TCG reports no stolen time to a guest
        self.assertTrue(0 <= guest["vmm_waited_ns"] and 0 < guest["window_ns"] < 600 * 10**9, guest)

    @only_full
    def test_columns(self):
        self.load()
        trace = self.trace('syscall::getppid:entry /execname == "getppid_loop"/ { @ = quantize(100); }')
        self.vm.check("getppid_loop 2 500")
        trace.stop()
        self.assertRegex(trace.out, r"(?m)^ +value +-+ outside -+ count +-+ inside -+ count$")
        self.assertRegex(trace.out, r"(?m)^ +64 \|@{20} 1000 +\|@{20} 1000 +$")
        self.assertRegex(trace.out, r"(?m)^times inside are exact to [1-9]\d* ns$")
        self.assertRegex(trace.out, r"(?m)^clocks: the guest's counter stood at [1-9]\d* when the host's clock stood at \d+\.\d{9} s$")
        self.assertIn("stolen, as the guest counts it: unknown, its hypervisor doesn't report it", trace.lines)
        self.assertRegex(trace.out, r"(?m)^stolen, as the host counts it: threads of the VMM waited \d+\.\d{3} ms for a CPU")


class Refused(CompareScenario):
    def test_usage(self):
        """What a list has no use for, and two lists at once."""
        for args in (["--tasks", "--modules"], ["--tasks", "-n", "BEGIN"], ["--modules", "-g", "another"], ["--tasks", "-l"],
                     ["--tasks", "word"], ["--tasks", "--plan"], ["--tasks", "-o", "/dev/null"], ["--libraries", "x"], ["--watch"]):
            status, out, err = self.compare(*args)
            self.assertEqual((status, out), (2, ""), args)
            self.assertIn("Usage: outsight compare", err, args)

    def test_without_the_module(self):
        for args in (["--tasks"], ["--modules", "--json"]):
            status, out, err = self.compare(*args)
            self.assertEqual((status, out), (2, ""))
            self.assertRegex(err, r"has no agent: .*insmod outsight.ko")
        status, out, err = self.compare("-n", "syscall:::entry { @ = count(); } tick-1 { exit(0); }")
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, r"has no agent: .*insmod outsight.ko")


if __name__ == "__main__":
    sys.exit(main())
