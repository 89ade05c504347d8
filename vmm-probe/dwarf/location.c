/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place of a parameter at the first instruction of a copy.
 *
 * Between two instructions a variable may have several values one after the other, if the compiler has
 * removed the code between them. GCC numbers these moments: a view is one of them, an inlined copy begins at
 * one (DW_AT_GNU_entry_view), and each entry of a list of locations is from one to another
 * (DW_AT_GNU_locviews: pairs of LEB128 numbers, in the entries' order). Without them a parameter that the
 * function's first statement changes would be read as changed.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/dwarf/reader_internal.h"

/* The views of a list's entries, up to the reader's position; at NULL: it has none, all are 0. */
struct views {
	const uint8_t *at, *end;
};

static uint64_t take_view(struct views *v)
{
	uint64_t value = 0;

	for (unsigned shift = 0; v->at && v->at < v->end; shift += 7) {
		uint8_t byte = *v->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* False: it has views that can't be read. */
static bool find_views(struct vp_dwarf_reader *r, Dwarf_Die *die, struct views *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	Dwarf_Half version = 0;
	const Elf_Data *data;

	*ret = (struct views){ NULL, NULL };
	if (!dwarf_attr(die, DW_AT_GNU_locviews, &attr))
		return true;
	if (dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) != 0 ||
	    dwarf_formudata(&attr, &offset) != 0)
		return false;
	data = r->loclists[version >= 5];
	if (!data || offset >= data->d_size)
		return false;
	*ret = (struct views){ (const uint8_t *)data->d_buf + offset,
			       (const uint8_t *)data->d_buf + data->d_size };
	return true;
}

/* The expression that is valid at @pc, @view. */
static bool find_expression(struct vp_dwarf_reader *r, Dwarf_Die *die, Dwarf_Attribute *attr, Dwarf_Addr pc,
			    uint64_t view, Dwarf_Op **ret, size_t *ret_n)
{
	Dwarf_Addr base, start, end;
	struct views views;
	ptrdiff_t at = 0;

	if (!find_views(r, die, &views))
		return false;
	while ((at = dwarf_getlocations(attr, at, &base, &start, &end, ret, ret_n)) > 0) {
		uint64_t from = take_view(&views), to = take_view(&views);
		bool begun = start < pc || (start == pc && from <= view);
		bool ended = end < pc || (end == pc && to <= view);

		if (begun && !ended)
			return true;
	}
	return false;
}

/* --- expressions ------------------------------------------------------------------------------------------ */

/* @op is register plus number: *ret is that place in memory. */
static bool register_plus(const Dwarf_Op *op, struct vp_copies_place *ret)
{
	Dwarf_Word reg = op->atom - DW_OP_breg0;
	Dwarf_Word offset = op->number;

	if (op->atom == DW_OP_bregx) {
		reg = op->number;
		offset = op->number2;
	} else if (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31) {
		return false;
	}
	if (reg > UINT8_MAX)
		return false;
	ret->kind = VP_PLACE_MEMORY;
	ret->reg = (uint8_t)reg;
	ret->value = (int64_t)offset;
	return true;
}

/* The canonical frame address at @pc. */
static bool frame_address(struct vp_dwarf_reader *r, Dwarf_Addr pc, struct vp_copies_place *ret)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;

	if (!r->cfi || dwarf_cfi_addrframe(r->cfi, pc, &frame) != 0)
		return false;
	bool ok = dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && register_plus(&ops[0], ret);
	free(frame);
	return ok;
}

/* Relative to the function's frame, which compilers for Linux make the canonical frame address. */
static bool frame_plus(struct vp_dwarf_reader *r, const Dwarf_Op *op, Dwarf_Addr pc,
		       struct vp_copies_place *ret)
{
	if (op->atom != DW_OP_fbreg || !frame_address(r, pc, ret))
		return false;
	ret->value += (int64_t)op->number;
	return true;
}

static bool constant(struct vp_dwarf_reader *r, const Dwarf_Op *op, struct vp_copies_place *ret)
{
	ret->kind = VP_PLACE_CONST;
	ret->value = (int64_t)op->number;
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		ret->value = op->atom - DW_OP_lit0;
		return true;
	}
	switch (op->atom) {
	case DW_OP_addr:
		ret->kind = VP_PLACE_ADDRESS;
		ret->value = (int64_t)(op->number - r->base);
		return true;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return true;
	default:
		return false;
	}
}

static bool is_register(const Dwarf_Op *op, struct vp_copies_place *ret)
{
	Dwarf_Word reg = op->atom == DW_OP_regx ? op->number : (Dwarf_Word)op->atom - DW_OP_reg0;

	if (op->atom != DW_OP_regx && (op->atom < DW_OP_reg0 || op->atom > DW_OP_reg31))
		return false;
	ret->kind = VP_PLACE_REG;
	ret->reg = (uint8_t)reg;
	return reg <= UINT8_MAX;
}

/* One operation, then numbers to add, then perhaps the word that this is the value itself, not its place. */
static bool place_of(struct vp_dwarf_reader *r, const Dwarf_Op *ops, size_t n, Dwarf_Addr pc,
		     struct vp_copies_place *ret)
{
	bool is_value = n && ops[n - 1].atom == DW_OP_stack_value;
	bool is_address;

	if (!n || n - is_value == 0)
		return false;
	if (n == 1 && is_register(&ops[0], ret))
		return true;
	is_address = register_plus(&ops[0], ret) || frame_plus(r, &ops[0], pc, ret);
	if (!is_address && !constant(r, &ops[0], ret))
		return false;
	for (size_t i = 1; i < n - is_value; i++) {
		if (ops[i].atom != DW_OP_plus_uconst)
			return false;
		ret->value = (int64_t)((uint64_t)ret->value + ops[i].number);
	}
	if (is_address && is_value)
		ret->kind = VP_PLACE_REG;
	return is_address || is_value;
}

static bool const_value(Dwarf_Die *die, struct vp_copies_place *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Sword value;
	unsigned form;

	if (!dwarf_attr(die, DW_AT_const_value, &attr))
		return false;
	form = dwarf_whatform(&attr);
	if (form != DW_FORM_data1 && form != DW_FORM_data2 && form != DW_FORM_data4 &&
	    form != DW_FORM_data8 && form != DW_FORM_sdata && form != DW_FORM_udata &&
	    form != DW_FORM_implicit_const)
		return false;
	ret->kind = VP_PLACE_CONST;
	if (dwarf_formsdata(&attr, &value) != 0)
		return false;
	ret->value = value;
	return true;
}

struct vp_copies_place vp_dwarf_place(struct vp_dwarf_reader *r, Dwarf_Die *die, Dwarf_Addr pc, uint64_t view)
{
	struct vp_copies_place place = { 0 };
	const struct vp_copies_place none = { 0 };
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (const_value(die, &place))
		return place;
	if (!dwarf_attr(die, DW_AT_location, &attr) || !find_expression(r, die, &attr, pc, view, &ops, &n))
		return none;
	place = none;
	if (!place_of(r, ops, n, pc, &place))
		return none;
	if (place.kind == VP_PLACE_MEMORY) {
		uint64_t size = vp_dwarf_type_size(die);

		if (size != 1 && size != 2 && size != 4 && size != 8)
			return none;
		place.size = (uint8_t)size;
	} else if (vp_dwarf_type_size(die) > 8) {
		return none;
	}
	return place;
}
