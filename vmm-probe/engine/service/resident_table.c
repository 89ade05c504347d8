/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of keys: what the trampolines count for each key. Keys are the engine's own, as the guest can't
 * write them; words are as in resident_words.c, one of each entry's in place of one.
 *
 * Sites with the same clauses share a table, unless a key names the probe: then sites of the same probes do.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/hit/keyed.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/resident.h"
#include "vmm-probe/trampoline/trampoline.h"

#define NOT_FIRED 0xffffffffu
#define RECENT    32u /* of a session's tables: what is searched for one that serves another site */

/* An aggregation's words of all entries, or how often a clause has fired with each. */
struct cell {
	const struct vp_ecb *ecb;
	struct vp_tramp_cell at;
	uint32_t first; /* of its words in `last` */
	uint32_t fired; /* the cell whose word changes at each hit; NOT_FIRED: one of its own does */
	uint64_t taken; /* FIRED: the entry's word when its fold began */
};

struct vp_resident_table {
	struct vp_resident_table *next; /* in vp_resident_session.tables */
	struct vp_keyed keyed;
	uint64_t keys;  /* in the guest */
	uint32_t bytes; /* of the keys */
	uint32_t from;  /* its trampolines' words, in data */
	struct vp_ecb *const *ecbs;
	uint32_t necbs, ncells;
	struct cell *cells;
	uint64_t *last;  /* by vCPU, word and entry: the words at the last fold */
	uint32_t nwords; /* of an entry */
};

static uint32_t entries(const struct vp_resident_table *t)
{
	return VP_TRAMP_WAYS << t->keyed.sets_log;
}

/* Word @word of entry @i on a vCPU, in this process. */
static uint64_t *word_at(const struct vp_engine_session *es, const struct vp_resident_table *t,
			 const struct cell *c, uint32_t vcpu, uint32_t word, uint32_t i)
{
	const struct vp_resident_room *room = &es->engine->service->resident.room;
	const uint64_t at = c->at.at + ((uint64_t)word * entries(t) + i) * 8;

	return (uint64_t *)(room->data + (es->facts.percpu_base[vcpu] - room->lowest) + at);
}

static uint64_t read_word(const struct vp_engine_session *es, const struct vp_resident_table *t,
			  const struct cell *c, uint32_t vcpu, uint32_t word, uint32_t i)
{
	return __atomic_load_n(word_at(es, t, c, vcpu, word, i), __ATOMIC_RELAXED);
}

static uint64_t *last_word(const struct vp_resident_table *t, const struct cell *c, uint32_t vcpu,
			   uint32_t word, uint32_t i)
{
	return &t->last[((uint64_t)vcpu * t->nwords + c->first + word) * entries(t) + i];
}

static const struct dif_action *action_of(const struct cell *c)
{
	return &c->ecb->clause->source->actions[c->at.action];
}

static bool is_extreme(const struct cell *c)
{
	return c->at.action != VP_TRAMP_FIRED &&
	       ((unsigned)action_of(c)->kind == DIF_AGG_min || (unsigned)action_of(c)->kind == DIF_AGG_max);
}

static uint64_t initial(const struct dif_action *a)
{
	uint64_t word;

	dif_agg_init((enum dif_agg_kind)a->kind, a->arg, &word);
	return word;
}

/* --- making one ---------------------------------------------------------------------------------- */

static void set_base(const struct vp_engine_session *es, struct vp_resident_table *t, const struct cell *c,
		     uint32_t vcpu)
{
	for (uint32_t word = 0; word < c->at.nwords; word++)
		for (uint32_t i = 0; i < entries(t); i++) {
			if (is_extreme(c))
				__atomic_store_n(word_at(es, t, c, vcpu, word, i), initial(action_of(c)),
						 __ATOMIC_RELAXED);
			*last_word(t, c, vcpu, word, i) = read_word(es, t, c, vcpu, word, i);
		}
}

static void set_all(const struct vp_engine_session *es, struct vp_resident_table *t)
{
	for (uint32_t vcpu = 0; vcpu < es->open.nvcpus; vcpu++)
		for (uint32_t i = 0; i < t->ncells; i++)
			set_base(es, t, &t->cells[i], vcpu);
}

/* A clause's cells that have no word of their own which changes at each hit have its last one, FIRED. */
static void link_fired(struct vp_resident_table *t)
{
	uint32_t fired = NOT_FIRED;

	for (uint32_t i = t->ncells; i-- > 0;) {
		struct cell *c = &t->cells[i];
		if (c->at.action == VP_TRAMP_FIRED)
			fired = i;
		c->fired =
		    fired != NOT_FIRED && t->cells[fired].at.clause == c->at.clause ? fired : NOT_FIRED;
	}
}

