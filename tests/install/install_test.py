#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An installed tree: install_test.py d|hook|linux CMAKE BUILD SMALL-GUEST. Everything runs from a DESTDIR.

d: without a guest; hook: the small guest on /dev/kvm; linux: a stock kernel under TCG.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PART, CMAKE, BUILD, SMALL = sys.argv[1:5]
OUTSIGHT = os.path.join(BUILD, "bin", "outsight")
sys.argv[1:] = [OUTSIGHT, SMALL]  # what hook/qemu.py takes
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "hook"), os.path.join(TESTS, "linux")]
# pylint: disable=wrong-import-position
import qemu
from lib.agent import cache_dir
from lib.guest import KERNEL_ARGS, image_dir, why_no_guest
from lib.pace import limit
from lib.scenario import LineResult, only_full, shortened

LIMIT = limit(180)
KERNEL = "6.1"
PREFIX = "/opt/outsight-test"


def processes(program):
    """PIDs of what runs the file PROGRAM."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/exe") == program:
                found.append(int(pid))
    return found


class Installed(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="outsight-install-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        # A relative libdir stays where it was configured to be below any prefix.
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", PREFIX], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, DESTDIR=cls.dir))
        cls.root = cls.dir + PREFIX
        cls.env = {**os.environ, "PATH": f"{cls.root}/bin:{os.environ['PATH']}", "XDG_RUNTIME_DIR": f"{cls.dir}/run",
                   "XDG_CACHE_HOME": f"{cls.dir}/cache", "LC_ALL": "C"}
        cls.env.pop("OUTSIGHT_PLUGIN_DIR", None)
        os.mkdir(f"{cls.dir}/run", 0o700)

    def run_it(self, *args, status=0, **more):
        done = subprocess.run(args, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=self.dir,
                              env=self.env, stdin=subprocess.DEVNULL, **more)
        self.assertEqual(done.returncode, status, f"{args}\n{done.stdout}{done.stderr}")
        return done.stdout

    def file(self, name):
        """The one installed file of that name."""
        found = [os.path.join(folder, name) for folder, _, names in os.walk(self.root) if name in names]
        self.assertEqual(len(found), 1, (name, found))
        return found[0]

    def start(self, *args):
        process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir,
                                   env=self.env, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.terminate(), process.communicate()))
        return process

    def assert_mapped(self, pid, library):
        with open(f"/proc/{pid}/maps", encoding="ascii") as f:
            mapped = {line.split()[-1] for line in f if "liboutsight" in line}
        self.assertEqual(mapped, {self.file(library)})


class Guestless(Installed):
    def test_all_there(self):
        names = {name for _, _, names in os.walk(self.root) for name in names}
        with open(os.path.join(TESTS, "..", "guest-agent", "Kbuild"), encoding="ascii") as f:
            agent = {name.replace(".o", ".c") for name in re.findall(r"\w+\.o", f.read())} - {"outsight.c"}
        libraries = {os.path.basename(path) for path in glob.glob(os.path.join(BUILD, "lib", "*.so"))}
        self.assertLessEqual({"liboutsight-tcg.so", "liboutsight-kvm.so"}, libraries)
        d = {os.path.basename(path) for path in glob.glob(os.path.join(TESTS, "..", "cli", "d", "*.d"))}
        self.assertGreater(len(d), 5)
        self.assertEqual((libraries | d | agent | {"outsight", "outsight-serve", "outsight-vmm", "outsight.1", "outsight-vmm.1", "outsight-types.5",
                                                   "outsight-serve.8", "outsight-serve.conf.5", "fleet.md", "cpu.conf", "io.conf", "processes.conf", "outsight.json",
                                                   "Kbuild", "Makefile", "dkms.conf", "agent_abi.h", "ga.h", "README.md"}) - names, set())
        for program in ("outsight", "outsight-serve", "outsight-vmm"):
            self.assertTrue(os.access(f"{self.root}/bin/{program}", os.X_OK))

    def test_completion(self):
        """Where bash-completion and zsh look; bash's asks the installed program."""
        self.assertTrue(os.access(f"{self.root}/share/zsh/site-functions/_outsight", os.R_OK))
        script = 'source "$1"; COMP_LINE="outsight exam" COMP_POINT=13 COMP_WORDS=(outsight exam) COMP_CWORD=1; _outsight; echo "$COMPREPLY"'
        completion = f"{self.root}/share/bash-completion/completions/outsight"
        self.assertEqual(self.run_it("bash", "--norc", "-c", script, "bash", completion), "examples\n")

    def test_program(self):
        self.assertEqual(self.run_it("outsight", "-g", "none", "-qn", 'BEGIN { printf("%d\\n", 6 * 7); exit(0); }'), "42\n\n")

    def test_d_libraries(self):
        """Those of this tree, and no other's: one that only it has is compiled too."""
        with open(os.path.join(os.path.dirname(self.file("errno.d")), "only-here.d"), "w", encoding="ascii") as f:
            f.write("inline int only_here = ENOENT;\n")
        self.addCleanup(os.unlink, f.name)
        program = 'BEGIN { printf("%d %d %d\\n", only_here, SIGKILL, curpsinfo->pr_pid == pid); exit(0); }'
        self.assertEqual(self.run_it("outsight", "-g", "none", "-qn", program), "2 9 1\n\n")

    def test_moved(self):
        """The whole tree, and a link to the program from elsewhere."""
        moved = os.path.join(self.dir, "moved")
        shutil.copytree(self.root, moved)
        self.addCleanup(shutil.rmtree, moved)
        os.symlink(f"{moved}/bin/outsight", f"{self.dir}/link")
        self.addCleanup(os.unlink, f"{self.dir}/link")
        for program in (f"{moved}/bin/outsight", f"{self.dir}/link"):
            self.assertEqual(self.run_it(program, "-g", "none", "-qn", 'BEGIN { printf("%d\\n", SIGKILL); exit(0); }'), "9\n\n")

    def test_plugin_is_found(self):
        """doctor says what lacks for QEMU's translator: it may be a QEMU, but not the plugin."""
        out = subprocess.run(["outsight", "doctor"], capture_output=True, text=True, timeout=limit(60), check=False, env=self.env)
        self.assertRegex(out.stdout, r"(?m)^tcg ")
        self.assertNotIn("plugin liboutsight", out.stdout + out.stderr)

    def test_manual(self):
        """The pages are found by the program's PATH, and rendered without a complaint."""
        if not shutil.which("man"):
            self.skipTest("man is not installed here")
        pages = [self.file("outsight.1"), self.file("outsight-vmm.1"), self.file("outsight-types.5")]
        self.env["MANPATH"] = ""
        self.addCleanup(self.env.pop, "MANPATH")
        self.assertEqual(self.run_it("man", "-w", "outsight", "outsight-vmm", "outsight-types").split(), pages)
        for page, name in (("outsight", "DTrace"), ("outsight-vmm", "KVM"), ("outsight-types", "psinfo_t")):
            done = subprocess.run(["man", "--warnings=mac", "-P", "cat", page], capture_output=True, text=True, timeout=LIMIT,
                                  check=False, env=self.env)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("DESCRIPTION", done.stdout)
            self.assertIn(name, done.stdout)

    def test_script(self):
        """A script whose first line names the program."""
        path = f"{self.dir}/script"
        with open(path, "w", encoding="ascii") as f:
            f.write(f"#!{self.root}/bin/outsight -s\n#pragma D option quiet\nBEGIN {{ printf(\"%d\\n\", $1 + 1); exit(0); }}\n")
        os.chmod(path, 0o755)
        self.assertEqual(self.run_it(path, "-g", "none", "41"), "42\n\n")


