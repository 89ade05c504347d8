/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arenas: memory that is freed all at once. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks double from the first size to the last: most arenas stay small, and zeroing costs. */
#define FIRST_BLOCK ((size_t)4 << 10)
#define LAST_BLOCK  ((size_t)64 << 10)
#define ALLOC_MAX   ((size_t)1 << 30)

struct ot_arena_block {
	struct ot_arena_block *next;
	size_t size;
	_Alignas(16) unsigned char data[];
};

void ot_arena_init(struct ot_arena *arena)
{
	*arena = (struct ot_arena){ 0 };
}

void ot_arena_deinit(struct ot_arena *arena)
{
	struct ot_arena_block *next;

	for (struct ot_arena_block *b = arena->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	*arena = (struct ot_arena){ 0 };
}

/* A block that has room for @need bytes. */
static struct ot_arena_block *add_block(struct ot_arena *arena, size_t need)
{
	size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;

	if (size > LAST_BLOCK)
		size = LAST_BLOCK;
	if (size < need)
		size = need;
	struct ot_arena_block *b = calloc(1, sizeof(*b) + size);
	if (!b)
		return NULL;
	b->size = size;
	b->next = arena->blocks;
	arena->blocks = b;
	arena->used = 0;
	return b;
}

void *ot_arena_alloc(struct ot_arena *arena, size_t size)
{
	if (size > ALLOC_MAX)
		return NULL;
	size = (size + 15) & ~(size_t)15;

	struct ot_arena_block *b = arena->blocks;
	if (!b || b->size - arena->used < size) {
		b = add_block(arena, size);
		if (!b)
			return NULL;
	}
	void *p = b->data + arena->used;
	arena->used += size;
	return p;
}

char *ot_arena_strndup(struct ot_arena *arena, const char *s, size_t len)
{
	char *p = len < ALLOC_MAX ? ot_arena_alloc(arena, len + 1) : NULL;

	if (p && len)
		memcpy(p, s, len);
	return p;
}

char *ot_arena_strdup(struct ot_arena *arena, const char *s)
{
	return ot_arena_strndup(arena, s, strlen(s));
}

char *ot_arena_printf(struct ot_arena *arena, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = n < 0 ? NULL : ot_arena_alloc(arena, (size_t)n + 1);
	if (p)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}
