/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregating a value: finding the words of its key in this vCPU's table, and updating them. Building and
 * looking up a tuple of strsize bytes costs more than all the rest, so entries are cached until the half is
 * exchanged: without keys by number, with keys by the words that identify them, if these are few. The tuple
 * is built from these words at their first occurrence. Hit path.
 */
#include "vmm-probe/engine/hit/aggregate.h"
#include "dif/vm/hash.h"
#include "vmm-probe/engine/hit/buffer.h"
#include "vmm-probe/engine/hit/keyed.h"
#include "vmm-probe/engine/hit/stand_in.h"
#include "vmm-probe/engine/hit/task.h"

_Static_assert(VP_KEY_WORDS == DIF_AGG_RECENT_KEYS, "what is remembered is compared whole");

/* --- keys of a few words ---------------------------------------------------------------------- */

static uint32_t name_of(const struct vp_step *step)
{
	return dif_insn_idx(step->action->object->text[0]);
}

/* The probe's name that the element is. */
static const char *text_of(struct vp_vcpu_session *v, const struct vp_step *step, char room[VP_PROVIDER_MAX])
{
	uint32_t var = name_of(step);

	return var == DIF_VAR_probeprov ? vp_provider_of(v, v->ecb->probe, room)
					: vp_probe_text(v->ecb->probe, var);
}

static uint64_t text_word(struct vp_vcpu_session *v, const struct vp_step *step)
{
	uint32_t var = name_of(step);

	return var == DIF_VAR_probeprov ? vp_provider_word(v, v->ecb->probe)
					: (uintptr_t)vp_probe_text(v->ecb->probe, var);
}

enum dif_fault vp_key_evaluate(struct vp_vcpu_session *v, const struct vp_step *step)
{
	uint64_t *to = &v->key[step->word];

	switch (step->part) {
	case VP_KEY_EXECNAME:
		vp_task_name(v, to);
		return DIF_FAULT_NONE;
	case VP_KEY_TEXT:
		*to = text_word(v, step);
		return DIF_FAULT_NONE;
	case VP_KEY_VALUE:
		break;
	}
	return dif_vm_eval(&v->vm, step->action->object, to);
}

/* The element in the form of the tuple. */
static void put_key(struct vp_vcpu_session *v, const struct vp_step *step)
{
	uint8_t *dst = v->tuple + step->offset;
	const void *from = &v->key[step->word];
	size_t len = step->size;
	char room[VP_PROVIDER_MAX];

	if (step->part == VP_KEY_EXECNAME) {
		len = VP_NAME_BYTES;
	} else if (step->part == VP_KEY_TEXT) {
		from = text_of(v, step, room);
		len = strnlen(from, step->size - 1); /* a variable's string has its NUL */
	}
	memset(dst - step->gap, 0, step->gap);
	memcpy(dst, from, len);
	memset(dst + len, 0, step->size - len);
}

void vp_put_keys(struct vp_vcpu_session *v, const struct dif_agg_layout *agg)
{
	for (uint32_t i = 0; i < agg->nkeys; i++)
		put_key(v, &v->ecb->clause->steps[agg->keys[i].action]);
}

/* --- entries ------------------------------------------------------------------------------------ */

/* NULL: no room. */
static uint64_t *look_up(struct vp_vcpu_session *v, const struct vp_step *step, struct dif_aggtab *tab)
{
	const struct dif_action *a = step->action;
	const uint32_t id = vp_seen_inside(v) ? a->aggid | VP_AGG_INSIDE : a->aggid;
	struct vp_half *half = &v->status->aggregation[v->half];
	size_t before = tab->used;

	if (!tab->mem)
		return NULL;
	memcpy(v->tuple, &id, sizeof(id));
	uint64_t *words =
	    dif_aggtab_lookup(tab, step->agg, (enum dif_agg_kind)a->kind, a->arg, v->tuple, v->ecb->epid);
	if (tab->used != before)
		__atomic_store_n(&half->used, tab->used, __ATOMIC_RELEASE);
	return words;
}

/* An event inside the guest has an entry of its own, which is looked up. */
static uint64_t *find_single(struct vp_vcpu_session *v, const struct vp_step *step, struct dif_aggtab *tab)
{
	if (vp_seen_inside(v))
		return look_up(v, step, tab);
	uint64_t **known = &tab->single[step->single - 1];
	if (ot_unlikely(!*known))
		*known = look_up(v, step, tab);
	return *known;
}

/* The cached entry of the key, if there is one. */
static struct dif_agg_recent *place_of(const struct vp_vcpu_session *v, struct dif_aggtab *tab,
				       uint64_t owner, uint32_t nwords)
{
	uint64_t h = tab->seed ^ owner;

	for (uint32_t i = 0; i < nwords; i++)
		h = dif_hash_mix(h ^ v->key[i], 0x9e3779b97f4a7c15ull);
	return &tab->recent[h % DIF_AGG_RECENT];
}

/* All keys of an owner have the same number of words. */
static bool is_key(const struct vp_vcpu_session *v, const struct dif_agg_recent *r, uint64_t owner,
		   uint32_t nwords)
{
	uint64_t differ = r->owner ^ owner;

	for (uint32_t i = 0; i < nwords; i++)
		differ |= r->key[i] ^ v->key[i];
	return !differ;
}

static uint64_t *find_by_words(struct vp_vcpu_session *v, const struct vp_step *step, struct dif_aggtab *tab)
{
	/* Events inside the guest have other entries: the lowest bit of a pointer is free to mark them. */
	uint64_t owner = (uintptr_t)step->agg | vp_seen_inside(v);
	struct dif_agg_recent *r = place_of(v, tab, owner, step->nwords);

	if (ot_likely(is_key(v, r, owner, step->nwords)))
		return r->words;
	vp_put_keys(v, step->agg);
	uint64_t *words = look_up(v, step, tab);
	if (words) {
		r->owner = owner;
		memcpy(r->key, v->key, sizeof(r->key));
		r->words = words;
	}
	return words;
}

static uint64_t *find_words(struct vp_vcpu_session *v, const struct vp_step *step, struct dif_aggtab *tab)
{
	struct vp_keyed *keyed;

	if (step->nwords) {
		keyed = __atomic_load_n(&v->ecb->keyed, __ATOMIC_ACQUIRE);
		if (ot_unlikely(keyed && step->in_table))
			vp_keyed_learn(v, keyed);
		return find_by_words(v, step, tab);
	}
	return step->single ? find_single(v, step, tab) : look_up(v, step, tab);
}

enum vp_step_result vp_aggregate(struct vp_vcpu_session *v, const struct vp_step *step, enum dif_fault *f)
{
	const struct dif_action *a = step->action;
	uint64_t value = 0, incr = v->increment;

	v->increment = 1;
	if (a->object) {
		*f = dif_vm_eval(&v->vm, a->object, &value);
		if (*f != DIF_FAULT_NONE)
			return VP_STEP_FAULT;
	}
	uint64_t *words = find_words(v, step, &v->aggs[v->half]);
	if (ot_likely(words))
		dif_agg_update((enum dif_agg_kind)a->kind, a->arg, words, value, incr);
	else
		vp_count(&v->agg_dropped[v->half], &v->status->aggregation[v->half].dropped);
	return VP_STEP_DONE;
}
