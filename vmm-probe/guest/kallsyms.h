/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms, the kernel's own symbol table, decoded from a copy of the image (scripts/kallsyms.c writes it).
 * Layouts are distinguished by their shape, never by version (distributions backport):
 *
 *   values    absolute u64 | u32 from a base | i32 with absolute per-CPU symbols | i32 from its own address
 *   names     length in one byte | in one or two bytes (ULEB128)
 *   markers   u32 | u64
 *   order     values, base, count, names, markers, [seqs], tokens | count, names, markers, tokens, values, …
 */
#ifndef VP_GUEST_KALLSYMS_H
#define VP_GUEST_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/kernel.h"

#define VP_KALLSYMS_NAME_MAX 512
#define VP_KALLSYMS_MAX      2000000u

enum vp_kallsyms_values {
	VP_KALLSYMS_ABSOLUTE,
	VP_KALLSYMS_RELATIVE,
	VP_KALLSYMS_PERCPU,
	VP_KALLSYMS_PLACE,
};

struct vp_kallsym {
	uint64_t addr;
	uint32_t name; /* offset in vp_kallsyms.names; a NUL ends it */
	char type;
};

struct vp_kallsyms {
	size_t count;
	struct vp_kallsym *syms; /* in the order of the table, which /proc/kallsyms has too */
	char *names;
	size_t names_size;
	uint64_t charged; /* to the budget; returned by vp_kallsyms_deinit() */
	/* The layout that was recognised, for messages and tests. */
	enum vp_kallsyms_values values;
	uint8_t marker_size; /* 4 or 8 */
	bool uleb;           /* names have ULEB lengths */
	bool values_first;   /* the older order */
	/* In the image: offset and size of the tables up to the token index, and of the values. */
	size_t tables_off, tables_size;
	size_t values_off, values_size;
};

/** Decode. @p token_table is the address of kallsyms_token_table if known (vmcoreinfo), else 0. NOT_FOUND:
 * the image has no such tables. BAD_DATA: they are inconsistent. */
OT_MUST_CHECK struct ot_err *vp_kallsyms_decode(const struct vp_image *image, uint64_t token_table,
						struct vp_kallsyms *ret);
void vp_kallsyms_deinit(struct vp_kallsyms *kallsyms);

#endif
