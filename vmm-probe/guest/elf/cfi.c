/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading .eh_frame (Linux Standard Base, "Exception Frames"): a description (FDE) of each function, which
 * refers to the common part of several (CIE). Functions are read in the order of .eh_frame_hdr. One that
 * begins before the end of the previous one is omitted, so that rows are in order even for a hostile file.
 */
#include "vmm-probe/guest/elf/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/elf/cfi_program.h"
#include "vmm-probe/guest/elf/eh_frame.h"

#define CIE_MAX      1024u
#define FDE_MAX      (64u << 10)
#define PCREL_SDATA4 0x1bu
#define CHECK_EVERY  1024u /* functions */

struct reader {
	struct vp_elf *elf;
	struct vp_cfi *cfi;
	uint64_t saved; /* vp_cfi_common.saved */
	uint64_t end;   /* of the last function that has rows */
	/* the last CIE, which the next function mostly has too */
	uint64_t cie_addr; /* 0: none */
	bool cie_makes_sense;
	struct vp_cfi_common common; /* its program is in … */
	uint8_t cie[CIE_MAX], fde[FDE_MAX];
};

/* --- entries of .eh_frame ---------------------------------------------------------------------------- */

/* The bytes after the length of the entry at @addr. False: it has an unusual form, or is too long. */
static bool read_entry(struct vp_elf *elf, uint64_t addr, uint8_t *to, size_t max, struct vp_cfi_bytes *ret)
{
	uint32_t length;
	uint64_t at;

	if (!vp_elf_offset(elf, addr, sizeof(length), &at) ||
	    !vp_elf_image_read(elf->image, VP_PART_FRAMES, at, &length, sizeof(length)) || !length ||
	    length > max || !vp_elf_offset(elf, addr + sizeof(length), length, &at) ||
	    !vp_elf_image_read(elf->image, VP_PART_FRAMES, at, to, length))
		return false;
	*ret = (struct vp_cfi_bytes){ .at = to, .end = to + length };
	return true;
}

/* Skip a pointer in that encoding. */
static void skip_pointer(struct vp_cfi_bytes *b, uint8_t encoding)
{
	static const uint8_t size[8] = { 8, 0, 2, 4, 8, 0, 0, 0 };

	if (encoding == 0xff)
		return;
	if (!size[encoding & 7] || (encoding & 0x70) == 0x50)
		b->bad = true;
	else
		vp_cfi_take(b, size[encoding & 7]);
}

/* The letters after the 'z', and the data of each. */
static bool read_augmentation(const char *letters, struct vp_cfi_bytes data, struct vp_cfi_common *c)
{
	uint8_t encoding = 0;

	for (; *letters; letters++) {
		if (*letters == 'R')
			encoding = (uint8_t)vp_cfi_fixed(&data, 1);
		else if (*letters == 'P')
			skip_pointer(&data, (uint8_t)vp_cfi_fixed(&data, 1));
		else if (*letters == 'L')
			vp_cfi_fixed(&data, 1);
		else if (*letters == 'S')
			c->is_signal = true;
		else
			return false;
	}
	return !data.bad && encoding == PCREL_SDATA4;
}

static bool parse_cie(struct vp_cfi_bytes b, struct vp_cfi_common *c)
{
	uint64_t id = vp_cfi_fixed(&b, 4), version = vp_cfi_fixed(&b, 1), ra, size;
	const char *letters = (const char *)b.at;
	const uint8_t *data;

	if (id || (version != 1 && version != 3) || !memchr(b.at, '\0', (size_t)(b.end - b.at)) ||
	    *letters != 'z')
		return false;
	vp_cfi_take(&b, strlen(letters) + 1);
	c->code_align = vp_cfi_uleb(&b);
	c->data_align = vp_cfi_sleb(&b);
	ra = version == 1 ? vp_cfi_fixed(&b, 1) : vp_cfi_uleb(&b);
	size = vp_cfi_uleb(&b);
	data = vp_cfi_take(&b, size);
	if (!data || ra != VP_DWARF_RA ||
	    !read_augmentation(letters + 1, (struct vp_cfi_bytes){ .at = data, .end = data + size }, c))
		return false;
	c->program = b;
	return true;
}

static bool use_cie(struct reader *r, uint64_t addr)
{
	struct vp_cfi_bytes b;

	if (addr == r->cie_addr)
		return r->cie_makes_sense;
	r->common = (struct vp_cfi_common){ .saved = r->saved };
	r->cie_addr = addr;
	r->cie_makes_sense = read_entry(r->elf, addr, r->cie, sizeof(r->cie), &b) && parse_cie(b, &r->common);
	return r->cie_makes_sense;
}

/* --- functions --------------------------------------------------------------------------------------- */

/* The contents of the description at entry->description. False: its page is missing. *ret_sense false: it is
 * invalid, or has another form; the function's end is still correct, if there is one. */
