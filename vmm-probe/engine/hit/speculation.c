/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speculations. An id has one word for all engines of a session, in their shared memory and changed by CAS,
 * and a private buffer on each vCPU. The word is a state, and a bit for each engine that may hold something
 * for it.
 *
 *   FREE ─speculation()─► OPEN ─speculate()─► ONE (and which vCPU) ─speculate() on another─► MANY
 *
 *   commit(), discard():  OPEN, ONE (own) ─► OWN ─► FREE        at once
 *                         ONE (another's), MANY ─► COMMITTING, DISCARDING
 *                                                  ─► FREE      at a switch of the last engine whose bit
 *                                                               is there, by its service thread
 *
 * The vCPU that commits moves its own part at once; the others' parts are put behind what they recorded
 * when their half is handed over. Nobody adds to an id that is OWN, COMMITTING or DISCARDING.
 *
 * Another process may scribble on the words: then records show or not as it likes, and nothing else happens,
 * for buffers and their lengths are private and every retry is counted.
 */
#include <stdlib.h>

#include "vmm-probe/engine/internal.h"

#define TRIES_MAX    64
#define MEMORY_LIMIT (256ull << 20)

enum { FREE, OPEN, MANY, OWN, COMMITTING, DISCARDING };
#define ONE (1u << 31) /* | vCPU, numbered through all engines */

static uint32_t state_of(uint64_t word)
{
	return (uint32_t)word;
}

static uint64_t engine_bit(const struct vp_es *es)
{
	return 1ull << (32 + es->open.engine);
}

static uint64_t with_state(uint64_t word, uint32_t state)
{
	return (word & ~0xffffffffull) | state;
}

static uint32_t one(const struct vp_es_vcpu *v)
{
	return ONE | (v->es->open.first_cpu + v->vcpu);
}

static bool cas(uint64_t *word, uint64_t *from, uint64_t to)
{
	return __atomic_compare_exchange_n(word, from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* --- life ----------------------------------------------------------------------------------- */

static struct ot_err *make_buffers(struct vp_es *es, uint64_t n, uint64_t size)
{
	if (size > MEMORY_LIMIT || n * size * es->open.nvcpus > MEMORY_LIMIT)
		return ot_err_new(OT_ERR_LIMIT,
				  "%llu speculations of %llu bytes on %u vCPUs are more than 256 MiB",
				  (unsigned long long)n, (unsigned long long)size, es->open.nvcpus);
	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		struct vp_es_vcpu *v = &es->vcpus[i];
		v->specs = calloc(n, sizeof(*v->specs));
		if (!v->specs)
			return ot_err_nomem();
		for (uint32_t k = 0; k < n; k++) {
			v->specs[k].mem = malloc(size + 8);
			if (!v->specs[k].mem)
				return ot_err_nomem();
		}
	}
	return NULL;
}

struct ot_err *vp_spec_init(struct vp_es *es)
{
	uint64_t n = es->open.nspec, size = es->open.specsize & ~7ull;

	if (!n)
		return NULL;
	es->spec_state = (uint64_t *)(void *)(es->shared + es->open.specs_offset);
	es->spec_seen = calloc(n, sizeof(*es->spec_seen));
	if (!es->spec_seen)
		return ot_err_nomem();
	/* ids are handed out also where no clause puts anything behind one */
	return es->speculates ? make_buffers(es, n, size) : NULL;
}

void vp_spec_deinit(struct vp_es *es)
{
	for (uint32_t i = 0; es->vcpus && i < es->open.nvcpus; i++) {
		struct vp_es_vcpu *v = &es->vcpus[i];
		for (uint32_t k = 0; v->specs && k < es->open.nspec; k++)
			free(v->specs[k].mem);
		free(v->specs);
	}
	free(es->spec_seen);
}

/* --- hit path ---------------------------------------------------------------------------------- */

uint64_t vp_spec_new(struct vp_es_vcpu *v)
{
	struct vp_es *es = v->es;
	bool busy = false;

	for (uint32_t i = 0; es->spec_state && i < es->open.nspec; i++) {
		uint64_t word = FREE;
		if (cas(&es->spec_state[i], &word, OPEN))
			return i + 1;
		uint32_t state = state_of(word);
		busy |= state == OWN || state == COMMITTING || state == DISCARDING;
	}
	if (busy)
		VP_COUNT(v, spec_busy);
	else
		VP_COUNT(v, spec_unavail);
	return 0;
}

static bool is_id(const struct vp_es_vcpu *v, uint64_t id)
{
	return id && v->es->spec_state && id <= v->es->open.nspec;
}

/* For commit() and discard(). Id 0 is what speculation() gives when it has none: nothing happens. Any other
 * that can't be is the program's mistake. */
static enum vp_step_result check_id(const struct vp_es_vcpu *v, uint64_t id, enum dif_fault *fault)
{
	if (id == 0)
		return VP_STEP_DROP;
	if (is_id(v, id))
		return VP_STEP_DONE;
	*fault = DIF_FAULT_ILLOP;
	return VP_STEP_FAULT;
}

/* Say that this vCPU is about to add to the id; false when it is not open. */
static bool join(struct vp_es_vcpu *v, uint64_t *at)
{
	uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE), bit = engine_bit(v->es);

	for (int tries = 0; tries < TRIES_MAX; tries++) {
		uint32_t state = state_of(word);
		if (word & bit && (state == one(v) || state == MANY))
			return true;
		if (state != OPEN && state != MANY && !(state & ONE))
			return false;
		if (cas(at, &word, with_state(word, state == OPEN ? one(v) : MANY) | bit))
			return true;
	}
	return false;
}

/* An id that is not open, whatever it is, ends the clause without a word. */
enum vp_step_result vp_spec_speculate(struct vp_es_vcpu *v, uint64_t id)
{
	const struct dif_clause_layout *l = &v->ecb->clause->layout;

	if (!is_id(v, id) || !join(v, &v->es->spec_state[id - 1]))
		return VP_STEP_DROP;
	struct vp_specbuf *spec = &v->specs[id - 1];
	if (!l->size)
		return VP_STEP_DONE;
	uint64_t at = (spec->used + l->align - 1) & ~(uint64_t)(l->align - 1);
	uint64_t size = v->es->open.specsize & ~7ull;
	if (at > size || l->size > size - at) {
		VP_COUNT(v, spec_drops);
		return VP_STEP_DROP;
	}
	memset(spec->mem + spec->used, 0, at - spec->used);
	v->spec = spec;
	v->record = spec->mem + at;
	return VP_STEP_DONE;
}

/* --- moving records --------------------------------------------------------------------------- */

static uint32_t size_of(const struct vp_es *es, uint32_t epid)
{
	const struct vp_epid_sizes *sizes = __atomic_load_n(&es->sizes, __ATOMIC_ACQUIRE);

	return epid && sizes && epid < sizes->n ? sizes->size[epid] : 4;
}

/* Records committed have the time of the commit. The buffer is private memory, so EPIDs and sizes are as
 * vp_record_finish() wrote them. */
static void set_times(const struct vp_es *es, uint8_t *mem, uint64_t used, uint64_t now)
{
	uint32_t time[2] = { (uint32_t)(now >> 32), (uint32_t)now }, epid;

	for (uint64_t at = 0; at + DIF_RECORD_HEADER <= used; at += size_of(es, epid)) {
		memcpy(&epid, mem + at, sizeof(epid));
		if (epid)
			memcpy(mem + at + 4, time, sizeof(time));
	}
}

/* Aligned as the buffer was, so that each record in it stays aligned. */
static void move_own(struct vp_es_vcpu *v, struct vp_specbuf *spec)
{
	uint64_t now = vp_clause_time(v);

	if (!spec->used)
		return;
	uint8_t *dst = vp_buffer_reserve(v, (uint32_t)spec->used, 8,
					 __atomic_load_n(&v->es->end_reserve, __ATOMIC_RELAXED));
	if (dst) {
		set_times(v->es, spec->mem, spec->used, now);
		memcpy(dst, spec->mem, spec->used);
		vp_buffer_commit(v, dst, (uint32_t)spec->used);
	}
	spec->used = 0;
}

/* Take the id out of use; false when it was not in use. *ret_own: it holds nothing of other vCPUs, and is
 * free as soon as the caller is done with its own part. */
static bool leave_open(struct vp_es_vcpu *v, uint64_t id, uint32_t to, bool *ret_own)
{
	uint64_t *at = &v->es->spec_state[id - 1], word = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	for (int tries = 0; tries < TRIES_MAX; tries++) {
		uint32_t state = state_of(word);
		if (state != OPEN && state != MANY && !(state & ONE))
			return false;
		*ret_own = state == OPEN || state == one(v);
		if (cas(at, &word, with_state(word, *ret_own ? OWN : to)))
			return true;
	}
	return false;
}

static void set_free(struct vp_es *es, uint64_t id)
{
	__atomic_store_n(&es->spec_state[id - 1], FREE, __ATOMIC_RELEASE);
}

/* What this clause recorded before commit() comes first. */
enum vp_step_result vp_spec_commit(struct vp_es_vcpu *v, uint64_t id, enum dif_fault *fault)
{
	enum vp_step_result ok = check_id(v, id, fault);
	bool own;

	if (ok != VP_STEP_DONE)
		return id ? ok : VP_STEP_DONE;
	if (!leave_open(v, id, COMMITTING, &own))
		return VP_STEP_DONE;
	vp_record_finish(v);
	if (v->specs)
		move_own(v, &v->specs[id - 1]);
	if (own)
		set_free(v->es, id);
	return VP_STEP_DONE;
}

enum vp_step_result vp_spec_discard(struct vp_es_vcpu *v, uint64_t id, enum dif_fault *fault)
{
	enum vp_step_result ok = check_id(v, id, fault);
	bool own;

	if (ok != VP_STEP_DONE)
		return id ? ok : VP_STEP_DONE;
	if (!leave_open(v, id, DISCARDING, &own))
		return VP_STEP_DONE;
	if (v->specs)
		v->specs[id - 1].used = 0;
	if (own)
		set_free(v->es, id);
	return VP_STEP_DONE;
}

/* --- service thread ------------------------------------------------------------------------------ */

/* The half just handed over is the service thread's; with RING or FILL before the end nothing was handed
 * over, and this is not called. */
static void move_part(struct vp_es *es, struct vp_es_vcpu *v, struct vp_specbuf *spec, uint64_t now)
{
	uint64_t used = spec->used;
	uint8_t *dst = used ? vp_buffer_append(v, v->active ^ 1, (uint32_t)used, 8) : NULL;

	if (!dst)
		return;
	set_times(es, spec->mem, used, now);
	memcpy(dst, spec->mem, used);
}

void vp_spec_look(struct vp_es *es)
{
	for (uint32_t i = 0; es->spec_state && i < es->open.nspec; i++)
		es->spec_seen[i] = __atomic_load_n(&es->spec_state[i], __ATOMIC_ACQUIRE);
}

static bool is_leaving(uint64_t word)
{
	return state_of(word) == COMMITTING || state_of(word) == DISCARDING;
}

/* An engine has nothing more for an id that is leaving; the last one frees it. */
static void take_bit_away(uint64_t *at, uint64_t bit)
{
	uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	for (int tries = 0; tries < TRIES_MAX && is_leaving(word); tries++) {
		uint64_t to = word & ~bit;
		if (cas(at, &word, to >> 32 ? to : FREE))
			return;
	}
}

/* Only what vp_spec_look() saw leaving: since then the vCPUs have been quiescent, so none is in the middle
 * of a record for it. */
void vp_spec_clean(struct vp_es *es, uint64_t now)
{
	for (uint32_t i = 0; es->spec_state && i < es->open.nspec; i++) {
		uint64_t word = es->spec_seen[i];
		if (!is_leaving(word) || !(word & engine_bit(es)))
			continue;
		for (uint32_t k = 0; es->speculates && k < es->open.nvcpus; k++) {
			struct vp_specbuf *spec = &es->vcpus[k].specs[i];
			if (state_of(word) == COMMITTING)
				move_part(es, &es->vcpus[k], spec, now);
			spec->used = 0;
		}
		take_bit_away(&es->spec_state[i], engine_bit(es));
	}
}

void vp_specs_engine_gone(uint64_t *words, uint32_t n, uint32_t engine)
{
	for (uint32_t i = 0; i < n; i++)
		take_bit_away(&words[i], 1ull << (32 + engine));
}
