/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which layout of struct orc_entry a guest has. Two things changed over time: `type` grew from two
 * bits to three and took over "end of stack" from a bit of its own, and with that its values moved
 * by two. The presence of the `end` member tells; and without types, so does the commonest type
 * of all, an ordinary call.
 */
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/orc.h"

#define ENTRY_SIZE 6
#define FLAGS_BIT  32 /* the flags follow two 16-bit offsets */
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

/* A bit-field of the flags. False: missing, or not where flags are. */
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
	/* Calls are nine entries of ten; anything less clear is not read as either. */
	if (old > n / 2) {
		*ret = old_layout;
		ret->end_shift = bit11 ? 11 : 10; /* behind `signal`, where there was one */
		return true;
	}
	if (new > n / 2) {
		*ret = new_layout;
		return true;
	}
	return false;
}

struct ot_err *vp_orc_layout(const struct vp_btf *btf, const struct vp_orc_raw *raw,
			     struct vp_orc_layout *ret)
{
	if ((btf && from_btf(btf, ret)) || from_values(raw, ret))
		return NULL;
	return ot_err_new(OT_ERR_NOT_FOUND, "the layout of the guest's ORC entries can't be told");
}
