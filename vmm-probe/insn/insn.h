/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doing the instruction that a trap stands on, in the guest's place, through its registers and memory.
 *
 * Only the forms that kernel functions begin and end with, and that touch nothing but general registers,
 * flags and ordinary memory. What is not among them is refused by vp_insn_decode(), never guessed: no lock or
 * rep prefix, no 32-bit addressing, no FS, no xchg with memory, no system instruction. Encodings and flags:
 * Intel's Software Developer's Manual, volume 2.
 *
 * libc only, no allocation: this runs on vCPU threads, at a hit.
 */
#ifndef VP_INSN_INSN_H
#define VP_INSN_INSN_H

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

/* HIGH: bits 8 to 15 of rax, rcx, rdx or rbx. IMM, also the absolute target of a direct jump or call:
 * `value`. */
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

/** Decode the instruction at @p bytes, of which @p len are there, for RIP @p rip. False: not one of ours. */
bool vp_insn_decode(const uint8_t *bytes, unsigned len, uint64_t rip, struct vp_insn *ret);

/** Whether vp_insn_run() will read or write memory; then it can fail. */
bool vp_insn_touches_memory(const struct vp_insn *insn);
/** Whether it needs env->gs_base. */
bool vp_insn_uses_gs(const struct vp_insn *insn);

/* A vCPU as an instruction sees it. */
struct vp_insn_env {
	uint64_t r[16];
	uint64_t rip, rflags, gs_base;
	/* Exactly @p len (1, 2, 4, 8) bytes at a guest virtual address, or false and nothing done. */
	bool (*load)(void *arg, uint64_t gva, void *dst, unsigned len);
	bool (*store)(void *arg, uint64_t gva, const void *src, unsigned len);
	void *arg;
};

/** Do @p insn: registers, flags and rip of @p env change, and memory. False: memory could not be reached;
 * then nothing has changed. */
bool vp_insn_run(const struct vp_insn *insn, struct vp_insn_env *env);

/** "MOV" … Static. */
const char *vp_insn_op_name(enum vp_insn_op op);

#endif
