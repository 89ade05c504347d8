/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash of tuples and keys: 16 bytes a step through one widening multiplication. Seeded,
 * for a guest chooses the strings that are keys.
 */
#ifndef DIF_VM_HASH_H
#define DIF_VM_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t dif_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t dif_hash64(const void *data, size_t len, uint64_t seed)
{
	const uint8_t *p = data;
	uint64_t h = seed ^ 0x9e3779b97f4a7c15ull, a, b;
	size_t left = len;

	for (; left >= 16; left -= 16, p += 16) {
		memcpy(&a, p, 8);
		memcpy(&b, p + 8, 8);
		h = dif_hash_mix(a ^ h, b ^ 0xd6e8feb86659fd93ull);
	}
	a = b = 0;
	if (left >= 8) {
		memcpy(&a, p, 8);
		p += 8;
		left -= 8;
	}
	memcpy(&b, p, left);
	return dif_hash_mix(a ^ h ^ len, b ^ 0xa0761d6478bd642full);
}

#endif