static bool read_fde(struct reader *r, const struct vp_eh_entry *entry, struct vp_cfi_function *f,
		     bool *ret_sense)
{
	uint64_t missing = r->elf->image->missing[VP_PART_FRAMES], back, range, skip;
	struct vp_cfi_bytes b;
	int32_t begin;

	*f = (struct vp_cfi_function){ .start = entry->function, .end = entry->function };
	*ret_sense = false;
	if (!read_entry(r->elf, entry->description, r->fde, sizeof(r->fde), &b))
		return r->elf->image->missing[VP_PART_FRAMES] == missing;
	back = vp_cfi_fixed(&b, 4);
	begin = (int32_t)vp_cfi_fixed(&b, 4);
	range = vp_cfi_fixed(&b, 4);
	if (b.bad || entry->description + 8 + (uint64_t)(int64_t)begin != entry->function ||
	    __builtin_add_overflow(f->start, range, &f->end)) {
		f->end = f->start;
		return true;
	}
	bool known = use_cie(r, entry->description + 4 - back);
	skip = vp_cfi_uleb(&b);
	vp_cfi_take(&b, skip);
	f->program = b;
	*ret_sense = known && !b.bad;
	return known || r->elf->image->missing[VP_PART_FRAMES] == missing;
}

/* False: no memory, or too many. */
static bool add_row(void *arg, uint64_t addr, const struct vp_frame_row *row)
{
	struct vp_cfi *cfi = arg;
	uint64_t offset = addr - cfi->base;
	struct vp_frame_row *last = cfi->count ? &cfi->rows[cfi->count - 1] : NULL;

	if (last && last->offset == offset)
		last = --cfi->count ? &cfi->rows[cfi->count - 1] : NULL;
	if (last && last->cfa == row->cfa && last->fp == row->fp)
		return true;
	if (cfi->count == VP_CFI_ROWS_MAX ||
	    !ot_grow(&cfi->rows, &cfi->cap, cfi->count + 1, sizeof(*cfi->rows)))
		return false;
	cfi->rows[cfi->count] = *row;
	cfi->rows[cfi->count++].offset = (uint32_t)offset;
	return true;
}

/* Its rows, and at its end the row without a rule. */
static bool add_function(struct reader *r, const struct vp_cfi_function *f, bool sense)
{
	const struct vp_frame_row none = vp_frame_row(0, VP_FRAME_NONE, 0, 0);
	const struct vp_frame_row stop = vp_frame_row(0, VP_FRAME_STOP, 0, 0);

	if (f->start < r->end || f->end <= f->start || f->end - r->cfi->base > UINT32_MAX)
		return true;
	r->end = f->end;
	return (sense ? vp_cfi_run(&r->common, f, add_row, r->cfi) : add_row(r->cfi, f->start, &stop)) &&
	       add_row(r->cfi, f->end, &none);
}

static struct ot_err *no_room(const struct vp_cfi *cfi)
{
	if (cfi->count == VP_CFI_ROWS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "its .eh_frame has more than %u rules", VP_CFI_ROWS_MAX);
	return ot_err_nomem();
}

static struct ot_err *read_all(struct reader *r, const struct vp_eh_table *t)
{
	struct vp_cfi_function f;
	struct vp_eh_entry entry;
	bool sense;

	for (uint32_t i = 0; i < t->count && r->elf->image->fuel; i++) {
		if (i % CHECK_EVERY == 0)
			OT_TRY(vp_budget_check());
		r->cfi->functions++;
		if (!vp_eh_table_entry(r->elf, t, i, &entry) || !read_fde(r, &entry, &f, &sense)) {
			r->cfi->missing++;
			continue;
		}
		if (!r->end)
			r->cfi->base = r->end = f.start;
		if (!add_function(r, &f, sense))
			return no_room(r->cfi);
	}
	return NULL;
}

struct ot_err *vp_cfi_read_saved(struct vp_elf *elf, uint64_t reg, struct vp_cfi *ret)
{
	ot_auto(vp_cfi_deinit) struct vp_cfi cfi = { 0 };
	ot_auto_free struct reader *r = NULL;
	struct vp_eh_table table;

	if (!vp_eh_table_find(elf, &table))
		return ot_err_new(OT_ERR_NOT_FOUND, "it has no .eh_frame_hdr that can be read");
	r = calloc(1, sizeof(*r));
	if (!r)
		return ot_err_nomem();
	r->elf = elf;
	r->cfi = &cfi;
	r->saved = reg;
	OT_TRY(read_all(r, &table));
	*ret = cfi;
	cfi = (struct vp_cfi){ 0 };
	return NULL;
}

struct ot_err *vp_cfi_read(struct vp_elf *elf, struct vp_cfi *ret)
{
	return vp_cfi_read_saved(elf, VP_DWARF_FP, ret);
}

void vp_cfi_deinit(struct vp_cfi *cfi)
{
	free(cfi->rows);
	*cfi = (struct vp_cfi){ 0 };
}
