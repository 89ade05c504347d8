/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an instruction in 64-bit mode: prefixes, opcode, operands, immediates, and so its length.
 *
 * How many bytes a trap covers, and what may be done in a single step, is decided by this, and by nothing
 * that another version of a library would tell otherwise. What processors take differently, what is reserved,
 * and what is newer than these tables has no length. Encodings: Intel's Software Developer's Manual,
 * volume 2.
 */
#ifndef VP_INSN_SHAPE_H
#define VP_INSN_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum vp_opcode_map {
	VP_MAP_ONE,    /* the opcode alone */
	VP_MAP_0F,     /* behind 0f; what VEX and EVEX call map 1 */
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
	uint8_t modrm; /* 0 without one */
	uint8_t rex;   /* 0: none that counts */
	bool opsize, addrsize, lock, rep,
	    repne; /* 66, 67, f0, f3, f2; VEX's and EVEX's own are not among them */
};

/**
 * Take apart the instruction at @p bytes, of which @p len are there. False: there is none that we know, or it
 * is cut off; *ret is untouched then. Any thread, no allocation.
 */
bool vp_insn_shape(const uint8_t *bytes, uint64_t len, struct vp_insn_shape *ret);

/** Its length alone; 0: none. */
uint8_t vp_insn_length(const uint8_t *bytes, uint64_t len);

#endif
