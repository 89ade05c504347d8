/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An arena: many small allocations, freed all at once. One compilation uses one
 * arena. Not for several threads at once.
 */
#ifndef OT_BASE_ARENA_H
#define OT_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/compiler.h"

struct ot_arena_block;

struct ot_arena {
	struct ot_arena_block *blocks; /* newest first */
	size_t used;                   /* bytes taken of the newest block */
};

void ot_arena_init(struct ot_arena *arena);
void ot_arena_deinit(struct ot_arena *arena);

/** Zeroed memory of @p size bytes, aligned to 16, living as long as the arena.
 * NULL when memory ran out (or @p size is absurd, over 1 GiB). */
OT_MUST_CHECK void *ot_arena_alloc(struct ot_arena *arena, size_t size);

/** A copy of @p len bytes at @p s with a NUL behind them; NULL without memory. */
OT_MUST_CHECK char *ot_arena_strndup(struct ot_arena *arena, const char *s, size_t len);
OT_MUST_CHECK char *ot_arena_strdup(struct ot_arena *arena, const char *s);
OT_MUST_CHECK char *ot_arena_printf(struct ot_arena *arena, const char *fmt, ...) OT_PRINTF(2, 3);

#define ot_arena_new(arena, type) ((type *)ot_arena_alloc(arena, sizeof(type)))

#endif
