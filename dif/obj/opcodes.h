/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DIF instruction set: the only list, from which the enum, the mnemonics, the verifier's operand table,
 * the listing and the interpreter's dispatch table are made. Numbers and encodings are those of the
 * OpenDTrace specification, chapter "OpenDTrace Intermediate Format".
 *
 * An instruction is one 32-bit word; op in bits 31..24. Operand classes:
 *
 *   class  23..16   15..8   7..0
 *   R3     r1       r2      rd       arithmetic; copys (r1 source, r2 size, rd destination)
 *   R2     r1       0       rd       not mov allocs (size in r1), all loads (address in r1)
 *   ST     r1       0       rd       stores: r1 value, rd address
 *   CMP    r1       r2      0
 *   TST    r1       0       0
 *   BR     label, 24 bits            absolute, strictly forward
 *   RET    0        0       rd
 *   NOP    0        0       0
 *   IDX    index, 16 bits   rd       setx sets (xlate xlarg: compile time only)
 *   ARR    array    r2      rd       index in r2
 *   LDV    variable, 16     rd
 *   STV    variable, 16     rs
 *   CALL   subroutine, 16   rd
 *   PUSH   kind     r2      rs       r2 holds the size
 */
#ifndef DIF_OBJ_OPCODES_H
#define DIF_OBJ_OPCODES_H

#include <stdint.h>

/* clang-format off */
/* X(NUMBER, NAME, CLASS) */
#define DIF_OPCODES(X)                                                                              \
	X(1, or, R3) X(2, xor, R3) X(3, and, R3) X(4, sll, R3) X(5, srl, R3) X(6, sub, R3)          \
	X(7, add, R3) X(8, mul, R3) X(9, sdiv, R3) X(10, udiv, R3) X(11, srem, R3) X(12, urem, R3)  \
	X(13, not, R2) X(14, mov, R2) X(15, cmp, CMP) X(16, tst, TST)                               \
	X(17, ba, BR) X(18, be, BR) X(19, bne, BR) X(20, bg, BR) X(21, bgu, BR) X(22, bge, BR)      \
	X(23, bgeu, BR) X(24, bl, BR) X(25, blu, BR) X(26, ble, BR) X(27, bleu, BR)                 \
	X(28, ldsb, R2) X(29, ldsh, R2) X(30, ldsw, R2) X(31, ldub, R2) X(32, lduh, R2)             \
	X(33, lduw, R2) X(34, ldx, R2) X(35, ret, RET) X(36, nop, NOP) X(37, setx, IDX)             \
	X(38, sets, IDX) X(39, scmp, CMP) X(40, ldga, ARR) X(41, ldgs, LDV) X(42, stgs, STV)        \
	X(43, ldta, ARR) X(44, ldts, LDV) X(45, stts, STV) X(46, sra, R3) X(47, call, CALL)         \
	X(48, pushtr, PUSH) X(49, pushtv, PUSH) X(50, popts, NOP) X(51, flushts, NOP)               \
	X(52, ldgaa, LDV) X(53, ldtaa, LDV) X(54, stgaa, STV) X(55, sttaa, STV) X(56, ldls, LDV)    \
	X(57, stls, STV) X(58, allocs, R2) X(59, copys, R3) X(60, stb, ST) X(61, sth, ST)           \
	X(62, stw, ST) X(63, stx, ST) X(64, uldsb, R2) X(65, uldsh, R2) X(66, uldsw, R2)            \
	X(67, uldub, R2) X(68, ulduh, R2) X(69, ulduw, R2) X(70, uldx, R2) X(71, rldsb, R2)         \
	X(72, rldsh, R2) X(73, rldsw, R2) X(74, rldub, R2) X(75, rlduh, R2) X(76, rlduw, R2)        \
	X(77, rldx, R2) X(78, xlate, IDX) X(79, xlarg, IDX)
/* clang-format on */

enum dif_op {
#define X(num, name, class) DIF_OP_##name = num,
	DIF_OPCODES(X)
#undef X
	    DIF_OP_MAX = 79,
};

#define DIF_NREGS  16 /* %r0 is always 0; DTrace's own machine has the first 8 */
#define DIF_NTUPLE 8  /* depth of the tuple stack */

/* Encoding. Arguments must fit their fields. */
static inline uint32_t dif_insn(uint32_t op, uint32_t a, uint32_t b, uint32_t c)
{
	return op << 24 | a << 16 | b << 8 | c;
}
static inline uint32_t dif_insn_branch(uint32_t op, uint32_t label)
{
	return op << 24 | label;
}
static inline uint32_t dif_insn_index(uint32_t op, uint32_t index, uint32_t reg)
{
	return op << 24 | index << 8 | reg;
}

/* Decoding. */
static inline uint32_t dif_insn_op(uint32_t i)
{
	return i >> 24;
}
static inline uint32_t dif_insn_r1(uint32_t i)
{
	return i >> 16 & 0xff;
}
static inline uint32_t dif_insn_r2(uint32_t i)
{
	return i >> 8 & 0xff;
}
static inline uint32_t dif_insn_rd(uint32_t i)
{
	return i & 0xff;
}
static inline uint32_t dif_insn_label(uint32_t i)
{
	return i & 0xffffff;
}
static inline uint32_t dif_insn_idx(uint32_t i)
{
	return i >> 8 & 0xffff;
}

#endif
