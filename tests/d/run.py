#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the D programs of one topic folder: run.py OUTSIGHT FOLDER [NAME…]

    tst.NAME.d              ends with 0 and prints exactly tst.NAME.out
    err.D_TAG.NAME.d        ends with 1, with [D_TAG] on stderr
    drp.DTRACEDROP_X.NAME.d [DTRACEDROP_X] on stderr

A program may say, in a comment of its own, one option a line:
    @@args: ARGUMENTS       more of outsight's command line, after -s FILE (shell quoting)
    @@exit: N               the exit status
    @@timeout: SECONDS      instead of 60
    @@cpp                   run with -C
    @@stderr: TEXT          a line on stderr must begin so, behind spaces
"""
import difflib
import os
import re
import shlex
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import limit

OPTION = re.compile(r"@@(\w+)(?::[ \t]*(.*?))?[ \t]*(?:\*/)?[ \t]*$", re.M)
KNOWN = {"args", "exit", "timeout", "cpp", "stderr"}
KINDS = {"tst": re.compile(r"tst\.[\w-]+(\.[\w-]+)*\.d"), "err": re.compile(r"err\.(D_\w+)\.[\w.-]+\.d"),
         "drp": re.compile(r"drp\.(DTRACEDROP_\w+)\.[\w.-]+\.d")}
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "TERM": "dumb"}


class Case:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)[:-2]
        self.kind = self.name.split(".", 1)[0]
        pattern = KINDS.get(self.kind)
        m = pattern.fullmatch(self.name + ".d") if pattern else None
        self.problem = None if m else "the name fits none of tst.*.d, err.D_TAG.*.d, drp.DTRACEDROP_X.*.d"
        self.tag = m.group(1) if m and self.kind != "tst" else None
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.options = {}
        for option, value in OPTION.findall(text):
            if option not in KNOWN or option in self.options:
                self.problem = f"@@{option} is unknown or given twice"
            self.options[option] = value
        if "ASSERTION:" not in text:
            self.problem = "no comment says ASSERTION: what is tested"
        self.out_path = path[:-2] + ".out"
        if self.kind == "tst" and not os.path.exists(self.out_path):
            self.problem = "no .out file"

    def command(self, outsight):
        args = [outsight, "-g", "none"]
        if self.kind == "err":
            args.append("-xerrtags")
        if self.kind == "drp":
            args.append("-xdroptags")
        if "cpp" in self.options:
            args.append("-C")
        return args + ["-s", os.path.basename(self.path)] + shlex.split(self.options.get("args", ""))

    def run(self, outsight):
        """The complaints about this case; none when it passed."""
        if self.problem:
            return [self.problem]
        seconds = limit(float(self.options.get("timeout", 60)))
        env = dict(os.environ, **ENVIRONMENT)
        try:
            done = subprocess.run(self.command(outsight), cwd=os.path.dirname(self.path), env=env, timeout=seconds,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except subprocess.TimeoutExpired as e:
            return [f"still running after {seconds:g} s, stderr: {(e.stderr or b'').decode(errors='replace')}"]
        out, err = (b.decode("utf-8", "replace") for b in (done.stdout, done.stderr))
        return list(self.judge(done.returncode, out, err))

    def judge(self, status, out, err):
        want = int(self.options.get("exit", 1 if self.kind == "err" else 0))
        if status != want:
            yield f"exit status {status}, expected {want}"
        if self.tag and f"[{self.tag}]" not in err:
            yield f"[{self.tag}] is not on stderr"
        if "stderr" in self.options and not any(
                line.lstrip().startswith(self.options["stderr"]) for line in err.splitlines()):
            yield f"no line on stderr begins with: {self.options['stderr']}"
        if os.path.exists(self.out_path):
            with open(self.out_path, encoding="utf-8", newline="") as f:
                expected = f.read()
            if out != expected:
                yield "stdout differs:\n" + "".join(
                    line if line.endswith("\n") else line + "\n\\ no newline at the end\n"
                    for line in difflib.unified_diff(expected.splitlines(True), out.splitlines(True),
                                                     "expected", "printed"))
        if "AddressSanitizer" in err or "runtime error:" in err:
            yield "a sanitizer complained"
        self.stderr = err


def find_cases(folder):
    names = sorted(os.listdir(folder))
    cases = [Case(os.path.join(folder, name)) for name in names if name.endswith(".d")]
    sources = {case.name for case in cases}
    orphans = [name for name in names if name.endswith(".out") and name[:-4] not in sources]
    # err.D_A.x and tst.x are two tests of one name in a report by name only.
    seen, twice = set(), []
    for case in cases:
        short = case.name.lower()
        if short in seen:
            twice.append(case.name)
        seen.add(short)
    return cases, [f"{name}: no program for it" for name in orphans] + [f"{name}: name given twice" for name in twice]


def main(argv):
    if len(argv) < 3:
        print("usage: run.py OUTSIGHT FOLDER [NAME…]", file=sys.stderr)
        return 2
    outsight, folder, only = os.path.abspath(argv[1]), os.path.abspath(argv[2]), argv[3:]
    cases, complaints = find_cases(folder)
    for complaint in complaints:
        print(f"FAIL {complaint}")
    failed, ran = len(complaints), 0
    for case in cases:
        if only and case.name not in only and os.path.basename(case.path) not in only:
            continue
        ran += 1
        complaints = case.run(outsight)
        print(f"{'FAIL' if complaints else 'ok  '} {case.name}")
        if complaints:
            failed += 1
            for line in complaints:
                print("  " + line.rstrip().replace("\n", "\n  "))
            if getattr(case, "stderr", ""):
                print("  stderr: " + case.stderr.rstrip().replace("\n", "\n  "))
    print(f"{ran} run, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
