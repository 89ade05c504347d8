#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail on an object of the hit path that refers to a function which may lock, allocate, format or make a system call.

The objects are linked with nothing but each other and MAY_CALL: nm(1) lists what each refers to and does not define.
What a backend supplies is called through pointers, which no object names; so backends' functions are not checked.
Used as `hit_symbols.py --nm NM OBJECT...` and `hit_symbols.py --nm NM --cc CC --self-test`.
"""
import argparse
import os
import subprocess
import sys
import tempfile

# Of libc: plain loops over memory, and the clock, which the vDSO reads.
LIBC = {"memcpy", "memmove", "memset", "memcmp", "memchr", "memrchr", "strlen", "strnlen", "strchr", "clock_gettime"}
# What compilers put in by themselves: division of 128 bits, position-independent code, hardening.
COMPILER = {"__udivti3", "__umodti3", "__divti3", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail", "__chk_fail"}
# Accesses to memory that may be gone (base/guarded.c): loads and stores.
GUARDED = {"ot_guarded_read", "ot_guarded_write", "ot_guarded_exchange"}
MAY_CALL = LIBC | COMPILER | GUARDED | {f"__{name}_chk" for name in LIBC}
SANITIZERS = ("__asan_", "__ubsan_", "__tsan_", "__sanitizer_", "__sancov_")


def symbols(nm, path):
    """(defined and visible to others, undefined) names of an object."""
    out = subprocess.run([nm, "-P", "-g", path], check=True, capture_output=True, text=True).stdout
    defined, undefined = set(), set()
    for line in out.splitlines():
        name, kind = line.split()[:2]
        (undefined if kind in "Uwv" else defined).add(name)
    return defined, undefined


def complaints(nm, paths):
    found = {path: symbols(nm, path) for path in paths}
    own = set().union(*(defined for defined, _ in found.values()))
    for path, (_, undefined) in sorted(found.items()):
        for name in sorted(undefined - own - MAY_CALL):
            if not name.startswith(SANITIZERS):
                yield f"{os.path.basename(path)}: {name}"


SELF_TEST = {
    "clean": ("#include <string.h>\nint other(void);\nint f(char *p){ memset(p, 0, 9); return other(); }\n"
              "int other(void){ return 1; }", []),
    "allocates": ("#include <stdlib.h>\nvoid *f(void){ return malloc(9); }", ["malloc"]),
    "locks": ("#include <pthread.h>\nint f(pthread_mutex_t *m){ return pthread_mutex_lock(m); }", ["pthread_mutex_lock"]),
    "calls": ("#include <unistd.h>\nlong f(void){ return write(1, \"\", 1); }", ["write"]),
    "points": ("#include <stdlib.h>\nvoid (*const f)(void *) = free;", ["free"]),
}


def self_test(nm, cc):
    failures = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, (text, expected) in SELF_TEST.items():
            source, obj = os.path.join(tmp, f"{name}.c"), os.path.join(tmp, f"{name}.o")
            with open(source, "w", encoding="utf-8") as f:
                f.write(text)
            subprocess.run([cc, "-O0", "-c", source, "-o", obj], check=True)
            seen = list(complaints(nm, [obj]))
            if seen != [f"{name}.o: {symbol}" for symbol in expected]:
                print(f"{name}: found {seen}")
                failures += 1
    print(f"self-test: {len(SELF_TEST)} objects, {failures} misjudged")
    return not failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("objects", nargs="*")
    args = parser.parse_args()
    if args.self_test:
        return 0 if self_test(args.nm, args.cc) else 1
    bad = list(complaints(args.nm, args.objects))
    for line in bad:
        print(line)
    print(f"{len(args.objects)} objects of the hit path, {len(bad)} references that they may not have")
    return 1 if bad or not args.objects else 0


if __name__ == "__main__":
    sys.exit(main())
