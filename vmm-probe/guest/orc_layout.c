/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determining a guest's layout of struct orc_entry. In newer kernels `type` has three bits instead of two and
 * includes "end of stack", which was a separate bit, so its values are higher by two. The presence of the
 * `end` member decides; without BTF, the value of the most frequent type, an ordinary call, does.
 */
#include <string.h>

#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/orc.h"

#define ENTRY_SIZE 6
#define FLAGS_BIT  32 /* bit offset: the flags follow two 16-bit offsets */
#define NONE       0xff

static const struct vp_orc_layout old_layout = {
	.sp_reg_shift = 0,
	.bp_reg_shift = 4,
	.type_shift = 8,
	.type_bits = 2,
	.end_shift = 10,
	.type_call = 0,
	.type_regs = 1,
	.type_partial = 2,
	.type_end = NONE,
};

static const struct vp_orc_layout new_layout = {
	.sp_reg_shift = 0,
	.bp_reg_shift = 4,
	.type_shift = 8,
	.type_bits = 3,
	.end_shift = NONE,
	.type_end = 1,
	.type_call = 2,
	.type_regs = 3,
	.type_partial = 4,
};

/* A bit-field of the flags. False: missing, or outside the flags. */
static bool flag(const struct vp_btf *btf, uint32_t id, const char *name, uint8_t *ret_shift,
		 uint8_t *ret_bits)
{
	struct vp_btf_field f;

	if (!vp_btf_field(btf, id, name, &f) || !f.bit_size || f.bit_offset < FLAGS_BIT ||
	    f.bit_offset + f.bit_size > FLAGS_BIT + 16)
		return false;
	*ret_shift = (uint8_t)(f.bit_offset - FLAGS_BIT);
	*ret_bits = (uint8_t)f.bit_size;
	return true;
}

static bool from_btf(const struct vp_btf *btf, struct vp_orc_layout *ret)
{
	uint32_t id = vp_btf_find(btf, VP_BTF_STRUCT, "orc_entry");
	struct vp_btf_field sp, bp;
	uint8_t sp_shift, bp_shift, end_shift = NONE, sp_bits, bp_bits, end_bits, type_shift, type_bits;
	uint64_t size;

	if (!id || !vp_btf_size(btf, id, &size) || size != ENTRY_SIZE ||
	    !vp_btf_field(btf, id, "sp_offset", &sp) || sp.bit_offset != 0 ||
	    !vp_btf_field(btf, id, "bp_offset", &bp) || bp.bit_offset != 16 ||
	    !flag(btf, id, "sp_reg", &sp_shift, &sp_bits) || sp_bits != 4 ||
	    !flag(btf, id, "bp_reg", &bp_shift, &bp_bits) || bp_bits != 4 ||
	    !flag(btf, id, "type", &type_shift, &type_bits) || type_bits < 2 || type_bits > 4)
		return false;
	*ret = flag(btf, id, "end", &end_shift, &end_bits) ? old_layout : new_layout;
	ret->sp_reg_shift = sp_shift;
	ret->bp_reg_shift = bp_shift;
	ret->type_shift = type_shift;
	ret->type_bits = type_bits;
	ret->end_shift = end_shift;
	return true;
}

static bool from_values(const struct vp_orc_raw *raw, struct vp_orc_layout *ret)
{
	size_t n = raw->orc_size / ENTRY_SIZE, old = 0, new = 0;
	bool bit11 = false;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *e = raw->orc + i * ENTRY_SIZE;
		unsigned high = e[5];

		old += (high & 7) == old_layout.type_call;
		new += (high & 7) == new_layout.type_call;
		bit11 |= high & 8;
	}
	/* Nine of ten entries are calls; without a majority neither layout is assumed. */
	if (old > n / 2) {
		*ret = old_layout;
		ret->end_shift = bit11 ? 11 : 10; /* after the `signal` bit of some releases */
		return true;
	}
	if (new > n / 2) {
		*ret = new_layout;
		return true;
	}
	return false;
}

