/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inlined copies of a program's functions, as its debugging information has them: one block of memory
 * without pointers, so that it can be sent by a confined reader and stored in a cache. A receiver checks it
 * once; after that each index in it is in bounds.
 *
 * Addresses are relative to the start of the program's image.
 */
#ifndef VP_DWARF_COPIES_H
#define VP_DWARF_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define VP_COPIES_MAGIC      "OTCOPY01"
#define VP_COPIES_PARAMS     10u /* arg0 to arg9: further ones are left out */
#define VP_COPIES_RANGES     16u /* of one copy */
#define VP_COPIES_BUILD_ID   64u
#define VP_COPIES_STRING_MAX 255u /* bytes of a name or a type */

struct vp_copies_head {
	char magic[8];
	uint8_t build_id[VP_COPIES_BUILD_ID];
	uint32_t build_id_len; /* 0: the file has none */
	uint32_t nfunctions, nparams, ncopies, nplaces, nranges;
	uint32_t strings_size; /* NUL-terminated, the last byte is a NUL */
	uint32_t pad;
};

/* The place of a parameter at a copy's first instruction. */
enum vp_place_kind {
	VP_PLACE_NONE,    /* nowhere, or at a place that can't be expressed */
	VP_PLACE_CONST,   /* it is `value` */
	VP_PLACE_ADDRESS, /* it is the image's start plus `value` */
	VP_PLACE_REG,     /* register + value */
	VP_PLACE_MEMORY,  /* `size` bytes at register + value */
	VP_PLACE_KINDS,
};

struct vp_copies_place {
	int64_t value;
	uint8_t kind; /* enum vp_place_kind */
	uint8_t reg;  /* by DWARF's numbers of the architecture */
	uint8_t size; /* 1, 2, 4 or 8 */
	uint8_t pad[5];
};

enum {
	/* Some copies may be missing: the compiler has taken one apart, and they can't be distinguished. */
	VP_COPIES_UNCERTAIN = 1,
};

struct vp_copies_function {
	uint32_t name; /* a string */
	uint32_t flags;
	uint32_t first_param, nparams; /* behind those of the function before it; so too: */
	uint32_t first_copy, ncopies;
};

struct vp_copies_param {
	uint32_t name, type; /* strings; "": unknown */
};

struct vp_copies_copy {
	uint32_t entry;       /* address of its first instruction */
	uint32_t first_place; /* of as many as the function has parameters */
	uint32_t first_range, nranges;
};

/* [start, end): instructions of a copy. */
struct vp_copies_range {
	uint32_t start, end;
};

struct vp_copies {
	void *data; /* owned: all the rest points into it */
	const struct vp_copies_head *head;
	const struct vp_copies_place *places;
	const struct vp_copies_function *functions; /* ordered by name */
	const struct vp_copies_param *params;
	const struct vp_copies_copy *copies; /* of each function ordered by entry */
	const struct vp_copies_range *ranges;
	const char *strings;
};

/** Check the @p len bytes of @p data (malloc()ed), which become *ret's on success. BAD_DATA: an index or a
 * size is out of bounds, or an order is wrong. */
OT_MUST_CHECK struct ot_err *vp_copies_open(void *data, size_t len, struct vp_copies *ret);
void vp_copies_deinit(struct vp_copies *copies);

static inline const char *vp_copies_string(const struct vp_copies *c, uint32_t string)
{
	return c->strings + string;
}

#endif
