/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places of a kernel's text in which no trap may stand, as the kernel itself knows them: what it patches
 * while it runs (static keys, static calls), and where it does not want to be interrupted (its own kprobes'
 * blacklist, noinstr, which both run while registers and stack may still be somebody else's).
 *
 * By symbols and BTF, each by its presence. A kernel without one of the tables has nothing to refuse for it.
 * The section of idle functions is not among them: nothing in it breaks by an exit.
 */
#ifndef VP_PLANNER_PLACES_H
#define VP_PLANNER_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct vp_guest;

struct vp_place {
	uint64_t start, end, reach; /* reach: the farthest end of this and all before it */
	bool whole;                 /* functions, not a single instruction */
	const char *why;            /* static */
};

struct vp_places {
	struct vp_place *list; /* by start */
	size_t n, cap;
};

/** Read them. Tables that can't be read are left out: their guest is hostile or being changed, and the engine
 * compares bytes anyway. Errors are of this process only. */
OT_MUST_CHECK struct ot_err *vp_places_read(struct vp_guest *guest, struct vp_places *ret);
void vp_places_deinit(struct vp_places *places);

/** Why the @p len bytes at @p gva are refused; NULL: they are not. */
const char *vp_places_find(const struct vp_places *places, uint64_t gva, uint8_t len);

/** Why all of the function at @p gva is refused; NULL: it is not. */
const char *vp_places_function(const struct vp_places *places, uint64_t gva);

#endif