/* The two numberings of registers. */
static const struct numbering {
	uint8_t sp, prev_sp; /* these two distinguish them */
	uint8_t sp_bases[VP_ORC_REGISTERS], bp_bases[VP_ORC_REGISTERS];
} numberings[] = {
	{
	    .sp = 5,
	    .prev_sp = 1,
	    .sp_bases = { [2] = VP_ORC_DX,
			  [3] = VP_ORC_DI,
			  [4] = VP_ORC_BP,
			  [5] = VP_ORC_SP,
			  [6] = VP_ORC_R10,
			  [7] = VP_ORC_R13,
			  [8] = VP_ORC_BP_INDIRECT,
			  [9] = VP_ORC_SP_INDIRECT },
	    .bp_bases = { [1] = VP_ORC_SP, [4] = VP_ORC_BP },
	},
	{
	    .sp = 3,
	    .prev_sp = 8,
	    .sp_bases = { [2] = VP_ORC_DX,
			  [3] = VP_ORC_SP,
			  [4] = VP_ORC_BP,
			  [5] = VP_ORC_DI,
			  [6] = VP_ORC_R10,
			  [7] = VP_ORC_R13,
			  [9] = VP_ORC_SP_INDIRECT,
			  [10] = VP_ORC_BP_INDIRECT },
	    .bp_bases = { [4] = VP_ORC_BP, [8] = VP_ORC_SP },
	},
};

/* The number that more than half of the entries have, not counting 0 (undefined); 0: there is none. */
static uint8_t commonest(const size_t counts[VP_ORC_REGISTERS])
{
	size_t total = 0, best = 0;

	for (size_t i = 1; i < VP_ORC_REGISTERS; i++) {
		total += counts[i];
		if (counts[i] > counts[best] || !best)
			best = i;
	}
	return counts[best] > total / 2 ? (uint8_t)best : 0;
}

/* False: no register number has a majority as the stack pointer. */
static bool find_registers(const struct vp_orc_raw *raw, struct vp_orc_layout *layout)
{
	size_t sp[VP_ORC_REGISTERS] = { 0 }, bp[VP_ORC_REGISTERS] = { 0 };
	uint8_t most_sp, most_bp;

	for (size_t i = 0; i < raw->orc_size / ENTRY_SIZE; i++) {
		const uint8_t *e = raw->orc + i * ENTRY_SIZE;
		unsigned flags = e[4] | (unsigned)e[5] << 8;

		if ((flags >> layout->type_shift & ((1u << layout->type_bits) - 1)) != layout->type_call)
			continue;
		sp[flags >> layout->sp_reg_shift & 15]++;
		bp[flags >> layout->bp_reg_shift & 15]++;
	}
	most_sp = commonest(sp);
	most_bp = commonest(bp);
	if (!most_sp)
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(numberings); i++) {
		const struct numbering *n = &numberings[i];

		/* A table may contain no saved frame pointer. */
		if (n->sp == most_sp && (!most_bp || n->prev_sp == most_bp)) {
			memcpy(layout->sp_bases, n->sp_bases, sizeof(n->sp_bases));
			memcpy(layout->bp_bases, n->bp_bases, sizeof(n->bp_bases));
			return true;
		}
	}
	memset(layout->sp_bases, 0, sizeof(layout->sp_bases));
	memset(layout->bp_bases, 0, sizeof(layout->bp_bases));
	layout->sp_bases[most_sp] = VP_ORC_SP;
	if (most_bp)
		layout->bp_bases[most_bp] = VP_ORC_SP;
	return true;
}

struct ot_err *vp_orc_layout(const struct vp_btf *btf, const struct vp_orc_raw *raw,
			     struct vp_orc_layout *ret)
{
	if (((btf && from_btf(btf, ret)) || from_values(raw, ret)) && find_registers(raw, ret))
		return NULL;
	return ot_err_new(OT_ERR_NOT_FOUND, "the layout of the guest's ORC entries can't be determined");
}
