#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The runner itself: each way a D program's run can be wrong must be reported."""
import os
import stat
import sys
import tempfile

import coverage
import run

# Stands in for outsight: prints what the program says after "print:", "error:" and "status:".
FAKE = """#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -s ] && file=$2; shift; done
sed -n 's/^print://p' "$file"
sed -n 's/^error://p' "$file" >&2
exit "$(sed -n 's/^status://p' "$file")"
"""
HEAD = "/* ASSERTION: x. */\n"
# (file name, program, expected output or None, passes?)
CASES = [
    ("tst.good.d", HEAD + "print:hello\nstatus:0\n", "hello\n", True),
    ("tst.differs.d", HEAD + "print:hello\nstatus:0\n", "hallo\n", False),
    ("tst.newline.d", HEAD + "print:hello\nstatus:0\n", "hello", False),
    ("tst.status.d", HEAD + "print:hello\nstatus:1\n", "hello\n", False),
    ("tst.exit.d", "/* ASSERTION: x.\n * @@exit: 7\n */\nstatus:7\n", "", True),
    ("tst.noout.d", HEAD + "status:0\n", None, False),
    ("tst.silent.d", "print:x\nstatus:0\n", "x\n", False),
    ("tst.option.d", "/* ASSERTION: x.\n * @@wrong: 7\n */\nstatus:0\n", "", False),
    ("tst.stderr.d", "/* ASSERTION: x.\n * @@stderr: boo\n */\nerror:boo\nstatus:0\n", "", True),
    ("tst.nostderr.d", "/* ASSERTION: x.\n * @@stderr: boo\n */\nerror:bo\nstatus:0\n", "", False),
    ("tst.sanitizer.d", HEAD + "error:x.c:1:2: runtime error: overflow\nstatus:0\n", "", False),
    ("err.D_SYNTAX.good.d", HEAD + "error:dtrace: [D_SYNTAX] no\nstatus:1\n", None, True),
    ("err.D_SYNTAX.othertag.d", HEAD + "error:dtrace: [D_SYNTAXES] no\nstatus:1\n", None, False),
    ("err.D_SYNTAX.status.d", HEAD + "error:dtrace: [D_SYNTAX] no\nstatus:0\n", None, False),
    ("err.notag.d", HEAD + "status:1\n", None, False),
    ("drp.DTRACEDROP_PRINCIPAL.good.d", HEAD + "error:dtrace: [DTRACEDROP_PRINCIPAL] 1 drop\nstatus:0\n", None, True),
    ("drp.DTRACEDROP_PRINCIPAL.none.d", HEAD + "status:0\n", None, False),
    ("other.x.d", HEAD + "status:0\n", None, False),
]


# (kind, name, tests of coverage.list, accepted?)
MAPPED = [
    ("tag", "D_SYNTAX", ["basics/tst.begin_end.d", "errors/err.D_SYNTAX.brace.d"], True),
    ("tag", "D_SYNTAX", ["basics/tst.begin_end.d", "errors/err.D_EMPTY.file.d"], False),
    ("tag", "D_SYNTAX", ["basics/tst.begin_end.d", "basics/tst.begin_end.d"], False),
    ("tag", "D_SYNTAX", ["basics/tst.begin_end.d"], False),
    ("tag", "D_SYNTAX", ["errors/err.D_EMPTY.file.d", "errors/err.D_SYNTAX.brace.d"], False),
    ("tag", "D_SYNTAX", ["basics/tst.nosuch.d", "errors/err.D_SYNTAX.brace.d"], False),
    ("tag", "D_SYNTAX", ["n/a: there is no grammar at all"], True),
    ("tag", "D_SYNTAX", ["n/a: none"], False),
    ("subroutine", "strlen", ["strings/tst.length.d", "errors/err.D_PROTO_LEN.strlen.d"], True),
    ("subroutine", "strlen", ["strings/tst.json.d", "errors/err.D_PROTO_LEN.strlen.d"], False),
    ("option", "quiet", ["printf/tst.trace_quiet.d", "coverage/err.D_PRAGMA_OPTSET.option_quiet.d"], True),
    ("option", "quiet", ["printf/tst.trace_quiet.d", "coverage/err.D_PRAGMA_OPTSET.option_cpu.d"], False),
    ("conversion", "%hd", ["n/a: tested nowhere else", "coverage/err.D_PRINTF_ARG_TYPE.conv_hd.d"], True),
    ("conversion", "%hd", ["n/a: tested nowhere else", "coverage/err.D_PRINTF_ARG_TYPE.conv_d.d"], False),
    ("letter", "-V", ["../cli/cli_test.py:test_versions", "../cli/cli_test.py:test_nosuch"], False),
]


def misjudged_lines():
    for kind, name, tests, accepted in MAPPED:
        complaints = coverage.check_line(kind, name, [coverage.Test(t) for t in tests])
        if accepted == bool(complaints):
            yield f"{kind} {name} by {tests}: {complaints or 'not one complaint'}"


def main():
    wrong = list(misjudged_lines())
    with tempfile.TemporaryDirectory() as folder:
        fake = os.path.join(folder, "outsight")
        with open(fake, "w", encoding="utf-8") as f:
            f.write(FAKE)
        os.chmod(fake, stat.S_IRWXU)
        for name, program, expected, passes in CASES:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(program)
            if expected is not None:
                with open(path[:-2] + ".out", "w", encoding="utf-8") as f:
                    f.write(expected)
            complaints = run.Case(path).run(fake)
            if passes == bool(complaints):
                wrong.append(f"{name}: {complaints or 'not one complaint'}")
        with open(os.path.join(folder, "tst.orphan.out"), "w", encoding="utf-8"):
            pass
        if len(run.find_cases(folder)[1]) != 1:
            wrong.append("the orphan .out was not found")
    for line in wrong:
        print(line)
    print(f"self-test: {len(CASES) + len(MAPPED) + 1} cases, {len(wrong)} misjudged")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
