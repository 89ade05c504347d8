/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

struct state {
	uint64_t a, b, c, d;
};

static inline uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static inline void sip_round(struct state *s)
{
	s->a += s->b;
	s->c += s->d;
	s->b = rotate(s->b, 13) ^ s->a;
	s->d = rotate(s->d, 16) ^ s->c;
	s->a = rotate(s->a, 32) + s->d;
	s->c += s->b;
	s->d = rotate(s->d, 21) ^ s->a;
	s->b = rotate(s->b, 17) ^ s->c;
	s->c = rotate(s->c, 32);
}

static inline void take_word(struct state *s, uint64_t word)
{
	s->d ^= word;
	sip_round(s);
	s->a ^= word;
}

uint64_t ot_siphash(const uint64_t key[2], const void *data, size_t len)
{
	/* "somepseudorandomlygeneratedbytes", as published */
	struct state s = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			   key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
	const uint8_t *p = data;
	uint64_t word, last = (uint64_t)len << 56;
	size_t left = len;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		take_word(&s, word);
	}
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)p[i] << (8 * i);
	take_word(&s, last);
	s.c ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&s);
	return s.a ^ s.b ^ s.c ^ s.d;
}

uint32_t ot_hash(const void *data, size_t len)
{
	/* 16 bytes that the kernel draws for each exec: a key without state of our own. */
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t key[2] = { 0, 0 };

	if (random)
		memcpy(key, random, sizeof(key));
	return (uint32_t)ot_siphash(key, data, len);
}
