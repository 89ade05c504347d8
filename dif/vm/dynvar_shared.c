/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dynamic variables: formatting, opening and cleaning the table. Not on the hit path. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "dif/vm/dynvar.h"
#include "dif/vm/dynvar_priv.h"

static uint64_t buckets_offset(uint32_t nvcpus)
{
	return 128 + (uint64_t)nvcpus * sizeof(struct dynvar_vcpu);
}

static uint64_t cells_offset(uint32_t nvcpus, uint32_t nbuckets)
{
	return (buckets_offset(nvcpus) + (uint64_t)nbuckets * sizeof(uint32_t) + 63) & ~63ull;
}

_Static_assert(sizeof(struct dynvar_header) <= 128, "buckets_offset() reserves 128");

/* Set the pointers and sizes for a table with the given dimensions. BAD_DATA: it exceeds its memory. */
static struct ot_err *place(struct dif_dynvars *dv, const struct dynvar_header *h)
{
	dv->vcpus = (struct dynvar_vcpu *)(void *)(dv->mem + 128);
	if (!h->nvcpus || h->nvcpus > DYNVAR_VCPUS || !h->ncells || h->ncells > DYNVAR_CELLS ||
	    !h->nbuckets || h->nbuckets > DYNVAR_CELLS || (h->nbuckets & (h->nbuckets - 1)))
		return ot_err_new(OT_ERR_BAD_DATA, "dynamic variables: %u vCPUs, %u buckets, %u cells",
				  h->nvcpus, h->nbuckets, h->ncells);
	if (h->key_size > DYNVAR_SIZE + 64 || h->value_size > DYNVAR_SIZE || h->key_size % 8 ||
	    h->value_size % 8 || !h->key_size || !h->value_size)
		return ot_err_new(OT_ERR_BAD_DATA, "dynamic variables: keys of %u, values of %u bytes",
				  h->key_size, h->value_size);
	dv->nvcpus = h->nvcpus;
	dv->nbuckets = h->nbuckets;
	dv->ncells = h->ncells;
	dv->key_size = h->key_size;
	dv->value_size = h->value_size;
	dv->seed = h->seed;
	dv->cell_size = (uint32_t)sizeof(struct dynvar_cell) + h->key_size + h->value_size;
	dv->cells_offset = cells_offset(h->nvcpus, h->nbuckets);
	if (dv->cells_offset + (uint64_t)dv->ncells * dv->cell_size > dv->size)
		return ot_err_new(OT_ERR_BAD_DATA, "dynamic variables: the table is larger than its memory");
	dv->buckets = (uint32_t *)(void *)(dv->mem + buckets_offset(h->nvcpus));
	dv->cells = dv->mem + dv->cells_offset;
	return NULL;
}

/* Distribute the cells to the vCPUs' clean lists. */
static void deal_cells(struct dif_dynvars *dv)
{
	for (uint32_t i = 0; i < dv->ncells; i++) {
		struct dynvar_vcpu *v = &dv->vcpus[i % dv->nvcpus];
		dynvar_cell(dv, i)->list_next = (uint32_t)v->clean;
		v->clean = i + 1;
	}
}

