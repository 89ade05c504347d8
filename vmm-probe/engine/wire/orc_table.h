/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rules that the operator's process sends to an engine: made from the guest's ORC tables (or none) by
 * vmm-probe/guest/orc.c, in a sealed memfd that the engine maps read-only and treats as hostile: every lookup
 * is bounded by the sizes that were checked at OPEN.
 *
 *   header | nentries × uint64_t address (ascending) | nentries × struct vp_orc_rule
 */
#ifndef VP_ENGINE_WIRE_ORC_TABLE_H
#define VP_ENGINE_WIRE_ORC_TABLE_H

#include <stdint.h>

#define VP_ORC_MAGIC 0x3143524fu /* "ORC1" */

/* How the caller's stack pointer (CFA) is computed. */
enum vp_orc_base {
	VP_ORC_UNDEFINED,   /* no rule: the walk ends (or continues by frame pointer) */
	VP_ORC_END,         /* the outermost frame */
	VP_ORC_SP,          /* sp + offset */
	VP_ORC_BP,          /* bp + offset */
	VP_ORC_SP_INDIRECT, /* *(sp) + offset */
	VP_ORC_BP_INDIRECT, /* *(bp + offset) */
	VP_ORC_R10,
	VP_ORC_R13,
	VP_ORC_DI,
	VP_ORC_DX,
};

enum vp_orc_type {
	VP_ORC_CALL,         /* return address at CFA - 8 */
	VP_ORC_REGS,         /* a full struct pt_regs at CFA */
	VP_ORC_REGS_PARTIAL, /* the iret frame only (ip cs flags sp ss) at CFA */
};

struct vp_orc_rule {
	int16_t sp_offset;
	int16_t bp_offset;
	uint8_t sp_base; /* enum vp_orc_base */
	uint8_t bp_base; /* VP_ORC_UNDEFINED: bp unchanged; VP_ORC_SP: saved at CFA + bp_offset; VP_ORC_BP: at
			  * bp + bp_offset */
	uint8_t type;    /* enum vp_orc_type */
	uint8_t pad;
};

struct vp_orc_header {
	uint32_t magic;
	uint32_t nentries;
};

#endif
