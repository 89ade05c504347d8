/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of which some pages are missing, as the readers of guest/elf/ see it. They are pure functions over
 * this interface: they allocate and request pages, and have no other effects, so that a child without rights
 * can run them. They get copies, which the guest can't change while they are parsed.
 */
#ifndef VP_GUEST_ELF_IMAGE_H
#define VP_GUEST_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define VP_IMAGE_PAGE 4096u
#define VP_IMAGE_MAX  (4ull << 30) /* a larger file is not read */
#define VP_IMAGE_FUEL (32u << 20)  /* half a second's reads; a file of a million symbols takes two million */

/* The incomplete parts of a file, for a message. */
enum vp_part {
	VP_PART_HEADERS,
	VP_PART_SECTIONS, /* the section headers and their names */
	VP_PART_DYNAMIC,  /* .dynamic, .dynsym, .dynstr, .gnu.hash */
	VP_PART_SYMTAB,
	VP_PART_STRTAB,
	VP_PART_NOTES,
	VP_PART_TEXT,
	VP_PART_FRAMES, /* .eh_frame_hdr, .eh_frame */
	VP_PARTS,
};

struct vp_elf_image {
	void *arg;
	uint64_t size; /* bytes, at most VP_IMAGE_MAX */
	/* The page's VP_IMAGE_PAGE bytes (zeros behind the file's end), which stay where and as they are as
	 * long as the image does; NULL: it is missing. */
	const uint8_t *(*page)(void *arg, uint64_t index);
	/* The number of reads and strings that remain for parsers; each takes one, and at 0 all fail. So a
	 * parser ends on any file. */
	uint64_t fuel;
	/* Counted by the functions below: pages that a part needed and that were missing, each maybe more
	 * than once. */
	uint64_t missing[VP_PARTS];
};

/** Copy @p len bytes at @p offset. False: they are not all in the file, or a page of them is missing, which
 * is counted for @p part. */
OT_MUST_CHECK bool vp_elf_image_read(struct vp_elf_image *image, enum vp_part part, uint64_t offset,
				     void *dst, size_t len);

/** Copy a string of at most @p size - 1 bytes at @p offset, and end it. False: it has no end there, or a page
 * is missing. */
OT_MUST_CHECK bool vp_elf_image_string(struct vp_elf_image *image, enum vp_part part, uint64_t offset,
				       char *dst, size_t size);

/** The names of the parts with missing pages, for a message: ".symtab, .strtab"; "" if none. @p size 128 is
 * enough. */
void vp_elf_image_missing(const struct vp_elf_image *image, char *dst, size_t size);

#endif