struct ot_err *dif_dynvars_format(void *mem, size_t size, uint32_t nvcpus, uint32_t key_size,
				  uint32_t value_size)
{
	struct dynvar_header h = { .magic = DYNVAR_MAGIC, .nvcpus = nvcpus };
	struct dif_dynvars dv = { .mem = mem, .size = size };

	if (key_size > DYNVAR_SIZE + 64 || value_size > DYNVAR_SIZE || !nvcpus || nvcpus > DYNVAR_VCPUS)
		return ot_err_new(OT_ERR_LIMIT, "dynamic variables of %u + %u bytes on %u vCPUs", key_size,
				  value_size, nvcpus);
	h.key_size = key_size ? (key_size + 7) & ~7u : 8;
	h.value_size = value_size ? (value_size + 7) & ~7u : 8;
	uint64_t cell = sizeof(struct dynvar_cell) + h.key_size + h.value_size;
	uint64_t fixed = buckets_offset(nvcpus) + 64;
	/* A bucket for each cell, rounded up to a power of two: at most 8 bytes a cell. */
	uint64_t ncells = size > fixed ? (size - fixed) / (cell + 8) : 0;
	if (!ncells || (uintptr_t)mem % 8)
		return ot_err_new(OT_ERR_LIMIT, "no dynamic variable of %llu bytes fits into %zu bytes",
				  (unsigned long long)cell, size);
	h.ncells = ncells > DYNVAR_CELLS ? DYNVAR_CELLS : (uint32_t)ncells;
	for (h.nbuckets = 1; h.nbuckets < h.ncells;)
		h.nbuckets *= 2;
	if (getrandom(&h.seed, sizeof(h.seed), 0) != (ssize_t)sizeof(h.seed))
		h.seed = (uintptr_t)mem;
	OT_TRY(place(&dv, &h));
	memcpy(mem, &h, sizeof(h));
	deal_cells(&dv);
	return NULL;
}

struct ot_err *dif_dynvars_open(void *mem, size_t size, struct dif_dynvars **ret)
{
	struct dynvar_header h;
	struct dif_dynvars *dv;

	if (size < 128 || (uintptr_t)mem % 8)
		return ot_err_new(OT_ERR_BAD_DATA, "dynamic variables: %zu bytes", size);
	memcpy(&h, mem, sizeof(h)); /* read once: shared memory may change */
	if (h.magic != DYNVAR_MAGIC)
		return ot_err_new(OT_ERR_BAD_DATA, "dynamic variables: not formatted");
	dv = calloc(1, sizeof(*dv));
	if (!dv)
		return ot_err_nomem();
	dv->mem = mem;
	dv->size = size;
	dv->header = mem;
	struct ot_err *err = place(dv, &h);
	if (!err) {
		dv->rinse = calloc(dv->nvcpus + 1, sizeof(*dv->rinse));
		dv->seen = calloc(dv->nvcpus + 1, sizeof(*dv->seen));
		if (!dv->rinse || !dv->seen)
			err = ot_err_nomem();
	}
	if (err) {
		dif_dynvars_close(dv);
		return err;
	}
	*ret = dv;
	return NULL;
}

void dif_dynvars_close(struct dif_dynvars *dv)
{
	if (!dv)
		return;
	free(dv->rinse);
	free(dv->seen);
	free(dv);
}

/* --- cleaning ----------------------------------------------------------------------------------- */

/* Has every vCPU left the probe that it was in when rinsing began? */
static bool all_left(const struct dif_dynvars *dv)
{
	for (uint32_t i = 0; i < dv->nvcpus; i++) {
		if (dv->seen[i] & 1 && __atomic_load_n(&dv->vcpus[i].seq, __ATOMIC_SEQ_CST) == dv->seen[i])
			return false;
	}
	return true;
}

/* The last cell of a list that begins with @number. */
static uint32_t last_of(const struct dif_dynvars *dv, uint32_t number)
{
	for (uint32_t n = 0; n < dv->ncells; n++) {
		uint32_t next = __atomic_load_n(&dynvar_cell(dv, number)->list_next, __ATOMIC_RELAXED) - 1;
		if (next >= dv->ncells)
			break;
		number = next;
	}
	return number;
}

/* Each list by one exchange: vCPUs that take cells meanwhile would have to try again for each. False: a list
 * is left for the next time. */
