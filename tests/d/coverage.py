#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Is there a test that it works and a test that it is refused for each thing that D has?

    coverage.py --check       complain about whatever coverage.list does not map, or maps wrongly
    coverage.py --missing     only name what is not mapped

The things come from the program's own tables, so that what is added to a table needs a line here. A line
of coverage.list is

    KIND NAME: POSITIVE, NEGATIVE
    KIND NAME: n/a: why there is no test

Either test may also be "n/a: why". Tests are paths from tests/d; ../unit/FILE.c:FUNCTION names a unit test,
../cli/cli_test.py:FUNCTION one of the command line.
A positive test ends well. A negative one is refused: err.*, drp.*, or a tst.* that says which failure it expects
(@@exit, @@stderr, or an ERROR clause). Both must mention NAME; a tag's negative test is named after the tag.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# The program has no table of its outputs' layouts; these are they.
OUTPUTS = """record_line quiet_record flowindent header end_newline trace_integer trace_string trace_bytes stack_frames
symbol_column printf_newline printa_default printa_format printa_several aggregation_table histogram_quantize
histogram_negative histogram_lquantize histogram_llquantize histogram_agghist histogram_aggpack histogram_aggzoom
histogram_utf8 print_integer print_enum print_pointer print_string print_array print_struct print_bitfield
print_union system_order probe_list stability_report compile_error matched fault_message""".split()


# Tags that only other implementations have; no table of ours has them.
FOREIGN_TAGS = """ALLOCA_INCOMPAT ALLOCA_SIZE APPLE_BADPARAM CLEAR_SCALAR LLQUANT_HMAGTYPE LLQUANT_HMAGVAL
LLQUANT_LMAGTYPE LLQUANT_LMAGVAL LLQUANT_MATCHFACTOR LLQUANT_MATCHHMAG LLQUANT_MATCHLMAG LLQUANT_MATCHSTEPS
LLQUANT_STEPTYPE LLQUANT_STEPVAL PCAP_ADDR PCAP_PROTO PCAP_SIZE PRINT_SIZE PROC_NOT_FOUND""".split()


