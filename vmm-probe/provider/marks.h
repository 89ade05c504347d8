/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the core kernel's image between two symbols of its linker script. */
#ifndef VP_PROVIDER_MARKS_H
#define VP_PROVIDER_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct vp_guest;

struct vp_mark_range {
	uint64_t start, end; /* empty: this kernel has no such marks */
};

struct vp_mark_range vp_marked(const struct vp_guest *guest, const char *start, const char *end);

static inline bool vp_mark_has(const struct vp_mark_range *r, uint64_t addr)
{
	return addr >= r->start && addr < r->end;
}

#endif
