/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that read DWARF: reader.c walks, function.c has the inlined functions, location.c the
 * places of their parameters, type_name.c their types, rows.c the copies without an entry of their own;
 * block.c makes the result. */
#ifndef VP_DWARF_READER_INTERNAL_H
#define VP_DWARF_READER_INTERNAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/map.h"
#include "vmm-probe/dwarf/copies.h"
#include "vmm-probe/dwarf/reader.h"

/* A function that is inlined somewhere, as one compilation unit has it. */
struct vp_dwarf_origin {
	uint32_t function; /* index in the block */
	uint32_t nparams;
	Dwarf_Off params[VP_COPIES_PARAMS];
	const char *file; /* where it is declared; NULL: unknown */
	int line, column;
	bool is_one_line; /* its rows of the line table can't be distinguished; set by vp_dwarf_add_rows() */
};

/* A copy, or the function's own code, as one compilation unit has it. */
struct vp_dwarf_found {
	struct vp_dwarf_origin *origin;
	Dwarf_Die die;
	Dwarf_Addr entry;
	uint32_t first_range, nranges;
};

/* A block that grows. */
struct vp_block_maker {
	struct vp_copies_head head;
	struct ot_buf functions, params, copies, ranges, places, strings;
	struct ot_buf owners;   /* u32: each copy's function */
	struct ot_map interned; /* strings and lists of places: where they are, plus 1 */
};

struct vp_dwarf_reader {
	Dwarf *dwarf;
	Elf *elf;
	uint64_t base;           /* the image's start */
	Dwarf_CFI *cfi;          /* NULL: none */
	Elf_Data *loclists[2];   /* .debug_loc and .debug_loclists; NULL: none */
	struct ot_map origins;   /* by offset: struct vp_dwarf_origin */
	struct ot_map functions; /* by name, line and prototype: index plus 1 */
	struct vp_block_maker maker;
	/* Of the compilation unit that is read: */
	struct ot_buf origins_here; /* struct vp_dwarf_origin *: those that are met first */
	struct ot_buf copies_here;  /* struct vp_dwarf_found */
	struct ot_buf bodies_here;  /* the same, of functions' own code; without entry and ranges */
};

/* --- reader.c --- */
/** Add a copy that begins at @p entry, view @p view. @p die has its parameters; NULL: it has none. */
void vp_dwarf_add_copy(struct vp_dwarf_reader *r, const struct vp_dwarf_origin *origin, Dwarf_Die *die,
		       Dwarf_Addr entry, uint64_t view, uint32_t first_range, uint32_t nranges);

/* --- rows.c --- */
/** Add the copies of compilation unit @p unit that are only in its line table. */
OT_MUST_CHECK struct ot_err *vp_dwarf_add_rows(struct vp_dwarf_reader *r, Dwarf_Die *unit);

/* --- block.c --- */
void vp_block_init(struct vp_block_maker *m);
uint32_t vp_block_string(struct vp_block_maker *m, const char *s);
/** Put in @p n places of a copy, once if others have the same; their index. */
uint32_t vp_block_places(struct vp_block_maker *m, const struct vp_copies_place *places, uint32_t n);
/** Order it, and append it to @p ret. */
OT_MUST_CHECK struct ot_err *vp_block_finish(struct vp_block_maker *m, struct ot_buf *ret);

/* --- function.c --- */
/** The record of the inlined subprogram @p die; NULL, with *ret_err unset: it has no name. */
struct vp_dwarf_origin *vp_dwarf_origin_of(struct vp_dwarf_reader *r, Dwarf_Die *die,
					   struct ot_err **ret_err);

/* --- type_name.c --- */
/** Append the name of @p die's type as C and BTF have it, without qualifiers; nothing: it has none. */
void vp_dwarf_type_name(Dwarf_Die *die, struct ot_buf *out);
/** Bytes of @p die's type; 0: unknown. */
uint64_t vp_dwarf_type_size(Dwarf_Die *die);

/* --- location.c --- */
/** The place of the parameter @p die at address @p pc, view @p view; VP_PLACE_NONE if it is unknown. */
struct vp_copies_place vp_dwarf_place(struct vp_dwarf_reader *r, Dwarf_Die *die, Dwarf_Addr pc,
				      uint64_t view);

#endif
