/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory whose use others decide: each of several parties has an account of what is kept for it, in a pool
 * that has a bound.
 *
 * An equal share of the pool is each party's own, so that none can use up what others need; beyond its share
 * a party may have up to half of the pool, while the pool has room. So all accounts together have less than
 * twice the pool's bound.
 */
#ifndef OT_BASE_ACCOUNT_H
#define OT_BASE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ot_pool {
	uint64_t most, bytes; /* bytes: of all accounts */
	uint32_t parties;
};

struct ot_account {
	struct ot_pool *pool;
	uint64_t bytes;
	uint64_t refused; /* how often there was no room */
};

static inline void ot_account_open(struct ot_account *a, struct ot_pool *pool)
{
	*a = (struct ot_account){ .pool = pool };
	pool->parties++;
}

/** Keep @p n bytes more for the party. False: there is no room. @p a NULL: there is always. */
static inline bool ot_account_take(struct ot_account *a, uint64_t n)
{
	if (!a)
		return true;
	const struct ot_pool *pool = a->pool;
	const uint64_t bytes = a->bytes + n;
	const bool is_own = n <= pool->most && bytes <= pool->most / pool->parties;

	if (!is_own && (n > pool->most || bytes > pool->most / 2 || pool->bytes + n > pool->most)) {
		a->refused++;
		return false;
	}
	a->bytes = bytes;
	a->pool->bytes += n;
	return true;
}

/** So many of them are kept no longer. */
static inline void ot_account_give(struct ot_account *a, uint64_t n)
{
	if (!a)
		return;
	a->bytes -= n;
	a->pool->bytes -= n;
}

#endif
