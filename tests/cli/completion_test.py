#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What bash and zsh offer at TAB: completion_test.py OUTSIGHT [Class.test…]. The shells' functions run without a terminal."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit

OUTSIGHT = None
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASH = os.path.join(ROOT, "completions", "outsight.bash")
ZSH = os.path.join(ROOT, "completions", "_outsight")
LIMIT = limit(60)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="outsight-completion-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ, LC_ALL="C", HOME=self.dir, XDG_CACHE_HOME=f"{self.dir}/cache", XDG_RUNTIME_DIR=self.dir,
                        PATH=f"{os.path.dirname(OUTSIGHT)}:{os.environ['PATH']}")

    def run_it(self, *args):
        done = subprocess.run(args, capture_output=True, text=True, timeout=LIMIT, check=False, env=self.env, cwd=self.dir,
                              stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr), (0, ""), args)
        return done.stdout

    def complete(self, *words):
        """What the program says."""
        return self.run_it(OUTSIGHT, "--complete", *words).splitlines()

    def help(self, *verb):
        return self.run_it(OUTSIGHT, *verb, "--help")


class Program(Case):
    def test_verbs(self):
        """Those of --help's synopsis, and no others."""
        told = set(re.findall(r"(?m)^ +outsight ([a-z]+)", self.help()))
        self.assertGreater(len(told), 8)
        self.assertEqual(set(self.complete("")), told)
        self.assertEqual(set(self.complete("help", "")), told)
        self.assertEqual(self.complete("exa"), ["examples"])
        self.assertEqual(self.complete("nosuch"), [])

    def test_options(self):
        """Each that --help has, a line each."""
        told = {"-" + option for option in re.findall(r"(?m)^\t-(-?[\w-]+)", self.help())} | {"--version"}
        self.assertGreater(len(told), 40)
        self.assertEqual(set(self.complete("-")), told)
        self.assertEqual(self.complete("--vm"), ["--vmlinux"])

    def test_options_of_verbs(self):
        for verb, options in (("attach", {"--plan", "--help"}), ("detach", {"--all", "--help"}), ("doctor", {"-v", "--help"}),
                              ("guests", {"-c", "-v", "--json", "--xml", "--connect", "--verbose", "--help"}),
                              ("examples", {"--help"}), ("serve", {"--merge", "--conf", "--nats", "--verbose", "--check", "--stdio", "--make-key", "--show-key", "--help",
                                                         "--version"}), ("flame", {"-g", "-d", "-F", "-e", "-p", "-o", "--help"}),
                              ("heatmap", {"-g", "-d", "-i", "-e", "-p", "-n", "-o", "--help"}),
                              ("top", {"-b", "-d", "-g", "-n", "-o", "-x", "--help"})):
            self.assertEqual(set(self.complete(verb, "-")), options, verb)
        self.assertLess({"--tasks", "--modules", "--sockets", "--mounts", "--libraries", "--inside", "--watch", "-x", "--plan"},
                        set(self.complete("compare", "-")))
        self.assertEqual(self.complete("run", "-ke"), ["-kernel"])
        self.assertEqual(self.complete("run", "-m", ""), [])  # the machine's memory; dtrace's is a probe's module
        self.assertEqual(self.complete("run", "-kernel", "x", "--", "--pl"), ["--plan"])

    def test_options_of_d(self):
        told = set(re.search(r"(?s)Options of -x.*?:\n(.*?)\n\n", self.help()).group(1).split())
        self.assertEqual(set(self.complete("-x", "")), told)
        self.assertEqual(self.complete("-x", "trap="), ["trap=auto", "trap=text", "trap=step", "trap=hw"])
        self.assertEqual(self.complete("-x", "oformat=xm"), ["oformat=xml", "oformat=xml,pretty"])
        self.assertEqual(self.complete("-x", "bufsize="), [])
        self.assertEqual(self.complete("--libxo", "jsonl"), ["jsonl"])

    def test_tools(self):
        names = {name[:-2] for name in os.listdir(os.path.join(ROOT, "tools")) if name.endswith(".d")}
        self.assertEqual(set(self.complete("tool", "")), names)
        self.assertEqual(self.complete("tool", "--show", "opens"), ["opensnoop"])

    def test_probes(self):
        """Fields from the left for -n; the last field is what -P, -m and -f are about."""
        for words, want in ((("-n", "dt"), ["dtrace:"]), (("-n", "dtrace:::B"), ["dtrace:::BEGIN"]),
                            (("-n", "*:::E"), []), (("-P", "prof"), ["profile"]), (("-qn", "profile:::tick-50"),
                            ["profile:::tick-500", "profile:::tick-5000"]), (("-n", "BEGIN { x"), []),
                            (("-f", "dtrace:x:"), []), (("-n", "a:b:c:d:e"), [])):
            self.assertEqual(self.complete("-g", "none", *words), want, words)

    def test_the_cache_may_be_missing(self):
        self.env["XDG_CACHE_HOME"] = "/proc/nosuch"
        self.assertEqual(self.complete("-g", "none", "-n", "dt"), ["dtrace:"])


