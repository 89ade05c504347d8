/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading notes: each is a header, a name and a description, both padded to four bytes. */
#include "vmm-probe/guest/elf/notes.h"

#include <string.h>

#define NOTES_MAX    65536u
#define STAPSDT_TYPE 3u
#define SCAN_STEP    4u
#define SCAN_MAX \
	(16u << 20) /* linkers put notes first, before large sections such as debugging information */
#define STAPSDT_WORDS \
	3u /* addresses at the beginning of a description: of the nop, the base, the semaphore */
#define STAPSDT_NAME   "stapsdt"
#define STAPSDT_LENGTH 8u /* with its NUL */

static uint64_t padded(uint64_t size)
{
	return (size + 3) & ~3ull;
}

/* --- build id ---------------------------------------------------------------------------------------- */

/* False: the notes end here. */
static bool take_build_id(struct vp_elf *elf, uint64_t *at, uint64_t end)
{
	Elf64_Nhdr h;
	char name[4];

	if (*at >= end || end - *at < sizeof(h) ||
	    !vp_elf_image_read(elf->image, VP_PART_NOTES, *at, &h, sizeof(h)))
		return false;
	uint64_t desc = *at + sizeof(h) + padded(h.n_namesz);

	*at = desc + padded(h.n_descsz);
	if (h.n_type != NT_GNU_BUILD_ID || h.n_namesz != sizeof(name) || !h.n_descsz ||
	    h.n_descsz > sizeof(elf->build_id))
		return true;
	if (!vp_elf_image_read(elf->image, VP_PART_NOTES, desc - sizeof(name), name, sizeof(name)) ||
	    memcmp(name, "GNU", sizeof(name)) != 0)
		return true;
	if (vp_elf_image_read(elf->image, VP_PART_NOTES, desc, elf->build_id, h.n_descsz))
		elf->build_id_len = h.n_descsz;
	return false;
}

void vp_elf_read_build_id(struct vp_elf *elf)
{
	for (size_t i = 0; i < elf->nsegments && !elf->build_id_len; i++) {
		const Elf64_Phdr *p = &elf->segments[i];
		uint64_t at = p->p_offset, end = at + p->p_filesz;

		if (p->p_type != PT_NOTE || end < at)
			continue;
		for (unsigned n = 0; n < NOTES_MAX && take_build_id(elf, &at, end); n++)
			;
	}
}

/* --- probes ------------------------------------------------------------------------------------------ */

struct reader {
	struct vp_elf *elf;
	bool (*each)(void *arg, const struct vp_stapsdt *probe);
	void *arg;
	uint32_t found;
	bool whole, stopped;
};

/* The part of @p text after its first NUL; NULL: there is none before @p end. */
static const char *behind(const char *text, const char *end)
{
	const char *nul = memchr(text, '\0', (size_t)(end - text));

	return nul ? nul + 1 : NULL;
}

static void give(struct reader *r, const uint8_t *desc, uint32_t size)
{
	uint64_t words[STAPSDT_WORDS], move = 0;
	const char *text = (const char *)desc + sizeof(words), *end = (const char *)desc + size;

	memcpy(words, desc, sizeof(words));
	const char *name = behind(text, end), *arguments = name ? behind(name, end) : NULL;

	if (!arguments || !behind(arguments, end))
		return;
	if (r->elf->stapsdt_base.size)
		move = r->elf->stapsdt_base.addr - words[1];
	struct vp_stapsdt probe = { words[0] + move, words[2] ? words[2] + move : 0, text, name, arguments };

	r->stopped = ++r->found > VP_STAPSDT_MAX || !r->each(r->arg, &probe);
}

/* The note at @p at, if it is a probe's; its size, 0: it is something else, or out of [at, end). */
static uint64_t take_note(struct reader *r, uint64_t at, uint64_t end)
{
	struct vp_elf_image *image = r->elf->image;
	uint8_t desc[VP_STAPSDT_DESC];
	char name[STAPSDT_LENGTH];
	Elf64_Nhdr h;

	if (end - at < sizeof(h) + sizeof(name))
		return 0;
	if (!vp_elf_image_read(image, VP_PART_NOTES, at, &h, sizeof(h))) {
		r->whole = false;
		return 0;
	}
	if (h.n_type != STAPSDT_TYPE || h.n_namesz != sizeof(name) ||
	    h.n_descsz < STAPSDT_WORDS * sizeof(uint64_t) + 3 || h.n_descsz > sizeof(desc))
		return 0;
	if (!vp_elf_image_read(image, VP_PART_NOTES, at + sizeof(h), name, sizeof(name)) ||
	    !vp_elf_image_read(image, VP_PART_NOTES, at + sizeof(h) + sizeof(name), desc, h.n_descsz)) {
		r->whole = false;
		return 0;
	}
	if (memcmp(name, STAPSDT_NAME, sizeof(name)) != 0)
		return 0;
	give(r, desc, h.n_descsz);
	return sizeof(h) + sizeof(name) + padded(h.n_descsz);
}

static void read_section(struct reader *r, uint64_t at, uint64_t end)
{
	while (at < end && !r->stopped) {
		uint64_t size = take_note(r, at, end);

		if (!size) {
			r->whole = false;
			return;
		}
		at += size;
	}
}

/* Notes are after the loaded segments; a missing page may contain some. */
static void scan(struct reader *r)
{
	struct vp_elf_image *image = r->elf->image;
	uint64_t at = 0;

	for (size_t i = 0; i < r->elf->nsegments; i++) {
		const Elf64_Phdr *p = &r->elf->segments[i];

		if (p->p_type == PT_LOAD && p->p_offset + p->p_filesz > at)
			at = p->p_offset + p->p_filesz;
	}
	at = padded(at);
	uint64_t end = at < image->size && image->size - at > SCAN_MAX ? at + SCAN_MAX : image->size;
	r->whole &= end == image->size;
	while (at < end && !r->stopped && image->fuel) {
		if (!image->page(image->arg, at / VP_IMAGE_PAGE)) {
			image->missing[VP_PART_NOTES]++;
			r->whole = false;
			at = (at / VP_IMAGE_PAGE + 1) * VP_IMAGE_PAGE;
			continue;
		}
		uint64_t size = take_note(r, at, end);

		at += size ? size : SCAN_STEP;
	}
}

bool vp_elf_stapsdt(struct vp_elf *elf, bool (*each)(void *arg, const struct vp_stapsdt *probe), void *arg)
{
	struct reader r = { .elf = elf, .each = each, .arg = arg, .whole = true };
	const struct vp_elf_section *s = &elf->stapsdt;

	if (s->size && s->offset + s->size > s->offset)
		read_section(&r, s->offset, s->offset + s->size);
	else if (!elf->sections)
		scan(&r);
	return r.whole;
}
