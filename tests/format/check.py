#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail on C files that differ from what clang-format 14 makes of them. Other versions format other things differently, so without that
one this is skipped (exit status 77).

  check.py ROOT         list the files that differ
  check.py --fix ROOT   format them
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

FOLDERS = ("base", "bench", "cli", "consumer", "dif", "fleet", "guest-agent", "lib", "tests", "vmm-probe")
VERSION = 14
SKIPPED = 77
BATCH = 40  # files a run of clang-format


def find_tool():
    """The path of clang-format 14, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if not path:
            continue
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
        if re.search(rf"version {VERSION}\.", said):
            return path
    return None


def sources(root):
    for folder in FOLDERS:
        for directory, folders, names in os.walk(os.path.join(root, folder)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.join(directory, name)


def differing(tool, paths):
    """Those of paths that clang-format would change."""
    run = subprocess.run([tool, "--dry-run", "--ferror-limit=1"] + paths, capture_output=True, text=True, check=True)
    found = set(re.findall(r"^(.+?):\d+:\d+: warning: code should be clang-formatted", run.stderr, re.M))
    return [p for p in paths if p in found]


def main(argv):
    fix = argv[1:2] == ["--fix"]
    args = argv[2:] if fix else argv[1:]
    if len(args) != 1 or not os.path.isfile(os.path.join(args[0], ".clang-format")):
        print(__doc__, file=sys.stderr)
        return 2
    tool = find_tool()
    if not tool:
        print(f"SKIP: no clang-format {VERSION}")
        return SKIPPED
    paths = list(sources(args[0]))
    batches = [paths[i : i + BATCH] for i in range(0, len(paths), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [p for found in pool.map(lambda b: differing(tool, b), batches) for p in found]
    for path in bad:
        print(os.path.relpath(path, args[0]))
    if fix and bad:
        subprocess.run([tool, "-i"] + bad, check=True)
        return 0
    print(f"{len(paths)} files, {len(bad)} differ" + (": tests/format/check.py --fix . formats them" if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