def table(path, pattern, least, within=None):
    """The names that a table in the sources holds; fewer than @least means that the pattern is out of date."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    if within:
        m = re.search(within, text, re.S)
        text = m.group(0) if m else ""
    found = list(dict.fromkeys(re.findall(pattern, text, re.M)))
    if len(found) < least:
        sys.exit(f"coverage.py: {path}: {len(found)} names found where {least} were expected: has the table moved?")
    return found


def conversions():
    """Size prefix and letter of each conversion of printf."""
    rows = table("dif/obj/format.c", r'^\t\{ "(\w*)", "([^"]+)" \}', 6, r"conversions\[\] = \{.*?\n\};")
    return [f"%{size}{letter}" for size, letters in rows for letter in letters]


def letters():
    short = table("cli/options.c", r'letters\[\] = "-([^"]+)"', 1)[0].replace(":", "")
    longs = table("cli/options.c", r'^\t\{ "([\w-]+)", \w+_argument', 8)
    return [f"-{c}" for c in short] + [f"--{name}" for name in longs]


def things():
    """All (kind, name) that need a test."""
    macro = r"define %s\(X\).*?\n(?=\n|/\*|enum)"
    kinds = {
        "tag": ["D_" + t for t in table("dif/lang/core/diag.h", r"X\((\w+)\)", 200, macro % "DIF_ERRTAGS") + FOREIGN_TAGS],
        "drop": ["DTRACEDROP_" + d for d in table("consumer/messages.c", r'\[VP_DROP_\w+\] = \{ "(\w+)"', 10)],
        "subroutine": table("dif/obj/functions.h", r"^\tX\(\w+, +(\w+),", 56, macro % "DIF_SUBRS"),
        "action": table("dif/obj/functions.h", r"^\tX\((\w+),", 33, macro % "DIF_ACTION_NAMES"),
        "aggregation": table("dif/obj/functions.h", r"^\tX\(\w+, +(\w+),", 9, macro % "DIF_AGGS"),
        "variable": table("dif/obj/names.h", r"^\tX\(\w+, +(\w+),", 45, macro % "DIF_VARS"),
        "option": table("dif/lang/core/options.c", r'^\t\{ "(\w+)", \w+, \w+, ', 80),
        "letter": letters(),
        "conversion": conversions(),
        "flag": ["%" + (f if f != " " else "space")
                 for f in table("dif/obj/format.c", r"case '\\?(.)':", 8, r"flag_of\(.*?\n\}")],
        "output": OUTPUTS,
    }
    return [(kind, name) for kind, names in kinds.items() for name in names]


class Test:
    """A test as the list names it; `problem` says what is wrong with it."""

    def __init__(self, path):
        self.path, self.reason, self.text, self.problem = path, None, "", None
        if path.startswith("n/a:"):
            self.reason = path[4:].strip()
            self.problem = None if len(self.reason) > 10 else "n/a without a reason"
            return
        name, _, self.function = path.partition(":")
        self.kind = os.path.basename(name).split(".")[0] if not self.function else "unit"
        try:
            with open(os.path.join(HERE, name), encoding="utf-8") as f:
                self.text = f.read()
        except OSError:
            self.problem = f"{path}: there is no such test"
            return
        if self.function:
            m = re.search(r"^(?:static void|    def) " + re.escape(self.function) + r"\((?:void \*\*|self)", self.text,
                          re.M)
            if not m:
                self.problem = f"{path}: the file has no such test"

    def refuses(self):
        return self.kind in ("err", "drp", "unit") or re.search(r"@@exit: [1-9]|@@stderr:|\bERROR\b", self.text)

    def mentions(self, kind, name):
        """Does the program use it? Comments are ignored, except @@args, which may contain options."""
        keep = r"@@(?:args|cpp).*" if kind in ("option", "letter") else r"(?!)"
        code = re.sub(r"/\*.*?\*/", lambda m: " ".join(re.findall(keep, m.group(0))), self.text, flags=re.S)
        if self.kind == "unit":
            code = self.text
        if kind == "letter":
            letter = r"-\w*" + name[1:] if len(name) == 2 else re.escape(name)
            return name in ("-s", "-g") or (name == "-C" and "@@cpp" in code) or re.search(
                r"(^|[\s\"'])" + letter, code)
        if kind == "conversion":
            return re.search(r"%[-+ #0'?@*\d.]*" + re.escape(name[1:]), code)
        if kind == "flag":
            return re.search(r"%[-+ #0'?@]*" + re.escape(" " if name == "%space" else name[1]), code)
        if kind in ("output", "tag", "drop"):
            return True
        if kind == "option" and self.kind != "unit":
            return (name == "cpp" and "@@cpp" in code) or re.search(
                r"(?:option|-\w*x|setopt\()\W*" + re.escape(name) + r"\b", code)
        return re.search(r"\b" + re.escape(name) + r"\b", code)


def check_line(kind, name, tests):
    if len(tests) == 1:
        if tests[0].reason is None:
            return ["one test alone: a positive and a negative one are needed"]
        return [tests[0].problem] if tests[0].problem else []
    out = []
    positive, negative = tests
    if positive.path == negative.path and not positive.reason and positive.kind != "unit":
        out.append("one test cannot be both")
    for test, is_negative in ((positive, False), (negative, True)):
        if test.problem:
            out.append(test.problem)
        if test.problem or test.reason:
            continue
        if not test.mentions(kind, name):
            out.append(f"{test.path} does not mention {name}")
        if is_negative and not test.refuses():
            out.append(f"{test.path} expects no failure")
        if not is_negative and test.kind not in ("tst", "unit"):
            out.append(f"{test.path} is no positive test")
        if is_negative and kind in ("tag", "drop") and test.kind != "unit" and f".{name}." not in test.path:
            out.append(f"{test.path} is not named after {name}")
    return out


def split_tests(text):
    """Two tests, or one; a comma inside a reason does not separate."""
    if text.startswith("n/a:"):
        m = re.match(r"(n/a:.*?), (\S+\.[dc](?::\w+)?)$", text)
        return [m.group(1), m.group(2)] if m else [text]
    return [part.strip() for part in text.split(",", 1)]


def read_list(path):
    lines, complaints = {}, []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.strip()
            if not line or line.startswith("# "):
                continue
            m = re.fullmatch(r"(\w+) (\S+): (.+)", line)
            if not m:
                complaints.append(f"{path}:{number}: not KIND NAME: TESTS")
            elif (m.group(1), m.group(2)) in lines:
                complaints.append(f"{path}:{number}: {m.group(1)} {m.group(2)} stands twice")
            else:
                lines[m.group(1), m.group(2)] = split_tests(m.group(3))
    return lines, complaints


def check(path):
    wanted = things()
    lines, complaints = read_list(path)
    missing = [thing for thing in wanted if thing not in lines]
    known = set(wanted)
    for (kind, name), paths in lines.items():
        if (kind, name) not in known:
            complaints.append(f"{kind} {name}: no table has it")
            continue
        complaints += [f"{kind} {name}: {text}" for text in check_line(kind, name, [Test(p) for p in paths])]
    return wanted, missing, complaints


def main(argv):
    if len(argv) != 2 or argv[1] not in ("--check", "--missing"):
        print("usage: coverage.py --check | --missing", file=sys.stderr)
        return 2
    wanted, missing, complaints = check(os.path.join(HERE, "coverage.list"))
    for kind in dict.fromkeys(kind for kind, _ in missing):
        print(f"not mapped: {kind}: " + " ".join(name for k, name in missing if k == kind))
    if argv[1] == "--check":
        for complaint in complaints:
            print(complaint)
        print(f"{len(wanted)} things, {len(missing)} not mapped, {len(complaints)} complaints")
    return 1 if missing or complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