class SmallGuest(Installed):
    def setUp(self):
        if qemu.reason_to_skip():
            self.skipTest(qemu.reason_to_skip())

    def test_attach(self):
        """A QEMU on KVM: the library that is put into it is the installed one, and all is counted."""
        with contextlib.closing(qemu.Qemu()) as vm:
            vm.wait_ready()
            self.run_it("outsight", "attach", str(vm.pid))
            self.assert_mapped(vm.pid, "liboutsight-kvm.so")
            out = self.run_it("outsight", "-g", str(vm.pid), "--vmlinux", SMALL, "-x", "maxcost=0", "-qn", qemu.ALL)
            self.assertEqual(qemu.counts_of(out), qemu.round_counts(2))
            self.run_it("outsight", "detach", str(vm.pid))
            vm.check_unharmed(self)

    def test_run_builtin(self):
        """The monitor beside the program is started, and all is counted."""
        command = ["outsight", "run", "--vmm", "builtin", "--kernel", SMALL, "--smp", "2", "--m", "64", "--append",
                   f"cpus=2 calls={qemu.CALLS}", "--", "-x", "maxcost=0", "-q", "-n"]
        self.assertEqual(qemu.counts_of(self.run_it(*command, qemu.ALL)), qemu.round_counts(2))
        trace = self.start(*command, 'fbt::round_end:entry /!n++/ { printf("round\\n"); }')
        self.assertEqual(trace.stdout.readline(), "round\n")
        self.assertEqual(len(processes(f"{self.root}/bin/outsight-vmm")), 1)
        trace.terminate()
        trace.wait(limit(60))
        self.assertEqual(processes(f"{self.root}/bin/outsight-vmm"), [])

    def test_monitor(self):
        """outsight-vmm by itself, and -g with its name."""
        vm = self.start("outsight-vmm", "--kernel", SMALL, "--smp", "2", "--memory", "64", "--name", "installed", "--append",
                        f"cpus=2 calls={qemu.CALLS}", "--console", f"{self.dir}/console")
        end = time.monotonic() + LIMIT
        while not os.path.exists(f"{self.dir}/console") or "READY" not in open(f"{self.dir}/console", encoding="ascii").read():
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(vm.poll())
            time.sleep(0.05)
        out = self.run_it("outsight", "-g", "installed", "--vmlinux", SMALL, "-x", "maxcost=0", "-qn", qemu.ALL)
        self.assertEqual(qemu.counts_of(out), qemu.round_counts(2))