class Bash(Case):
    # What bash makes of a line: words, apart at blanks, and at ":" and "=" outside of quotes.
    SCRIPT = r"""
        source "$1"; COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=("${@:3}") COMP_CWORD=$(($# - 3))
        $(complete -p outsight | sed 's/.*-F \([^ ]*\).*/\1/') outsight; printf '%s\n' "${COMPREPLY[@]}" """

    def tab(self, line):
        words = re.findall(r"""['"][^'"]*|[:=]+|[^\s:='"]+""", line)
        if not line or line[-1] == " ":
            words.append("")
        return self.run_it("bash", "--norc", "-c", self.SCRIPT, "bash", BASH, line, *words).split()

    def test_words(self):
        for line, want in (("outsight exam", ["examples"]), ("outsight  tool  opensn", ["opensnoop"]),
                           ("outsight -x oformat=xm", ["xml", "xml,pretty"]), ("outsight -x trap=", ["auto", "text", "step", "hw"]),
                           ("outsight -g none -n dtrace:::EN", ["END"]), ("outsight -g none -n dtrace::", []),
                           ("outsight -g none -n 'dtrace:::EN", ["dtrace:::END"]), ("outsight -g none -P dt", ["dtrace"]),
                           ("outsight -g none -n dt", ["dtrace:"]), ("outsight -s ", []), ("outsight nosuch", [])):
            self.assertEqual(self.tab(line), want, line)

    def test_in_the_middle(self):
        """Of the word only what is before the cursor counts."""
        script = self.SCRIPT.replace("COMP_POINT=${#2}", "COMP_POINT=13")
        out = self.run_it("bash", "--norc", "-c", script, "bash", BASH, "outsight examined", "outsight", "examined")
        self.assertEqual(out.split(), ["examples"])

    def test_without_breaks(self):
        """Whoever has taken ":" out of COMP_WORDBREAKS gets whole words."""
        script = "COMP_WORDBREAKS=' =';" + self.SCRIPT
        line = "outsight -g none -n dtrace:::EN"
        self.assertEqual(self.run_it("bash", "--norc", "-c", script, "bash", BASH, line, *line.split()).split(), ["dtrace:::END"])


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed here")
class Zsh(Case):
    def tab(self, *words):
        """What is given to compadd, and whether file names are asked for."""
        script = ('compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@" }; _files() { print files }; '
                  f"words=({' '.join(map(shlex.quote, words))}); CURRENT=$#words; PREFIX=$words[-1]; run() {{ source {ZSH} }}; run")
        return self.run_it("zsh", "-f", "-c", script).split()

    def test_words(self):
        for words, want in ((("exam",), ["examples"]), (("-x", "oformat=xm"), ["oformat=xml", "oformat=xml,pretty"]),
                            (("-g", "'none'", "-n", "dtrace:::EN"), ["dtrace:::END"]), (("-s", ""), ["files"])):
            self.assertEqual(self.tab("outsight", *words), want, words)


if __name__ == "__main__":
    OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
