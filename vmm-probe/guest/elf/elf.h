/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The headers of a program or library of a guest: hostile bytes, maybe with pages missing. The reader is
 * bounded by the limits below and by the file's size, whatever the headers say. Only 64-bit little-endian
 * files of this architecture are read.
 */
#ifndef VP_GUEST_ELF_ELF_H
#define VP_GUEST_ELF_ELF_H

#include <elf.h>

#include "base/err.h"
#include "vmm-probe/guest/elf/image.h"

#define VP_ELF_SEGMENTS_MAX 128u
#define VP_ELF_SECTIONS_MAX 65536u
#define VP_ELF_BUILD_ID_MAX 64u

/* A table of symbols and its strings, by file offsets. */
struct vp_elf_table {
	uint64_t offset, count; /* of Elf64_Sym; count 0: there is none */
	uint64_t strings, strings_size;
};

/* A section to find by its name. */
struct vp_elf_section {
	uint64_t offset, size, addr; /* size 0: there is none */
};

struct vp_elf {
	struct vp_elf_image *image; /* borrowed */
	Elf64_Ehdr header;
	Elf64_Phdr *segments; /* owned */
	size_t nsegments;
	uint8_t build_id[VP_ELF_BUILD_ID_MAX];
	size_t build_id_len; /* 0: it has none, or its page is missing */
	struct vp_elf_table dynsym, symtab;
	struct vp_elf_section stapsdt, stapsdt_base; /* .note.stapsdt, .stapsdt.base */
	bool sections;                               /* the section headers could be read */
};

/** Read the headers, the dynamic section and, where they are there, the section headers. BAD_DATA: it is not
 * an ELF file of this architecture, or a header is invalid. NOT_FOUND: the page with its headers is missing.
 * LIMIT: too many segments or sections. The caller deinits *ret after success. */
OT_MUST_CHECK struct ot_err *vp_elf_read(struct vp_elf_image *image, struct vp_elf *ret);
void vp_elf_deinit(struct vp_elf *elf);

/** The file offset of @p len bytes that are loaded at @p addr (as linked), in one segment.
 */
OT_MUST_CHECK bool vp_elf_offset(const struct vp_elf *elf, uint64_t addr, uint64_t len, uint64_t *ret);

/** The address, as linked, of the byte at @p offset of the file, in a segment that is loaded. */
OT_MUST_CHECK bool vp_elf_address(const struct vp_elf *elf, uint64_t offset, uint64_t *ret);

#endif
