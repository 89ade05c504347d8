/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile notes of a guest's programs. The input is what a section of notes has; they are read as the
 * section, and as what is behind the segments of a file without section headers. The invariant: each probe's
 * strings end.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/seed.h"
#include "vmm-probe/guest/elf/notes.h"
#include "vmm-probe/guest/elf/pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static unsigned found;

static bool read_page(void *arg, uint64_t index, uint8_t *dst)
{
	const struct input *in = arg;
	size_t at = index * VP_IMAGE_PAGE, n = in->size - at < VP_IMAGE_PAGE ? in->size - at : VP_IMAGE_PAGE;

	memcpy(dst, in->data + at, n);
	return true;
}

static bool take(void *arg, const struct vp_stapsdt *probe)
{
	unsigned *n = arg;

	if (strlen(probe->provider) + strlen(probe->name) + strlen(probe->arguments) > VP_STAPSDT_DESC)
		abort();
	found++;
	return ++*n < 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct vp_elf_pages *pages;
	Elf64_Phdr notes = { .p_type = PT_NOTE, .p_filesz = size };
	struct ot_err *err = vp_elf_pages_create(size, read_page, &in, &pages);
	struct vp_elf elf;
	unsigned n = 0;

	if (err)
		abort();
	found = 0;
	elf = (struct vp_elf){
		.image = vp_elf_pages_image(pages), .segments = &notes, .nsegments = 1, .sections = true
	};
	elf.stapsdt = (struct vp_elf_section){ 0, size, 0 };
	elf.stapsdt_base = (struct vp_elf_section){ 0, 1, 0x1000 };
	vp_elf_read_build_id(&elf);
	if (elf.build_id_len > sizeof(elf.build_id))
		abort();
	found += elf.build_id_len > 0;
	vp_elf_stapsdt(&elf, take, &n);
	elf.stapsdt.size = 0;
	elf.sections = false;
	n = 0;
	vp_elf_stapsdt(&elf, take, &n);
	vp_elf_pages_destroy(pages);
	return 0;
}

bool fuzz_seed_reached(void)
{
	return found > 0;
}
