/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash map: chains in an arena, entries in order of insertion. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

void ot_map_init(struct ot_map *map)
{
	*map = (struct ot_map){ 0 };
}

void ot_map_deinit(struct ot_map *map)
{
	ot_arena_deinit(&map->arena);
	free(map->entries);
	free(map->buckets);
	*map = (struct ot_map){ 0 };
}

static struct ot_map_entry *find(const struct ot_map *map, const void *key, size_t len, uint32_t hash)
{
	if (!map->nbuckets)
		return NULL;
	struct ot_map_entry *e = map->buckets[hash & (map->nbuckets - 1)];
	while (e && !(e->hash == hash && e->key_len == len && !memcmp(e->key, key, len)))
		e = e->chain;
	return e;
}

static bool rehash(struct ot_map *map)
{
	size_t n = map->nbuckets ? map->nbuckets * 2 : 64;
	struct ot_map_entry **buckets = calloc(n, sizeof(*buckets));

	if (!buckets)
		return false;
	for (size_t i = 0; i < map->count; i++) {
		struct ot_map_entry *e = map->entries[i];
		e->chain = buckets[e->hash & (n - 1)];
		buckets[e->hash & (n - 1)] = e;
	}
	free(map->buckets);
	map->buckets = buckets;
	map->nbuckets = n;
	return true;
}

void *ot_map_get(const struct ot_map *map, const void *key, size_t len)
{
	struct ot_map_entry *e = find(map, key, len, ot_hash(key, len));

	return e ? e->value : NULL;
}

bool ot_map_put(struct ot_map *map, const void *key, size_t len, void *value)
{
	uint32_t hash = ot_hash(key, len);
	struct ot_map_entry *e = find(map, key, len, hash);

	if (e) {
		e->value = value;
		return true;
	}
	if (len > UINT32_MAX / 2 || (map->count >= map->nbuckets && !rehash(map)))
		return false;
	if (!ot_grow(&map->entries, &map->cap, map->count + 1, sizeof(*map->entries)))
		return false;
	e = ot_arena_alloc(&map->arena, sizeof(*e) + len + 1);
	if (!e)
		return false;
	e->hash = hash;
	e->key_len = (uint32_t)len;
	e->value = value;
	memcpy(e->key, key, len);
	e->chain = map->buckets[hash & (map->nbuckets - 1)];
	map->buckets[hash & (map->nbuckets - 1)] = e;
	map->entries[map->count++] = e;
	return true;
}

void *ot_map_gets(const struct ot_map *map, const char *key)
{
	return ot_map_get(map, key, strlen(key));
}

bool ot_map_puts(struct ot_map *map, const char *key, void *value)
{
	return ot_map_put(map, key, strlen(key), value);
}
