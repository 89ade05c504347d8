/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jumps, calls and returns, by their opcodes: a handful of encodings (Intel's Software Developer's Manual,
 * volume 2). */
#include "vmm-probe/arch/x86/code/branch.h"

#include <string.h>

static bool is_prefix(uint8_t b)
{
	switch (b) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e: /* notrack */
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2: /* bnd */
	case 0xf3:
		return true;
	default:
		return (b & 0xf0) == 0x40; /* REX */
	}
}

/* jmp *disp(,%reg,8) and jmp *disp(%base,%reg,8): a jump table's. So is `notrack jmp`, which compilers emit
 * only for tables. */
static bool is_table_jump(const uint8_t *p, unsigned at, unsigned len)
{
	uint8_t modrm = p[at + 1];

	for (unsigned i = 0; i < at; i++)
		if (p[i] == 0x3e)
			return true;
	return (modrm >> 6) != 3 && (modrm & 7) == 4 && at + 2 < len && ((p[at + 2] >> 3) & 7) != 4;
}

/* A displacement of 1 or 4 bytes at @p at, from the instruction's end. */
static struct vp_branch direct(enum vp_branch_kind kind, const uint8_t *p, unsigned at, unsigned size,
			       unsigned len, uint64_t gva)
{
	int32_t distance;

	if (at + size > len)
		return (struct vp_branch){ .kind = VP_BRANCH_NONE };
	if (size == 1)
		distance = (p[at] ^ 0x80) - 0x80;
	else
		memcpy(&distance, p + at, sizeof(distance));
	return (struct vp_branch){ kind, gva + len + (uint64_t)(int64_t)distance };
}

/* ff: /4 is a near jump, /5 a far one. */
static struct vp_branch indirect(const uint8_t *p, unsigned at, unsigned len)
{
	if (at + 2 > len || (p[at + 1] & 0x30) != 0x20)
		return (struct vp_branch){ .kind = VP_BRANCH_NONE };
	return (struct vp_branch){ .kind = is_table_jump(p, at, len) ? VP_BRANCH_TABLE : VP_BRANCH_INDIRECT };
}

struct vp_branch vp_x86_branch(const uint8_t *p, uint8_t len, uint64_t gva)
{
	unsigned at = 0;

	while (at + 1u < len && is_prefix(p[at]))
		at++;
	switch (p[at]) {
	case 0xc3:
	case 0xc2:
	case 0xcb:
	case 0xca:
		return (struct vp_branch){ .kind = VP_BRANCH_RETURN };
	case 0xe8:
		return direct(VP_BRANCH_CALL, p, at + 1, 4, len, gva);
	case 0xe9:
		return direct(VP_BRANCH_JUMP, p, at + 1, 4, len, gva);
	case 0xeb:
		return direct(VP_BRANCH_JUMP, p, at + 1, 1, len, gva);
	case 0xe0: /* loopne, loope, loop, jrcxz */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return direct(VP_BRANCH_JUMP_IF, p, at + 1, 1, len, gva);
	case 0x0f:
		if (at + 1 < len && (p[at + 1] & 0xf0) == 0x80)
			return direct(VP_BRANCH_JUMP_IF, p, at + 2, 4, len, gva);
		break;
	case 0xff:
		return indirect(p, at, len);
	default:
		if ((p[at] & 0xf0) == 0x70)
			return direct(VP_BRANCH_JUMP_IF, p, at + 1, 1, len, gva);
	}
	return (struct vp_branch){ .kind = VP_BRANCH_NONE };
}

uint64_t vp_x86_find_call(const uint8_t *code, uint64_t len, uint64_t gva, uint64_t from, uint64_t target)
{
	const uint32_t wanted = (uint32_t)(target - gva - 5);

	/* The distance first, which hardly any bytes are: the text has millions of them, and a branch that
	 * can't be predicted would cost more than all else. */
	for (uint64_t at = from; at + 5 <= len; at++) {
		uint32_t distance;

		memcpy(&distance, code + at + 1, sizeof(distance));
		if (distance + (uint32_t)at != wanted || (code[at] & 0xfe) != 0xe8) /* e8 call, e9 jmp */
			continue;
		if (gva + at + 5 + (uint64_t)(int64_t)(int32_t)distance == target)
			return at;
	}
	return len;
}
