#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: cli_test.py OUTSIGHT [Class.test…]. Each test runs outsight in a folder of its own."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib import namespaces
from lib.pace import limit
from terminal import is_harmless, on_terminal

OUTSIGHT = None
LIMIT = limit(60)
LIST_HEADER = "   ID   PROVIDER            MODULE                          FUNCTION NAME\n"


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="outsight-cli-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ, LC_ALL="C", TZ="UTC", TERM="dumb")

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return name

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def start(self, *args, guest=("-g", "none"), program=None):
        return subprocess.Popen([program or OUTSIGHT, *guest, *args], cwd=self.dir, env=self.env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_it(self, *args, **more):
        """(status, stdout, stderr)."""
        process = self.start(*args, **more)
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"still running: {args}: {process.communicate()}")
        self.assertNotIn("AddressSanitizer", err)
        self.assertNotIn("runtime error:", err)
        return process.returncode, out, err

    def expect(self, args, status=0, out=None, err=None, **more):
        """Run it; what is given must be exactly so."""
        got = self.run_it(*args, **more)
        self.assertEqual(got[0], status, got)
        if out is not None:
            self.assertEqual(got[1], out, got)
        if err is not None:
            self.assertEqual(got[2], err, got)
        return got


class Terminal(Case):
    """A guest's bytes never reach the terminal as control sequences; a program's own text may."""

    # every byte but NUL, each between others, so that none is hidden in a sequence; and sequences
    BYTES = "".join(f"\\{c:03o}-" for c in range(1, 256)) + "\\302\\233|\\342\\200\\256|\\303\\251"
    FIELDS = ('printf("%s", STRING)', 'printf("%-300s|%.9s", STRING, STRING)', 'printf("%S", STRING)', "trace(STRING)",
              "@[STRING] = count()", '@[STRING] = count(); printa("%s %@d", @)', "@[STRING, STRING] = quantize(1)",
              "print(STRING)", 'printf("%c%c%c", 27, 0x9b, 8)',
              'printf("%s", strjoin(STRING, STRING))', "x[STRING] = STRING; trace(x[STRING])")

    def shown(self, program, *args):
        status, out = on_terminal([OUTSIGHT, "-g", "none", *args, "-x", "strsize=4k", "-n", program], cwd=self.dir,
                                  env=dict(self.env, LC_ALL="C.UTF-8"))
        self.assertEqual(status, 0, out)
        return out

    def test_every_byte_in_every_field(self):
        for field in self.FIELDS:
            for args in ((), ("-q",), ("-x", "aggpack"), ("-x", "rawbytes")):
                with self.subTest(field=field, args=args):
                    program = "BEGIN { " + field.replace("STRING", f'"{self.BYTES}"') + "; exit(0); }"
                    self.assertTrue(is_harmless(self.shown(program, *args)))

    def test_text_is_shown_and_what_the_program_prints_is_obeyed(self):
        out = self.shown('BEGIN { printf("\\033[2J%s|\\a", "\\033[1m\\303\\251\\tx\\r\\n\\r"); exit(0); }', "-q")
        self.assertEqual(out, b"\033[2J?[1m\xc3\xa9\tx\r\n?|\a\n")

    def test_a_locale_without_utf8_has_no_such_characters(self):
        self.env["LC_ALL"] = "C"
        status, out = on_terminal([OUTSIGHT, "-g", "none", "-q", "-n",
                                   'BEGIN { printf("%s|", "\\304\\233"); exit(0); }'], env=self.env)
        self.assertEqual((status, out), (0, b"??|\n"))

    def test_messages(self):
        status, out = on_terminal([OUTSIGHT, "-g", "none", "-n", 'BEGIN { "\033[2J\x9b'], env=dict(self.env, LC_ALL="C.UTF-8"))
        self.assertEqual(status, 1)
        self.assertTrue(is_harmless(out), out)
        status, out = on_terminal([OUTSIGHT, "-g", "no\033]0;x\a\u202e\r\b", "-n", "BEGIN"],
                                  env=dict(self.env, LC_ALL="C.UTF-8"))
        self.assertEqual(status, 1)
        self.assertTrue(is_harmless(out), out)

    def test_output_by_other_ways(self):
        """-o and freopen() on a terminal; elsewhere every byte is there."""
        string = '"\\033[2J\\r\\b"'
        for args, program in ((["-o", "/dev/tty"], f'BEGIN {{ printf("%s\\n", {string}); exit(0); }}'),
                              (["-w"], f'BEGIN {{ freopen("/dev/tty"); printf("%s\\n", {string}); exit(0); }}')):
            script = "import os, pty, sys\npid, fd = pty.fork()\nif not pid:\n\tos.execv(sys.argv[1], sys.argv[1:])\n" \
                     "out = b''\ntry:\n\twhile d := os.read(fd, 4096):\n\t\tout += d\nexcept OSError:\n\tpass\n" \
                     "os.write(1, out)\nsys.exit(os.waitpid(pid, 0)[1])"
            done = subprocess.run([sys.executable, "-c", script, OUTSIGHT, "-g", "none", "-q", *args, "-n", program],
                                  capture_output=True, timeout=LIMIT, check=False, env=dict(self.env, LC_ALL="C.UTF-8"))
            self.assertIn(b"?[2J??", done.stdout, done)
            self.assertNotIn(b"\033", done.stdout)
        self.expect(["-q", "-o", "out", "-n", f'BEGIN {{ printf("%s", {string}); exit(0); }}'], 0, "")
        with open(self.path("out"), "rb") as f:
            self.assertEqual(f.read().rstrip(b"\n"), b"\033[2J\r\b")

    def test_keys_are_text_where_they_are(self):
        """UTF-8 is text, an empty string is empty, and bytes that are neither are bytes."""
        out = self.expect(["-q", "-n", 'BEGIN { @["n\\303\\251"] = sum(2); @[""] = sum(1); exit(0); }'])[1]
        self.assertEqual(out, f"\n  {'':50} {1:16}\n  {'né':50} {2:16}\n")
        out = self.expect(["-q", "-n", 'BEGIN { @["n\\351"] = count(); exit(0); }'])[1]
        self.assertIn("0: 6e e9 00 ", out)
        out = self.expect(["-q", "-n", 'BEGIN { trace("\\303\\251"); exit(0); }'])[1]
        self.assertEqual(out, "é\n")