static void set_cells(struct vp_resident_table *t, const struct vp_trampoline *code)
{
	for (uint32_t i = 0; i < code->ncells; i++) {
		if (!code->cells[i].keyed)
			continue;
		t->cells[t->ncells++] = (struct cell){ .ecb = t->ecbs[code->cells[i].clause],
						       .at = code->cells[i],
						       .first = t->nwords };
		t->nwords += code->cells[i].nwords;
	}
	link_fired(t);
}

static struct vp_step *step_of(const struct cell *c)
{
	return &c->ecb->clause->steps[c->at.action];
}

/* Hits of the aggregations that have the table's key add to it. */
static void mark_steps(const struct vp_resident_table *t)
{
	for (uint32_t i = 0; i < t->ncells; i++)
		if (t->cells[i].at.action != VP_TRAMP_FIRED && !step_of(&t->cells[i])->in_table)
			step_of(&t->cells[i])->in_table = true;
}

/* From the engine's words of a key, which are those of each aggregation that has it, to the table's. */
static void set_key(struct vp_resident_table *t, const struct vp_tramp_table *table)
{
	const struct vp_step *steps = t->cells[0].ecb->clause->steps;
	const struct dif_agg_layout *agg = step_of(&t->cells[0])->agg;
	struct vp_keyed *k = &t->keyed;
	uint32_t next = 0;

	k->nwords = (uint8_t)table->nwords;
	k->sets_log = (uint8_t)table->sets_log;
	k->name = VP_KEYED_NONE;
	memset(k->from, VP_KEYED_NONE, sizeof(k->from));
	for (uint32_t i = 0; i < agg->nkeys; i++) {
		const struct vp_step *key = &steps[agg->keys[i].action];
		if (key->part == VP_KEY_EXECNAME) {
			k->name = (uint8_t)key->word;
			next = 2;
		}
	}
	for (uint32_t i = 0; i < agg->nkeys; i++) {
		const struct vp_step *key = &steps[agg->keys[i].action];
		if (key->part != VP_KEY_VALUE || next >= VP_TRAMP_KEY_WORDS)
			continue;
		k->from[next] = (uint8_t)key->word;
		next = next ? next + 1 : 2;
	}
}

static struct vp_resident_table *create(const struct vp_trampoline *code, const struct vp_site *site)
{
	const uint64_t nentries = vp_tramp_entries(&code->table), nvcpus = site->ecbs[0]->es->open.nvcpus;
	uint64_t nwords = 0;

	for (uint32_t i = 0; i < code->ncells; i++)
		nwords += code->cells[i].keyed ? code->cells[i].nwords : 0;
	struct vp_resident_table *t =
	    calloc(1, sizeof(*t) + nvcpus * nwords * nentries * sizeof(*t->last) +
			  code->ncells * sizeof(*t->cells) + site->necbs * sizeof(*t->ecbs));
	if (!t)
		return NULL;
	struct vp_ecb **ecbs = (struct vp_ecb **)(t + 1);
	memcpy(ecbs, site->ecbs, site->necbs * sizeof(*ecbs));
	t->ecbs = ecbs;
	t->necbs = site->necbs;
	t->cells = (struct cell *)(ecbs + site->necbs);
	t->last = (uint64_t *)(t->cells + code->ncells);
	return t;
}

void vp_resident_table_join(struct vp_resident_table *t, const struct vp_site *site)
{
	for (uint32_t i = 0; i < site->necbs; i++)
		__atomic_store_n(&site->ecbs[i]->keyed, &t->keyed, __ATOMIC_RELEASE);
}

struct ot_err *vp_resident_add_table(const struct vp_trampoline *code, const struct vp_site *site, void *keys,
				     uint32_t from)
{
	struct vp_engine_session *es = site->ecbs[0]->es;
	struct vp_resident_table *t = create(code, site);

	if (!t)
		return ot_err_nomem();
	set_cells(t, code);
	set_key(t, &code->table);
	t->keyed.keys = keys;
	t->keys = code->table.keys;
	t->bytes = vp_tramp_table_bytes(&code->table);
	t->from = from;
	vp_keyed_init(&t->keyed);
	mark_steps(t);
	set_all(es, t);
	t->next = es->service->resident.tables;
	es->service->resident.tables = t;
	vp_resident_table_join(t, site);
	return NULL;
}

/* --- finding one ---------------------------------------------------------------------------------- */

