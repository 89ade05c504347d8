/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compiler's memory. */
#include "dif/lang/core/compiler.h"

void *dif_alloc(struct dif_compiler *c, struct ot_arena *arena, size_t size)
{
	void *p = ot_arena_alloc(arena, size);

	return p ? p : dif_fail_memory(c);
}

const char *dif_strdup(struct dif_compiler *c, struct ot_arena *arena, const char *s)
{
	const char *p = ot_arena_strdup(arena, s);

	return p ? p : dif_fail_memory(c);
}

const char *dif_strndup(struct dif_compiler *c, struct ot_arena *arena, const char *s, size_t len)
{
	const char *p = ot_arena_strndup(arena, s, len);

	return p ? p : dif_fail_memory(c);
}