class Usage(Case):
    def test_nothing_to_do(self):
        status, out, err = self.run_it(guest=())
        self.assertEqual((status, out), (2, ""))
        self.assertTrue(err.startswith("Usage: "), err)
        self.expect([], 1, "", "dtrace: no probes specified\n")

    def test_bad_options(self):
        for args, first in ((["-k"], "dtrace: invalid option -- 'k'"),
                            (["-n"], "dtrace: option requires an argument -- 'n'"),
                            (["-31", "-n", "BEGIN"], "dtrace: illegal option -- 31"),
                            (["-65"], "dtrace: illegal option -- 65")):
            with self.subTest(args=args):
                self.expect(args, 2, "", f"{first}\nTry `outsight --help`.\n")
        self.expect(["--plna"], 2, "", "dtrace: unrecognized option '--plna'\n"
                    "Did you mean --plan? Try `outsight --help`.\n")

    VERBS = ("run", "compare", "guests", "attach", "detach", "doctor", "help")

    def test_verbs_are_named(self):
        """In each directory that is searched."""
        for args, status in (((), 2), (("--help",), 0), (("help",), 0)):
            got, out, err = self.run_it(*args, guest=())
            self.assertEqual(got, status)
            for verb in self.VERBS:
                self.assertRegex(out or err, rf"(?m)^ +outsight {verb}\b", args)
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/outsight.1")
        with open(page, encoding="utf-8") as f:
            synopsis = f.read().split(".Sh SYNOPSIS")[1].split(".Sh DESCRIPTION")[0]
        for verb in self.VERBS:
            self.assertRegex(synopsis, rf"(?m)^\.Nm\n\.Cm {verb}\b")

    def test_help_of_a_verb(self):
        for verb in self.VERBS:
            status, out, err = self.run_it("help", verb, guest=())
            self.assertEqual((status, err), (0, ""), verb)
            self.assertTrue(out.startswith("Usage: outsight"), out)
            self.assertEqual(out, self.run_it(verb, "--help", guest=())[1])
        self.expect(["help", "guest"], 2, "", "dtrace: help: there is no verb guest, did you mean guests; "
                    "see `outsight --help`\n", guest=())

    def test_mistyped_verb(self):
        for args, meant in ((["guest"], "guests"), (["gusets", "--json"], "guests"), (["atach", "1"], "attach"),
                            (["dettach", "--all"], "detach"), (["docter"], "doctor"),
                            (["rum", "-kernel", "x", "--", "-n", "BEGIN"], "run")):
            status, out, err = self.run_it(*args, guest=())
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            self.assertIn(f"there is no verb {args[0]}: did you mean `outsight {meant}`?", err)
        # in front of a program it may be $1
        self.expect(["guest", "-g", "none", "-qn", 'BEGIN { printf("%s", $$1); exit(0); }'], 0, "guest\n", "", guest=())
        err = self.expect(["comapre", "-g", "none", "-n", "BEGIN"], 1, "", guest=())[2]
        self.assertIn("(did you mean the verb compare?", err)

    def test_program_without_its_option(self):
        none = "dtrace: no probes specified\n"
        program = "syscall:::entry { @ = count(); }"
        self.expect([program], 1, "", f"{none}  (a program is given with -n: -n '{program}')\n")
        self.write("a.d", "BEGIN { exit(0); }\n")
        self.expect(["a.d"], 1, "", f"{none}  (a script is given with -s: -s a.d)\n")
        self.assertIn("(a script is given with -s: -s a.d)\n", self.expect(["-n", "BEGIN", "a.d"], 1, "")[2])
        self.assertIn("-n", self.expect(["foo"], 1, "")[2].splitlines()[1])
        # who compares messages asks for tags
        self.expect(["-x", "errtags", program], 1, "", none)

    def test_near_guest(self):
        """A QEMU that runs nothing, with a unique name."""
        if not shutil.which("qemu-system-x86_64"):
            self.skipTest("no qemu-system-x86_64 here")
        name = f"webserver{os.getpid()}"
        qemu = subprocess.Popen(["qemu-system-x86_64", "-S", "-accel", "tcg", "-m", "32", "-nodefaults", "-display", "none",
                                 "-name", name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(qemu.stdout.close)
        self.addCleanup(qemu.wait)
        self.addCleanup(qemu.kill)
        for args, prefix in ((["-g", "x" + name, "-n", "BEGIN"], ""), (["-g", f"peek:{name}x", "-n", "BEGIN"], "peek:"),
                             (["attach", name.replace("bs", "sb")], ""), (["detach", name[:-1] + "x"], "")):
            err = self.expect(args, 1, "", guest=())[2]
            self.assertEqual(err.split("\n")[1:-1], [f"  (did you mean {prefix}{name}?)"], err)
        self.assertNotIn("did you mean", self.expect(["-g", "nonesuch", "-n", "BEGIN"], 1, "", guest=())[2])

    def test_bad_words_of_verbs(self):
        for args, part in ((["compare", "--taks"], "no option --taks, did you mean --tasks"), (["guests", "--jsno"], "no option --jsno, did you mean --json"),
                           (["guests", "--xml"], "--xml needs a value"), (["guests", "extra"], "unexpected argument"),
                           (["attach", "--plna", "1"], "did you mean --plan"), (["detach", "--al"], "--all"),
                           (["detach", "--all", "x"], "omit x"), (["run", "-m", "64"], "the dtrace options follow a --, which is missing")):
            status, out, err = self.run_it(*args, guest=())
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            self.assertIn(part, err)

    def test_modes_exclude_each_other(self):
        text = "dtrace: only one of the [-AGhlV] options can be specified at a time\n"
        for args in (["-lV"], ["-V", "-n", "BEGIN", "-G"], ["-hA"]):
            self.expect(args, 2, "", text)

    def test_help(self):
        for args, first in ((["--help"], "Usage: outsight"), (["guests", "--help"], "Usage: outsight guests"),
                            (["run", "--help"], "Usage: outsight run")):
            status, out, err = self.run_it(*args, guest=())
            self.assertEqual((status, err), (0, ""))
            self.assertTrue(out.startswith(first), out)
        out = self.expect(["--help"])[1]
        for word in ("aggsortkeypos", "\t-h ", "--save-dof"):
            self.assertIn(word, out)
        self.assertEqual(self.run_it("guests", "--nosuch", guest=())[0], 2)
        self.assertEqual(self.run_it("run", guest=())[0], 2)
        self.assertEqual(self.run_it("run", "-m", "much", "--", "-n", "BEGIN", guest=())[0], 2)

    def test_compare(self):
        """Exit status 0: no difference, 1: a difference; so an error in a list is 2."""
        status, out, err = self.run_it("compare", "--help", guest=())
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("Usage: outsight compare"), out)
        for args in ([], ["--tasks", "--modules"], ["--tasks", "-n", "BEGIN"], ["--modules", "-l"], ["--json"], ["--watch"],
                     ["--watch", "-n", "BEGIN"], ["--inside"], ["--inside", "x", "-n", "BEGIN"], ["--libraries"],
                     ["--libraries", "0"], ["--libraries", "7x"], ["--sockets", "--mounts"]):
            status, out, err = self.run_it("compare", *args, guest=())
            self.assertEqual((status, out), (2, ""), args)
            self.assertTrue(err.startswith("Usage: outsight compare"), err)
        none = "dtrace: there is no guest whose views could be compared\n"
        for args, want in ((["--tasks"], 2), (["--modules", "--json"], 2), (["--sockets"], 2), (["--mounts", "--watch"], 2),
                           (["-n", "BEGIN"], 1)):
            self.assertEqual(self.run_it("compare", *args, "-g", "none", guest=()), (want, "", none))

    def test_compare_with_text(self):
        """A text that is not what it must be is refused before there is a guest; one that is says what is compared."""
        texts = {"mounts": "proc /proc proc rw 0 0\n", "ldd": "\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n", "part": "  PID TTY TIME CMD\n 9 ? 0 sh\n"}
        with tempfile.TemporaryDirectory() as folder:
            for name, text in texts.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
            for args, name, part in (([], "none", "failed to open "), ([], "part", "`ps -e` does"), (["--tasks"], "mounts", "mounts lists mounts, and "
                                     "--tasks compares processes"), ([], "ldd", "--libraries PID selects the process"),
                                     (["--libraries", "7"], "mounts", "--libraries compares libraries"),
                                     ([], "mounts", "there is no guest whose views could be compared")):
                status, out, err = self.run_it("compare", *args, "--inside", os.path.join(folder, name), "-g", "none", guest=())
                self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
                self.assertIn(part, err)
            status, out, err = self.run_it("compare", "--libraries", "7", "-g", "none", guest=())
            self.assertEqual((status, out), (2, ""))
            self.assertIn("--inside FILE", err)

    def test_domains(self):
        """libvirt's own test driver: a domain that is not QEMU's, without a daemon."""
        status, out, err = self.run_it("guests", "-c", "test:///default", "--json", guest=())
        if "is not installed here" in err:
            self.skipTest(err)
        found = [g for g in json.loads(out) if g["domain"]]
        self.assertEqual([(g["name"], g["state"], g["vcpus"], g["trace"], g["how"]) for g in found],
                         [("test", "running", 2, "no", "no: not a QEMU guest")])
        for args, text in ((["-c", "test:///default", "--xml", "test"], "domain test is not QEMU's"),
                           (["-c", "test:///default", "--xml", "web"],
                            "libvirt at test:///default has no domain web; there are: test (running)"),
                           (["-c", "test:///default", "--xml", "tset"],
                            "libvirt at test:///default has no domain tset (did you mean test?); there are: test"),
                           (["-c", "nosuch:///x"], "libvirt at nosuch:///x: ")):
            status, out, err = self.run_it("guests", *args, guest=())
            self.assertEqual((status, out, err.count("\n")), (1, "", 1), err)
            self.assertTrue(err.startswith(f"dtrace: {text}"), err)
        for args in (["-c"], ["--xml"], ["--json", "--xml", "x"], ["extra"]):
            self.assertEqual(self.run_it("guests", *args, guest=())[0], 2)
        self.assertEqual(self.run_it("run", "--libvirt", guest=())[0], 2)

    def test_versions(self):
        self.expect(["-V"], 0, "dtrace: Sun D 1.13\n", "")
        self.assertRegex(self.expect(["--version"])[1], r"^outsight \d")

    def test_what_is_refused(self):
        for args, part in ((["-32", "-n", "BEGIN"], "64-bit"), (["-G", "-s", "x.d"], "no object files"),
                           (["-A", "-n", "BEGIN"], "outsight run"), (["-B"], "-B")):
            status, out, err = self.run_it(*args)
            self.assertEqual((status, out), (1, ""))
            self.assertTrue(err.startswith("dtrace: -") and part in err and err.count("\n") == 1, err)
        self.expect(["-a"], 1, "", "dtrace: could not enable tracing: No anonymous tracing state\n")

    def test_prefix_is_dtrace_whatever_the_name(self):
        os.symlink(OUTSIGHT, self.path("mytrace"))
        self.expect(["-n", "nosuch:::x"], 1, "", "dtrace: invalid probe specifier nosuch:::x: probe description "
                    "nosuch:::x does not match any probes\n", program=self.path("mytrace"))


class RunChecks(Case):
    """outsight run: errors that need no guest are reported before one is booted. There is no kernel to boot here, which
    is reported last."""

    NO_KERNEL = "dtrace: there is no kernel /nonexistent/vmlinuz\n"

    def boot(self, *args):
        qemu = self.path("qemu")
        self.write("qemu", "#!/bin/sh\necho QEMU emulator version 99.0\n")
        os.chmod(qemu, 0o755)
        return self.expect(["run", "-kernel", "/nonexistent/vmlinuz", "-qemu", qemu, "--", *args], None, "", guest=())[2]

    def expect(self, args, status=0, out=None, err=None, **more):
        if status is not None:
            return super().expect(args, status, out, err, **more)
        got = self.run_it(*args, **more)
        self.assertIn(got[0], (1, 2), got)
        return got

    def test_errors_come_first(self):
        for args, part in ((["-n", "BEGIN { exit(0) "], "syntax error near end of input"),
                           (["-n", "BEGIN { exit(0 }"], 'syntax error near "}"'),
                           (["-n", "fbt::f:entry { trace(args[0]->x) trace(2); }"], 'syntax error near "trace"'),
                           (["-n", 'BEGIN { trace("x }'], 'before matching "'),
                           (["-n", 'BEGIN { prnitf("x"); }'], "undefined function name: prnitf"),
                           (["-n", 'fbt::f:entry { printf("%d %d", 1); }'], "prototype mismatch"),
                           (["-n", "BEGIN", "word"], "extraneous argument 'word'"),
                           (["-s", "nosuch.d"], "failed to open nosuch.d"), (["-o", "no/such", "-n", "BEGIN"], "no/such"),
                           ([], "no probes specified"), (["-x", "nosuch", "-n", "BEGIN"], "-x nosuch"),
                           (["-g", "x", "-n", "BEGIN"], "-g can't be used")):
            with self.subTest(args=args):
                err = self.boot(*args or ["-q"])
                self.assertIn(part, err)
                self.assertNotIn("no kernel", err)

    def test_guests_types_are_no_errors(self):
        """A name may be a type of the guest's, and then (name)x is a cast. No host has a type of this one."""
        for program in ("fbt::f:entry { trace(((nosuch_t *)arg0)->val); }", "fbt::f:entry { this->u = (nosuch_t)arg0; }",
                        "fbt::f:entry { trace((nosuch_t)(arg0)); }", "fbt::f:entry { trace(sizeof (nosuch_t *)); }",
                        "this nosuch_t *p; BEGIN { exit(0); }", "nosuch_t *g; BEGIN { exit(0); }",
                        "fbt::f:entry { this nosuch_t *p; }", "fbt::f:entry { trace(offsetof (nosuch_t, val)); }",
                        "fbt::f:entry { trace(xlate <nosuch_t *>(arg0)->x); }", "typedef nosuch_t foo_t; BEGIN { }",
                        "translator struct x < nosuch_t *k > { a = k->val; }; BEGIN { exit(0); }",
                        "inline nosuch_t *x = `foo; BEGIN { }", "struct s { nosuch_t *a; int b; }; BEGIN { }",
                        "fbt::f:entry { trace(*(nosuch_t **)arg0); }", "fbt::f:entry { trace((const nosuch_t *)arg0); }",
                        "fbt::f:entry /args[0]->x & NOSUCH/ { @[((nosuch_t)arg1).x] = count(); }",
                        "syscall::read:entry { @[execname] = quantize(arg2); } tick-5s { exit(0); }"):
            with self.subTest(program=program):
                self.assertEqual(self.boot("-n", program).replace(self.path(""), ""), self.NO_KERNEL)

    def test_builtin_monitor(self):
        """A KVM that can't run a stock kernel: reported at once, not after a boot that never completes."""
        self.write("bzImage", "x" * 0x202 + "HdrS" + "x" * 100)
        if "executes system calls wrongly" not in self.run_it("doctor", "-v", guest=())[1]:
            self.skipTest("this host's KVM runs stock kernels, or there is none")
        err = self.expect(["run", "-vmm", "builtin", "-kernel", "bzImage", "--", "-n", "BEGIN { exit(0); }"], 1, "",
                          guest=())[2]
        self.assertRegex(err, r"^dtrace: bzImage can't run in the builtin monitor here: [^\n]*\n$")

    def test_what_is_no_qemu(self):
        """Others have versions too, and a licence of version 3."""
        self.write("kernel", "")
        self.write("tool", '#!/bin/sh\necho "tool (GNU) 9.1"; echo "License GPLv3+: GNU GPL version 3 or later"\n')
        os.chmod(self.path("tool"), 0o755)
        self.assertEqual(self.run_it("run", "-kernel", "kernel", "-qemu", "./tool", "--", "-n", "BEGIN", guest=()),
                         (1, "", 'dtrace: ./tool is no QEMU: its --version prints "tool (GNU) 9.1"\n'))


class Options(Case):
    def test_bad_settings(self):
        for args, text, hint in (
                (["-x", "nosuch=1"], "-x nosuch: Invalid option name", None),
                (["-x", "bufsiz=1"], "-x bufsiz: Invalid option name", "did you mean bufsize?"),
                (["-xbufsize=many"], "-x bufsize: Invalid value for specified option",
                 "bufsize takes a number, k, m, g or t behind it"),
                (["-b", "1q"], "-b 1q: Invalid value for specified option",
                 "bufsize takes a number, k, m, g or t behind it"),
                (["-X", "z"], "-X z: Invalid value for specified option", None),
                (["-x", "maxcost=101"], "-x maxcost: Invalid value for specified option",
                 "maxcost takes 0 to 100, per cent of vCPU time; 0 is no limit"),
                (["-x", "late=never"], "-x late: Invalid value for specified option",
                 "late takes one of dynamic|static")):
            message = f"dtrace: failed to set {text}\n"
            self.expect([*args, "-n", "BEGIN"], 1, "", message + (f"  ({hint})\n" if hint else ""))
            # who compares messages asks for tags
            self.expect(["-xerrtags", *args, "-n", "BEGIN"], 1, "", message)

    def test_pragma(self):
        self.write("a.d", "#pragma D option nosuch\nBEGIN { exit(0); }\n")
        self.assertIn("[D_PRAGMA_OPTSET]", self.expect(["-xerrtags", "-s", "a.d"], 1, "")[2])
        self.write("b.d", "#pragma D option syslibdir=/\nBEGIN { exit(0); }\n")
        self.assertIn("Option cannot be used from within a D program", self.expect(["-s", "b.d"], 1, "")[2])

    def test_names_that_were_meant(self):
        """Behind the error: the same name in another scope, or the nearest; nothing where nothing is near."""
        struct = "struct s { int member; struct { int inner; }; }; struct s v; "
        for program, meant in (
                ("BEGIN { start = 1; trace(strat); }", "start"),
                ("BEGIN { self->start = 1; trace(self->strat); }", "self->start"),
                ("BEGIN { self->ts = 1; trace(ts); }", "self->ts"),
                ("BEGIN { x = 1; } END { trace(self->x); }", "x"),
                ('BEGIN { seen["a"] = 1; trace(sene["a"]); }', "seen"),
                ("BEGIN { trace(excename); }", "execname"),
                (struct + "BEGIN { trace(v.membre); }", "member"),
                (struct + "BEGIN { trace(v.iner); }", "inner"),
                (struct + "BEGIN { trace(offsetof(struct s, menber)); }", "member"),
                ('BEGIN { trace(strlne("a")); }', "strlen( )"),
                ("BEGIN { @ = quantise(3); }", "quantize( )"),
                ("BEGIN { @counts = count(); printa(@count); }", "@counts")):
            with self.subTest(program=program):
                err = self.expect(["-n", program], 1, "")[2]
                self.assertEqual(err.splitlines()[1:], [f"  (did you mean {meant}?)"], err)
        for program in ("BEGIN { trace(quite_unknown); }", struct + "BEGIN { trace(v.nothing_like); }"):
            self.assertEqual(len(self.expect(["-n", program], 1, "")[2].splitlines()), 1)

    def test_both_orders(self):
        program = "BEGIN { trace(1); exit(3); }"
        self.expect(["-qxswitchrate=30s", "-n", program], 3, "1\n", "")
        self.expect(["-n", program, "-q"], 3, "1\n", "")

    def test_environment(self):
        self.env.update(DTRACE_OPT_QUIET="", DTRACE_OPT_STRSIZE="12")
        program = "BEGIN { trace(sizeof (string)); exit(0); }"
        self.expect(["-n", program], 0, "12\n", "")
        self.expect(["-x", "strsize=20", "-n", program], 0, "20\n", "")
        self.env["DTRACE_OPT_NOSUCH"] = "1"
        self.assertEqual(self.expect(["-n", program], 1, "")[2],
                         "dtrace: failed to set option from the environment nosuch: Invalid option name\n")

    def test_destructive(self):
        program = 'BEGIN { system("echo did"); exit(0); }'
        self.expect(["-n", program], 1, "", f"dtrace: description 'BEGIN ' matched 1 probe\n"
                    "dtrace: could not enable tracing: Destructive actions not allowed\n  (-w allows them)\n")
        self.expect(["-qw", "-n", program], 0, "did\n\n", "")
        self.assertIn("dtrace: allowing destructive actions\n", self.expect(["-w", "-n", program])[2])

    def test_noresolve_and_stack_less_options(self):
        self.expect(["-qx", "noresolve", "-n", 'BEGIN { printf("%a\\n", 0x1234); exit(0); }'], 0, "0x1234\n\n", "")


class Programs(Case):
    def test_several_in_order(self):
        self.write("a.d", 'BEGIN { printf("script %s %s\\n", $$1, $$2); }\n')
        self.expect(["-qn", 'BEGIN { printf("one %d\\n", $2); }', "-s", "a.d", "word", "7", "-n",
                     'BEGIN { printf("two %s\\n", $$1); exit($2); }'], 7, "one 7\nscript word 7\ntwo word\n\n", "")

    def test_specifiers(self):
        exits = " { exit(4); }"
        for args in (["-n", "BEGIN" + exits], ["-n", ":BEGIN" + exits], ["-n", "dtrace:::BEGIN" + exits],
                     ["-i", "1" + exits], ["-n", "1" + exits], ["-P", "profile", "-i1 /1/" + exits],
                     ["-f", ":", "-P", "dtrace", "-n", "BEGIN" + exits]):
            with self.subTest(args=args):
                self.assertEqual(self.run_it(*args)[0], 4)

    def test_bad_specifiers(self):
        for args, text in ((["-i", "99999"], "99999: invalid probe identifier 99999: Unknown probe identifier\n"),
                           (["-i", "0"], "0: invalid probe identifier 0: Unknown probe identifier\n"),
                           (["-n", "4294967296"], "4294967296: identifier 4294967296 exceeds maximum probe id\n"),
                           (["-f", "1.5"], "1.5: probe identifier 1 not permitted when specifying functions\n"),
                           (["-m", "1"], "1: probe identifier 1 not permitted when specifying modules\n"),
                           (["-P", "1 { }"], "1 { }: probe identifier 1 not permitted when specifying providers\n"),
                           (["-i", "2-2"], "2-2: probe description :::-2 does not match any probes\n"),
                           (["-n", "BEGIN }"], "BEGIN }: syntax error near \"}\"\n"),
                           (["-n", "a:b:c:d:e"], "a:b:c:d:e: Overspecified probe description"),
                           (["-P", "dtrace:x"], "dtrace:x: Overspecified probe description"),
                           (["-f", "a:b:c:d"], "a:b:c:d: Overspecified probe description"),
                           (["-i", "i23"], "i23: probe description :::i23 does not match any probes")):
            with self.subTest(args=args):
                err = self.expect(args, 1, "")[2]
                self.assertTrue(err.startswith("dtrace: invalid probe specifier "), err)
                self.assertIn(text.split(": ", 1)[1], err)

    def test_specifiers_without_commas(self):
        """Where one has no body the next begins another clause; a number ends with its last digit."""
        for text, count in (("BEGIN END", 2), ("1 2", 2), ("1:::END", 2), ("BEGIN 2,3 ERROR", 4), ("BEGIN{} 2{} ERROR", 3)):
            with self.subTest(text=text):
                err = self.expect(["-n", text, "-c", "true"], 0)[2]
                self.assertIn(f"dtrace: description '{text.split('{')[0]}' matched {count} probes\n", err)
                self.assertEqual(len(self.expect(["-ln", text], 0, None, "")[1].splitlines()), 1 + count)
        out, err = self.expect(["-li", "2-2"], 0)[1:]
        self.assertEqual(out, LIST_HEADER + f"    2     dtrace{'':52} END\n")
        self.assertEqual(err, "dtrace: failed to match :::-2: No probe matches description\n")

    def test_near_specifiers(self):
        for name, hint in (("BEGN", "did you mean :::BEGIN?"), ("dtrac:::END", "did you mean dtrace:::END?"),
                           ("tick-10us", "the shortest interval is 200us, which is 5000hz: tick-200us"),
                           ("profle-97", "did you mean profile-97?")):
            err = self.expect(["-n", name], 1, "")[2]
            self.assertRegex(err, rf"does not match any probes\n  \({re.escape(hint)}\)\n$")
            self.assertEqual(self.expect(["-xerrtags", "-n", name], 1, "")[2].count("\n"), 1)
            self.assertIn(f"  ({hint})\n", self.expect(["-ln", name], 0)[2])

    def test_five_fields_are_no_guest(self):
        """Without a guest nothing stands left of the provider."""
        self.assertIn("[D_PDESC_INVAL]", self.expect(["-xerrtags", "-n", "*:dtrace:::BEGIN"], 1, "")[2])
        self.assertIn("[D_PDESC_INVAL]", self.expect(["-xerrtags", "-Zn", "none:dtrace:::BEGIN"], 1, "")[2])

    def test_zero_matches(self):
        self.expect(["-Zn", "nosuch", "-n", "BEGIN { exit(0); }"], 0, None,
                    "dtrace: description 'nosuch' matched 0 probes\n"
                    "dtrace: description 'BEGIN ' matched 1 probe\n")

    def test_missing_script(self):
        self.expect(["-s", "nosuch.d"], 1, "", "dtrace: failed to open nosuch.d: No such file or directory\n")

    def test_interpreter_line(self):
        self.write("a.d", f'#!{OUTSIGHT} -qs\nBEGIN {{ printf("%s %s\\n", $0, $$1); exit(5); }}\n')
        os.chmod(self.path("a.d"), 0o755)
        for guest in (["word", "-g", "none"], ["-g", "none", "word"]):
            # the words behind the script's name may be options too
            process = subprocess.run(["./a.d", *guest], cwd=self.dir, env=self.env, capture_output=True, text=True,
                                     timeout=LIMIT, check=False)
            self.assertEqual((process.returncode, process.stdout, process.stderr), (5, "./a.d word\n\n", ""))

    def test_compile_only(self):
        self.expect(["-en", "BEGIN { exit(9); }"], 0, "", "")
        self.expect(["-b", "1t", "-e"], 0, "", "")
        self.write("a.d", "BEGIN { exit(9); }\n")
        self.expect(["-e", "-s", "a.d"], 0, "", "")
        out = self.expect(["-e", "-v", "-n", "BEGIN"])[1]
        self.assertTrue(out.startswith("\nStability attributes for description BEGIN:\n\n"
                                       "\tMinimum Probe Description Attributes\n"
                                       "\t\tIdentifier Names: "), out)

    def test_dif_listing(self):
        status, out, err = self.run_it("-Sn", "BEGIN { exit(0); }", "-e")
        self.assertEqual((status, out), (0, ""))
        self.assertIn("DIFO 0x", err)
        self.assertRegex(err, r"(?m)^OFF OPCODE +INSTRUCTION\n00: [0-9a-f]{8} +setx ")
        self.assertRegex(err, r"(?m)^01: 23000001 +ret +%r1$")

    def test_saved_program(self):
        self.expect(["-e", "--save-dof", "p.dof", "-n", "BEGIN { trace(5); exit(2); }"], 0, "", "")
        self.expect(["-q", "--dof", "p.dof"], 2, "5\n", "")
        self.write("bad.dof", "no program")
        self.assertTrue(self.expect(["--dof", "bad.dof"], 1, "")[2].startswith("dtrace: failed to load bad.dof: "))
        self.assertEqual(self.run_it("--dof", "p.dof", "-n", "BEGIN")[0], 2)


class Listing(Case):
    def test_all(self):
        out = self.expect(["-l"], 0, None, "")[1]
        self.assertTrue(out.startswith(LIST_HEADER + "    1     dtrace                                   "
                                       "                  BEGIN\n"), out)

    def test_forms(self):
        for args, count in ((["-n", "BEGIN"], 1), (["-i", "1"], 1), (["-n", "dtrace:::"], 3), (["-P", "dtrace"], 3),
                            (["-n", "BEGIN", "-n", "END"], 2), (["-n", "tick-1s"], 1)):
            with self.subTest(args=args):
                out = self.expect(["-l", *args], 0, None, "")[1]
                self.assertEqual(len(out.splitlines()), 1 + count, out)

    def test_no_match(self):
        for args, text in ((["-P", "no"], "no:::"), (["-m", "no"], ":no::"), (["-f", "no"], "::no:"),
                           (["-n", "no"], ":::no")):
            self.expect(["-l", *args], 0, LIST_HEADER,
                        f"dtrace: failed to match {text}: No probe matches description\n")

    def test_script(self):
        self.write("a.d", "BEGIN, END { trace(0); }\n")
        self.assertEqual(len(self.expect(["-l", "-s", "a.d"])[1].splitlines()), 3)

    def test_verbose(self):
        out = self.expect(["-lvn", "BEGIN"])[1]
        for text in ("\n\tProbe Description Attributes\n\t\tIdentifier Names: ", "\t\tData Semantics:   ",
                     "\t\tDependency Class: ", "\n\tArgument Attributes\n", "\n\tArgument Types\n\t\tNone\n"):
            self.assertIn(text, out)

    def test_output_file(self):
        self.write("out", "before\n")
        self.expect(["-ln", "BEGIN", "-o", "out"], 0, "", "")
        self.assertTrue(self.read("out").startswith("before\n" + LIST_HEADER))


class Output(Case):
    def test_appends(self):
        for _ in range(2):
            self.expect(["-q", "-o", "out", "-n", 'BEGIN { printf("x\\n"); exit(0); }'], 0, "", "")
        self.assertEqual(self.read("out"), "x\n\nx\n\n")

    def test_cannot_open(self):
        self.expect(["-o", "no/such", "-n", "BEGIN { exit(0); }"], 1, "",
                    "dtrace: failed to open output file 'no/such': No such file or directory\n")

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        status, _, err = self.run_it("-qo", "/dev/full", "-n", "BEGIN { trace(1); exit(0); }")
        self.assertEqual(status, 1)
        self.assertIn("failed to write to /dev/full: No space left on device\n", err)

    def test_closed_pipe(self):
        process = self.start("-q", "-xswitchrate=10ms", "-n", 'tick-10ms { printf("line\\n"); }')
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(LIMIT), 1)
        self.assertEqual(process.stderr.read(), "")
        process.stderr.close()

    def test_reader_that_has_enough(self):
        """It ends at once and says nothing, even if there would be no more output."""
        for program in ('BEGIN { printf("line\\n"); }', 'BEGIN { printf("line\\n"); } tick-100ms { @ = count(); }'):
            command = f"'{OUTSIGHT}' -g none -qxswitchrate=10ms -n '{program}' | head -1"
            done = subprocess.run(["sh", "-c", command], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=LIMIT, check=False)
            self.assertEqual((done.stdout, done.stderr), ("line\n", ""))


