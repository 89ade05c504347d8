/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash of names and keys in this process's tables. Guests and scripts choose what is hashed, so it is
 * keyed: what collides in one process does not in another, and cannot be found from outside.
 */
#ifndef OT_BASE_HASH_H
#define OT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** SipHash-1-3 of @p len bytes with a key of two words. */
uint64_t ot_siphash(const uint64_t key[2], const void *data, size_t len);

/** 32 bits of it with this process's own key. Never to be stored or sent: it is another in each process. */
uint32_t ot_hash(const void *data, size_t len);

#endif