class Stock(Installed):
    def setUp(self):
        if why_no_guest(KERNEL):
            self.skipTest(why_no_guest(KERNEL))

    @only_full
    def test_run(self):
        """QEMU has the installed plugin; its init's calls are counted."""
        image, name = image_dir(KERNEL), f"installed{os.getpid()}"
        trace = self.start("outsight", "run", "--vmm", "qemu", "--kernel", f"{image}/vmlinuz", "--initrd", f"{image}/initrd",
                           "--smp", "2", "--name", name, "--append", f"{KERNEL_ARGS} rdinit=/bin/getppid_loop -- 1 1000000000",
                           "--", "-x", "maxcost=0", "-q", "-n",
                           'BEGIN { n = 0; } syscall::getppid:entry /!n/ { printf("%s\\n", execname); } '
                           'syscall::getppid:entry /n < 1000/ { @[pid] = count(); n++; }')
        line = trace.stdout.readline()
        if not line:
            self.fail(f"status {trace.wait()}: {trace.stderr.read()}")
        self.assertEqual(line, "getppid_loop\n")
        rows = json.loads(self.run_it("outsight", "guests", "--json"))
        self.assert_mapped(next(row["pid"] for row in rows if row["name"] == name), "liboutsight-tcg.so")
        trace.send_signal(signal.SIGINT)
        out, err = trace.communicate(timeout=LIMIT)
        self.assertEqual(trace.returncode, 0, err)
        self.assertEqual(re.findall(r"^ +(\d+) +(\d+)$", out, re.M), [("1", "1000")])

    def test_agent(self):
        """The agent's sources build where they were installed to."""
        headers = glob.glob(os.path.join(cache_dir(), "headers", KERNEL, "usr/src/linux-headers-*[0-9]-*amd64"))
        if not headers:
            self.skipTest(f"no headers of {KERNEL} (scripts/guest-agent {KERNEL} fetches them)")
        source = os.path.dirname(self.file("dkms.conf"))
        self.run_it("make", "-C", source, f"KDIR={headers[0]}")
        self.assertTrue(os.path.exists(f"{source}/outsight.ko"))


def main():
    wanted = {"d": Guestless, "hook": SmallGuest, "linux": Stock}[PART]
    result = LineResult()
    suite = shortened(unittest.defaultTestLoader.loadTestsFromTestCase(wanted))
    suite.run(result)
    if not result.wasSuccessful() or not result.testsRun:
        return 1
    return 0 if result.passed else 77


if __name__ == "__main__":
    sys.exit(main())
