#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""When outsight injects an engine into a QEMU that has none, and when not: enter_test.py OUTSIGHT SMALL-GUEST. Ends
with 77 where that can't be."""
import subprocess
import sys
import unittest

import qemu
from lib import namespaces
from lib.pace import limit
from qemu import ALL, Qemu, counts_of, round_counts

ENTRY = "fbt::probed_nop:entry { exit(0); }"


class Enter(unittest.TestCase):
    def vm(self, *args, **kwargs):
        vm = Qemu(*args, **kwargs)
        self.addCleanup(vm.close)
        return vm.wait_ready()

    def run_on(self, vm, *args, status=0):
        done = vm.outsight("-g", str(vm.pid), "--no-cache", "--vmlinux", qemu.GUEST, *args)
        self.assertEqual(done.returncode, status, done)
        return done

    def maps(self, vm):
        with open(f"/proc/{vm.pid}/maps", encoding="ascii") as f:
            return f.read()

    def check_never_entered(self, vm):
        self.assertNotIn("liboutsight", self.maps(vm))
        self.assertEqual(vm.stopped_threads(), [])

    def line(self, vm, why, name="small"):
        return (rf"dtrace: guest {name}: injecting the engine into its VMM \(PID {vm.pid}; `outsight detach {vm.pid}` disables it"
                rf"\): {why}\n")

    def reading(self, vm):
        """Commands that only read work from outside. The messages of each command."""
        said = []
        for command in (["-l", "-n", "fbt::probed_*:,fbt::refused_*:,profile:::,vm:::"], ["-lv", "-n", "fbt::refused_*:"],
                        ["--plan", "-n", "fbt::probed_*:"], ["--dump-symbols"], ["-e", "-v", "-n", ENTRY]):
            done = self.run_on(vm, *command)
            self.assertNotIn("injecting the engine into", done.stderr)
            said.append((done.stdout, done.stderr))
        return said

    def check_wrong(self, vm):
        """Errors that need no engine occur before one is injected."""
        for args, text in ((["-n", "fbt::probed_nop:entry { nonsense(); }"], "undefined function name: nonsense"),
                           (["-n", "fbt::no_such:entry"], "does not match any probes"),
                           (["-n", "fbt::refused_entry:entry"], "can't be enabled: `rdtsc`"),
                           (["-n", "fbt::probed_nop:entry { x = "], "syntax error"),
                           (["-s", "/nonexistent"], "failed to open /nonexistent"),
                           (["--dof", "/nonexistent"], "failed to open /nonexistent"),
                           (["-o", "/nonexistent/file", "-n", ENTRY], "failed to open output file '/nonexistent/file'"),
                           (["-o", "/", "-n", ENTRY], "failed to open output file '/'"),
                           (["--save-dof", "/nonexistent/file", "-n", ENTRY], "failed to write to /nonexistent/file"),
                           (["-x", "nonsense", "-n", ENTRY], "failed to set -x nonsense"),
                           (["-x", "bufsize=much", "-n", ENTRY], "failed to set -x bufsize"),
                           (["-x", "cpu=77", "-n", ENTRY], "there is no CPU 77"),
                           (["-x", "trap=hw", "-n", "fbt::probed_*:entry"], "there are 4 debug registers"),
                           (["-n", "fbt::probed_nop:entry { system(\"true\"); }"], "Destructive actions not allowed"),
                           (["-n", "fbt::probed_nop:entry { trace(`no_such_symbol); }"], "no_such_symbol"),
                           (["-a", "-n", ENTRY], "No anonymous tracing state"),
                           (["-x", "noattach", "-n", ENTRY], "fbt:vmlinux:probed_nop:entry needs an engine in the VMM of guest small "
                            f"(PID {vm.pid}), which -x noattach forbids")):
            with self.subTest(args=args):
                done = self.run_on(vm, *args, status=1)
                self.assertIn(text, done.stderr)
                self.assertNotIn("injecting the engine into", done.stderr)
        # the notice is not printed if none can be injected either
        done = subprocess.run([qemu.OUTSIGHT, "-g", str(vm.pid), "--no-cache", "--vmlinux", qemu.GUEST, "-n", ENTRY],
                              capture_output=True, text=True, timeout=limit(60), check=False,
                              env={**vm.env, "OUTSIGHT_PLUGIN_DIR": vm.dir.name})
        self.assertEqual(done.returncode, 1)
        self.assertIn("the library liboutsight-kvm.so is not there", done.stderr)
        self.assertNotIn("injecting the engine into", done.stderr)

    def check_refused(self, vm, text):
        """One line for each command."""
        for args in (["-n", "BEGIN { exit(0); }"], ["-l"], ["-q", "-n", "syscall:::entry"]):
            done = vm.outsight("-g", str(vm.pid), *args)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"\Adtrace: guest small \(PID {vm.pid}\) is {text}[^\n]*\n\Z")
            self.check_never_entered(vm)

    def test_outside(self):
        """A QEMU is not injected into by reading or by an erroneous command; after attach, tracing and detach it is
        sampled as before."""
        vm = self.vm(2)
        outside = self.reading(vm)
        self.assertIn("probed_nop entry", outside[0][0])
        self.assertIn("Cannot be enabled: `rdtsc`", outside[1][0])
        self.assertIn("vmlinux`probed_nop", outside[2][0])
        self.check_never_entered(vm)
        self.check_wrong(vm)
        self.check_never_entered(vm)
        vm.qmp("stop")
        self.check_refused(vm, "paused: `cont` in QEMU's monitor lets it run")
        vm.qmp("cont")
        # an engine in it shows the same
        self.assertEqual(vm.outsight("attach", str(vm.pid)).returncode, 0)
        vm.qmp("stop")
        done = self.run_on(vm, "-q", "-n", "fbt::probed_nop:entry { exit(1); } tick-1s { exit(0); }")
        self.assertEqual(done.stderr, f"dtrace: guest small (PID {vm.pid}) is paused: `cont` in QEMU's monitor lets it run\n")
        vm.qmp("cont")
        self.assertEqual(self.reading(vm), outside)
        done = self.run_on(vm, "-q", "-n", ALL)
        self.assertEqual((counts_of(done.stdout), done.stderr), (round_counts(2), ""))
        self.assertEqual(vm.outsight("detach", str(vm.pid)).returncode, 0)
        done = self.run_on(vm, "-n", "profile-99 { @[func(arg0)] = count(); n++; } profile-99 /n > 30/ { exit(0); }")
        self.assertIn("vmlinux`", done.stdout)
        self.assertIn("sampled from outside its VMM", done.stderr)
        self.assertEqual(vm.guests(), [])
        done = self.run_on(vm, "-q", "-n", ALL)
        self.assertEqual(counts_of(done.stdout), round_counts(2))
        self.assertRegex(done.stderr, r"\A" + self.line(vm, r"fbt:vmlinux:\w+:\w+ needs it") + r"\Z")
        self.assertEqual(vm.outsight("detach", str(vm.pid)).returncode, 0)
        vm.check_unharmed(self)

    def test_two_guests(self):
        """Of two, an engine is injected into the one that needs it."""
        vms = [self.vm(1, name=name) for name in ("one", "two")]
        done = vms[0].outsight("-g", str(vms[0].pid), "-g", str(vms[1].pid), "--no-cache", "--vmlinux", qemu.GUEST, "-q", "-n",
                               "one:fbt::probed_nop:entry { exit(0); }")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stderr, r"\A" + self.line(vms[0], "fbt:vmlinux:probed_nop:entry needs it", "one") + r"\Z")
        self.check_never_entered(vms[1])

    def test_firmware(self):
        """No kernel runs yet."""
        vm = Qemu(1, kernel=None)
        self.addCleanup(vm.close)
        vm.wait_for(lambda: vm.qmp("query-status")["status"] == "running", "start")
        self.check_refused(vm, "still starting")

    def test_memory_in_pieces(self):
        """Memory that can't be found from outside: an engine is injected, with a notice, and asks QEMU where it is;
        listing names needs that too."""
        half = qemu.MIB // 2
        vm = self.vm(2, smp="2,sockets=2", args=["-object", f"memory-backend-ram,id=a,size={half}M", "-object",
                                                 f"memory-backend-ram,id=b,size={half}M", "-numa", "node,memdev=a,cpus=0",
                                                 "-numa", "node,memdev=b,cpus=1"])
        done = vm.outsight("-g", str(vm.pid), "--no-cache", "--vmlinux", qemu.GUEST, "-q", "-n", ALL)
        self.assertEqual((done.returncode, counts_of(done.stdout)), (0, round_counts(2)), done)
        self.assertEqual(done.stderr.count("injecting the engine into"), 1, done.stderr)
        vm.check_unharmed(self)


if __name__ == "__main__":
    if qemu.reason_to_skip():
        print(f"SKIP: {qemu.reason_to_skip()}")
        sys.exit(77)
    namespaces.enter()
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
