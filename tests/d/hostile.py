#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Huge, deep, endless and meaningless scripts: hostile.py OUTSIGHT [NAME…]

Each ends within its CPU time with a result (exit status 0) or with an error (1) that says something, on bounded memory; never by a signal.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
from lib.pace import FULL, limit

CPU_SECONDS, SECONDS = 100, limit(120)
MEMORY = 3 << 30
RUN, ERROR, EITHER = {0}, {1}, {0, 1}


def begin(body):
    return "BEGIN { " + body + " exit(0); }"


def lines(count, form):
    return "".join(form % i for i in range(count))


# name: (status, script, more arguments)
CASES = {
    "parentheses": (ERROR, lambda: begin("x = " + "(" * 10**6 + "1" + ")" * 10**6 + ";"), []),
    "braces": (ERROR, lambda: "BEGIN " + "{" * 10**6, []),
    "unclosed_calls": (ERROR, lambda: begin("x = " + "strlen(" * 10**6), []),
    "ternaries": (ERROR, lambda: begin("x = " + "pid ? 1 : " * 200000 + "2;"), []),
    "nested_if": (ERROR, lambda: begin("if (1) {" * 50000 + "}" * 50000), []),
    "long_and": (EITHER, lambda: "BEGIN /" + "pid && " * 100000 + "1/ { exit(0); }", []),
    "ten_megabytes_of_clauses": (ERROR, lambda: "BEGIN { this->x = pid + 1; }\n" * 360000, []),
    "hundred_thousand_clauses": (ERROR, lambda: "BEGIN { x = 1; }\n" * 100000, []),
    "sixteen_thousand_clauses": (RUN, lambda: "BEGIN { x = 1; }\n" * 16000 + begin(""), []),
    "specifiers": (ERROR, lambda: "BEGIN," * 10**6 + begin(""), []),
    "comment": (RUN, lambda: "/*" + "x" * (10 << 20) + "*/" + begin(""), []),
    "open_comment": (ERROR, lambda: begin("") + "/*" + "x" * (10 << 20), []),
    "blanks": (RUN, lambda: " \n" * (5 << 20) + begin(""), []),
    "continued_lines": (RUN, lambda: "\\\n" * (5 << 20) + begin(""), []),
    "identifier": (EITHER, lambda: begin("n" * (10 << 20) + " = 1;"), []),
    "number": (ERROR, lambda: begin("x = " + "9" * (10 << 20) + ";"), []),
    "character": (ERROR, lambda: begin("x = '" + "c" * (10 << 20) + "';"), []),
    "string": (ERROR, lambda: begin('x = "' + "s" * (10 << 20) + '";'), []),
    "open_string": (ERROR, lambda: begin('x = "' + "s" * (10 << 20)), []),
    "string_of_64k": (RUN, lambda: begin('x = "' + "s" * 65530 + '"; printf("%d", strlen(x));'), ["-xstrsize=64k"]),
    "strsize_of_64k": (RUN, lambda: begin("x = strjoin(execname, execname); trace(x);"), ["-qxstrsize=64k"]),
    "strsize_of_a_gigabyte": (EITHER, lambda: begin("x = execname; trace(x);"), ["-qxstrsize=1g"]),
    "probe_name": (ERROR, lambda: "p" * 10**6 + ":::x { exit(0); }", []),
    "glob": (ERROR, lambda: "dtrace:::" + "*a" * 50000 + " { exit(0); }", []),
    "aggregations": (EITHER, lambda: begin(lines(4000, "@a%d = count(); ")), ["-q"]),
    "too_many_aggregations": (ERROR, lambda: begin(lines(5000, "@a%d = count(); ")), ["-q"]),
    "variables": (RUN, lambda: begin(lines(16000, "v%d = 1; ")), ["-q"]),
    "too_many_variables": (ERROR, lambda: lines(70000, "int v%d;\n") + begin(lines(70000, "v%d = 1; ")), ["-q"]),
    "keys": (ERROR, lambda: begin("@[" + "pid," * 100000 + "pid] = count();"), []),
    "arguments": (ERROR, lambda: begin("x = strlen(" + "pid," * 100000 + "pid);"), []),
    "conversions": (ERROR, lambda: begin('printf("' + "%d" * 20000 + '"' + ", 1" * 20000 + ");"), ["-q"]),
    "format_of_60k": (RUN, lambda: begin('printf("' + "x" * 60000 + '");'), ["-q"]),
    "members": (RUN, lambda: "struct s {" + lines(20000, "int m%d; ") + "};" + begin("x = sizeof(struct s);"), []),
    "nested_structs": (EITHER, lambda: "struct {" * 20000 + "int x;" + "} m;" * 20000, []),
    "enumerators": (RUN, lambda: "enum e {" + lines(50000, "E%d, ") + "LAST };" + begin("x = LAST;"), []),
    "typedefs": (EITHER, lambda: "typedef int t0;" + "".join(
        f"typedef t{i} t{i + 1};" for i in range(30000)) + begin("x = sizeof(t30000);"), []),
    "pointers": (ERROR, lambda: "int " + "*" * 10**6 + "x;", []),
    "dimensions": (ERROR, lambda: "int x" + "[1]" * 10**6 + ";", []),
    "array_of_exabytes": (ERROR, lambda: "int x[0x7fffffff][0x7fffffff][0x7fffffff];" + begin("y = sizeof(x);"), []),
    "inlines_that_double": (ERROR, lambda: "inline int i0 = pid;" + "".join(
        f"inline int i{i + 1} = i{i} + i{i};" for i in range(60)) + begin("x = i60;"), []),
    "inline_of_itself": (ERROR, lambda: "inline int i = i + 1;" + begin("x = i;"), []),
    "translators": (RUN, lambda: "struct a { int x; };" + "".join(
        f"struct b{i} {{ int y; }}; translator struct b{i} < struct a *p > {{ y = 1; }};" for i in range(3000))
        + begin(""), []),
    "pragmas": (RUN, lambda: "#pragma D option quiet\n" * 200000 + begin(""), []),
    "lines": (RUN, lambda: lines(200000, '#line %d "file"\n') + begin(""), []),
    "line_number": (EITHER, lambda: '# 99999999999999999999 "file"\n' + begin(""), []),
    "pragma_text": (EITHER, lambda: "#pragma D option " + "x" * (10 << 20) + "\n" + begin(""), []),
    "error_text": (ERROR, lambda: "#error " + "x" * (10 << 20) + "\n", []),
    "macros": (ERROR, lambda: "$1 " * 10**6, ["1"]),
    "macro_expression": (ERROR, lambda: begin("x = " + "$1 + " * 100000 + "1;"), ["1"]),
    "macro_arguments": (RUN, lambda: begin("x = $5000;"), [str(i) for i in range(1, 5001)]),
    "macro_number": (ERROR, lambda: begin("x = $99999999999999999999;"), []),
    "macro_in_macro": (RUN, lambda: begin("x = $1;"), ["$1"]),
    "cpp_doubles": (ERROR, lambda: "#define A0 1 +\n" + "".join(
        f"#define A{i + 1} A{i} A{i}\n" for i in range(40)) + begin("x = A40 1;"), ["-C"]),
    "cpp_includes_itself": (ERROR, lambda: '#include "hostile.d"\n' + begin(""), ["-C"]),
    "nothing": (ERROR, lambda: "", []),
    "nul": (ERROR, lambda: "\0", []),
    "nuls": (ERROR, lambda: "\0" * (10 << 20), []),
    "noise": (ERROR, lambda: bytes(i * 197 % 256 for i in range(1 << 20)), []),
    "program_file": (ERROR, lambda: open("/proc/self/exe", "rb").read(), []),
    "rate_of_a_nanosecond": (RUN, lambda: "#pragma D option switchrate=1\n#pragma D option aggrate=1\n"
                             "#pragma D option statusrate=1\ntick-50ms { exit(0); }", ["-q"]),
    "zero_sizes": (EITHER, lambda: begin("trace(pid);"), ["-qxaggsize=0", "-xdynvarsize=0", "-xspecsize=0"]),
    "sizes_of_exabytes": (EITHER, lambda: begin(""), ["-qxbufsize=8388607t", "-xaggsize=8388607t"]),
    "frames": (EITHER, lambda: begin("stack(2000000000); ustack(2000000000, 2000000000);"), []),
    "speculations": (EITHER, lambda: begin("x = speculation();"), ["-qxnspec=2000000000"]),
}


