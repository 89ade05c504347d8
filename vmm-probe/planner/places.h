/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places in a kernel's text in which no trap may be planted, from the kernel's own tables: those that it
 * patches while it runs (static keys, static calls), and those that it must not interrupt itself (the kprobe
 * blacklist and noinstr code, which may run while registers and stack are still user space's).
 *
 * Each table is located by symbols and BTF, by its presence. If a kernel lacks a table, nothing is refused
 * for it. The section of idle functions is not included: an exit breaks nothing there.
 */
#ifndef VP_PLANNER_PLACES_H
#define VP_PLANNER_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/static_keys.h"

struct vp_guest;

struct vp_place {
	uint64_t start, end;
	bool whole;      /* refuses whole functions, not a single instruction */
	const char *why; /* static */
};

struct vp_place_list {
	struct vp_place *list; /* by start; none overlaps another */
	size_t n, cap;
};

struct vp_places {
	struct vp_place_list any, whole; /* all; those that refuse whole functions */
	struct vp_static_keys keys;
};

/**
 * Read all places, within a budget of its own. Unreadable tables are skipped: the guest is hostile or
 * changing, and the engine compares bytes anyway.
 *
 * What can be read is not dropped, because a place that is not known is not refused. LIMIT: there are too
 * many places, or reading them takes too long. BAD_DATA: one is longer than any part of a kernel.
 */
OT_MUST_CHECK struct ot_err *vp_places_read(struct vp_guest *guest, struct vp_places *ret);
void vp_places_deinit(struct vp_places *places);

/** Why a trap in the @p len bytes at @p gva is refused; NULL: it is not. */
const char *vp_places_find(const struct vp_places *places, uint64_t gva, uint8_t len);

/** The same of a trap that can be on both forms of the branch on a static key at @p gva: the nop and the jump
 * to @p target. */
const char *vp_places_branch(const struct vp_places *places, uint64_t gva, uint64_t target);

/** Why the whole function at @p gva is refused; NULL: it is not. */
const char *vp_places_function(const struct vp_places *places, uint64_t gva);

#endif
