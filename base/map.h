/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash map from byte strings to pointers. Keys are copied into the map;
 * values are the caller's. Iteration is in order of insertion. Not for the hit
 * path (it allocates) and not for several threads at once.
 */
#ifndef OT_BASE_MAP_H
#define OT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/compiler.h"

struct ot_map_entry {
	struct ot_map_entry *chain;
	uint32_t hash;
	uint32_t key_len;
	void *value;
	char key[]; /* key_len bytes and a NUL */
};

struct ot_map {
	struct ot_map_entry **buckets;
	size_t nbuckets;
	struct ot_map_entry **entries; /* in order of insertion */
	size_t count;
	size_t cap;
	struct ot_arena arena; /* the entries themselves: they live as long as the map */
};

void ot_map_init(struct ot_map *map);
void ot_map_deinit(struct ot_map *map);

/** The value of @p key, or NULL. */
void *ot_map_get(const struct ot_map *map, const void *key, size_t len);

/** Set the value of @p key, replacing one that is there. False without memory. */
OT_MUST_CHECK bool ot_map_put(struct ot_map *map, const void *key, size_t len, void *value);

/* The same with a NUL-terminated key. */
void *ot_map_gets(const struct ot_map *map, const char *key);
OT_MUST_CHECK bool ot_map_puts(struct ot_map *map, const char *key, void *value);

#endif
