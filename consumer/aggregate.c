/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merging deltas by key, and applying clear(), normalize() and trunc() to the result. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "consumer/aggregate.h"
#include "dif/vm/agg.h"
#include "dif/vm/hash.h"

struct ot_err *con_aggs_init(struct con_aggs *aggs, const struct dif_program *prog)
{
	*aggs = (struct con_aggs){ 0 };
	ot_map_init(&aggs->sources);
	con_agg_names_init(&aggs->own_names);
	aggs->names = &aggs->own_names;
	ot_arena_init(&aggs->arena);
	for (uint32_t i = 0; i < prog->naggs; i++)
		if (prog->aggs[i].id > aggs->nvars)
			aggs->nvars = prog->aggs[i].id;
	aggs->vars = ot_arena_alloc(&aggs->arena, (aggs->nvars + 1) * sizeof(*aggs->vars));
	if (!aggs->vars) {
		con_aggs_deinit(aggs);
		return ot_err_nomem();
	}
	for (uint32_t i = 0; i < prog->naggs; i++) {
		const struct dif_aggvar *var = &prog->aggs[i];
		if (!var->id)
			continue;
		struct con_agg *agg = &aggs->vars[var->id - 1];
		agg->kind = var->kind;
		agg->arg = var->arg;
		agg->name = ot_arena_strdup(&aggs->arena, var->name ? var->name : "");
		if (!agg->name) {
			con_aggs_deinit(aggs);
			return ot_err_nomem();
		}
	}
	return NULL;
}

void con_aggs_deinit(struct con_aggs *aggs)
{
	for (uint32_t i = 0; aggs->vars && i < aggs->nvars; i++) {
		struct con_agg *agg = &aggs->vars[i];
		for (size_t k = 0; k < agg->count; k++)
			free(agg->entries[k]);
		free(agg->entries);
		free(agg->slots);
	}
	ot_map_deinit(&aggs->sources);
	con_agg_names_deinit(&aggs->own_names);
	ot_arena_deinit(&aggs->arena);
	aggs->vars = NULL;
}

void con_aggs_share_names(struct con_aggs *aggs, struct con_aggs *other)
{
	aggs->names = other->names;
}

struct con_agg *con_aggs_get(struct con_aggs *aggs, uint32_t id)
{
	return id && id <= aggs->nvars ? &aggs->vars[id - 1] : NULL;
}

struct con_datum con_agg_key(struct con_agg_entry *e, uint32_t i)
{
	const struct dif_rec *rec = &e->source->layout->keys[i];

	return (struct con_datum){ &e->source->clause->actions[rec->action], con_agg_tuple(e) + rec->offset,
				   rec->size };
}

struct con_aggval con_agg_value(const struct con_agg *agg, const struct con_agg_entry *e)
{
	return (struct con_aggval){ agg->kind, agg->arg, e->words, e->normal };
}

/* --- what is kept for whom ------------------------------------------------------------ */

/* A source, with its place in the map. */
#define SOURCE_COST (sizeof(struct con_agg_source) + 128)

/* An entry, with its place in the array and its slots. */
static uint64_t cost(const struct con_agg_entry *e)
{
	const struct dif_agg_layout *l = e->source->layout;

	return sizeof(*e) + l->nwords * sizeof(uint64_t) + l->tuple_size + 48;
}

static void free_entry(struct con_agg_entry *e)
{
	ot_account_give(e->source->account, cost(e));
	free(e);
}

/* A delta without room is omitted: the account has counted it. */
static struct ot_err *leave_out(const struct vp_aggregate *delta, struct ot_err *err)
{
	if (!delta->account || ot_err_code(err) != OT_ERR_LIMIT)
		return err;
	ot_err_destroy(err);
	return NULL;
}

/* --- the table --------------------------------------------------------------------- */

/* Keys with a process's addresses are their guest's own; all others belong to no guest. */
static bool same_key(struct con_agg_entry *a, struct con_agg_entry *b)
{
	return a->hash == b->hash && a->source->layout->tuple_size == b->source->layout->tuple_size &&
	       !memcmp(con_agg_tuple(a), con_agg_tuple(b), a->source->layout->tuple_size) &&
	       (a->source->guest == b->source->guest || !a->source->own);
}

