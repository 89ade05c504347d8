/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile programs of a guest: headers, symbols, tables of functions, and how these keep their frames. The
 * input is a file, read whole, and again with every third page missing; the invariant is an error, or symbols
 * that are in order, functions that contain what was looked for, and rules that are in order.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/seed.h"
#include "vmm-probe/guest/elf/cfi.h"
#include "vmm-probe/guest/elf/pages.h"
#include "vmm-probe/guest/elf/symbols.h"

#define FUEL 200000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
	bool holes;
};

static bool named, ruled; /* it has symbols, and rules for stacks */

static bool read_page(void *arg, uint64_t index, uint8_t *dst)
{
	const struct input *in = arg;
	size_t at = index * VP_IMAGE_PAGE, n = in->size - at < VP_IMAGE_PAGE ? in->size - at : VP_IMAGE_PAGE;

	if (at >= in->size)
		abort();
	memcpy(dst, in->data + at, n);
	return !in->holes || index % 3 != 2;
}

static void check_symbols(struct vp_elf *elf)
{
	struct vp_elf_symbols s;
	struct ot_err *err = vp_elf_symbols_read(elf, &s);

	if (err) {
		ot_err_destroy(err);
		return;
	}
	named |= s.count > 0;
	for (size_t i = 0; i < s.count; i++) {
		const struct vp_elf_symbol *at = vp_elf_symbols_find(&s, s.items[i].addr);

		if (!*vp_elf_symbol_name(&s, &s.items[i]) ||
		    strlen(vp_elf_symbol_name(&s, &s.items[i])) >= VP_ELF_NAME_MAX)
			abort();
		if (i && s.items[i].addr < s.items[i - 1].addr)
			abort();
		if (at &&
		    (at->addr > s.items[i].addr || (at->size && s.items[i].addr - at->addr >= at->size)))
			abort();
	}
	vp_elf_symbols_deinit(&s);
}

static void check_functions(struct vp_elf *elf)
{
	uint64_t start, end, addr;

	for (uint64_t offset = 0; offset < elf->image->size; offset += 997) {
		if (!vp_elf_address(elf, offset, &addr) || !vp_elf_function_at(elf, addr, &start, &end))
			continue;
		if (addr < start || addr >= end)
			abort();
	}
}

static void check_frames(struct vp_elf *elf)
{
	struct vp_cfi cfi;
	struct ot_err *err = vp_cfi_read(elf, &cfi);

	if (err) {
		ot_err_destroy(err);
		return;
	}
	ruled |= cfi.count > 0;
	if (cfi.missing > cfi.functions || cfi.count > VP_CFI_ROWS_MAX)
		abort();
	for (size_t i = 0; i < cfi.count; i++) {
		const struct vp_frame_row *row = &cfi.rows[i], *before = i ? row - 1 : NULL;

		if (vp_frame_kind(row) > VP_FRAME_PLT ||
		    (before &&
		     (row->offset <= before->offset || (row->cfa == before->cfa && row->fp == before->fp))))
			abort();
	}
	vp_cfi_deinit(&cfi);
}

static void check(const uint8_t *data, size_t size, bool holes)
{
	struct input in = { data, size, holes };
	struct vp_elf_pages *pages;
	struct vp_elf elf;
	struct ot_err *err = vp_elf_pages_create(size, read_page, &in, &pages);

	if (err)
		abort();
	vp_elf_pages_image(pages)->fuel = FUEL;
	err = vp_elf_read(vp_elf_pages_image(pages), &elf);
	if (!err) {
		if (elf.build_id_len > sizeof(elf.build_id) || elf.nsegments > VP_ELF_SEGMENTS_MAX)
			abort();
		check_symbols(&elf);
		check_functions(&elf);
		check_frames(&elf);
		vp_elf_deinit(&elf);
	}
	ot_err_destroy(err);
	vp_elf_pages_destroy(pages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	named = ruled = false;
	check(data, size, true);
	check(data, size, false);
	return 0;
}

bool fuzz_seed_reached(void)
{
	return named && ruled;
}
