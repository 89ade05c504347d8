/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking all functions of a file for the functions inlined into them. In a confined child. */
#include "vmm-probe/dwarf/reader.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/confined/confined.h"
#include "vmm-probe/dwarf/reader_internal.h"

#define DEPTH_MAX 200u /* of blocks in blocks */

static struct ot_err *broken(const char *what)
{
	return ot_err_new(OT_ERR_BAD_DATA, "%s: %s", what, dwarf_errmsg(-1));
}

/* --- one copy --------------------------------------------------------------------------------------------- */

/* An address in the image, in the form of a copy's. */
static bool in_image(const struct vp_dwarf_reader *r, Dwarf_Addr addr)
{
	return addr >= r->base && addr - r->base < UINT32_MAX;
}

/* Append its ranges; of one with too many, one that spans them all. False: one is not in the image. */
static bool add_ranges(struct vp_dwarf_reader *r, Dwarf_Die *die, struct vp_copies_copy *copy,
		       Dwarf_Addr *ret_first)
{
	struct vp_copies_range list[VP_COPIES_RANGES], all = { UINT32_MAX, 0 };
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	uint32_t n = 0;

	*ret_first = 0;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!*ret_first)
			*ret_first = start;
		if (start == end)
			continue;
		if (start > end || !in_image(r, start) || !in_image(r, end))
			return false;
		struct vp_copies_range one = { (uint32_t)(start - r->base), (uint32_t)(end - r->base) };
		if (n < VP_COPIES_RANGES)
			list[n] = one;
		n++;
		all.start = one.start < all.start ? one.start : all.start;
		all.end = one.end > all.end ? one.end : all.end;
	}
	copy->first_range = (uint32_t)(r->maker.ranges.len / sizeof(all));
	copy->nranges = n > VP_COPIES_RANGES ? 1 : n;
	ot_buf_append(&r->maker.ranges, n > VP_COPIES_RANGES ? &all : list, copy->nranges * sizeof(all));
	return true;
}

/* DW_AT_entry_pc, or the start of its code. */
static bool entry_of(Dwarf_Die *die, Dwarf_Addr first, Dwarf_Addr *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Addr low = first;
	Dwarf_Word offset;

	(void)dwarf_lowpc(die, &low);
	if (!dwarf_attr(die, DW_AT_entry_pc, &attr)) {
		*ret = low;
		return low != 0;
	}
	if (dwarf_formaddr(&attr, ret) == 0)
		return true;
	if (dwarf_formudata(&attr, &offset) != 0)
		return false;
	*ret = low + offset;
	return low != 0;
}

static uint64_t entry_view(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word view;

	if (!dwarf_attr(die, DW_AT_GNU_entry_view, &attr) || dwarf_formudata(&attr, &view) != 0)
		return 0;
	return view;
}

/* The places of its parameters, each of which names the one of the function that it is. */
static void find_places(struct vp_dwarf_reader *r, Dwarf_Die *die, const struct vp_dwarf_origin *origin,
			Dwarf_Addr pc, uint64_t view, struct vp_copies_place *places)
{
	Dwarf_Die child, param;
	Dwarf_Attribute attr;

	if (!origin->nparams || dwarf_child(die, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    !dwarf_formref_die(dwarf_attr(&child, DW_AT_abstract_origin, &attr), &param))
			continue;
		for (uint32_t i = 0; i < origin->nparams; i++)
			if (origin->params[i] == dwarf_dieoffset(&param))
				places[i] = vp_dwarf_place(r, &child, pc, view);
	} while (dwarf_siblingof(&child, &child) == 0);
}

void vp_dwarf_add_copy(struct vp_dwarf_reader *r, const struct vp_dwarf_origin *origin, Dwarf_Die *die,
		       Dwarf_Addr entry, uint64_t view, uint32_t first_range, uint32_t nranges)
{
	struct vp_copies_place places[VP_COPIES_PARAMS] = { 0 };
	struct vp_block_maker *m = &r->maker;
	struct vp_copies_copy copy = {
		.entry = (uint32_t)(entry - r->base),
		.first_range = first_range,
		.nranges = nranges,
	};

	if (die)
		find_places(r, die, origin, entry, view, places);
	copy.first_place = vp_block_places(m, places, origin->nparams);
	ot_buf_append(&m->copies, &copy, sizeof(copy));
	ot_buf_append(&m->owners, &origin->function, sizeof(origin->function));
}

/* The function that @die is a copy of, or whose own code it is; NULL, with *ret_err unset: not known. */
static struct vp_dwarf_origin *origin_of(struct vp_dwarf_reader *r, Dwarf_Die *die, struct ot_err **ret_err)
{
	Dwarf_Attribute attr;
	Dwarf_Die of;

	*ret_err = NULL;
	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attr), &of))
		return NULL;
	return vp_dwarf_origin_of(r, &of, ret_err);
}

static struct ot_err *add_found(struct vp_dwarf_reader *r, Dwarf_Die *die)
{
	struct vp_copies_copy copy = { 0 };
	struct ot_err *err;
	struct vp_dwarf_found found = { .origin = origin_of(r, die, &err), .die = *die };
	Dwarf_Addr first;