/* The slot of an entry like @e, or the free slot for it. */
static uint32_t *find_slot(struct con_agg *agg, struct con_agg_entry *e)
{
	size_t mask = agg->nslots - 1, i = e->hash & mask;

	while (agg->slots[i] && !same_key(agg->entries[agg->slots[i] - 1], e))
		i = (i + 1) & mask;
	return &agg->slots[i];
}

static bool rehash(struct con_agg *agg, size_t nslots)
{
	uint32_t *slots = calloc(nslots, sizeof(*slots));

	if (!slots)
		return false;
	free(agg->slots);
	agg->slots = slots;
	agg->nslots = nslots;
	for (size_t i = 0; i < agg->count; i++) {
		size_t at = agg->entries[i]->hash & (nslots - 1);
		while (slots[at])
			at = (at + 1) & (nslots - 1);
		slots[at] = (uint32_t)i + 1;
	}
	return true;
}

static struct ot_err *make_room(struct con_agg *agg)
{
	if (agg->count >= UINT32_MAX / 4)
		return ot_err_new(OT_ERR_LIMIT, "an aggregation has too many keys");
	if (agg->count * 2 >= agg->nslots && !rehash(agg, agg->nslots ? agg->nslots * 2 : 64))
		return ot_err_nomem();
	if (!ot_grow(&agg->entries, &agg->cap, agg->count + 1, sizeof(*agg->entries)))
		return ot_err_nomem();
	return NULL;
}

static void init_source(struct con_agg_source *source, const struct con_agg *agg, const struct con_printer *p,
			const struct vp_aggregate *delta)
{
	const struct dif_clause *clause = delta->ecb->clause;
	bool own = con_agg_names_process(clause, delta->layout);
	bool named = !own && p->symbols.nguests > 1 && con_agg_names_kernel(clause, delta->layout);

	*source = (struct con_agg_source){
		.clause = clause,
		.layout = delta->layout,
		.epid = delta->ecb->epid,
		.guest = named ? CON_GUEST_NAMED : delta->ecb->guest,
		.account = delta->account,
		.own = own,
		.printed = agg->printed_empty,
	};
}

static struct ot_err *find_source(struct con_aggs *aggs, const struct con_agg *agg,
				  const struct con_printer *p, const struct vp_aggregate *delta,
				  struct con_agg_source **ret)
{
	uint32_t key[2] = { delta->ecb->epid, delta->layout->action };
	struct con_agg_source *source = aggs->last;

	if (!source || source->epid != key[0] || source->layout != delta->layout)
		source = ot_map_get(&aggs->sources, key, sizeof(key));
	if (!source) {
		if (!ot_account_take(delta->account, SOURCE_COST))
			return ot_err_new(OT_ERR_LIMIT, "no room for a source of data");
		source = ot_arena_new(&aggs->arena, struct con_agg_source);
		if (!source || !ot_map_put(&aggs->sources, key, sizeof(key), source))
			return ot_err_nomem();
		init_source(source, agg, p, delta);
	}
	*ret = aggs->last = source;
	return NULL;
}

static struct ot_err *new_entry(struct con_aggs *aggs, const struct con_agg *agg, struct con_printer *p,
				const struct vp_aggregate *delta, struct con_agg_entry **ret)
{
	const struct dif_agg_layout *l = delta->layout;
	struct con_agg_source *source;

	OT_TRY(find_source(aggs, agg, p, delta, &source));
	size_t words = (size_t)l->nwords * sizeof(uint64_t);
	struct con_agg_entry *e = malloc(sizeof(*e) + words + l->tuple_size);

	if (!e)
		return ot_err_nomem();
	e->source = source;
	e->normal = 1;
	memcpy(con_agg_tuple(e), delta->tuple, l->tuple_size);
	/* the shape replaces the aggregation's number, which is the same for all: keys then differ in their
	 * bytes alone, across aggregations too */
	memcpy(con_agg_tuple(e), &l->shape, sizeof(l->shape));
	struct ot_err *err = con_agg_names_apply(aggs->names, p, e);
	if (err) {
		free(e);
		return err;
	}
	e->hash = ot_hash(con_agg_tuple(e), dif_bytes_in_use(con_agg_tuple(e), l->tuple_size));
	*ret = e;
	return NULL;
}

