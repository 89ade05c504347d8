/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by kallsyms.c and kallsyms_layout.c. Offsets are relative to the image and have been checked to be
 * inside it. */
#ifndef VP_GUEST_KALLSYMS_INTERNAL_H
#define VP_GUEST_KALLSYMS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/guest/budget.h"

#define VP_KALLSYMS_TOKENS 256

/* The 256 strings that names are composed of. */
struct vp_kallsyms_tokens {
	size_t off, end; /* of the table with its index */
	const char *text[VP_KALLSYMS_TOKENS];
	uint16_t len[VP_KALLSYMS_TOKENS];
};

struct vp_kallsyms_tables {
	size_t count_off; /* of the number of symbols */
	uint32_t count;
	size_t names_off, names_end;
	size_t markers_off, nmarkers;
	unsigned int marker_size; /* 4 or 8 */
	bool uleb;                /* lengths of two bytes may occur */
};

/* A hostile image could prolong the search: *work is the number of steps that remain. At 0 nothing more is
 * found. */
#define VP_KALLSYMS_WORK (1ull << 26) /* real kernels take less than a million */

static inline bool vp_kallsyms_spend(uint64_t *work, uint64_t steps)
{
	/* The budget is checked once in a million steps. */
	if (*work < steps || ((*work ^ (*work - steps)) >> 20 && vp_budget_is_over())) {
		*work = 0;
		return false;
	}
	*work -= steps;
	return true;
}

/* Find the next token table at or after *at; *at becomes the start of the next search. False: none is
 * left. */
bool vp_kallsyms_find_tokens(const uint8_t *image, size_t size, size_t *at, uint64_t *work,
			     struct vp_kallsyms_tokens *ret);

/* Does a token table start at @p off? */
bool vp_kallsyms_check_tokens(const uint8_t *image, size_t size, size_t off, struct vp_kallsyms_tokens *ret);

/* Find the count, names and markers before a token table. */
bool vp_kallsyms_find_tables(const uint8_t *image, size_t size, const struct vp_kallsyms_tokens *tokens,
			     uint64_t *work, struct vp_kallsyms_tables *ret);

/* The length of the name at @p off, and the size of that length's encoding; false: it exceeds [off, end). */
static inline bool vp_kallsyms_name(const uint8_t *image, size_t off, size_t end, bool uleb, size_t *ret_len,
				    size_t *ret_head)
{
	size_t len, head = 1;

	if (off >= end)
		return false;
	len = image[off];
	if (uleb && (len & 0x80)) {
		if (end - off < 2)
			return false;
		len = (len & 0x7f) | (size_t)image[off + 1] << 7;
		head = 2;
	}
	*ret_len = len;
	*ret_head = head;
	return len && len <= end - off - head;
}

#endif