	if (!found.origin)
		return err;
	if (dwarf_tag(die) == DW_TAG_subprogram) {
		ot_buf_append(&r->bodies_here, &found, sizeof(found));
		return NULL;
	}
	if (!add_ranges(r, die, &copy, &first) || !entry_of(die, first, &found.entry) ||
	    !in_image(r, found.entry))
		return NULL; /* code that the linker has dropped */
	found.first_range = copy.first_range;
	found.nranges = copy.nranges;
	vp_dwarf_add_copy(r, found.origin, die, found.entry, entry_view(die), found.first_range,
			  found.nranges);
	ot_buf_append(&r->copies_here, &found, sizeof(found));
	return r->maker.copies.failed || r->copies_here.failed ? ot_err_nomem() : NULL;
}

/* --- the walk --------------------------------------------------------------------------------------------- */

/* Entries that may contain copies: functions with code (an abstract one has no copies with addresses), and
 * blocks. */
static bool is_inside(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
	       (tag == DW_TAG_subprogram && !dwarf_hasattr(die, DW_AT_inline) &&
		!dwarf_hasattr(die, DW_AT_declaration));
}

/* Not more deeply than DEPTH_MAX, by recursion. */
static struct ot_err *walk(struct vp_dwarf_reader *r, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	if (depth > DEPTH_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "functions are nested more than %u deep", DEPTH_MAX);
	for (; more == 0; more = dwarf_siblingof(&die, &die)) {
		if (!is_inside(&die))
			continue;
		if (dwarf_tag(&die) != DW_TAG_lexical_block)
			OT_TRY(add_found(r, &die));
		OT_TRY(walk(r, &die, depth + 1));
	}
	return more < 0 ? broken("an entry") : NULL;
}

static struct ot_err *read_unit(struct vp_dwarf_reader *r, Dwarf_Die *unit)
{
	ot_buf_clear(&r->origins_here);
	ot_buf_clear(&r->copies_here);
	ot_buf_clear(&r->bodies_here);
	OT_TRY(walk(r, unit, 0));
	return vp_dwarf_add_rows(r, unit);
}

static struct ot_err *walk_units(struct vp_dwarf_reader *r)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	int more;

	while ((more = dwarf_get_units(r->dwarf, cu, &cu, NULL, NULL, &unit, NULL)) == 0)
		if (dwarf_tag(&unit) == DW_TAG_compile_unit)
			OT_TRY(read_unit(r, &unit));
	return more < 0 ? broken("a unit") : NULL;
}

/* --- the file --------------------------------------------------------------------------------------------- */

/* The image starts with its lowest segment that has text or data of the program: one at address 0 is that of
 * per-CPU variables. */
static struct ot_err *find_base(struct vp_dwarf_reader *r)
{
	size_t n;

	r->base = UINT64_MAX;
	if (elf_getphdrnum(r->elf, &n) < 0)
		return ot_err_new(OT_ERR_BAD_DATA, "no segments: %s", elf_errmsg(-1));
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(r->elf, (int)i, &phdr) && phdr.p_type == PT_LOAD && phdr.p_vaddr &&
		    phdr.p_vaddr < r->base)
			r->base = phdr.p_vaddr;
	}
	return r->base == UINT64_MAX ? ot_err_new(OT_ERR_BAD_DATA, "it has no segments") : NULL;
}

static void find_loclists(struct vp_dwarf_reader *r)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(r->elf, &names) < 0)
		return;
	while ((scn = elf_nextscn(r->elf, scn))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(r->elf, names, shdr.sh_name) : NULL;
		bool is_new = name && !strcmp(name, ".debug_loclists");

		if (name && !(shdr.sh_flags & SHF_COMPRESSED) && (is_new || !strcmp(name, ".debug_loc")))
			r->loclists[is_new] = elf_rawdata(scn, NULL);
	}
}

static struct ot_err *read_copies(struct vp_dwarf_reader *r, struct ot_buf *ret)
{
	const void *id;
	ssize_t len = dwelf_elf_gnu_build_id(r->elf, &id);

	vp_block_init(&r->maker);
	ot_map_init(&r->origins);
	ot_map_init(&r->functions);
	if (len > 0 && len <= (ssize_t)VP_COPIES_BUILD_ID) {
		memcpy(r->maker.head.build_id, id, (size_t)len);
		r->maker.head.build_id_len = (uint32_t)len;
	}
	OT_TRY(find_base(r));
	find_loclists(r);
	r->cfi = dwarf_getcfi(r->dwarf);
	OT_TRY(walk_units(r));
	return vp_block_finish(&r->maker, ret);
}

/* The child ends after this: memory of libdw and the maker is not freed. */
struct ot_err *vp_dwarf_copies(int fd, struct ot_buf *ret)
{
	struct vp_dwarf_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return ot_err_nomem();
	if (elf_version(EV_CURRENT) == EV_NONE)
		return ot_err_new(OT_ERR_UNSUPPORTED, "libelf: %s", elf_errmsg(-1));
	r->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!r->elf || elf_kind(r->elf) != ELF_K_ELF)
		return ot_err_new(OT_ERR_BAD_DATA, "it is no ELF file");
	r->dwarf = dwarf_begin_elf(r->elf, DWARF_C_READ, NULL);
	if (!r->dwarf)
		return ot_err_new(
		    OT_ERR_NOT_FOUND,
		    "it has no debugging information (DWARF), which says where functions are inlined");
	dwarf_new_oom_handler(r->dwarf, vp_confined_no_memory);
	return read_copies(r, ret);
}
