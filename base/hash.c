/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash (Aumasson, Bernstein 2012) with few rounds for tables and with all of them for stored hashes. */
#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

static inline uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static inline void sip_rounds(struct ot_siphash24 *s, unsigned n)
{
	while (n--) {
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
}

static inline void take_word(struct ot_siphash24 *s, uint64_t word, unsigned rounds)
{
	s->d ^= word;
	sip_rounds(s, rounds);
	s->a ^= word;
}

/* All whole words of @len bytes; the rest is left at *@p. */
static inline size_t take_words(struct ot_siphash24 *s, const uint8_t **p, size_t len, unsigned rounds)
{
	uint64_t word;

	for (; len >= 8; len -= 8, *p += 8) {
		memcpy(&word, *p, 8);
		take_word(s, word, rounds);
	}
	return len;
}

/* The last @len bytes, less than a word, of @total. */
static inline uint64_t finish(struct ot_siphash24 *s, const uint8_t *p, size_t len, uint64_t total,
			      unsigned rounds)
{
	uint64_t last = total << 56;

	for (size_t i = 0; i < len; i++)
		last |= (uint64_t)p[i] << (8 * i);
	take_word(s, last, rounds);
	s->c ^= 0xff;
	sip_rounds(s, rounds + 2);
	return s->a ^ s->b ^ s->c ^ s->d;
}

void ot_siphash24_init(struct ot_siphash24 *s, const uint64_t key[2])
{
	/* "somepseudorandomlygeneratedbytes", as published */
	*s = (struct ot_siphash24){ key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
				    key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
}

void ot_siphash24_add(struct ot_siphash24 *s, const void *data, size_t len)
{
	size_t have = s->total % 8, room = 8 - have;
	const uint8_t *p = data, *tail = s->tail;

	s->total += len;
	if (len < room) {
		memcpy(s->tail + have, p, len);
		return;
	}
	memcpy(s->tail + have, p, room);
	take_words(s, &tail, 8, 2);
	p += room;
	len = take_words(s, &p, len - room, 2);
	memcpy(s->tail, p, len);
}

uint64_t ot_siphash24_end(struct ot_siphash24 *s)
{
	return finish(s, s->tail, s->total % 8, s->total, 2);
}

uint64_t ot_siphash13(const uint64_t key[2], const void *data, size_t len)
{
	const uint8_t *p = data;
	struct ot_siphash24 s;

	ot_siphash24_init(&s, key);
	size_t left = take_words(&s, &p, len, 1);
	return finish(&s, p, left, len, 1);
}

uint32_t ot_hash(const void *data, size_t len)
{
	/* 16 bytes that the kernel draws for each exec: a key without state of our own. */
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t key[2] = { 0, 0 };

	if (random)
		memcpy(key, random, sizeof(key));
	return (uint32_t)ot_siphash13(key, data, len);
}