class Ending(Case):
    def interrupt(self, number, *args):
        process = self.start("-qxswitchrate=10ms", *args)
        self.assertEqual(process.stdout.readline(), "go\n")
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out, err

    def test_signals_end_it_as_exit_would(self):
        program = 'BEGIN { printf("go\\n"); @ = count(); } END { printf("end\\n"); }'
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            with self.subTest(number=number):
                self.assertEqual(self.interrupt(number, "-n", program), (0, "\nend\n\n                1\n", ""))

    def test_exit_in_end_counts(self):
        self.assertEqual(self.interrupt(signal.SIGINT, "-n", 'BEGIN { printf("go\\n"); } END { exit(6); }')[0], 6)

    def test_exit_status_is_low_byte(self):
        for value, status in ((0, 0), (1, 1), (255, 255), (256, 0), (-1, 255), (0x1234, 0x34)):
            self.assertEqual(self.run_it("-qn", f"BEGIN {{ exit({value}); }}")[0], status)

    def test_equal_faults_are_counted(self):
        """A line for the first, then one with a number: 40 in one wake-up, and what is left at the end."""
        program = "tick-5ms { n++; } tick-5ms /n <= 40/ { trace(*(int *)n); } tick-5ms /n == 40/ { exit(0); }"
        what = r"dtrace: error on enabled probe ID 2 \(ID \d+: profile:::tick-5ms\): invalid address"
        err = self.expect(["-qxswitchrate=30s", "-n", program], 0, "\n")[2]
        self.assertRegex(err, rf"^{what} \(0x1\) in action #1 at DIF offset \d+\n"
                         rf"{what} in action #1 at DIF offset \d+: 39 more times\n$")
        # the same address stays; who compares messages has them all
        err = self.expect(["-qxswitchrate=30s", "-n", program.replace(")n)", ")8)")], 0, "\n")[2]
        self.assertRegex(err, r"\(0x8\) in action #1 at DIF offset \d+: 39 more times\n$")
        self.assertEqual(len(self.expect(["-qxerrtags", "-xswitchrate=30s", "-n", program], 0, "\n")[2].splitlines()), 40)

    def test_faults_do_not_change_it(self):
        status, out, err = self.run_it("-qn", "BEGIN { trace(*(int *)NULL); } BEGIN { exit(0); }")
        self.assertEqual((status, out), (0, "\n"))
        self.assertRegex(err, r"^dtrace: error on enabled probe ID 1 \(ID 1: dtrace:::BEGIN\): invalid address "
                         r"\(0x0\) in action #1( at DIF offset \d+)?\n$")


