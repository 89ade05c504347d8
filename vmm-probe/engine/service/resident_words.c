/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collecting the trampolines' counts. The guest can write to their words, so it can forge its own counts; no
 * address or size is taken from there.
 *
 * Counts and sums are only added to: the new counts are the difference to the last fold. An extreme is taken
 * by exchanging it with the initial value. The vCPU's compare-and-exchange has no lock prefix, so it may run
 * into that exchange; in any order, the value is in this half, in the next one, or in both, which does not
 * change an extreme.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/records.h"
#include "vmm-probe/engine/service/resident.h"
#include "vmm-probe/trampoline/trampoline.h"

static bool is_extreme(const struct vp_resident_words *w, const struct dif_action **ret)
{
	if (w->action == VP_TRAMP_FIRED)
		return false;
	*ret = &w->ecb->clause->source->actions[w->action];
	return (unsigned)(*ret)->kind == DIF_AGG_min || (unsigned)(*ret)->kind == DIF_AGG_max;
}

/* A vCPU's words, in this process. */
static uint64_t *words_on(const struct vp_engine_session *es, const struct vp_resident_words *w,
			  uint32_t vcpu)
{
	const struct vp_resident_room *room = &es->engine->service->resident.room;

	return (uint64_t *)(room->data + (es->facts.percpu_base[vcpu] - room->lowest) + w->at);
}

static uint64_t initial(const struct dif_action *a)
{
	uint64_t word;

	dif_agg_init((enum dif_agg_kind)a->kind, a->arg, &word);
	return word;
}

static void set_base(struct vp_engine_session *es, struct vp_resident_words *w)
{
	const struct dif_action *a;

	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		uint64_t *now = words_on(es, w, i);
		if (is_extreme(w, &a))
			__atomic_store_n(now, initial(a), __ATOMIC_RELAXED);
		for (uint32_t k = 0; k < w->nwords; k++)
			w->last[i * w->nwords + k] = __atomic_load_n(&now[k], __ATOMIC_RELAXED);
	}
}

static struct vp_resident_words *make(const struct vp_ecb *ecb, const struct vp_tramp_cell *cell)
{
	uint64_t nlast = (uint64_t)ecb->es->open.nvcpus * cell->nwords;
	struct vp_resident_words *w = calloc(1, sizeof(*w) + 2 * nlast * sizeof(uint64_t));

	if (!w)
		return NULL;
	w->ecb = ecb;
	w->action = cell->action;
	w->at = cell->at;
	w->nwords = cell->nwords;
	w->last = (uint64_t *)(w + 1);
	w->taken = w->last + nlast;
	w->fired = w;
	return w;
}

/* A clause's VP_TRAMP_FIRED cell, if it has one, is its last, and so precedes the others in @list: it shows
 * for all of them whether they have changed. */
static void link_fired(struct vp_resident_words *list)
{
	const struct vp_resident_words *fired = NULL;

	for (struct vp_resident_words *w = list; w; w = w->next) {
		if (w->action == VP_TRAMP_FIRED)
			fired = w;
		else if (fired && fired->ecb == w->ecb)
			w->fired = fired;
	}
}

static void free_list(struct vp_resident_words *list)
{
	struct vp_resident_words *next;

	for (; list; list = next) {
		next = list->next;
		free(list);
	}
}

struct ot_err *vp_resident_add_words(const struct vp_trampoline *t, struct vp_ecb *const *ecbs)
{
	struct vp_resident_words *list = NULL, *next;

	for (uint32_t i = 0; i < t->ncells; i++) {
		if (t->cells[i].keyed)
			continue; /* resident_table.c's */
		struct vp_resident_words *w = make(ecbs[t->cells[i].clause], &t->cells[i]);
		if (!w) {
			free_list(list);
			return ot_err_nomem();
		}
		w->next = list;
		list = w;
	}
	link_fired(list);
	for (; list; list = next) {
		struct vp_engine_session *es = list->ecb->es;
		next = list->next;
		set_base(es, list);
		list->next = es->service->resident.words;
		es->service->resident.words = list;
	}
	return NULL;
}

void vp_resident_base(struct vp_engine_session *es)
{
	for (struct vp_resident_words *w = es->service->resident.words; w; w = w->next)
		set_base(es, w);
	vp_resident_tables_base(es);
}

/* --- into the halves --------------------------------------------------------------------------- */

static bool differs(const struct vp_engine_session *es, const struct vp_resident_words *w, uint32_t vcpu)
{
	const uint64_t *now = words_on(es, w, vcpu);

	for (uint32_t k = 0; k < w->nwords; k++)
		if (__atomic_load_n(&now[k], __ATOMIC_RELAXED) != w->last[vcpu * w->nwords + k])
			return true;
	return false;
}

static void add_differences(const struct vp_resident_words *w, const uint64_t *now, uint64_t *last,
			    uint64_t *words)
{
	for (uint32_t k = 0; k < w->nwords; k++) {
		uint64_t value = __atomic_load_n(&now[k], __ATOMIC_RELAXED);
		words[k] += value - last[k];
		last[k] = value;
	}
}

static void fold(struct vp_engine_session *es, struct vp_resident_words *w, uint32_t vcpu, uint32_t half)
{
	uint64_t *now = words_on(es, w, vcpu);
	uint64_t *words = vp_entry_of(es, w->ecb, w->action, vcpu, half);
	const struct dif_action *a;

	if (!words)
		return; /* the half is full: the next one may have room */
	if (is_extreme(w, &a)) {
		uint64_t value = __atomic_exchange_n(now, initial(a), __ATOMIC_RELAXED);
		dif_agg_merge((enum dif_agg_kind)a->kind, words, &value);
	} else {
		add_differences(w, now, &w->last[vcpu * w->nwords], words);
	}
}

/* A count of firings is read before the words of its clause, and becomes the last one after they are folded:
 * the next fold notices a firing in between. */
static void fold_all(struct vp_engine_session *es, uint32_t vcpu, uint32_t half)
{
	struct vp_resident_words *w;

	for (w = es->service->resident.words; w; w = w->next)
		if (w->action == VP_TRAMP_FIRED)
			w->taken[vcpu] = __atomic_load_n(words_on(es, w, vcpu), __ATOMIC_ACQUIRE);
	for (w = es->service->resident.words; w; w = w->next)
		if (w->action != VP_TRAMP_FIRED && (differs(es, w, vcpu) || differs(es, w->fired, vcpu)))
			fold(es, w, vcpu, half);
	for (w = es->service->resident.words; w; w = w->next)
		if (w->action == VP_TRAMP_FIRED)
			w->last[vcpu] = w->taken[vcpu];
}

void vp_resident_fold(struct vp_engine_session *es, bool stopped)
{
	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		uint32_t half = es->vcpus[i].active ^ (stopped ? 0 : 1);
		fold_all(es, i, half);
		vp_resident_tables_fold(es, i, half);
	}
}

void vp_resident_free(struct vp_engine_session *es)
{
	free_list(es->service->resident.words);
	es->service->resident.words = NULL;
	vp_resident_tables_free(es);
	vp_records_forget(es);
}
