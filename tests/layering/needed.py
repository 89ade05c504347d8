#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail on a program or library that is linked with another one than those listed here.

What is loaded into a VMM has the C library and nothing else, so that it can't bring a library there that the VMM has in another
version. libnats, and what it needs, is in no process that does not ask for a broker: two programs know its name, by which they load
it then. Used as `needed.py --readelf READELF NAME=FILE...` and `needed.py --readelf READELF --cc CC --self-test`.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

BROKER = b"libnats.so"
C = {"libc", "ld-linux-x86-64"}
# What reads a guest's kernel, its types and descriptions of domains, and runs in a child without rights.
ENGINE = C | {"libexpat", "libcapstone", "libseccomp", "libdw", "libelf", "libz"}
# File → (what it may be linked with, does it know the broker's library by name)
RULES = {
    "vp_tcg": (C, False),
    "vp_hook": (C, False),
    "outsight-vmm": (C | {"libz", "liblzma", "libzstd", "liblz4"}, False),
    "liboutsight": (ENGINE, False),
    "outsight": (ENGINE | {"libncursesw", "libtinfo", "libsodium"}, True),
    "outsight-serve": (ENGINE | {"libsodium", "libmicrohttpd"}, True),
}
SANITIZERS = {"libasan", "libubsan", "libtsan", "libm", "libgcc_s"}  # the last two are theirs


def needed(readelf, path):
    out = subprocess.run([readelf, "-d", path], check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    return {re.sub(r"\.so\b.*", "", name) for name in re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]", out)}


def complaints(readelf, name, path):
    may, knows_broker = RULES[name]
    found = needed(readelf, path)
    if "libc" not in found:
        yield f"{name}: it is linked with {sorted(found)}, of which none is the C library: is it one of ours?"
    may = may | SANITIZERS if found & {"libasan", "libubsan", "libtsan"} else may
    for library in sorted(found - may):
        yield f"{name}: it is linked with {library}"
    with open(path, "rb") as f:
        names_it = BROKER in f.read()
    if names_it != knows_broker:
        yield f"{name}: it {'names' if names_it else 'does not name'} {BROKER.decode()}"


SELF_TEST = {
    "clean": ("vp_hook", "", [], []),
    "more": ("vp_hook", "", ["-lm"], ["linked with libm"]),
    "allowed": ("outsight-vmm", "", ["-lz"], []),
    "broker": ("vp_tcg", 'const char *const name = "libnats.so.3.4";', [], ["names libnats.so"]),
    "no broker": ("outsight-serve", "", [], ["does not name libnats.so"]),
    "no C library": ("vp_hook", "", ["-nostdlib"], ["of which none is the C library"]),
}


def self_test(readelf, cc):
    failures = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, (rule, text, words, expected) in SELF_TEST.items():
            source, out = os.path.join(tmp, "x.c"), os.path.join(tmp, "x.so")
            with open(source, "w", encoding="ascii") as f:
                f.write(text + "\nint x;\n")
            subprocess.run([cc, "-shared", "-fPIC", "-o", out, source, "-Wl,--no-as-needed", *words], check=True)
            got = list(complaints(readelf, rule, out))
            if len(got) != len(expected) or not all(e in g for e, g in zip(expected, got)):
                failures += 1
                print(f"self-test {name}: expected {expected}, got {got}")
    print(f"self-test: {len(SELF_TEST)} cases, {failures} failed")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("files", nargs="*", metavar="NAME=FILE")
    args = parser.parse_args()
    if args.self_test:
        sys.exit(self_test(args.readelf, args.cc) != 0)
    files = dict(f.split("=", 1) for f in args.files)
    if files.keys() != RULES.keys():
        sys.exit(f"needed.py: these are to be named: {' '.join(sorted(RULES))}")
    found = [text for name, path in files.items() for text in complaints(args.readelf, name, path)]
    print("\n".join(found + [f"{len(files)} files, {len(found)} complaints"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