class Header(Case):
    PROVIDER = "provider my_app {\n\tprobe start();\n\tprobe query__done(int, char *name, string how, uint64_t t);\n};\n"

    def compile(self, *flags, source="#include \"app.h\"\nint main(void) { MY_APP_START(); "
                "if (MY_APP_QUERY_DONE_ENABLED()) MY_APP_QUERY_DONE(1, \"a\", \"b\", 2); return 0; }\n"):
        self.write("main.c", source)
        subprocess.run(["cc", "-Wall", "-Werror", *flags, "-c", "main.c"], cwd=self.dir, check=True, timeout=LIMIT)

    def test_compiles(self):
        """As it is, and where the macros are calls."""
        self.write("app.d", self.PROVIDER)
        self.expect(["-h", "-s", "app.d"], 0, "", "", guest=())
        text = self.read("app.h")
        self.assertTrue(text.startswith("/*\n * Generated by dtrace(1M).\n */\n\n#ifndef\t_APP_H\n#define\t_APP_H\n"))
        self.assertIn("#define\tMY_APP_QUERY_DONE(arg0, arg1, arg2, arg3) \\\n"
                      "\t__dtrace_my_app___query__done(arg0, arg1, arg2, arg3)\n", text)
        self.assertIn("extern void __dtrace_my_app___query__done(int, char *, char *, uint64_t);\n", text)
        self.assertIn("extern void __dtrace_my_app___start(void);\n", text)
        if shutil.which("cc"):
            self.compile()
            self.compile("-D_DTRACE_VERSION=1", "-include", "stdint.h")

    def test_names(self):
        self.write("app.d", self.PROVIDER)
        self.expect(["-h", "-s", "app.d", "-o", "other-name.hh"], 0, "", "")
        self.assertIn("#ifndef\t_OTHER_NAME_HH\n", self.read("other-name.hh"))
        shutil.copy(self.path("app.d"), self.path("app"))
        for args, text in (([], "one or more scripts"), (["-s", "app"], "an output file"),
                           (["-s", "app.d", "-s", "app.d"], "an output file"), (["-n", "BEGIN"], "an output file")):
            err = self.expect(["-h", *args], 1, "")[2]
            self.assertTrue(err.startswith("dtrace: -h requires ") and text in err, err)

    def test_bad_provider(self):
        self.write("app.d", "provider app1 { probe a(); };\n")
        self.assertIn("[D_PROV_BADNAME]", self.expect(["-xerrtags", "-h", "-s", "app.d"], 1, "")[2])
        self.assertFalse(os.path.exists(self.path("app.h")))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    namespaces.enter()  # so that no guest of this host, and of no other test, is traced
    OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
