#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail on an #include that goes against the layers.

MAY_USE is the whole rule: a file in a folder may include files of its own folder (and below it) and of
the folders (or single headers) listed. The longest matching folder name counts. Used as `check.py ROOT` and `check.py --self-test`.
"""
import os
import re
import sys
import tempfile

DIF = ["base", "dif/obj"]
# The compiler's passes, each of which uses those before it; check and gen do not know of each other.
LANG_TYPES = DIF + ["dif/lang/core"]
LANG_SYNTAX = LANG_TYPES + ["dif/lang/types"]
LANG_PASS = LANG_SYNTAX + ["dif/lang/syntax"]
# What users of the compiler see of it.
LANG = ["dif/lang/compile.h", "dif/lang/core/options.h", "dif/lang/core/stability.h", "dif/lang/types/types.h",
        "dif/lang/types/provider.h"]
# What a backend, or whoever talks to an engine, sees of it.
ENGINE = ["vmm-probe/arch", "vmm-probe/engine/engine.h", "vmm-probe/engine/backend.h", "vmm-probe/engine/room.h", "vmm-probe/engine/wire"]
# What code in QEMU's own process knows of it.
INSIDE = ["vmm-probe/machines/qemu_ask.h", "vmm-probe/machines/qemu_gap.h", "vmm-probe/machines/qemu_machine.h",
          "vmm-probe/machines/qemu_view.h", "vmm-probe/machines/ram_ranges.h"]
PROBE = ENGINE + ["vmm-probe/engine/service/session.h", "vmm-probe/guest", "vmm-probe/provider", "vmm-probe/backend",
         "vmm-probe/planner", "vmm-probe/inject", "vmm-probe/hook/control.h", "vmm-probe/machines"]
MAY_USE = {
    "base": [],
    "dif/obj": ["base"],
    "dif/vm": DIF,
    "dif/lang/core": DIF,
    "dif/lang/types": LANG_TYPES,
    "dif/lang/syntax": LANG_SYNTAX,
    "dif/lang/check": LANG_PASS,
    "dif/lang/gen": LANG_PASS,
    "dif/lang/actions": LANG_PASS + ["dif/lang/check", "dif/lang/gen"],
    "dif/lang": DIF,
    "vmm-probe/arch": ["base"],
    # What instructions compute: for the operator's process only.
    "vmm-probe/arch/x86/code": ["base", "vmm-probe/arch", "vmm-probe/symbolic"],
    # The engine's rooms: a hit sees messages and nothing of the service thread's.
    "vmm-probe/engine/wire": ["base", "vmm-probe/arch"],
    "vmm-probe/engine": ["base", "vmm-probe/arch", "vmm-probe/engine/engine.h", "vmm-probe/engine/wire"],
    "vmm-probe/engine/hit": DIF + ["dif/vm"] + ENGINE,
    "vmm-probe/engine/service": DIF + ["dif/vm", "vmm-probe/engine/hit", "vmm-probe/trampoline"] + ENGINE,
    # A child without rights knows nothing of what is read in it; nor does its reader, of guests.
    "vmm-probe/confined": ["base"],
    "vmm-probe/dwarf": ["base", "vmm-probe/confined"],
    # The plain structures that carry facts about the guest to an engine.
    "vmm-probe/guest": DIF + ["vmm-probe/confined", "vmm-probe/dwarf", "dif/lang/types/types.h", "vmm-probe/arch", "vmm-probe/engine/wire/facts.h",
                              "vmm-probe/engine/wire/kernel_trees.h", "vmm-probe/engine/wire/orc_table.h", "vmm-probe/engine/wire/user_frames.h"],
    "vmm-probe/planner": DIF + ["vmm-probe/arch", "vmm-probe/engine/wire", "vmm-probe/guest"],
    "vmm-probe/symbolic": DIF + ["vmm-probe/arch"],
    # Code for guests is compiled where the engine is: it trusts no client's.
    "vmm-probe/trampoline": DIF + ["vmm-probe/arch", "vmm-probe/engine/wire"],
    "vmm-probe/provider": DIF + LANG + ENGINE + ["vmm-probe/dwarf/copies.h", "vmm-probe/guest", "vmm-probe/planner", "vmm-probe/symbolic"],
    # Code that is injected into a VMM may use the engine and nothing of the operator's process.
    "vmm-probe/backend/tcg": DIF + ENGINE + INSIDE,
    "vmm-probe/backend/kvm": DIF + ENGINE,
    "vmm-probe/backend/gdb": ["base"] + ENGINE + ["vmm-probe/backend/source.h", "vmm-probe/guest/phys.h", "vmm-probe/guest/addr.h"],
    # The same around another VMM's vCPUs.
    "vmm-probe/hook": ["base"] + ENGINE + ["vmm-probe/backend/kvm"] + INSIDE,
    "vmm-probe/inject": ["base", "vmm-probe/engine/wire/protocol.h", "vmm-probe/engine/wire/socket_path.h", "vmm-probe/hook/control.h",
                         "vmm-probe/machines/qemu_machine.h"],
    "vmm-probe/machines": ["base", "vmm-probe/engine/wire/facts.h", "vmm-probe/engine/wire/socket_path.h",
                           "vmm-probe/engine/wire/vmm.h"],
    # The monitor knows nothing of tracing; the program around it brings the two together.
    "vmm-probe/monitor": ["base"],
    "vmm-probe/monitor/main.c": ["base", "vmm-probe/monitor", "vmm-probe/backend/kvm"] + ENGINE,
    "vmm-probe/backend": DIF + ENGINE + ["vmm-probe/guest"],
    "vmm-probe/backend/peek": DIF + ENGINE + ["vmm-probe/guest", "vmm-probe/backend/kvm/state.h",
                                              "vmm-probe/backend/source.h", "vmm-probe/machines/qemu_machine.h"],
    # The operator's process.
    "vmm-probe/client": ["base", "vmm-probe/arch", "vmm-probe/engine/wire", "vmm-probe/engine/engine.h", "vmm-probe/guest/phys.h",
                         "vmm-probe/machines/process.h"],
    "vmm-probe/hosts": ["base", "vmm-probe/arch", "vmm-probe/client", "vmm-probe/engine/wire", "vmm-probe/guest", "vmm-probe/hook/control.h",
                        "vmm-probe/inject", "vmm-probe/machines"],
    "vmm-probe/launch": ["base", "vmm-probe/backend/kvm/host.h", "vmm-probe/client", "vmm-probe/engine/wire",
                         "vmm-probe/hosts", "vmm-probe/machines"],
    "vmm-probe/attach": DIF + LANG + ["vmm-probe/backend/source.h", "vmm-probe/backend/kvm/host.h", "vmm-probe/backend/kvm/perf.h",
                                       "vmm-probe/backend/peek/peek.h",
                                      "vmm-probe/client", "vmm-probe/engine/wire", "vmm-probe/guest", "vmm-probe/hosts",
                                      "vmm-probe/inject", "vmm-probe/planner", "vmm-probe/provider"],
    "vmm-probe/session": DIF + ["dif/vm"] + LANG + PROBE + ["vmm-probe/attach", "vmm-probe/client", "vmm-probe/hosts"],
    # What becomes of a session's data. An output writes what it is given: it knows neither the session's course nor who reads.
    "consumer/output": DIF + ["dif/vm", "dif/lang/core/options.h", "vmm-probe/session/session.h", "vmm-probe/guest/census.h",
                              "consumer/aggregate.h", "consumer/agg_view.h", "consumer/comparison.h", "consumer/hidden.h",
                              "consumer/window.h", "consumer/messages.h", "consumer/terminal.h"],
    "consumer": DIF + LANG + ["dif/vm", "vmm-probe/session", "vmm-probe/attach", "vmm-probe/client", "vmm-probe/hosts"] + PROBE,
    # One program over many hosts. A link's messages are bytes to it; host and operator are the two ends of one.
    "fleet/wire": ["base"],
    # Who is who, for both ends: keys and signatures. Patterns of names are D's.
    "fleet/trust": ["base", "dif/obj/program.h", "fleet/wire"],
    "fleet/link": ["base", "fleet/wire"],
    "fleet/host": DIF + LANG + ["consumer", "fleet/link", "fleet/wire", "vmm-probe/attach", "vmm-probe/session", "vmm-probe/hosts"] + PROBE,
    "fleet/operator": DIF + LANG + ["consumer", "fleet/link", "fleet/trust", "fleet/wire", "vmm-probe/session"] + PROBE,
    "fleet/merge": DIF + LANG + ["consumer", "fleet/host", "fleet/link", "fleet/operator", "fleet/trust", "fleet/wire", "vmm-probe/session"] + PROBE,
    "fleet/serve": ["base", "dif/obj/program.h", "fleet/host", "fleet/link", "fleet/merge", "fleet/trust", "fleet/wire", "vmm-probe/hosts"],
    # It runs programs by outsight's command line, and knows nothing of sessions.
    "fleet/serve/standing": ["base", "fleet/trust", "fleet/serve/conf.h", "fleet/serve/conf_value.h"],
    # DTrace's functions over the consumer, which includes its own public headers as its users do.
    "lib": DIF + LANG + ["consumer", "vmm-probe/session", "vmm-probe/attach"],
    # The live view asks guests by the program's command line, not by sessions of its own.
    "cli/top": ["base", "dif/obj", "vmm-probe/backend/kvm/state.h", "vmm-probe/engine/wire", "vmm-probe/machines/qemu.h",
                "cli/options.h", "cli/signals.h", "consumer/messages.h", "consumer/output/fold.h", "consumer/terminal.h"],
    "cli": DIF + LANG + ["dif/vm", "consumer", "fleet/operator", "vmm-probe/session", "vmm-probe/attach", "vmm-probe/client", "vmm-probe/hosts",
                  "vmm-probe/launch"] + PROBE,
    "guest-agent": [],
}
# One header of the guest's module is the ABI that the engine shares with it.
ABI_HEADER = "guest-agent/agent_abi.h"
ABI_USERS = ("vmm-probe/",)
# Built by kbuild, which knows nothing of our root: it includes its own headers by their bare names.
KBUILD_FOLDER = "guest-agent/"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
# A system-style include of a file of ours would hide from the pattern above.
ANGLED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*<((?:base|dif|vmm-probe|consumer|fleet|lib|cli|guest-agent)/[^>]+)>', re.M)


def folder_of(path):
    """The longest folder (or single file) of MAY_USE that holds path, or None."""
    best = None
    for folder in MAY_USE:
        if (path == folder or path.startswith(folder + "/")) and (best is None or len(folder) > len(best)):
            best = folder
    return best


def check_include(path, target):
    """None if path may include target, else the reason."""
    user, used = folder_of(path), folder_of(target)
    if used is None:
        return f'"{target}" is not a root-relative include of a known folder'
    if used == user or target.startswith(user + "/"):
        return None
    if target == ABI_HEADER and path.startswith(ABI_USERS):
        return None
    if any(target == allowed or target.startswith(allowed + "/") for allowed in MAY_USE[user]):
        return None
    return f'"{target}": {user} may not use {used}'


def check_file(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        text = f.read()
    for pattern in (INCLUDE, ANGLED):
        for m in pattern.finditer(text):
            target = m.group(1)
            if path.startswith(KBUILD_FOLDER) and "/" not in target:
                target = KBUILD_FOLDER + target
            line = text.count("\n", 0, m.start()) + 1
            reason = check_include(path, target)
            if reason is None and pattern is INCLUDE and not os.path.exists(os.path.join(root, target)):
                reason = f'"{target}" does not exist'
            if reason:
                yield f"{path}:{line}: {reason}"


def check_tree(root):
    """(number of files seen, list of complaints)"""
    seen, bad = 0, []
    for top in sorted({folder.split("/")[0] for folder in MAY_USE}):
        for directory, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(directory, name), root)
                if not name.endswith((".c", ".h", ".S", ".inc")):
                    continue
                seen += 1
                if folder_of(path) is None:
                    bad.append(f"{path}: in no folder of the layering table")
                else:
                    bad.extend(check_file(root, path))
    return seen, bad


def self_test():
    """A tree with one right include and every kind of wrong one: each wrong one must be found."""
    good = [("dif/obj/a.c", "base/err.h"), ("dif/obj/a.c", "dif/obj/a.h"), ("cli/main.c", "vmm-probe/session/s.h"),
            ("vmm-probe/backend/tcg/t.c", "vmm-probe/engine/engine.h"), ("vmm-probe/guest/g.c", "dif/lang/types/types.h"),
            ("dif/lang/actions/a.c", "dif/lang/check/cook.h"), ("dif/lang/compile.c", "dif/lang/actions/a.h"),
            ("vmm-probe/engine/service/agent.c", ABI_HEADER), ("vmm-probe/engine/service/s.c", "vmm-probe/engine/hit/h.h"),
            ("vmm-probe/engine/hit/h.c", "vmm-probe/engine/wire/w.h"), ("vmm-probe/guest/g.c", "vmm-probe/arch/regs.h")]
    wrong = [("base/err.c", "dif/obj/a.h"), ("dif/obj/a.c", "dif/lang/types/types.h"), ("dif/vm/v.c", "dif/lang/types/types.h"),
             ("dif/lang/syntax/p.c", "dif/lang/check/cook.h"), ("dif/lang/gen/g.c", "dif/lang/check/cook.h"),
             ("dif/lang/core/c.c", "dif/lang/compile.h"), ("cli/main.c", "dif/lang/syntax/ast.h"),
             ("dif/lang/l.c", "dif/vm/v.h"), ("dif/lang/l.c", "vmm-probe/engine/engine.h"),
             ("vmm-probe/engine/service/s.c", "vmm-probe/guest/g.h"), ("vmm-probe/engine/hit/h.c", "dif/lang/types/types.h"),
             ("vmm-probe/engine/hit/h.c", "vmm-probe/engine/service/s.h"), ("vmm-probe/engine/wire/w.c", "vmm-probe/engine/hit/h.h"),
             ("vmm-probe/backend/kvm/k.c", "vmm-probe/engine/hit/h.h"), ("vmm-probe/engine/wire/w.c", "vmm-probe/engine/engine.h"),
             ("vmm-probe/guest/g.c", "vmm-probe/engine/engine.h"), ("vmm-probe/guest/g.c", "dif/vm/v.h"),
             ("vmm-probe/backend/tcg/t.c", "vmm-probe/guest/g.h"), ("vmm-probe/session/s.c", "cli/cli.h"),
             ("guest-agent/m.c", "base/err.h"), ("cli/main.c", "err.h"), ("consumer/output/o.c", "consumer/consumer.h"),
             ("consumer/c.c", "cli/c.h"), ("cli/main.c", ABI_HEADER),
             ("fleet/wire/w.c", "fleet/link/l.h"), ("fleet/link/l.c", "consumer/c.h"), ("fleet/operator/o.c", "fleet/host/h.h"),
             ("fleet/operator/o.c", "fleet/merge/m.h"), ("fleet/host/h.c", "fleet/merge/m.h"),
             ("cli/main.c", "fleet/host/h.h")]
    failures = []
    with tempfile.TemporaryDirectory() as root:
        for _, target in good + wrong:
            os.makedirs(os.path.dirname(os.path.join(root, target)) or root, exist_ok=True)
            open(os.path.join(root, target), "w", encoding="utf-8").close()
        for path, target in good + wrong:
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(f'#include <stdio.h>\n#include "{target}"\n')
            _, bad = check_tree(root)
            if bool(bad) != ((path, target) in wrong):
                failures.append(f"{path} including {target}: found {bad}")
            elif bad and not bad[0].startswith(f"{path}:2: "):
                failures.append(f"{path} including {target}: wrong place {bad}")
            os.remove(full)
    for failure in failures:
        print(failure)
    print(f"self-test: {len(good)} right and {len(wrong)} wrong includes, {len(failures)} misjudged")
    return not failures


def main(argv):
    if argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    if len(argv) != 2 or not os.path.isdir(argv[1]):
        print("usage: check.py ROOT | check.py --self-test", file=sys.stderr)
        return 2
    seen, bad = check_tree(argv[1])
    for line in bad:
        print(line)
    print(f"{seen} files, {len(bad)} includes against the layering")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