static bool serves(const struct vp_resident_table *t, const struct vp_site *site)
{
	if (t->necbs != site->necbs)
		return false;
	for (uint32_t i = 0; i < t->necbs; i++)
		if (t->ecbs[i] != site->ecbs[i] && (t->ecbs[i]->clause != site->ecbs[i]->clause ||
						    vp_resident_is_per_probe(t->ecbs[i]->clause->source)))
			return false;
	return true;
}

struct vp_resident_table *vp_resident_table_of(const struct vp_site *site)
{
	const struct vp_ecb *ecb = site->ecbs[0];
	struct vp_resident_table *t = ecb->es->service->resident.tables;

	if (ecb->keyed) {
		struct vp_resident_table *own =
		    (void *)((char *)ecb->keyed - offsetof(struct vp_resident_table, keyed));
		if (serves(own, site))
			return own;
	}
	for (uint32_t i = 0; t && i < RECENT; i++, t = t->next)
		if (serves(t, site))
			return t;
	return NULL;
}

uint32_t vp_resident_table_place(const struct vp_resident_table *t, uint64_t *ret_keys, uint64_t *ret_end)
{
	*ret_keys = t->keys;
	*ret_end = t->keys + t->bytes;
	return t->from;
}

void vp_resident_tables_base(struct vp_engine_session *es)
{
	for (struct vp_resident_table *t = es->service->resident.tables; t; t = t->next)
		set_all(es, t);
}

/* --- into the halves --------------------------------------------------------------------------- */

/* Has an entry been hit since the last fold? */
static bool differs(const struct vp_engine_session *es, const struct vp_resident_table *t,
		    const struct cell *c, uint32_t vcpu, uint32_t i)
{
	const struct cell *fired = c->fired == NOT_FIRED ? NULL : &t->cells[c->fired];

	if (fired && fired->taken != *last_word(t, fired, vcpu, 0, i))
		return true;
	for (uint32_t word = 0; word < c->at.nwords; word++)
		if (read_word(es, t, c, vcpu, word, i) != *last_word(t, c, vcpu, word, i))
			return true;
	return false;
}

static void fold_cell(struct vp_engine_session *es, struct vp_resident_table *t, const struct cell *c,
		      const uint64_t *key, uint32_t vcpu, uint32_t half, uint32_t i)
{
	uint64_t *words = vp_entry_by_words(es, c->ecb, c->at.action, key, vcpu, half), value;

	if (!words)
		return; /* the half is full: the next one may have room */
	if (is_extreme(c)) {
		value = __atomic_exchange_n(word_at(es, t, c, vcpu, 0, i), initial(action_of(c)),
					    __ATOMIC_RELAXED);
		dif_agg_merge((enum dif_agg_kind)action_of(c)->kind, words, &value);
		return;
	}
	for (uint32_t word = 0; word < c->at.nwords; word++) {
		uint64_t *last = last_word(t, c, vcpu, word, i);
		value = read_word(es, t, c, vcpu, word, i);
		words[word] += value - *last;
		*last = value;
	}
}

/* As in resident_words.c, how often a clause has fired is read before its other words, and becomes the last
 * value after they are folded. */
static void fold(struct vp_engine_session *es, struct vp_resident_table *t, uint32_t i, uint32_t vcpu,
		 uint32_t half)
{
	uint64_t key[VP_KEY_WORDS];

	if (!vp_keyed_get(&t->keyed, i, key))
		return;
	if (t->keyed.name != VP_KEYED_NONE)
		vp_cut_name(&key[t->keyed.name]);
	for (struct cell *c = t->cells; c < t->cells + t->ncells; c++)
		if (c->at.action == VP_TRAMP_FIRED)
			c->taken = __atomic_load_n(word_at(es, t, c, vcpu, 0, i), __ATOMIC_ACQUIRE);
	for (struct cell *c = t->cells; c < t->cells + t->ncells; c++)
		if (c->at.action != VP_TRAMP_FIRED && differs(es, t, c, vcpu, i))
			fold_cell(es, t, c, key, vcpu, half, i);
	for (struct cell *c = t->cells; c < t->cells + t->ncells; c++)
		if (c->at.action == VP_TRAMP_FIRED)
			*last_word(t, c, vcpu, 0, i) = c->taken;
}

void vp_resident_tables_fold(struct vp_engine_session *es, uint32_t vcpu, uint32_t half)
{
	for (struct vp_resident_table *t = es->service->resident.tables; t; t = t->next)
		for (uint32_t i = 0; i < entries(t); i++)
			fold(es, t, i, vcpu, half);
}

void vp_resident_tables_free(struct vp_engine_session *es)
{
	struct vp_resident_table *next;

	for (struct vp_resident_table *t = es->service->resident.tables; t; t = next) {
		next = t->next;
		free(t);
	}
	es->service->resident.tables = NULL;
}
