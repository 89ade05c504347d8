/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic variables on the hit path. There is no lock and no unbounded loop: retries and walks are limited,
 * and at the limit a variable counts as absent, or as a drop.
 *
 * Links are read and changed with sequential consistency, which costs nothing for loads on x86. Together with
 * the store in dif_dynvars_enter() it guarantees what reuse requires: a vCPU that enters after the cleaner
 * has read its seq can't find a cell that was unlinked before.
 */
#include "dif/vm/dynvar.h"

#include <string.h>

#include "dif/vm/dynvar_priv.h"
#include "dif/vm/hash.h"

#define CHAIN_MAX 1024
#define TRIES_MAX 64
#define MARK      1u

static uint32_t link_load(const uint32_t *link)
{
	return __atomic_load_n(link, __ATOMIC_SEQ_CST);
}

static bool link_cas(uint32_t *link, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(link, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static uint32_t link_to(uint32_t number)
{
	return (number + 1) << 1;
}

/* --- lists of free cells ---------------------------------------------------------------- */

bool dynvar_push_clean(struct dif_dynvars *dv, struct dynvar_vcpu *v, uint32_t first, uint32_t last)
{
	struct dynvar_cell *cell = dynvar_cell(dv, last);
	uint64_t head = __atomic_load_n(&v->clean, __ATOMIC_ACQUIRE);

	for (int tries = 0; tries < TRIES_MAX; tries++) {
		__atomic_store_n(&cell->list_next, (uint32_t)head, __ATOMIC_RELAXED);
		uint64_t next = ((head >> 32) + 1) << 32 | (first + 1);
		if (__atomic_compare_exchange_n(&v->clean, &head, next, false, __ATOMIC_SEQ_CST,
						__ATOMIC_ACQUIRE))
			return true;
	}
	return false;
}

/* The tag changes with each push and pop, which avoids the ABA problem. */
static bool pop_clean(struct dif_dynvars *dv, struct dynvar_vcpu *v, uint32_t *ret_number)
{
	uint64_t head = __atomic_load_n(&v->clean, __ATOMIC_ACQUIRE);

	for (int tries = 0; tries < TRIES_MAX; tries++) {
		uint32_t number = (uint32_t)head - 1;
		if (number >= dv->ncells) /* empty, or invalid */
			return false;
		uint32_t next = __atomic_load_n(&dynvar_cell(dv, number)->list_next, __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&v->clean, &head, ((head >> 32) + 1) << 32 | next, false,
						__ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

static void push_dirty(struct dif_dynvars *dv, uint32_t vcpu, uint32_t number)
{
	struct dynvar_vcpu *v = &dv->vcpus[vcpu];
	struct dynvar_cell *cell = dynvar_cell(dv, number);
	uint32_t head = __atomic_load_n(&v->dirty, __ATOMIC_RELAXED);

	/* Only this vCPU pushes, and only the cleaner takes, the whole list: two tries suffice unless another
	 * process corrupts the list; then the cell is lost. */
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		__atomic_store_n(&cell->list_next, head, __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&v->dirty, &head, number + 1, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return;
	}
}

void dif_dynvars_count_drop(struct dif_dynvars *dv)
{
	__atomic_fetch_add(&dv->header->drops.drops, 1, __ATOMIC_RELAXED);
}

static void count_no_cell(struct dif_dynvars *dv)
{
	struct dif_dynvar_drops *d = &dv->header->drops;
	uint64_t *which = &d->drops;

	if (__atomic_load_n(&dv->header->rinsing, __ATOMIC_RELAXED)) {
		which = &d->rinsing_drops;
	} else {
		for (uint32_t i = 0; i < dv->nvcpus; i++) {
			if (__atomic_load_n(&dv->vcpus[i].dirty, __ATOMIC_RELAXED))
				which = &d->dirty_drops;
		}
	}
	__atomic_fetch_add(which, 1, __ATOMIC_RELAXED);
}

static bool take_cell(struct dif_dynvars *dv, uint32_t vcpu, uint32_t *ret_number)
{
	for (uint32_t i = 0; i < dv->nvcpus; i++) {
		uint32_t from = vcpu + i < dv->nvcpus ? vcpu + i : vcpu + i - dv->nvcpus;
		if (pop_clean(dv, &dv->vcpus[from], ret_number))
			return true;
	}
	count_no_cell(dv);
	return false;
}

/* --- chains -------------------------------------------------------------------------------- */

struct lookup {
	struct dif_dynvars *dv;
	uint32_t vcpu;
	uint32_t hash;
	const void *key;
	uint32_t key_len;
	uint32_t *bucket;
	/* Results of search(): the cell, the link that points to it, and its own link; and the first link of
	 * the chain that was searched. */
	struct dynvar_cell *cell;
	uint32_t number;
	uint32_t *prev;
	uint32_t next;
	uint32_t first;
};

static bool is_key(const struct lookup *l, const struct dynvar_cell *cell)
{
	return cell->hash == l->hash && cell->key_len == l->key_len &&
	       memcmp(cell->key, l->key, l->key_len) == 0;
}

static struct dynvar_cell *find(const struct lookup *l)
{
	uint32_t link = link_load(l->bucket);

	for (int steps = 0; link && steps < CHAIN_MAX; steps++) {
		uint32_t number = (link >> 1) - 1;
		if (number >= l->dv->ncells)
			return NULL;
		struct dynvar_cell *cell = dynvar_cell(l->dv, number);
		uint32_t next = link_load(&cell->next);
		if (!(next & MARK) && is_key(l, cell))
			return cell;
		link = next & ~MARK;
	}
	return NULL;
}

enum outcome { FOUND, ABSENT, AGAIN, BROKEN };

/* Walk the chain, unlinking deleted cells on the way. */
static enum outcome search(struct lookup *l)
{
	uint32_t *prev = l->bucket, link = link_load(prev);

	l->first = link;
	for (int steps = 0; link && steps < CHAIN_MAX; steps++) {
		uint32_t number = (link >> 1) - 1;
		if (link & MARK)
			return AGAIN; /* prev was deleted meanwhile */
		if (number >= l->dv->ncells)
			return BROKEN;
		struct dynvar_cell *cell = dynvar_cell(l->dv, number);
		uint32_t next = link_load(&cell->next);
		if (next & MARK) {
			if (!link_cas(prev, link, next & ~MARK))
				return AGAIN;
			push_dirty(l->dv, l->vcpu, number);
			link = next & ~MARK;
			if (prev == l->bucket)
				l->first = link;
			continue;
		}
		if (is_key(l, cell)) {
			l->cell = cell;
			l->number = number;
			l->prev = prev;
			l->next = next;
			return FOUND;
		}
		prev = &cell->next;
		link = next;
	}
	return link ? BROKEN : ABSENT;
}

static void delete (struct lookup *l)
{
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		enum outcome o = search(l);
		if (o == AGAIN)
			continue;
		if (o != FOUND)
			return;
		if (!link_cas(&l->cell->next, l->next, l->next | MARK))
			continue;
		if (link_cas(l->prev, link_to(l->number), l->next))
			push_dirty(l->dv, l->vcpu, l->number);
		else
			search(l); /* unlinks it, or another walker does */
		return;
	}
}

/* The cell of this key, inserted if absent. Insertion is at the head only, so if the head is unchanged, the
 * same key has not been inserted since the search. */
static struct dynvar_cell *insert(struct lookup *l)
{
	struct dif_dynvars *dv = l->dv;
	struct dynvar_cell *fresh = NULL;
	uint32_t number = 0;

	for (int tries = 0; tries < TRIES_MAX; tries++) {
		enum outcome o = search(l);
		if (o == AGAIN)
			continue;
		if (o != ABSENT)
			break;
		if (!fresh) {
			if (!take_cell(dv, l->vcpu, &number))
				return NULL;
			fresh = dynvar_cell(dv, number);
			fresh->hash = l->hash;
			fresh->key_len = l->key_len;
			memcpy(fresh->key, l->key, l->key_len);
			memset(fresh->key + dv->key_size, 0, dv->value_size);
		}
		__atomic_store_n(&fresh->next, l->first, __ATOMIC_SEQ_CST);
		if (link_cas(l->bucket, l->first, link_to(number)))
			return fresh;
		l->cell = NULL;
	}
	if (fresh)
		dynvar_push_clean(dv, &dv->vcpus[l->vcpu], number, number);
	if (!l->cell)
		dif_dynvars_count_drop(dv);
	return l->cell;
}

uint64_t dif_dynvars_cell(struct dif_dynvars *dv, uint32_t vcpu, const void *key, uint32_t key_len,
			  uint32_t value_size, enum dif_dynvar_op op)
{
	struct lookup l = { .dv = dv, .vcpu = vcpu, .key = key, .key_len = key_len };
	struct dynvar_cell *cell;

	if (vcpu >= dv->nvcpus)
		return 0;
	if (key_len > dv->key_size || value_size > dv->value_size) {
		if (op == DIF_DYNVAR_ALLOC)
			dif_dynvars_count_drop(dv);
		return 0;
	}
	uint64_t wide = dif_hash64(key, key_len, dv->seed);
	l.hash = (uint32_t)wide;
	l.bucket = &dv->buckets[(wide >> 32) & (dv->nbuckets - 1)];
	if (op == DIF_DYNVAR_FREE) {
		delete (&l);
		return 0;
	}
	cell = op == DIF_DYNVAR_FIND ? find(&l) : insert(&l);
	return cell ? (uint64_t)(cell->key + dv->key_size - dv->mem) : 0;
}

/* --- entering and leaving probes ---------------------------------------------------------------- */

void dif_dynvars_enter(struct dif_dynvars *dv, uint32_t vcpu)
{
	if (vcpu < dv->nvcpus) {
		uint32_t *seq = &dv->vcpus[vcpu].seq;
		__atomic_store_n(seq, (__atomic_load_n(seq, __ATOMIC_RELAXED) + 1) | 1, __ATOMIC_SEQ_CST);
	}
}

void dif_dynvars_leave(struct dif_dynvars *dv, uint32_t vcpu)
{
	if (vcpu < dv->nvcpus) {
		uint32_t *seq = &dv->vcpus[vcpu].seq;
		__atomic_store_n(seq, (__atomic_load_n(seq, __ATOMIC_RELAXED) + 1) & ~1u, __ATOMIC_RELEASE);
	}
}

bool dif_dynvars_is_value(const struct dif_dynvars *dv, uint64_t offset, uint64_t len)
{
	if (!dv || offset < dv->cells_offset)
		return false;
	uint64_t number = (offset - dv->cells_offset) / dv->cell_size;
	uint64_t within = (offset - dv->cells_offset) % dv->cell_size;
	return number < dv->ncells && within >= sizeof(struct dynvar_cell) + dv->key_size &&
	       len <= dv->cell_size - within;
}
