#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail on a constant or header of x86 outside the architecture's room, vmm-probe/arch.

ELSEWHERE names the files that keep some, each with its reason (ARCHITECTURE.md, "What is x86"); one that needs its
line no longer fails too. Comments do not count. Used as `arch.py ROOT` and `arch.py --self-test`.
"""
import os
import re
import sys
import tempfile

TOPS = ("base", "dif", "consumer", "fleet", "lib", "cli", "vmm-probe")
ROOM = "vmm-probe/arch/"
KVM = "KVM's own structures, registers and exits; its traps"
ELSEWHERE = {
    "vmm-probe/backend/kvm/": KVM,
    "vmm-probe/backend/peek/sampler.c": KVM,
    "vmm-probe/backend/peek/memory.c": KVM,
    "vmm-probe/monitor/": "a PC: its boot protocol and CPU set-up are x86's throughout",
    "vmm-probe/backend/dump/": "the layouts in which QEMU writes the registers of this machine",
    "vmm-probe/backend/none/none.c": "this process's own registers, as signal.h has them",
    "vmm-probe/backend/gdb/hit.c": "executes the covered instruction on the stub's registers",
    "vmm-probe/provider/sentinels.c": "the fentry nop and call, by their encodings",
}
PATTERNS = {
    "headers": r'#[ \t]*include[ \t]*"vmm-probe/arch/x86/',
    "page tables": r"0x0*f{10}000u?l*\b|\b(?:PTE|CR0|CR4|EFER)_[A-Z0-9]+\b|\bcr3\b",
    "registers": r"\bVP_(?:R[A-D]X|R[SD]I|R[SBI]P|R8|R9|R1[0-5]|RFLAGS|[CS]S|(?:K_)?[FG]S_BASE|CR[0-9]|EFER|IDT_BASE)\b",
    "opcodes": r"\b0x(?:cc|c3|e8|e9)u?\b",
    "Linux on x86": r"__x64_|__ia32_|\borig_ax\b|\bcpuinfo_x86\b|\bdo_syscall_64\b|\bEM_X86_64\b|0xffffffff[8c]0000000|i386:x86-64",
}
ANY = re.compile("|".join(f"(?:{pattern})" for pattern in PATTERNS.values()))
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', re.S)


def without_comments(text):
    """The text with comments blank, lines kept."""
    return COMMENT.sub(lambda m: m.group() if m.group()[0] == '"' else re.sub(r"[^\n]", " ", m.group()), text)


def hits(text):
    if not ANY.search(text):  # most files have none, in comments neither
        return
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        for what, pattern in PATTERNS.items():
            m = re.search(pattern, line)
            if m:
                yield number, what, m.group()


def check_tree(root, elsewhere):
    seen, bad, used = 0, [], set()
    for top in TOPS:
        for directory, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(directory, name), root)
                if not name.endswith((".c", ".h", ".inc")) or path.startswith(ROOM):
                    continue
                seen += 1
                with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
                    found = list(hits(f.read()))
                allowed = next((where for where in elsewhere if path.startswith(where)), None)
                if found and allowed:
                    used.add(allowed)
                elif found:
                    bad += [f"{path}:{line}: {what}: {text}" for line, what, text in found]
    bad += [f"{where}: holds nothing of x86 any more: take it out of arch.py" for where in elsewhere if where not in used]
    return seen, bad


def self_test():
    wrong = ["static int a = VP_RIP;", "#define MASK 0x000ffffffffff000ull", "if (b[0] == 0xcc)", '"__x64_sys_read"',
             "/* fine */ r->v[VP_CR3]", "x & PTE_PRESENT", "e->e_machine != EM_X86_64",
             '#include "vmm-probe/arch/x86/insn/insn.h"']
    right = ["/* RIP, VP_RIP, 0xcc */", "v[VP_REG_PC]", "0xcccc", "/*\n * __x64_sys_read\n */", "VP_SSIZE", "// VP_CR3",
             '#include "vmm-probe/arch/arch.h"']
    failures = 0
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "vmm-probe/guest"))
        os.makedirs(os.path.join(root, ROOM))
        path = os.path.join(root, "vmm-probe/guest/g.c")
        for text in wrong + right:
            for place in (path, os.path.join(root, ROOM, "a.c")):
                with open(place, "w", encoding="utf-8") as f:
                    f.write(text)
            _, bad = check_tree(root, {})
            if bool(bad) != (text in wrong) or check_tree(root, {"vmm-probe/guest/": ""})[1] != (
                    [] if text in wrong else ["vmm-probe/guest/: holds nothing of x86 any more: take it out of arch.py"]):
                print(f"misjudged: {text!r}: {bad}")
                failures += 1
    print(f"self-test: {len(wrong)} wrong and {len(right)} right texts, {failures} misjudged")
    return not failures


def main(argv):
    if argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    if len(argv) != 2 or not os.path.isdir(argv[1]):
        print("usage: arch.py ROOT | arch.py --self-test", file=sys.stderr)
        return 2
    seen, bad = check_tree(argv[1], ELSEWHERE)
    for line in bad:
        print(line)
    print(f"{seen} files, {len(bad)} constants of x86 where none may be")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
