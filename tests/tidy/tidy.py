#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""clang-tidy on every source of ours: tidy.py BUILD_FOLDER CACHE_FOLDER [FILE…]

A file that was clean is not checked again until it, a header of ours, .clang-tidy or clang-tidy changes.
"""
import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("base", "dif", "vmm-probe", "consumer", "fleet", "lib", "cli")


def files_in(folders, suffix):
    for folder in folders:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            yield from (os.path.join(path, name) for name in sorted(names) if name.endswith(suffix))


def digest(paths, start=b""):
    h = hashlib.sha256(start)
    for path in paths:
        with open(path, "rb") as f:
            h.update(path.encode() + b"\0" + f.read())
    return h.hexdigest()


def check(path, build, mark):
    if os.path.exists(mark):
        return path, ""
    # GCC's own optimisation options mean nothing to clang, which reads them in compile_commands.json
    done = subprocess.run(["clang-tidy", "--quiet", "--extra-arg=-Wno-ignored-optimization-argument", "-p", build, path],
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        with open(mark, "w", encoding="utf-8"):
            pass
        return path, ""
    return path, done.stdout or done.stderr


def main(argv):
    if len(argv) < 3:
        print("usage: tidy.py BUILD_FOLDER CACHE_FOLDER [FILE…]", file=sys.stderr)
        return 2
    if not shutil.which("clang-tidy"):
        print("SKIP tidy: there is no clang-tidy")
        return 77
    build, cache = argv[1], os.path.join(argv[2], "tidy")
    os.makedirs(cache, exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=False).stdout
    common = digest([os.path.join(ROOT, ".clang-tidy"), *sorted(files_in(FOLDERS, ".h"))], version).encode()
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        compiled = f.read()
    paths = [os.path.abspath(p) for p in argv[3:]] or [p for p in files_in(FOLDERS, ".c") if p in compiled]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check, p, build, os.path.join(cache, digest([p], common))) for p in paths]
        for job in concurrent.futures.as_completed(jobs):
            path, complaint = job.result()
            failed += bool(complaint)
            print(f"{'FAIL' if complaint else 'ok  '} {os.path.relpath(path, ROOT)}")
            if complaint:
                print("  " + complaint.rstrip().replace("\n", "\n  "), flush=True)
    print(f"{len(paths)} files, {failed} with complaints")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
