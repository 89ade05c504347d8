/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulating the instruction at a trap, on the guest's registers and memory.
 *
 * Supported are the forms that kernel functions begin and end with, which use only general registers, flags
 * and ordinary memory. vp_insn_decode() refuses everything else: lock and rep prefixes, 32-bit addressing,
 * FS, xchg with memory, system instructions. Encodings and flags: Intel's Software Developer's Manual, volume
 * 2.
 *
 * libc only, no allocation: this runs on vCPU threads, at a hit.
 */
#ifndef VP_ARCH_X86_INSN_INSN_H
#define VP_ARCH_X86_INSN_INSN_H

#include <stdbool.h>
#include <stdint.h>

/* name, what it does */
#define VP_INSN_OPS(X)                                                                  \
	X(NOP, "nothing")                                                               \
	X(MOV, "dst = src")                                                             \
	X(MOVZX, "dst = src, zero-extended from src_size")                              \
	X(MOVSX, "dst = src, sign-extended from src_size")                              \
	X(LEA, "dst = address of src")                                                  \
	X(ADD, "dst += src")                                                            \
	X(OR, "dst |= src")                                                             \
	X(ADC, "dst += src + CF")                                                       \
	X(SBB, "dst -= src + CF")                                                       \
	X(AND, "dst &= src")                                                            \
	X(SUB, "dst -= src")                                                            \
	X(XOR, "dst ^= src")                                                            \
	X(CMP, "flags of dst - src")                                                    \
	X(TEST, "flags of dst & src")                                                   \
	X(INC, "dst += 1, CF stays")                                                    \
	X(DEC, "dst -= 1, CF stays")                                                    \
	X(NOT, "dst = ~dst, no flags")                                                  \
	X(NEG, "dst = -dst")                                                            \
	X(SHL, "dst <<= src")                                                           \
	X(SHR, "dst >>= src, unsigned")                                                 \
	X(SAR, "dst >>= src, signed")                                                   \
	X(IMUL, "dst = src * third, signed; the third is dst if there is no immediate") \
	X(CLD, "DF = 0")                                                                \
	X(CMOV, "dst = cond ? src : dst")                                               \
	X(SET, "dst = cond")                                                            \
	X(CWIDEN, "rax = its lower half, sign-extended (cdqe)")                         \
	X(CSIGN, "rdx = sign of rax (cqo)")                                             \
	X(PUSH, "rsp -= 8; *rsp = src")                                                 \
	X(POP, "dst = *rsp; rsp += 8")                                                  \
	X(LEAVE, "rsp = rbp; pop rbp")                                                  \
	X(JMP, "rip = src")                                                             \
	X(JCC, "rip = src if cond")                                                     \
	X(CALL, "push of the next address; rip = src")                                  \
	X(RET, "rip = *rsp; rsp += 8 + src")

enum vp_insn_op {
#define X(name, what) VP_INSN_##name,
	VP_INSN_OPS(X)
#undef X
};

enum vp_operand_kind { VP_OPERAND_NONE, VP_OPERAND_REG, VP_OPERAND_HIGH, VP_OPERAND_MEM, VP_OPERAND_IMM };

#define VP_NO_REG  0xffu
#define VP_REG_RIP 0xfeu /* as a base: the address of the next instruction */

/* HIGH: bits 8 to 15 of rax, rcx, rdx or rbx. IMM: `value`, which is also the absolute target of a direct
 * jump or call. */
struct vp_operand {
	uint8_t kind;               /* enum vp_operand_kind */
	uint8_t reg;                /* REG, HIGH: 0 rax to 15 r15 */
	uint8_t base, index, scale; /* MEM: registers or VP_NO_REG; scale is a shift */
	bool gs;
	int64_t value; /* IMM; MEM: displacement */
};

struct vp_insn {
	uint8_t op;       /* enum vp_insn_op */
	uint8_t len;      /* bytes */
	uint8_t size;     /* of the operation: 1, 2, 4, 8 */
	uint8_t src_size; /* MOVZX, MOVSX */
	uint8_t cond;     /* condition code 0 to 15, as encoded */
	struct vp_operand dst, src;
	struct vp_operand third; /* IMUL by an immediate */
};

/** Decode the instruction at address @p rip, of which @p len bytes are at @p bytes. False: not supported. */
bool vp_insn_decode(const uint8_t *bytes, unsigned len, uint64_t rip, struct vp_insn *ret);

/** Does it use env->gs_base? */
bool vp_insn_uses_gs(const struct vp_insn *insn);

/* The state of a vCPU that an instruction can use. */
struct vp_insn_env {
	uint64_t r[16];
	uint64_t rip, rflags, gs_base;
	/* Access exactly @p len (1, 2, 4, 8) bytes at a guest virtual address; false: nothing was
	 * accessed. */
	bool (*load)(void *arg, uint64_t gva, void *dst, unsigned len);
	bool (*store)(void *arg, uint64_t gva, const void *src, unsigned len);
	void *arg;
};

/** Emulate @p insn: changes registers, flags and rip in @p env, and memory. False: memory is inaccessible,
 * and nothing has changed. */
bool vp_insn_run(const struct vp_insn *insn, struct vp_insn_env *env);

#endif
