/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encoding the instructions of trampolines. Encodings: Intel's Software Developer's Manual, volume 2. */
#include "vmm-probe/arch/x86/trampoline/assemble.h"

#include <string.h>

#define REX        0x40u
#define REX_W      0x48u
#define GS_PREFIX  0x65u
#define SIZE_16    0x66u
#define NEAR_REACH 127u

void vp_asm_bytes(struct vp_assembler *a, const void *bytes, uint32_t n)
{
	if (n > a->size - a->len) {
		a->full = true;
		return;
	}
	memcpy(a->code + a->len, bytes, n);
	a->len += n;
}

static void byte(struct vp_assembler *a, unsigned value)
{
	uint8_t b = (uint8_t)value;

	vp_asm_bytes(a, &b, 1);
}

static void word32(struct vp_assembler *a, int32_t value)
{
	vp_asm_bytes(a, &value, sizeof(value));
}

/* An opcode of one byte, or of two, the first of which is 0f. */
static void opcode(struct vp_assembler *a, unsigned op)
{
	if (op > 0xff)
		byte(a, op >> 8);
	byte(a, op & 0xff);
}

/* Two registers of 64 bits: @reg in ModRM's reg, which may be an extension of the opcode, @rm in its r/m. */
static void modrm_regs(struct vp_assembler *a, unsigned op, unsigned reg, unsigned rm)
{
	byte(a, REX_W | reg >> 3 << 2 | rm >> 3);
	opcode(a, op);
	byte(a, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

/* A register and memory. @size: of the operand, as far as a prefix says it; 1 and 2 have opcodes of their
 * own. */
static void modrm_memory(struct vp_assembler *a, unsigned op, unsigned reg, struct vp_asm_place m,
			 uint8_t size)
{
	bool gs = m.base == VP_ASM_GS || m.base == VP_ASM_GS_R11 || m.base == VP_ASM_GS_R11_RAX8;
	bool r11 = m.base == VP_ASM_GS_R11 || m.base == VP_ASM_GS_R11_RAX8 || m.base == VP_ASM_R11;
	unsigned rex = REX | (size == 8) << 3 | reg >> 3 << 2 | r11;

	if (gs)
		byte(a, GS_PREFIX);
	if (size == 2)
		byte(a, SIZE_16);
	if (rex != REX)
		byte(a, rex);
	opcode(a, op);
	switch (m.base) {
	case VP_ASM_GS: /* SIB without base and index: a displacement alone, and not one from RIP */
		byte(a, (reg & 7) << 3 | 4);
		byte(a, 0x25);
		break;
	case VP_ASM_GS_R11_RAX8:
		byte(a, 0x80 | (reg & 7) << 3 | 4);
		byte(a, 3 << 6 | VP_RAX << 3 | (VP_R11 & 7));
		break;
	case VP_ASM_GS_R11:
	case VP_ASM_R11:
		byte(a, 0x80 | (reg & 7) << 3 | (VP_R11 & 7));
		break;
	case VP_ASM_RAX:
		byte(a, 0x80 | (reg & 7) << 3 | VP_RAX);
		break;
	}
	word32(a, m.disp);
}

/* --- registers ------------------------------------------------------------------------------- */

void vp_asm_set(struct vp_assembler *a, enum vp_reg reg, uint64_t value)
{
	if (value <= UINT32_MAX) {
		if (reg >> 3)
			byte(a, REX | 1);
		byte(a, 0xb8 | (reg & 7));
		word32(a, (int32_t)(uint32_t)value);
	} else if ((int64_t)value == (int32_t)value) {
		modrm_regs(a, 0xc7, 0, reg);
		word32(a, (int32_t)value);
	} else {
		byte(a, REX_W | reg >> 3);
		byte(a, 0xb8 | (reg & 7));
		vp_asm_bytes(a, &value, sizeof(value));
	}
}

void vp_asm_reg(struct vp_assembler *a, enum vp_asm_op op, enum vp_reg dst, enum vp_reg src)
{
	modrm_regs(a, op, src, dst);
}

void vp_asm_extend(struct vp_assembler *a, enum vp_reg dst, enum vp_reg src)
{
	modrm_regs(a, 0x63, dst, src);
}

void vp_asm_imm(struct vp_assembler *a, enum vp_asm_op op, enum vp_reg dst, int32_t value)
{
	bool small = value == (int8_t)value;

	modrm_regs(a, small ? 0x83 : 0x81, (unsigned)op >> 3, dst);
	if (small)
		byte(a, (unsigned)value);
	else
		word32(a, value);
}

void vp_asm_mul(struct vp_assembler *a, enum vp_reg dst, enum vp_reg src)
{
	modrm_regs(a, 0x0faf, dst, src);
}

void vp_asm_mul_imm(struct vp_assembler *a, enum vp_reg dst, enum vp_reg src, int32_t value)
{
	modrm_regs(a, 0x69, dst, src);
	word32(a, value);
}

void vp_asm_highest_bit(struct vp_assembler *a, enum vp_reg dst, enum vp_reg src)
{
	modrm_regs(a, 0x0fbd, dst, src);
}

void vp_asm_unary(struct vp_assembler *a, enum vp_asm_unary op, enum vp_reg reg, uint8_t count)
{
	modrm_regs(a, op >> 8, op & 0xff, reg);
	if (op >> 8 == VP_ASM_SHL >> 8)
		byte(a, count);
}

void vp_asm_push(struct vp_assembler *a, enum vp_reg reg)
{
	if (reg >> 3)
		byte(a, REX | 1);
	byte(a, 0x50 | (reg & 7));
}

void vp_asm_pop(struct vp_assembler *a, enum vp_reg reg)
{
	if (reg >> 3)
		byte(a, REX | 1);
	byte(a, 0x58 | (reg & 7));
}

/* --- memory ---------------------------------------------------------------------------------- */

void vp_asm_load(struct vp_assembler *a, enum vp_reg reg, struct vp_asm_place from, uint8_t size, bool sign)
{
	switch (size) {
	case 1: /* a destination of 32 bits clears the others */
		modrm_memory(a, sign ? 0x0fbe : 0x0fb6, reg, from, sign ? 8 : 4);
		break;
	case 2:
		modrm_memory(a, sign ? 0x0fbf : 0x0fb7, reg, from, sign ? 8 : 4);
		break;
	case 4:
		modrm_memory(a, sign ? 0x63 : 0x8b, reg, from, sign ? 8 : 4);
		break;
	default:
		modrm_memory(a, 0x8b, reg, from, 8);
		break;
	}
}

void vp_asm_store(struct vp_assembler *a, enum vp_asm_op op, struct vp_asm_place to, enum vp_reg reg,
		  uint8_t size)
{
	modrm_memory(a, op, reg, to, size);
}

void vp_asm_fetch(struct vp_assembler *a, enum vp_asm_op op, enum vp_reg reg, struct vp_asm_place from)
{
	modrm_memory(a, op | 2, reg, from, 8);
}

void vp_asm_store_imm(struct vp_assembler *a, struct vp_asm_place to, int32_t value, uint8_t size)
{
	modrm_memory(a, 0xc7, 0, to, size);
	word32(a, value);
}

void vp_asm_compare(struct vp_assembler *a, struct vp_asm_place with, const uint8_t *bytes, uint8_t size)
{
	modrm_memory(a, size == 1 ? 0x80 : 0x81, 7, with, size);
	vp_asm_bytes(a, bytes, size);
}

void vp_asm_change(struct vp_assembler *a, enum vp_asm_unary op, struct vp_asm_place at, uint8_t size)
{
	modrm_memory(a, op >> 8, op & 0xff, at, size);
}

void vp_asm_exchange(struct vp_assembler *a, struct vp_asm_place at, enum vp_reg reg)
{
	modrm_memory(a, 0x0fb1, reg, at, 8);
}

/* --- jumps ----------------------------------------------------------------------------------- */

uint32_t vp_asm_jump_if(struct vp_assembler *a, enum vp_asm_cond cond, bool near)
{
	opcode(a, near ? 0x70u | cond : 0x0f80u | cond);
	vp_asm_bytes(a, (const uint8_t[4]){ 0 }, near ? 1 : 4);
	return a->len;
}

uint32_t vp_asm_jump(struct vp_assembler *a, bool near)
{
	byte(a, near ? 0xeb : 0xe9);
	vp_asm_bytes(a, (const uint8_t[4]){ 0 }, near ? 1 : 4);
	return a->len;
}

void vp_asm_land(struct vp_assembler *a, uint32_t jump, bool near)
{
	uint32_t distance = a->len - jump;

	if (a->full || (near && distance > NEAR_REACH)) {
		a->full = true;
		return;
	}
	if (near)
		a->code[jump - 1] = (uint8_t)distance;
	else
		memcpy(a->code + jump - sizeof(distance), &distance, sizeof(distance));
}
