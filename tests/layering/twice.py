#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail on a class or function that a Python file of ours defines twice: the second one hides the first, and tests in that never
run. Used as `twice.py ROOT | --self-test`.
"""
import ast
import glob
import os
import sys

FOLDERS = ("tests", "scripts", "bench", "lib", "share")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def is_setter(node):
    """One of a property's: of its name on purpose."""
    return any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in node.decorator_list)


def twice(body, where=""):
    """(name, line) of what is defined again in the same block."""
    seen = set()
    for node in body:
        if not isinstance(node, DEFINITIONS):
            continue
        if node.name in seen and not is_setter(node):
            yield where + node.name, node.lineno
        seen.add(node.name)
        if isinstance(node, ast.ClassDef):
            yield from twice(node.body, f"{where}{node.name}.")


def complaints(root):
    files = [path for folder in FOLDERS for path in glob.glob(os.path.join(root, folder, "**", "*.py"), recursive=True)]
    for path in sorted(files):
        with open(path, encoding="utf-8") as f:
            tree = ast.parse(f.read(), path)
        for name, line in twice(tree.body):
            yield f"{os.path.relpath(path, root)}:{line}: {name} is defined above already"
    if not files:
        yield "no file was found: has tests moved?"


SELF_TEST = {
    "class A: pass\ndef a(): pass\nif a:\n    b = 1\n": [],
    "class A:\n    def t(self): pass\nclass B:\n    def t(self): pass\n": [],
    "class A:\n    @property\n    def t(self): pass\n    @t.setter\n    def t(self, v): pass\n": [],
    "class A: pass\nclass B: pass\nclass A: pass\n": [("A", 3)],
    "class A:\n    def t(self): pass\n    def t(self): pass\n": [("A.t", 3)],
}


def self_test():
    wrong = [text for text, expected in SELF_TEST.items() if list(twice(ast.parse(text).body)) != expected]
    print("\n".join([*wrong, f"self-test: {len(SELF_TEST)} cases, {len(wrong)} failed"]))
    return len(wrong)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        sys.exit(self_test() != 0)
    found = list(complaints(sys.argv[1]))
    print("\n".join([*found, f"{len(found)} complaints"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
