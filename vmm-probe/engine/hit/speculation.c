/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Speculating, committing and discarding at the firing of a probe. Hit path. */
#include "vmm-probe/engine/hit/speculation.h"

#include "vmm-probe/engine/hit/buffer.h"

static uint64_t with_state(uint64_t word, uint32_t state)
{
	return (word & ~0xffffffffull) | state;
}

static uint32_t one(const struct vp_vcpu_session *v)
{
	return VP_SPEC_ONE | (v->es->open.first_cpu + v->vcpu);
}

uint64_t vp_spec_new(struct vp_vcpu_session *v)
{
	struct vp_engine_session *es = v->es;
	bool busy = false;

	for (uint32_t i = 0; es->spec_state && i < es->open.nspec; i++) {
		uint64_t word = VP_SPEC_FREE;
		if (vp_spec_cas(&es->spec_state[i], &word, VP_SPEC_OPEN))
			return i + 1;
		uint32_t state = vp_spec_state_of(word);
		busy |= state == VP_SPEC_OWN || state == VP_SPEC_COMMITTING || state == VP_SPEC_DISCARDING;
	}
	if (busy)
		VP_COUNT(v, spec_busy);
	else
		VP_COUNT(v, spec_unavail);
	return 0;
}

static bool is_id(const struct vp_vcpu_session *v, uint64_t id)
{
	return id && v->es->spec_state && id <= v->es->open.nspec;
}

/* For commit() and discard(). Id 0 is speculation()'s result when none is free: no effect. Any other invalid
 * id is the program's error. */
static enum vp_step_result check_id(const struct vp_vcpu_session *v, uint64_t id, enum dif_fault *fault)
{
	if (id == 0)
		return VP_STEP_DROP;
	if (is_id(v, id))
		return VP_STEP_DONE;
	*fault = DIF_FAULT_ILLOP;
	return VP_STEP_FAULT;
}

/* Mark that this vCPU is about to add to the id; false: the id is not open. */
static bool join(struct vp_vcpu_session *v, uint64_t *at)
{
	uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE), bit = vp_spec_engine_bit(v->es);

	for (int tries = 0; tries < VP_SPEC_TRIES_MAX; tries++) {
		uint32_t state = vp_spec_state_of(word);
		if (word & bit && (state == one(v) || state == VP_SPEC_MANY))
			return true;
		if (state != VP_SPEC_OPEN && state != VP_SPEC_MANY && !(state & VP_SPEC_ONE))
			return false;
		if (vp_spec_cas(at, &word,
				with_state(word, state == VP_SPEC_OPEN ? one(v) : VP_SPEC_MANY) | bit))
			return true;
	}
	return false;
}

/* An id that is not open ends the clause without an error, as in DTrace. */
enum vp_step_result vp_spec_speculate(struct vp_vcpu_session *v, uint64_t id)
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

static uint32_t size_of(const struct vp_engine_session *es, uint32_t epid)
{
	const struct vp_epid_sizes *sizes = __atomic_load_n(&es->sizes, __ATOMIC_ACQUIRE);

	return epid && sizes && epid < sizes->n ? sizes->size[epid] : 4;
}

/* Committed records get the time of the commit. The buffer is private memory, so EPIDs and sizes are as
 * vp_record_finish() wrote them. */
void vp_spec_set_times(const struct vp_engine_session *es, uint8_t *mem, uint64_t used, uint64_t now)
{
	uint32_t time[2] = { (uint32_t)(now >> 32), (uint32_t)now }, epid;

	for (uint64_t at = 0; at + DIF_RECORD_HEADER <= used; at += size_of(es, epid)) {
		memcpy(&epid, mem + at, sizeof(epid));
		if (epid)
			memcpy(mem + at + 4, time, sizeof(time));
	}
}

/* Aligned as the buffer was, so that each record in it stays aligned. */
static void move_own(struct vp_vcpu_session *v, struct vp_specbuf *spec)
{
	uint64_t now = vp_clause_time(v);

	if (!spec->used)
		return;
	uint8_t *dst = vp_buffer_reserve(v, (uint32_t)spec->used, 8,
					 __atomic_load_n(&v->es->end_reserve, __ATOMIC_RELAXED));
	if (dst) {
		vp_spec_set_times(v->es, spec->mem, spec->used, now);
		memcpy(dst, spec->mem, spec->used);
		vp_buffer_commit(v, dst, (uint32_t)spec->used);
	}
	spec->used = 0;
}

/* Release the id; false: it was not in use. *ret_own: no other vCPU has records under it, so that it is free
 * as soon as the caller has handled its own part. */
static bool leave_open(struct vp_vcpu_session *v, uint64_t id, uint32_t to, bool *ret_own)
{
	uint64_t *at = &v->es->spec_state[id - 1], word = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	for (int tries = 0; tries < VP_SPEC_TRIES_MAX; tries++) {
		uint32_t state = vp_spec_state_of(word);
		if (state != VP_SPEC_OPEN && state != VP_SPEC_MANY && !(state & VP_SPEC_ONE))
			return false;
		*ret_own = state == VP_SPEC_OPEN || state == one(v);
		if (vp_spec_cas(at, &word, with_state(word, *ret_own ? VP_SPEC_OWN : to)))
			return true;
	}
	return false;
}

static void set_free(struct vp_engine_session *es, uint64_t id)
{
	__atomic_store_n(&es->spec_state[id - 1], VP_SPEC_FREE, __ATOMIC_RELEASE);
}

/* Records of this clause from before commit() are first. */
enum vp_step_result vp_spec_commit(struct vp_vcpu_session *v, uint64_t id, enum dif_fault *fault)
{
	enum vp_step_result ok = check_id(v, id, fault);
	bool own;

	if (ok != VP_STEP_DONE)
		return id ? ok : VP_STEP_DONE;
	if (!leave_open(v, id, VP_SPEC_COMMITTING, &own))
		return VP_STEP_DONE;
	vp_record_finish(v);
	if (v->specs)
		move_own(v, &v->specs[id - 1]);
	if (own)
		set_free(v->es, id);
	return VP_STEP_DONE;
}

enum vp_step_result vp_spec_discard(struct vp_vcpu_session *v, uint64_t id, enum dif_fault *fault)
{
	enum vp_step_result ok = check_id(v, id, fault);
	bool own;

	if (ok != VP_STEP_DONE)
		return id ? ok : VP_STEP_DONE;
	if (!leave_open(v, id, VP_SPEC_DISCARDING, &own))
		return VP_STEP_DONE;
	if (v->specs)
		v->specs[id - 1].used = 0;
	if (own)
		set_free(v->es, id);
	return VP_STEP_DONE;
}
