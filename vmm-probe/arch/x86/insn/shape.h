/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an instruction in 64-bit mode: prefixes, opcode, operands and immediates, from which its
 * length follows.
 *
 * This determines the bytes that a trap covers, and the instructions that may be single-stepped; it must not
 * depend on the version of a disassembler library. Encodings that processors treat differently, that are
 * reserved, or that are newer than these tables are refused. Encodings: Intel's Software Developer's Manual,
 * volume 2.
 */
#ifndef VP_ARCH_X86_INSN_SHAPE_H
#define VP_ARCH_X86_INSN_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum vp_opcode_map {
	VP_MAP_ONE,    /* one-byte opcodes */
	VP_MAP_0F,     /* after 0f; map 1 of VEX and EVEX */
	VP_MAP_0F38,   /* map 2 */
	VP_MAP_0F3A,   /* map 3 */
	VP_MAP_FP16_5, /* EVEX only */
	VP_MAP_FP16_6,
};

enum vp_opcode_space { VP_SPACE_LEGACY, VP_SPACE_VEX, VP_SPACE_EVEX };

struct vp_insn_shape {
	uint8_t len;
	enum vp_opcode_space space;
	enum vp_opcode_map map;
	uint8_t opcode;
	bool has_modrm;
	uint8_t modrm; /* 0: none */
	uint8_t rex;   /* 0: none that is in effect */
	/* Prefixes 66, 67, f0, f3, f2, without those that VEX and EVEX encode. */
	bool opsize, addrsize, lock, rep, repne;
};

/**
 * Parse the instruction at @p bytes, of which @p len are available. False: unknown or truncated; *ret is
 * unchanged. Any thread, no allocation.
 */
bool vp_insn_shape(const uint8_t *bytes, uint64_t len, struct vp_insn_shape *ret);

/** The length only; 0: unknown or truncated. */
uint8_t vp_insn_length(const uint8_t *bytes, uint64_t len);

#endif
