/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash of tuples and keys: 32 bytes per step with two widening multiplications, which run in parallel.
 * Seeded, because the guest chooses the strings in keys.
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
	uint64_t h = seed ^ 0x9e3779b97f4a7c15ull, g = ~seed, w[4];
	/* Both factors depend on the seed: if one were known, it could be made 0, and the product would not
	 * depend on the other. */
	uint64_t k1 = seed ^ 0xd6e8feb86659fd93ull, k2 = seed ^ 0xa0761d6478bd642full;
	const uint8_t *p = data;
	size_t left = len;

	for (; left >= 32; left -= 32, p += 32) {
		memcpy(w, p, 32);
		h = dif_hash_mix(w[0] ^ h, w[1] ^ k1);
		g = dif_hash_mix(w[2] ^ g, w[3] ^ k2);
	}
	if (left >= 16) {
		memcpy(w, p, 16);
		h = dif_hash_mix(w[0] ^ h, w[1] ^ k1);
		p += 16;
		left -= 16;
	}
	w[0] = w[1] = 0;
	if (left >= 8) {
		memcpy(&w[0], p, 8);
		p += 8;
		left -= 8;
	}
	if (left) /* rarely: keys are multiples of 8; a copy of variable length is a call */
		memcpy(&w[1], p, left);
	return dif_hash_mix(w[0] ^ h ^ len, w[1] ^ g ^ 0xe7037ed1a0b428dbull);
}

/** The number of a tuple's @p len bytes before the zeros that pad its last string: only these are hashed. The
 * comparison of tuples includes the rest. */
static inline size_t dif_bytes_in_use(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t w[4];

	for (; len >= sizeof(w); len -= sizeof(w)) {
		memcpy(w, p + len - sizeof(w), sizeof(w));
		if (w[0] | w[1] | w[2] | w[3])
			break;
	}
	return len;
}

#endif
