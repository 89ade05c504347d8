/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bombs: what a guest can put into its memory so that reading it costs this process much. */
#ifndef TESTS_BOMBS_BOMBS_H
#define TESTS_BOMBS_BOMBS_H

#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/guest/guest_internal.h"

struct bomb {
	const char *name;
	const char *what;    /* for the table: what the guest has done */
	const char *says;    /* a part of the line that reading it ends with; NULL: it is read, or given up */
	void *(*make)(void); /* what the guest has in its memory: its cost is not counted */
	struct ot_err *(*read)(void *made);
};

extern const struct bomb bombs_types[], bombs_memory[], bombs_lists[],
    bombs_views[]; /* each ends with a name of NULL */

/* --- a guest of the bombs' own ------------------------------------------------------------------------- */

#define BOMB_BASE 0xffffffff92000000ull /* of its memory, in pages of 2 MiB */
#define BOMB_RAM  (4u << 20)            /* physical */

struct bomb_symbol {
	const char *name;
	uint64_t gva;
};

struct bomb_guest {
	uint8_t *memory; /* at BOMB_BASE */
	struct vp_phys *phys;
	struct vp_guest *guest;
};

/* All of it is the core kernel's, which has these symbols (ends with a name of NULL) and no types. */
struct bomb_guest *bomb_guest_make(size_t mib, const struct bomb_symbol *symbols);
/* Its types are this blob's from now on. */
void bomb_guest_types(struct bomb_guest *b, const void *blob, size_t len);

void *bomb_at(struct bomb_guest *b, uint64_t gva);
void bomb_put64(struct bomb_guest *b, uint64_t gva, uint64_t value);
void bomb_put32(struct bomb_guest *b, uint64_t gva, uint32_t value);

/* A list of @p n modules at @p head, each with all of the guest's memory, one @p stride after the other from
 * @p at on; the guest's layout knows them. The last one's successor is @p end. */
void bomb_modules(struct bomb_guest *b, uint64_t head, uint64_t at, unsigned n, uint32_t stride,
		  uint64_t end);

/* What making a bomb takes for granted. */
void bomb_ok(struct ot_err *err);

#endif
