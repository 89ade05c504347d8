/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of parameters' types. */
#include <dwarf.h>
#include <string.h>

#include "vmm-probe/dwarf/reader_internal.h"

#define POINTERS_MAX 8u
#define DEPTH_MAX    32u /* qualifiers and pointers; hostile types are circular */

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
	       tag == DW_TAG_atomic_type;
}

/* The type of @die, of which DW_AT_type is absent for void. */
static Dwarf_Die *type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), ret);
}

/* "struct " and so on; NULL: a type without a name of its own kind. */
static const char *keyword(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	case DW_TAG_base_type:
	case DW_TAG_typedef:
		return "";
	default:
		return NULL;
	}
}

void vp_dwarf_type_name(Dwarf_Die *die, struct ot_buf *out)
{
	Dwarf_Die at = *die, next;
	unsigned pointers = 0;
	const char *word = NULL, *name = NULL;

	for (unsigned i = 0; i < DEPTH_MAX; i++) {
		Dwarf_Die *type = type_of(&at, &next);
		if (!type) {
			name = i ? "void" : NULL;
			word = "";
			break;
		}
		at = next;
		if (dwarf_tag(&at) == DW_TAG_pointer_type) {
			pointers++;
		} else if (!is_qualifier(dwarf_tag(&at))) {
			word = keyword(dwarf_tag(&at));
			name = word ? dwarf_diename(&at) : NULL;
			break;
		}
	}
	/* A pointer to a type without a name is still a pointer. */
	if (pointers && !name) {
		word = "";
		name = "void";
		pointers = 1;
	}
	if (!name || pointers > POINTERS_MAX || strlen(name) > VP_COPIES_STRING_MAX - 32)
		return;
	ot_buf_printf(out, "%s%s%s", word, name, pointers ? " " : "");
	while (pointers--)
		ot_buf_putc(out, '*');
}

uint64_t vp_dwarf_type_size(Dwarf_Die *die)
{
	Dwarf_Die type, peeled;
	Dwarf_Word size;

	if (!type_of(die, &type) || dwarf_peel_type(&type, &peeled) != 0)
		return 0;
	if (dwarf_tag(&peeled) == DW_TAG_pointer_type)
		return 8;
	return dwarf_aggregate_size(&peeled, &size) == 0 ? size : 0;
}
