/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of keys: the trampolines' counts for each key. Keys are the engine's own, as the guest can't write
 * them; words are as in resident_words.c.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/hit/keyed.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/resident.h"
#include "vmm-probe/trampoline/trampoline.h"

#define WORDS_MAX 2u /* of an entry: a count of hits, and a sum */

struct vp_resident_table {
	struct vp_resident_table *next; /* in vp_resident_session.tables */
	const struct vp_ecb *ecb;
	struct vp_tramp_table table;
	struct vp_keyed keyed;
	uint64_t last[]; /* by vCPU: the words at the last fold */
};

/* Word @word of entry @i on a vCPU, in this process. */
static uint64_t read_word(const struct vp_engine_session *es, const struct vp_resident_table *t,
			  uint32_t vcpu, uint32_t word, uint32_t i)
{
	const struct vp_resident_room *room = &es->engine->service->resident.room;
	const uint64_t at = t->table.at + ((uint64_t)word * VP_TRAMP_ENTRIES + i) * 8;

	return __atomic_load_n(
	    (const uint64_t *)(room->data + (es->facts.percpu_base[vcpu] - room->lowest) + at),
	    __ATOMIC_RELAXED);
}

static uint64_t *last_word(struct vp_resident_table *t, uint32_t vcpu, uint32_t word, uint32_t i)
{
	return &t->last[((uint64_t)vcpu * t->table.nwords + word) * VP_TRAMP_ENTRIES + i];
}

static void set_base(const struct vp_engine_session *es, struct vp_resident_table *t)
{
	for (uint32_t vcpu = 0; vcpu < es->open.nvcpus; vcpu++)
		for (uint32_t word = 0; word < t->table.nwords; word++)
			for (uint32_t i = 0; i < VP_TRAMP_ENTRIES; i++)
				*last_word(t, vcpu, word, i) = read_word(es, t, vcpu, word, i);
}

struct ot_err *vp_resident_add_table(const struct vp_tramp_table *table, const struct vp_ecb *ecb, void *keys)
{
	struct vp_engine_session *es = ecb->es;
	struct vp_clause *clause = &es->service->clauses[ecb->clause - es->service->clauses];
	const struct vp_step *key = &clause->steps[ecb->clause->layout.aggs[0].keys[0].action];
	uint64_t nlast = (uint64_t)es->open.nvcpus * table->nwords * VP_TRAMP_ENTRIES;
	struct vp_resident_table *t = calloc(1, sizeof(*t) + nlast * sizeof(uint64_t));

	if (!t)
		return ot_err_nomem();
	t->ecb = ecb;
	t->table = *table;
	vp_keyed_init(&t->keyed, keys, key->part == VP_KEY_EXECNAME);
	set_base(es, t);
	t->next = es->service->resident.tables;
	es->service->resident.tables = t;
	__atomic_store_n(&clause->keyed, &t->keyed, __ATOMIC_RELEASE);
	return NULL;
}

void vp_resident_tables_base(struct vp_engine_session *es)
{
	for (struct vp_resident_table *t = es->service->resident.tables; t; t = t->next)
		set_base(es, t);
}

/* --- into the halves --------------------------------------------------------------------------- */

/* The words of an entry into those of count(), sum() or avg(). */
static void add(unsigned kind, const uint64_t new[WORDS_MAX], uint64_t *words)
{
	words[0] += kind == DIF_AGG_sum ? new[1] : new[0];
	if (kind == DIF_AGG_avg)
		words[1] += new[1];
}

static void fold(struct vp_engine_session *es, struct vp_resident_table *t, uint32_t i, uint32_t vcpu,
		 uint32_t half)
{
	const struct dif_action *a = &t->ecb->clause->source->actions[t->table.action];
	uint64_t key[2], new[WORDS_MAX] = { 0 }, changed = 0;

	if (!vp_keyed_get(&t->keyed, i, key))
		return;
	for (uint32_t word = 0; word < t->table.nwords; word++) {
		new[word] = read_word(es, t, vcpu, word, i) - *last_word(t, vcpu, word, i);
		changed |= new[word];
	}
	if (!changed)
		return;
	if (t->keyed.names)
		vp_cut_name(key);
	uint64_t *words = vp_entry_by_words(es, t->ecb, t->table.action, key, vcpu, half);
	if (!words)
		return; /* the half is full: the next one may have room */
	add((unsigned)a->kind, new, words);
	for (uint32_t word = 0; word < t->table.nwords; word++)
		*last_word(t, vcpu, word, i) += new[word];
}

void vp_resident_tables_fold(struct vp_engine_session *es, uint32_t vcpu, uint32_t half)
{
	for (struct vp_resident_table *t = es->service->resident.tables; t; t = t->next)
		for (uint32_t i = 0; i < VP_TRAMP_ENTRIES; i++)
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
