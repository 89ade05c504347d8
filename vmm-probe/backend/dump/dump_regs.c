/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of a dump's vCPUs, in the three forms in which they are stored. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "vmm-probe/backend/dump/dump_internal.h"

static void set(struct vp_regs *regs, enum vp_reg reg, uint64_t value)
{
	regs->v[reg] = value;
	regs->valid |= VP_REG_BIT(reg);
}

/* QEMU's note for each CPU (QEMUCPUState, target/i386/arch_dump.c). */
struct qemu_segment {
	uint32_t selector, limit, flags, pad;
	uint64_t base;
};

struct qemu_cpu {
	uint32_t version, size;
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rsp, rbp, r[8], rip, rflags;
	struct qemu_segment cs, ds, es, fs, gs, ss, ldt, tr, gdt, idt;
	uint64_t cr[5];
	uint64_t kernel_gs_base; /* newer versions of QEMU */
};

bool vp_dump_qemu_note(const void *desc, size_t len, struct vp_regs *ret)
{
	struct qemu_cpu cpu = { 0 };
	struct vp_regs regs = { 0 };

	if (len < offsetof(struct qemu_cpu, kernel_gs_base))
		return false;
	memcpy(&cpu, desc, len < sizeof(cpu) ? len : sizeof(cpu));
	set(&regs, VP_RAX, cpu.rax);
	set(&regs, VP_RBX, cpu.rbx);
	set(&regs, VP_RCX, cpu.rcx);
	set(&regs, VP_RDX, cpu.rdx);
	set(&regs, VP_RSI, cpu.rsi);
	set(&regs, VP_RDI, cpu.rdi);
	set(&regs, VP_RSP, cpu.rsp);
	set(&regs, VP_RBP, cpu.rbp);
	for (int i = 0; i < 8; i++)
		set(&regs, VP_R8 + i, cpu.r[i]);
	set(&regs, VP_RIP, cpu.rip);
	set(&regs, VP_RFLAGS, cpu.rflags);
	set(&regs, VP_CS, cpu.cs.selector);
	set(&regs, VP_SS, cpu.ss.selector);
	set(&regs, VP_FS_BASE, cpu.fs.base);
	set(&regs, VP_GS_BASE, cpu.gs.base);
	set(&regs, VP_IDT_BASE, cpu.idt.base);
	set(&regs, VP_CR0, cpu.cr[0]);
	set(&regs, VP_CR2, cpu.cr[2]);
	set(&regs, VP_CR3, cpu.cr[3]);
	set(&regs, VP_CR4, cpu.cr[4]);
	if (len >= sizeof(cpu))
		set(&regs, VP_K_GS_BASE, cpu.kernel_gs_base);
	*ret = regs;
	return true;
}

bool vp_dump_prstatus(const void *desc, size_t len, struct vp_regs *ret)
{
	/* struct user_regs_struct, in its order, 112 bytes into the note. */
	static const enum vp_reg order[] = {
		VP_R15, VP_R14, VP_R13, VP_R12, VP_RBP,   VP_RBX, VP_R11, VP_R10,    VP_R9,  VP_R8, VP_RAX,
		VP_RCX, VP_RDX, VP_RSI, VP_RDI, VP_NREGS, VP_RIP, VP_CS,  VP_RFLAGS, VP_RSP, VP_SS,
	};
	struct vp_regs regs = { 0 };

	if (len < 112 + sizeof(order) / sizeof(order[0]) * 8)
		return false;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		uint64_t value;

		memcpy(&value, (const char *)desc + 112 + 8 * i, sizeof(value));
		if (order[i] != VP_NREGS)
			set(&regs, order[i], value);
	}
	*ret = regs;
	return true;
}

/* Names as `info registers` prints them. Of a segment the first number is the selector, the second the
 * base; of a table the first is the base. */
static const struct {
	const char *name;
	enum vp_reg first, second;
} names[] = {
	{ "RAX", VP_RAX, VP_NREGS },      { "RBX", VP_RBX, VP_NREGS }, { "RCX", VP_RCX, VP_NREGS },
	{ "RDX", VP_RDX, VP_NREGS },      { "RSI", VP_RSI, VP_NREGS }, { "RDI", VP_RDI, VP_NREGS },
	{ "RBP", VP_RBP, VP_NREGS },      { "RSP", VP_RSP, VP_NREGS }, { "R8", VP_R8, VP_NREGS },
	{ "R9", VP_R9, VP_NREGS },        { "R10", VP_R10, VP_NREGS }, { "R11", VP_R11, VP_NREGS },
	{ "R12", VP_R12, VP_NREGS },      { "R13", VP_R13, VP_NREGS }, { "R14", VP_R14, VP_NREGS },
	{ "R15", VP_R15, VP_NREGS },      { "RIP", VP_RIP, VP_NREGS }, { "RFL", VP_RFLAGS, VP_NREGS },
	{ "CS", VP_CS, VP_NREGS },        { "SS", VP_SS, VP_NREGS },   { "FS", VP_NREGS, VP_FS_BASE },
	{ "GS", VP_NREGS, VP_GS_BASE },   { "CR0", VP_CR0, VP_NREGS }, { "CR2", VP_CR2, VP_NREGS },
	{ "CR3", VP_CR3, VP_NREGS },      { "CR4", VP_CR4, VP_NREGS }, { "EFER", VP_EFER, VP_NREGS },
	{ "IDT", VP_IDT_BASE, VP_NREGS },
};

/* A hexadecimal number after blanks; NULL if there is none. */
static const char *number(const char *at, const char *end, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start;

	while (at < end && *at == ' ')
		at++;
	for (start = at; at < end && at - start < 16 && isxdigit((unsigned char)*at); at++)
		value = value << 4 |
			(uint64_t)(isdigit((unsigned char)*at) ? *at - '0' : tolower(*at) - 'a' + 10);
	*ret = value;
	return at > start ? at : NULL;
}

/* NAME = HEX [HEX], after the name. */
static void parse_value(const char *name, size_t len, const char *at, const char *end, struct vp_regs *regs)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++) {
		uint64_t first, second;

		if (strlen(names[i].name) != len || memcmp(names[i].name, name, len) != 0)
			continue;
		at = number(at, end, &first);
		if (at && names[i].first != VP_NREGS)
			set(regs, names[i].first, first);
		if (at && names[i].second != VP_NREGS && number(at, end, &second))
			set(regs, names[i].second, second);
	}
}

struct ot_err *vp_dump_parse_registers(const char *text, size_t len, struct vp_regs *ret)
{
	const char *at = text, *end = text + len;
	struct vp_regs regs = { 0 };

	while (at < end) {
		const char *name = at;
		size_t n;

		while (at < end && isalnum((unsigned char)*at))
			at++;
		n = (size_t)(at - name);
		if (!n) {
			at++;
			continue;
		}
		while (at < end && *at == ' ')
			at++;
		if (at < end && *at == '=')
			parse_value(name, n, at + 1, end, &regs);
	}
	if (!regs.valid)
		return ot_err_new(OT_ERR_NOT_FOUND, "no registers in this text");
	*ret = regs;
	return NULL;
}
