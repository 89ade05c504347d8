#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Is each reading of a guest under a budget, and does docs/limits.md say what each may cost?

The table is VP_READINGS of vmm-probe/guest/readings.h. It fails when

  a file reads guest memory and is not named in READERS, or is named there and reads none
  a budget is begun with anything but a record of the table, or a record of the table is used nowhere
  the table of docs/limits.md differs from it

Used as `readings.py ROOT` and `readings.py --self-test`; `readings.py --table ROOT` prints the document's rows.
"""
import os
import re
import sys
import tempfile

TABLE = "vmm-probe/guest/readings.h"
DOCUMENT = "docs/limits.md"
TOPS = ("vmm-probe", "consumer", "fleet", "lib", "cli")
# Functions that read guest memory, and those that put a budget into force.
READS = re.compile(r"\b(?:vp_guest_read|vp_guest_read_u(?:32|64)|vp_guest_try_read|vp_mmu_read|vp_phys_read|vp_kernel_find|"
                   r"vp_vmcoreinfo_find|vp_mmu_next_mapped|vp_mmu_translate)\s*\(")
BEGINS = re.compile(r"\b(?:vp_budget_begin|vp_guest_budget_begin|vp_budget_share|vp_budget_part|vp_guest_read_once)\s*\(")
RECORD = re.compile(r"&\s*vp_readings\[([^\]]*)\]")
NAME = re.compile(r"VP_READ_(\w+)")
ROW = re.compile(r'X\((\w+),\s*"([^"]*)",\s*(\d+),\s*(\d+),\s*(\d+),\s*(\d+),\s*"([^"]*)"\)')

# Who reads, and as which readings. Those of the first kind begin them; the others are called by one that has.
OPENING = "IMAGE SYMBOLS VMLINUX TYPES MODULES"
READERS = {
    "vmm-probe/guest/agent.c": "AGENT",
    "vmm-probe/guest/census.c": "CENSUS SOCKETS MOUNTS",
    "vmm-probe/guest/census_modules.c": "CENSUS",
    "vmm-probe/guest/census_mounts.c": "MOUNTS",
    "vmm-probe/guest/census_rb.c": "CENSUS MOUNTS",
    "vmm-probe/guest/census_sockets.c": "SOCKETS",
    "vmm-probe/guest/census_sockets_files.c": "SOCKETS",
    "vmm-probe/guest/census_sockets_tables.c": "SOCKETS",
    "vmm-probe/guest/census_tasks.c": "CENSUS",
    "vmm-probe/guest/contained.c": OPENING + " ARRIVALS STACKS",
    "vmm-probe/guest/facts.c": "CONSTANTS",
    "vmm-probe/guest/facts_percpu.c": "CONSTANTS",
    "vmm-probe/guest/guest.c": OPENING,
    "vmm-probe/guest/guest_types.c": "STACKS MODULE_TYPES",
    "vmm-probe/guest/kernel.c": "IMAGE RELEASE",
    "vmm-probe/guest/mmu.c": "",  # what all of them call
    "vmm-probe/guest/phys.c": "",
    "vmm-probe/guest/modules.c": "MODULES ARRIVALS AGENT",
    "vmm-probe/guest/modules_symbols.c": "MODULES ARRIVALS AGENT",
    "vmm-probe/guest/static_keys.c": "KEYS PLACES",
    "vmm-probe/guest/trace_systems.c": "TRACEPOINTS AGENT",
    "vmm-probe/guest/tracepoints.c": "TRACEPOINTS",
    "vmm-probe/guest/unlisted.c": "SYMBOLS VMLINUX",
    "vmm-probe/guest/vmcoreinfo.c": "IMAGE RELEASE SYMBOLS VMLINUX",
    "vmm-probe/guest/process/page_cache.c": "PROGRAMS FUNCTIONS",
    "vmm-probe/guest/process/processes.c": "MAPS PROGRAMS FUNCTIONS WATCH EXECS",
    "vmm-probe/hosts/release.c": "RELEASE",
    "vmm-probe/planner/places.c": "PLACES",
    "vmm-probe/provider/slab_caches.c": "LISTS",
    "vmm-probe/provider/vmstat.c": "LISTS",
    "vmm-probe/provider/text.c": "TEXT",
    # No budget: an engine in this process, whose loads are those of its verified programs.
    "vmm-probe/backend/none/none.c": "",
    "vmm-probe/backend/peek/memory.c": "",  # three words of each guess at the RAM, of which there are six
}


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def rows(root):
    """[(name, what, guest, memory, cpu, wall, without)] of the table."""
    return ROW.findall(read(root, TABLE))


def seconds(ms):
    return f"{int(ms) / 1000:g} s"


def document_rows(root):
    lines = []
    for _, what, guest, memory, cpu, wall, without in rows(root):
        size = f"{guest} MiB" if int(guest) else "a file"
        memory = f"{memory} MiB" if int(memory) else "none"
        lines.append(f"| {what} | {size} | {memory} | {seconds(cpu)} | {seconds(wall) if int(wall) else '″'} | {without} |")
    return lines


def sources(root):
    for top in TOPS:
        for directory, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith(".c"):
                    yield os.path.relpath(os.path.join(directory, name), root)


def argument(text, start):
    """The text of a call's arguments, from its opening parenthesis on."""
    depth, at = 1, start
    while at < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start:at - 1]


