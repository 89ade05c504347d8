/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operand of an indirect jump: ModRM, SIB and displacement (Intel's Software Developer's Manual, volume
 * 2, "Instruction Format"). */
#include "vmm-probe/arch/x86/code/jump.h"

#include <string.h>

#define OPCODE   0xffu
#define NEAR     4u /* /4 of the opcode; /5 is a far jump */
#define NO_INDEX 4u
#define REX_X    0x2u
#define REX_B    0x1u

/* The offset of the opcode, with the REX prefix before it; *ret_rex 0: it has none. False: there is a prefix
 * that makes the target another one than the operand's: of a thread's segment, or of 16 or 32 bits. */
static bool find_opcode(const uint8_t *p, unsigned len, unsigned *ret, uint8_t *ret_rex)
{
	static const uint8_t harmless[] = { 0x26, 0x2e, 0x36, 0x3e, 0xf2, 0xf3 };
	unsigned at = 0;

	while (at < len && memchr(harmless, p[at], sizeof(harmless)))
		at++;
	*ret_rex = at < len && (p[at] & 0xf0) == 0x40 ? p[at++] : 0;
	*ret = at;
	return at + 2 <= len && p[at] == OPCODE && ((p[at + 1] >> 3) & 7) == NEAR;
}

/* The displacement of @p size bytes at @p at, sign-extended. */
static bool displacement(const uint8_t *p, unsigned len, unsigned at, unsigned size, uint64_t *ret)
{
	int32_t wide = 0;

	if (at + size > len)
		return false;
	if (size == 1)
		wide = (p[at] ^ 0x80) - 0x80;
	else if (size)
		memcpy(&wide, p + at, sizeof(wide));
	*ret = (uint64_t)(int64_t)wide;
	return true;
}

static bool memory(const uint8_t *p, unsigned len, unsigned at, uint8_t rex, struct vp_asm_operand *ret)
{
	unsigned mod = p[at] >> 6, rm = p[at] & 7, size = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	ret->kind = VP_ASM_MEMORY;
	ret->has_base = true;
	at++;
	if (rm == 4) {
		if (at >= len)
			return false;
		uint8_t sib = p[at++];
		unsigned index = ((sib >> 3) & 7) | (rex & REX_X ? 8u : 0);

		rm = sib & 7;
		ret->has_index = index != NO_INDEX;
		ret->index = (enum vp_reg)index;
		ret->scale = sib >> 6;
		if (rm == 5 && !mod) {
			ret->has_base = false;
			size = 4;
		}
	} else if (rm == 5 && !mod) {
		ret->has_base = false; /* relative to the next instruction, whose address the caller knows */
		size = 4;
	}
	ret->base = (enum vp_reg)(rm | (rex & REX_B ? 8u : 0));
	return displacement(p, len, at, size, &ret->value);
}

bool vp_x86_jump_operand(const uint8_t *bytes, uint8_t len, uint64_t gva, struct vp_asm_operand *ret)
{
	struct vp_asm_operand op = { .size = 8 };
	unsigned at;
	uint8_t rex;

	if (!find_opcode(bytes, len, &at, &rex))
		return false;
	at++;
	if (bytes[at] >> 6 == 3) {
		op.kind = VP_ASM_REG;
		op.has_base = true;
		op.base = (enum vp_reg)((bytes[at] & 7) | (rex & REX_B ? 8u : 0));
	} else {
		if (!memory(bytes, len, at, rex, &op))
			return false;
		if ((bytes[at] & 0xc7) == 0x05)
			op.value += gva + len;
	}
	*ret = op;
	return true;
}
