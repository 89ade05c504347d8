/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's ORC tables, of the kernel and of its live modules, as one table of unwind rules
 * for an engine (engine/wire/orc_table.h).
 *
 * struct orc_entry has had two layouts of its flags. Which one a guest has is told by its BTF
 * (bit-fields of that struct), and where BTF has none, by the values themselves. The numbers of the registers
 * were changed once too; no type has them, but in every kernel nearly all entries go by the stack pointer.
 */
#ifndef VP_GUEST_ORC_H
#define VP_GUEST_ORC_H

#include "base/buf.h"
#include "vmm-probe/engine/wire/orc_table.h"
#include "vmm-probe/guest/guest.h"

#define VP_ORC_REGISTERS 16

/* How a guest lays out the 16 bits of flags behind the two offsets of a 6-byte entry. */
struct vp_orc_layout {
	uint8_t sp_reg_shift, bp_reg_shift;         /* 4 bits each */
	uint8_t type_shift, type_bits;              /* 2 or 3 bits */
	uint8_t end_shift;                          /* a bit that says "outermost frame"; 0xff: none */
	uint8_t type_call, type_regs, type_partial; /* values of type */
	uint8_t type_end;                           /* 0xff: this layout has no such value */
	/* What each number of a register stands for: enum vp_orc_base for sp_reg, and for bp_reg. */
	uint8_t sp_bases[VP_ORC_REGISTERS], bp_bases[VP_ORC_REGISTERS];
};

/** Layout from BTF; without (NULL, or no struct orc_entry in it) from the entries. Registers always from the
 * entries: in a numbering that is not known, those that entries name most are the stack pointer and the place
 * where a frame pointer was saved, and the others stay undefined. NOT_FOUND: the entries don't tell. */
OT_MUST_CHECK struct ot_err *vp_orc_layout(const struct vp_btf *btf, const struct vp_orc_raw *raw,
					   struct vp_orc_layout *ret);

struct vp_orc_builder;

OT_MUST_CHECK struct ot_err *vp_orc_builder_create(const struct vp_orc_layout *layout,
						   struct vp_orc_builder **ret);
void vp_orc_builder_destroy(struct vp_orc_builder *builder);

/** Add the entries of a table whose addresses lie in [start, end); the last one's rule ends at @p end. A
 * range that overlaps one that was added before is ignored. BAD_DATA when the sizes don't fit together,
 * LIMIT when it gets too large. */
OT_MUST_CHECK struct ot_err *vp_orc_builder_add(struct vp_orc_builder *builder, const struct vp_orc_raw *raw,
						uint64_t start, uint64_t end);

/** Sort, drop repetitions, and append header, addresses and rules to @p out. */
OT_MUST_CHECK struct ot_err *vp_orc_builder_finish(struct vp_orc_builder *builder, struct ot_buf *out);

/** All of it for a guest. NOT_FOUND: the kernel has no ORC tables (frame pointers, maybe). */
OT_MUST_CHECK struct ot_err *vp_orc_table(struct vp_guest *guest, struct ot_buf *out);

#endif