def begun(text):
    """Readings that calls in this text begin, and calls that name none."""
    names, bad = [], []
    for m in BEGINS.finditer(text):
        args = argument(text, m.end())
        if text[:m.start()].rsplit("\n", 1)[-1].lstrip() == text[:m.start()].rsplit("\n", 1)[-1] and "struct vp_" in args:
            continue  # its definition
        records = RECORD.findall(args)
        names += [name for record in records for name in NAME.findall(record)]
        if not records or not NAME.findall(records[0]):
            bad.append(m.group().rstrip("( ") + "(" + " ".join(args.split()) + ")")
    return names, bad


def check_tree(root, readers):
    table = [row[0] for row in rows(root)]
    bad, used = [], set()
    if not table:
        return [f"{TABLE}: no readings"]
    for path in sources(root):
        text = read(root, path)
        reads, own = READS.search(text), path.startswith("vmm-probe/guest/budget.c")
        names, wrong = ([], []) if own else begun(text)
        # vp_guest_budget_begin() and vp_guest_read_once(); vp_census_walk()
        passes_on = path in ("vmm-probe/guest/guest.c", "vmm-probe/guest/census.c")
        bad += [f"{path}: {call}: not a record of {TABLE}" for call in wrong
                if not (passes_on and re.search(r"\b(?:first|reading)\b", call))]
        used.update(names, NAME.findall(" ".join(RECORD.findall(text))))
        if reads and path not in readers:
            bad.append(f"{path}: reads guest memory ({reads.group().rstrip('( ')}): name its reading in readings.py, "
                       "or use vp_guest_read_once()")
        if path in readers and not reads:
            bad.append(f"{path}: reads no guest memory any more: take it out of readings.py")
        bad += [f"readings.py: {path}: {name} is not in {TABLE}" for name in readers.get(path, "").split() if name not in table]
    bad += [f"{TABLE}: nothing is read as {name}" for name in table if name not in used]
    have = [line for line in read(root, DOCUMENT).split("\n") if line.count(" | ") == 5]
    want = document_rows(root)
    bad += [f"{DOCUMENT}: lacks {line}" for line in want if line not in have]
    first = next((i for i, line in enumerate(have) if line in want), 0)
    if not [line for line in want if line not in have] and have[first:first + len(want)] != want:
        bad.append(f"{DOCUMENT}: its rows are not those of {TABLE}, in order")
    return bad


HEADER = '#define VP_READINGS(X) \\\n\tX(TYPES, "the types", 16, 40, 750, 0, "none") \\\n\tX(TEXT, "text", 1, 0, 100, 5000, "none")\n'
READER = "a() { vp_guest_budget_begin(g, &b, &vp_readings[w ? VP_READ_TYPES : VP_READ_TEXT]); vp_guest_read(g); }\n"


def self_test():
    cases = [  # (reader, document's change, a part of the complaint)
        (READER, None, ""),
        (READER.replace("vp_readings[w ? VP_READ_TYPES : VP_READ_TEXT]", "own"), None, "not a record"),
        (READER.replace("w ? VP_READ_TYPES : ", ""), None, "nothing is read as TYPES"),
        (READER.replace("vp_guest_read(g);", ""), None, "reads no guest memory"),
        (READER, ("40 MiB", "41 MiB"), "lacks"),
    ]
    failures = 0
    for reader, change, complaint in cases:
        with tempfile.TemporaryDirectory() as root:
            for folder in ("vmm-probe/guest", "docs", "cli"):
                os.makedirs(os.path.join(root, folder))
            for path, text in ((TABLE, HEADER), ("vmm-probe/guest/r.c", reader), (DOCUMENT, "")):
                with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                    f.write(text)
            table = "\n".join(document_rows(root))
            with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as f:
                f.write(table.replace(*change) if change else table)
            bad = check_tree(root, {"vmm-probe/guest/r.c": "TYPES TEXT"})
            unnamed = check_tree(root, {})
            if (bool(bad) != bool(complaint)) or not any(complaint in line for line in bad or [""]):
                print(f"misjudged: {reader!r} {change}: {bad}")
                failures += 1
            if "vp_guest_read(" in reader and not any("name its reading" in line for line in unnamed):
                print(f"an unnamed reader passed: {unnamed}")
                failures += 1
    print(f"self-test: {len(cases)} trees, {failures} misjudged")
    return not failures


def main(argv):
    if argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    if len(argv) == 3 and argv[1] == "--table":
        print("\n".join(document_rows(argv[2])))
        return 0
    if len(argv) != 2 or not os.path.isdir(argv[1]):
        print("usage: readings.py ROOT | readings.py --table ROOT | readings.py --self-test", file=sys.stderr)
        return 2
    bad = check_tree(argv[1], READERS)
    for line in bad:
        print(line)
    print(f"{len(rows(argv[1]))} readings, {len(READERS)} files that read, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
