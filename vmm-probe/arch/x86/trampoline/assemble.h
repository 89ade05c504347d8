/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An assembler of the instructions that trampolines consist of. A jump can only be written before the place
 * that it leads to: vp_asm_land() makes it end where the code ends so far. So code from here has no loop, by
 * construction.
 *
 * Memory has three forms: the per-CPU area at a constant; the per-CPU area at R11, which holds an address
 * that is a constant of the trampoline's or the record's; and R11 or RAX alone, which then hold `current`.
 */
#ifndef VP_ARCH_X86_TRAMPOLINE_ASSEMBLE_H
#define VP_ARCH_X86_TRAMPOLINE_ASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/arch/x86/regs.h"

/* Writes to `code`, which has `size` bytes; an instruction that does not fit sets `full`, and `len` stays
 * within bounds. */
struct vp_assembler {
	uint8_t *code;
	uint32_t size, len;
	bool full;
};

enum vp_asm_base { VP_ASM_GS, VP_ASM_GS_R11, VP_ASM_GS_R11_RAX8, VP_ASM_R11, VP_ASM_RAX };

struct vp_asm_place {
	enum vp_asm_base base; /* GS_R11_RAX8: R11 + 8 * RAX */
	int32_t disp;
};

/* Instructions of two operands, by their opcode with a register as the source. */
enum vp_asm_op {
	VP_ASM_ADD = 0x01,
	VP_ASM_OR = 0x09,
	VP_ASM_AND = 0x21,
	VP_ASM_SUB = 0x29,
	VP_ASM_XOR = 0x31,
	VP_ASM_CMP = 0x39,
	VP_ASM_TST = 0x85,
	VP_ASM_MOV = 0x89,
};

/* Instructions of one operand: opcode << 8 | the extension in ModRM. */
enum vp_asm_unary {
	VP_ASM_NOT = 0xf702,
	VP_ASM_NEG = 0xf703,
	VP_ASM_INC = 0xff00,
	VP_ASM_DEC = 0xff01,
	VP_ASM_SHL = 0xc104, /* these three take a count */
	VP_ASM_SHR = 0xc105,
	VP_ASM_SAR = 0xc107,
};

/* Condition codes, as they are encoded. */
enum vp_asm_cond {
	VP_ASM_B = 2,
	VP_ASM_AE = 3,
	VP_ASM_E = 4,
	VP_ASM_NE = 5,
	VP_ASM_BE = 6,
	VP_ASM_A = 7,
	VP_ASM_S = 8,
	VP_ASM_NS = 9,
	VP_ASM_GE = 13,
	VP_ASM_LE = 14,
};

void vp_asm_bytes(struct vp_assembler *a, const void *bytes, uint32_t n);

/** reg = @p value, without changing flags. */
void vp_asm_set(struct vp_assembler *a, enum vp_reg reg, uint64_t value);
/** dst op= src, 64 bits. */
void vp_asm_reg(struct vp_assembler *a, enum vp_asm_op op, enum vp_reg dst, enum vp_reg src);
/** dst = the lower 32 bits of src, with their sign. */
void vp_asm_extend(struct vp_assembler *a, enum vp_reg dst, enum vp_reg src);
/** dst op= @p value, 64 bits; not MOV, TST. */
void vp_asm_imm(struct vp_assembler *a, enum vp_asm_op op, enum vp_reg dst, int32_t value);
/** dst *= src; dst = src * @p value; dst = number of the highest bit of src that is set. */
void vp_asm_mul(struct vp_assembler *a, enum vp_reg dst, enum vp_reg src);
void vp_asm_mul_imm(struct vp_assembler *a, enum vp_reg dst, enum vp_reg src, int32_t value);
void vp_asm_highest_bit(struct vp_assembler *a, enum vp_reg dst, enum vp_reg src);
/** One operand, 64 bits; shifts by @p count. */
void vp_asm_unary(struct vp_assembler *a, enum vp_asm_unary op, enum vp_reg reg, uint8_t count);
void vp_asm_push(struct vp_assembler *a, enum vp_reg reg);
void vp_asm_pop(struct vp_assembler *a, enum vp_reg reg);

/** reg = @p size bytes of memory, extended to 64 bits, without changing flags. */
void vp_asm_load(struct vp_assembler *a, enum vp_reg reg, struct vp_asm_place from, uint8_t size, bool sign);
/** @p size (4, 8) bytes of memory op= reg. */
void vp_asm_store(struct vp_assembler *a, enum vp_asm_op op, struct vp_asm_place to, enum vp_reg reg,
		  uint8_t size);
/** reg op= 8 bytes of memory: SUB, CMP. */
void vp_asm_fetch(struct vp_assembler *a, enum vp_asm_op op, enum vp_reg reg, struct vp_asm_place from);
/** @p size (4, 8) bytes of memory = @p value. */
void vp_asm_store_imm(struct vp_assembler *a, struct vp_asm_place to, int32_t value, uint8_t size);
/** Compare @p size (1, 2, 4) bytes of memory with the first ones at @p bytes. */
void vp_asm_compare(struct vp_assembler *a, struct vp_asm_place with, const uint8_t *bytes, uint8_t size);
/** INC, DEC of @p size (4, 8) bytes of memory. */
void vp_asm_change(struct vp_assembler *a, enum vp_asm_unary op, struct vp_asm_place at, uint8_t size);
/** If 8 bytes of memory are RAX, they become reg; else RAX becomes them. Not locked: one instruction of this
 * CPU. */
void vp_asm_exchange(struct vp_assembler *a, struct vp_asm_place at, enum vp_reg reg);

/** A jump that is to be landed: its place, for vp_asm_land(). With `near`, at most 127 bytes. */
uint32_t vp_asm_jump_if(struct vp_assembler *a, enum vp_asm_cond cond, bool near);
uint32_t vp_asm_jump(struct vp_assembler *a, bool near);
/** Let that jump end here. */
void vp_asm_land(struct vp_assembler *a, uint32_t jump, bool near);

#endif
