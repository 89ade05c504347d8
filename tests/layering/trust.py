#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ARCHITECTURE.md's table "Who may claim what" names functions, files and tests: each is there. trust.py ROOT | --self-test

A function is NAME(); a file has a '/' and ends in .c or .h; a test is a unit test NAME_test with ": CASE, CASE" behind it, a fuzzer
fuzz_NAME, or a ctest PART.NAME, of tests/hostile with ": Class" behind it."""
import os
import re
import sys

HEAD, END = "### Who may claim what", "\n## "
FOLDERS = ("base", "dif", "vmm-probe", "consumer", "fleet", "lib", "cli")


def rows(text):
    """The cells of each row."""
    table = text[text.index(HEAD):]
    table = table[:table.index(END)]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def sources(root):
    found = {}
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(where, name)
                    with open(path, encoding="utf-8") as f:
                        found[os.path.relpath(path, root)] = f.read()
    return found


def read(*parts):
    path = os.path.join(*parts)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as f:
        return f.read()


def missing_checks(cell, code):
    for name in re.findall(r"\b([a-z]\w+)\(\)", cell):
        # a search for the word alone is a hundred times faster, and most files do not have it
        if not any(f"{name}(" in text and re.search(rf"(?m)^\w[^;=]*\b{name}\([^;]*$", text) for text in code.values()):
            yield f"there is no function {name}()"
    for path in re.findall(r"[\w-]+/[\w/-]+\.[ch]\b", cell):
        if path not in code and f"vmm-probe/{path}" not in code:
            yield f"there is no file {path}"


def missing_tests(cell, root):
    for name, cases in re.findall(r"\b(\w+_test)\b(?:: ([\w, ]+))?", cell):
        text = read(root, "tests/unit", f"{name}.c")
        if not text:
            yield f"there is no unit test {name}"
        for case in re.findall(r"\w+", cases) if text else ():
            if not re.search(rf"\b{case}\b", text) and not os.path.exists(os.path.join(root, "tests/unit", f"{case}.c")):
                yield f"{name} has no {case}"
    for name in re.findall(r"\b(fuzz_\w+)", cell):
        if not read(root, "tests/fuzz", f"{name}.c"):
            yield f"there is no fuzzer {name}"
    for script, case in re.findall(r"\bhostile\.(\w+)(?:: (\w+))?", cell):
        text = read(root, "tests/hostile", f"{script}_test.py")
        if not text or (case and f"class {case}(" not in text):
            yield f"there is no hostile.{script} {case}"


def check(root, text):
    """What is wrong, line by line."""
    code = sources(root)
    table = rows(text)
    if len(table) < 10:
        yield "the table is not there"
    for row in table:
        yield from missing_checks(row[2], code)
        yield from missing_tests(row[3], root)


def self_test(root):
    wrong = (("no_such_function() here", ""), ("cli/nothing.c", ""), ("", "nothing_test"), ("", "engine_server_test: no_such_case"),
             ("", "fuzz_nothing"), ("", "hostile.nothing"), ("", "hostile.engines: Nothing"))
    lines = [f"| party | claim | {check_} | {test} |" for check_, test in wrong]
    good = "| party | claim | peer_allowed() (engine/service/connection.c) | engine_server_test: whole_session; hostile.engines: Trust |"
    text = "\n".join([HEAD, "| a | b | c | d |", "|---|---|---|---|", *[good] * 10, *lines, END])
    found = list(check(root, text))
    if len(found) != len(wrong):
        print("\n".join(found))
        return f"{len(found)} of {len(wrong)} found"
    return None


def main():
    if sys.argv[1] == "--self-test":
        return self_test(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    found = list(check(sys.argv[1], read(sys.argv[1], "ARCHITECTURE.md")))
    return "\n".join(found) or None


if __name__ == "__main__":
    sys.exit(main())