static bool rinsed_to_clean(struct dif_dynvars *dv)
{
	bool all = true;

	for (uint32_t i = 0; i < dv->nvcpus; i++) {
		uint32_t first = dv->rinse[i] - 1;
		if (first < dv->ncells) {
			uint32_t last = last_of(dv, first);
			if (!dynvar_push_clean(dv, &dv->vcpus[i], first, last)) {
				__atomic_store_n(&dynvar_cell(dv, last)->list_next, 0, __ATOMIC_RELAXED);
				all = false;
				continue;
			}
		}
		dv->rinse[i] = 0;
	}
	return all;
}

/* Take the dirty cells, then read every vCPU's seq: vCPUs that are outside probes, or enter one from now on,
 * can't reach these cells. */
static bool begin_rinsing(struct dif_dynvars *dv)
{
	bool any = false;

	for (uint32_t i = 0; i < dv->nvcpus; i++) {
		dv->rinse[i] = __atomic_exchange_n(&dv->vcpus[i].dirty, 0, __ATOMIC_SEQ_CST);
		any |= dv->rinse[i] != 0;
	}
	for (uint32_t i = 0; any && i < dv->nvcpus; i++)
		dv->seen[i] = __atomic_load_n(&dv->vcpus[i].seq, __ATOMIC_SEQ_CST);
	return any;
}

void dif_dynvars_clean(struct dif_dynvars *dv)
{
	/* Two rounds: if no vCPU is in a probe, dirty cells become clean at once. */
	for (int round = 0; round < 2; round++) {
		if (dv->rinsing) {
			if (!all_left(dv) || !rinsed_to_clean(dv))
				return;
			dv->rinsing = false;
		}
		if (round == 0)
			dv->rinsing = begin_rinsing(dv);
		__atomic_store_n(&dv->header->rinsing, dv->rinsing, __ATOMIC_RELAXED);
	}
}

void dif_dynvars_vcpu_gone(struct dif_dynvars *dv, uint32_t vcpu)
{
	if (vcpu < dv->nvcpus && __atomic_load_n(&dv->vcpus[vcpu].seq, __ATOMIC_RELAXED) & 1)
		dif_dynvars_leave(dv, vcpu);
}

void dif_dynvars_drops(const struct dif_dynvars *dv, struct dif_dynvar_drops *ret)
{
	const struct dif_dynvar_drops *d = &dv->header->drops;

	ret->drops = __atomic_load_n(&d->drops, __ATOMIC_RELAXED);
	ret->rinsing_drops = __atomic_load_n(&d->rinsing_drops, __ATOMIC_RELAXED);
	ret->dirty_drops = __atomic_load_n(&d->dirty_drops, __ATOMIC_RELAXED);
}

uint32_t dif_dynvars_key_size(const struct dif_dynvars *dv)
{
	return dv->key_size;
}

uint32_t dif_dynvars_value_size(const struct dif_dynvars *dv)
{
	return dv->value_size;
}

/* Numbers and lengths are another process's: bounded, as everywhere. */
static void each_of(const struct dif_dynvars *dv, uint32_t bucket,
		    void (*each)(void *arg, const void *key, uint32_t key_len, const void *value), void *arg)
{
	uint32_t link = dv->buckets[bucket];

	for (uint32_t steps = 0; link && steps < dv->ncells; steps++) {
		uint32_t number = (link >> 1) - 1;
		if (number >= dv->ncells)
			return;
		const struct dynvar_cell *cell = dynvar_cell(dv, number);
		bool deleted = cell->next & 1;
		if (!deleted && cell->key_len <= dv->key_size)
			each(arg, cell->key, cell->key_len, cell->key + dv->key_size);
		link = cell->next & ~1u;
	}
}

void dif_dynvars_each(const struct dif_dynvars *dv,
		      void (*each)(void *arg, const void *key, uint32_t key_len, const void *value),
		      void *arg)
{
	for (uint32_t i = 0; i < dv->nbuckets; i++)
		each_of(dv, i, each, arg);
}

void *dif_dynvars_mem(struct dif_dynvars *dv, size_t *ret_size)
{
	*ret_size = dv->size;
	return dv->mem;
}
