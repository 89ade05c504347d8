/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash-2-4 (Aumasson, Bernstein 2012): without the key no collisions can be found. */
#include <string.h>

#include "vmm-probe/guest/cache_internal.h"

static uint64_t rotl(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

static void round_(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] = rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] = rotl(v[2], 32);
}

static void absorb(struct vp_cache_hash *hash, uint64_t word)
{
	hash->v[3] ^= word;
	round_(hash->v);
	round_(hash->v);
	hash->v[0] ^= word;
}

void vp_cache_hash_key(struct vp_cache_hash *hash, const uint64_t key[2])
{
	memset(hash, 0, sizeof(*hash));
	hash->v[0] = key[0] ^ 0x736f6d6570736575ull;
	hash->v[1] = key[1] ^ 0x646f72616e646f6dull;
	hash->v[2] = key[0] ^ 0x6c7967656e657261ull;
	hash->v[3] = key[1] ^ 0x7465646279746573ull;
}

void vp_cache_hash_add(struct vp_cache_hash *hash, const void *data, size_t len)
{
	const uint8_t *at = data;
	size_t have = hash->total % 8;
	uint64_t word;

	hash->total += len;
	if (have) {
		size_t take = len < 8 - have ? len : 8 - have;

		memcpy(hash->tail + have, at, take);
		at += take;
		len -= take;
		if (have + take < 8)
			return;
		memcpy(&word, hash->tail, 8);
		absorb(hash, word);
	}
	for (; len >= 8; at += 8, len -= 8) {
		memcpy(&word, at, 8);
		absorb(hash, word);
	}
	memcpy(hash->tail, at, len);
}

uint64_t vp_cache_hash_end(struct vp_cache_hash *hash)
{
	uint64_t word = 0;

	memcpy(&word, hash->tail, hash->total % 8);
	absorb(hash, word | hash->total << 56);
	hash->v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		round_(hash->v);
	return hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3];
}
