/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's ORC tables, of the kernel and of its live modules, converted to one table of unwind rules for
 * an engine (engine/wire/orc_table.h).
 *
 * There are two layouts of the flags in struct orc_entry (arch/x86/include/asm/orc_types.h). A guest's layout
 * is taken from its BTF (the bit-fields of that struct), or, without BTF, inferred from the values. There are
 * two numberings of the registers too; BTF does not contain them, but in every kernel nearly all entries are
 * based on the stack pointer.
 */
#ifndef VP_GUEST_ORC_H
#define VP_GUEST_ORC_H

#include "base/buf.h"
#include "vmm-probe/engine/wire/orc_table.h"
#include "vmm-probe/guest/guest.h"

#define VP_ORC_REGISTERS 16

/* The layout of the 16 bits of flags that follow the two offsets of a 6-byte entry. */
struct vp_orc_layout {
	uint8_t sp_reg_shift, bp_reg_shift;         /* 4 bits each */
	uint8_t type_shift, type_bits;              /* 2 or 3 bits */
	uint8_t end_shift;                          /* of the bit "outermost frame"; 0xff: none */
	uint8_t type_call, type_regs, type_partial; /* values of type */
	uint8_t type_end;                           /* 0xff: this layout has no such value */
	/* The meaning of each register number: enum vp_orc_base for sp_reg, and for bp_reg. */
	uint8_t sp_bases[VP_ORC_REGISTERS], bp_bases[VP_ORC_REGISTERS];
};

/** The layout from BTF; without it (NULL, or no struct orc_entry in it) from the entries. Register numbers
 * are always inferred from the entries: in an unknown numbering, the most frequent ones are the stack pointer
 * and the place of a saved frame pointer, and all others stay undefined. NOT_FOUND: the entries are
 * ambiguous. */
OT_MUST_CHECK struct ot_err *vp_orc_layout(const struct vp_btf *btf, const struct vp_orc_raw *raw,
					   struct vp_orc_layout *ret);

struct vp_orc_builder;

OT_MUST_CHECK struct ot_err *vp_orc_builder_create(const struct vp_orc_layout *layout,
						   struct vp_orc_builder **ret);
void vp_orc_builder_destroy(struct vp_orc_builder *builder);

/** Add the entries of a table whose addresses are in [start, end); the last rule ends at @p end. A range that
 * overlaps an earlier one is ignored. BAD_DATA: the sizes are inconsistent. LIMIT: too many entries. */
OT_MUST_CHECK struct ot_err *vp_orc_builder_add(struct vp_orc_builder *builder, const struct vp_orc_raw *raw,
						uint64_t start, uint64_t end);

/** Sort, remove repetitions, and append header, addresses and rules to @p out. */
OT_MUST_CHECK struct ot_err *vp_orc_builder_finish(struct vp_orc_builder *builder, struct ot_buf *out);

/** The whole table for a guest. NOT_FOUND: the kernel has no ORC tables (it may use frame pointers). */
OT_MUST_CHECK struct ot_err *vp_orc_table(struct vp_guest *guest, struct ot_buf *out);

#endif
