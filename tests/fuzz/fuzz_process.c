/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest whose mappings, paths and page cache are hostile. It begins with a small valid guest, and
 * overwrites it; the invariant is that every walk ends in its bounds, and that what it gives is in order.
 *
 *   input: u16 place | u16 value, …: the word number `place` becomes a pointer to byte number `value` of the
 * memory, if the place's highest bit is set, else the value itself
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/process_fixture.h"
#include "vmm-probe/guest/process/image.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/guest/process/page_cache.h"
#include "vmm-probe/guest/process/vdso.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file(struct vp_processes *ps, const struct vp_file *file)
{
	struct vp_file_reader reader;
	struct vp_elf_pages *pages;
	uint8_t bytes[64];
	struct ot_err *err;

	if (file->vdso && (file->size > VP_VDSO_MAX || strcmp(file->path, VP_VDSO_NAME) != 0))
		abort();
	if (!*file->path || strlen(file->path) >= VP_PATH_MAX || !*vp_path_name(file->path))
		abort();
	err = vp_file_pages(ps, file, &reader, &pages);
	if (!err) {
		for (uint64_t at = 0; at < file->size && at < 80 * VP_PAGE_SIZE; at += VP_PAGE_SIZE)
			if (vp_elf_image_read(vp_elf_pages_image(pages), VP_PART_HEADERS, at, bytes, 1))
				bytes[0]++;
		vp_elf_pages_destroy(pages);
	}
	ot_err_destroy(err);
}

static void check(struct vp_processes *ps)
{
	struct vp_maps maps;
	struct ot_err *err = vp_maps_read(ps, PF_PID, &maps);
	struct ot_buf text;

	if (err) {
		ot_err_destroy(err);
		return;
	}
	for (size_t i = 0; i < maps.count; i++)
		if (maps.items[i].start >= maps.items[i].end ||
		    (i && maps.items[i].start < maps.items[i - 1].end) ||
		    (maps.items[i].file != VP_NO_FILE && maps.items[i].file >= maps.nfiles))
			abort();
	for (size_t i = 0; i < maps.nfiles; i++)
		check_file(ps, &maps.files[i]);
	ot_buf_init(&text);
	vp_maps_print(&maps, &text);
	ot_buf_deinit(&text);
	vp_maps_are_current(ps, &maps);
	vp_maps_deinit(&maps);
}

/* The kernel's own code, at mapping 2. */
static void put_vdso(struct process_guest *pg)
{
	*process_word(pg, PF_VMA(2) + 24) = VP_VMA_READ | VP_VMA_EXEC;
	*process_word(pg, PF_MM + PF_VDSO) = process_vma_start(2);
	*process_word(pg, PF_MM + PF_VDSO_OF) = PF_VDSO_IMAGE;
	*process_word(pg, PF_VDSO_IMAGE) = PF_BASE + 0x18000;
	*process_word(pg, PF_VDSO_IMAGE + 8) = 2 * VP_PAGE_SIZE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct process_guest *guests[2]; /* with a list, with a maple tree */

	for (int i = 0; i < 2; i++) {
		if (!guests[i])
			guests[i] = process_guest_create(i);
		process_guest_reset(guests[i]);
		put_vdso(guests[i]);
		for (size_t k = 0; k + 4 <= size; k += 4) {
			uint16_t place, value;

			memcpy(&place, data + k, 2);
			memcpy(&value, data + k + 2, 2);
			*process_word(guests[i], PF_BASE + (place & 0x7fffu) * 8ull % PF_SIZE) =
			    place & 0x8000 ? PF_BASE + value * 8ull % PF_SIZE : value;
		}
		check(process_guest(guests[i]));
	}
	return 0;
}