struct ot_err *con_aggs_add(struct con_aggs *aggs, struct con_printer *p, const struct vp_aggregate *delta)
{
	struct con_agg *agg = con_aggs_get(aggs, delta->action->aggid);
	struct con_agg_entry *e = NULL;

	if (!agg || delta->layout->nwords != dif_agg_words(agg->kind, agg->arg))
		return ot_err_new(OT_ERR_BAD_DATA, "data of an aggregation that is not in the program");
	OT_TRY(make_room(agg));
	p->guest = delta->ecb->guest;
	struct ot_err *err = new_entry(aggs, agg, p, delta, &e);
	if (err)
		return leave_out(delta, err);
	uint32_t *slot = find_slot(agg, e);
	if (!*slot && !ot_account_take(e->source->account, cost(e))) {
		free(e); /* omitted, too */
		return NULL;
	}
	if (*slot) {
		free(e);
		dif_agg_merge(agg->kind, agg->entries[*slot - 1]->words, delta->words);
		return NULL;
	}
	/* merged into an initial value, not copied: parameters never come from the guest */
	dif_agg_init(agg->kind, agg->arg, e->words);
	dif_agg_merge(agg->kind, e->words, delta->words);
	agg->entries[agg->count++] = e;
	*slot = (uint32_t)agg->count;
	return NULL;
}

/* --- clear(), trunc(), normalize() ----------------------------------------------------- */

void con_agg_entry_clear(const struct con_agg *agg, struct con_agg_entry *e)
{
	bool has_parameters = agg->kind == DIF_AGG_lquantize || agg->kind == DIF_AGG_llquantize;

	memset(e->words + has_parameters, 0, (e->source->layout->nwords - has_parameters) * sizeof(uint64_t));
}

void con_agg_clear(struct con_agg *agg)
{
	for (size_t i = 0; i < agg->count; i++)
		con_agg_entry_clear(agg, agg->entries[i]);
}

void con_agg_normalize(struct con_agg *agg, uint64_t normal)
{
	for (size_t i = 0; i < agg->count; i++)
		agg->entries[i]->normal = normal;
}

size_t con_agg_index(struct con_agg *agg, struct con_agg_entry *e)
{
	return *find_slot(agg, e) - 1;
}

void con_agg_keep(struct con_agg *agg, const bool *keep)
{
	size_t kept = 0;

	for (size_t i = 0; i < agg->count; i++) {
		if (keep[i])
			agg->entries[kept++] = agg->entries[i];
		else
			free_entry(agg->entries[i]);
	}
	agg->count = kept;
	if (!agg->nslots)
		return;
	/* as many slots as before: nothing to allocate, so nothing can fail */
	memset(agg->slots, 0, agg->nslots * sizeof(*agg->slots));
	for (size_t i = 0; i < kept; i++) {
		size_t at = agg->entries[i]->hash & (agg->nslots - 1);
		while (agg->slots[at])
			at = (at + 1) & (agg->nslots - 1);
		agg->slots[at] = (uint32_t)i + 1;
	}
}

struct ot_err *con_agg_trunc(struct con_agg *agg, int64_t n)
{
	struct con_agg_order order = { .reversed = n > 0 };
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	struct con_agg_entry **sorted;
	bool *keep = calloc(agg->count + 1, sizeof(*keep));

	if (!keep)
		return ot_err_nomem();
	struct ot_err *err = con_agg_sort(agg, &order, &sorted);
	if (err) {
		free(keep);
		return err;
	}
	for (size_t i = 0; i < agg->count && i < left; i++)
		keep[con_agg_index(agg, sorted[i])] = true;
	con_agg_keep(agg, keep);
	free(sorted);
	free(keep);
	return NULL;
}