# These take as long as all others together, and then again.
ONLY_FULL = {"ten_megabytes_of_clauses", "hundred_thousand_clauses", "specifiers", "cpp_doubles"}


def set_limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def run_case(outsight, folder, name):
    wanted, make, args = CASES[name]
    text = make()
    with open(os.path.join(folder, "hostile.d"), "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen([outsight, "-g", "none", "-s", "hostile.d"] + args, cwd=folder, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=err, preexec_fn=set_limits)
        while time.monotonic() - start < SECONDS:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.005)
        else:
            child.kill()
            child.wait()
            return f"still running after {SECONDS} s"
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        said = err.read()
    if child.returncode not in wanted:
        return f"exit status {child.returncode}: {said[:300]!r}"
    if child.returncode == 1 and b"dtrace: " not in said:
        return f"no message: {said[:300]!r}"
    if b"Sanitizer" in said or b"runtime error:" in said:
        return f"a sanitizer complained: {said[:2000]!r}"
    if usage.ru_maxrss > MEMORY >> 10:
        return f"took {usage.ru_maxrss >> 10} MiB"
    return None


def main(argv):
    if len(argv) < 2:
        print("usage: hostile.py OUTSIGHT [NAME…]", file=sys.stderr)
        return 2
    outsight, failed = os.path.abspath(argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        for name in argv[2:] or [name for name in CASES if FULL or name not in ONLY_FULL]:
            complaint = run_case(outsight, folder, name)
            failed += complaint is not None
            print(f"{'FAIL' if complaint else 'ok  '} {name}{': ' + complaint if complaint else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
