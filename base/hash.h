/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash of names and keys in this process's tables. Guests and scripts choose the hashed bytes, so the
 * hash is keyed: bytes that collide in one process do not collide in another, and collisions can't be found
 * from outside.
 */
#ifndef OT_BASE_HASH_H
#define OT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** SipHash-1-3 of @p len bytes with a key of two words: for tables in memory. */
uint64_t ot_siphash13(const uint64_t key[2], const void *data, size_t len);

/* SipHash-2-4, fed in pieces: for hashes that are stored. */
struct ot_siphash24 {
	uint64_t a, b, c, d;
	uint64_t total;  /* bytes so far */
	uint8_t tail[8]; /* the last of them, less than a word */
};

void ot_siphash24_init(struct ot_siphash24 *s, const uint64_t key[2]);
void ot_siphash24_add(struct ot_siphash24 *s, const void *data, size_t len);
/** The hash of all that was added; @p s is used up. */
uint64_t ot_siphash24_end(struct ot_siphash24 *s);

/** 32 bits of SipHash-1-3 with this process's own key. Never to be stored or sent: it is another in each
 * process. */
uint32_t ot_hash(const void *data, size_t len);

#endif
