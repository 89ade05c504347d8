/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU takes the records of its trampolines and fires for them. Hit path, on its own thread or while no
 * vCPU runs: its CPU writes no record meanwhile, and clauses fire in the order of their hits.
 */
#include "base/guarded.h"
#include "vmm-probe/engine/hit/guard.h"
#include "vmm-probe/engine/hit/records.h"

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* The number is written last. */
static bool has(const struct vp_record_ring *r, uint32_t count)
{
	return load((const uint64_t *)&r->ring->records[r->tail & (count - 1)].seq) == r->tail + 1;
}

static bool take(struct vp_record_ring *r, uint32_t count, struct ga_record *ret)
{
	if (!has(r, count) || !ot_guarded_read(ret, &r->ring->records[r->tail & (count - 1)], sizeof(*ret)))
		return false;
	r->tail++;
	return true;
}

/* What happened before exit() was called still fires, as a trap had fired by then. */
static bool concerns(const struct vp_engine_session *es, uint64_t when)
{
	uint32_t activity = vp_engine_session_activity(es);

	if (when < es->since_ns)
		return false;
	return activity == VP_ACTIVE ||
	       (activity == VP_DRAINING && when <= __atomic_load_n(&es->exited_ns, __ATOMIC_ACQUIRE));
}

static const struct vp_ecb *ecb_of(const struct vp_records *records, uint32_t slot)
{
	const struct vp_record_slots *slots = __atomic_load_n(&records->slots, __ATOMIC_ACQUIRE);

	return slots && slot < slots->n ? __atomic_load_n(&slots->ecbs[slot], __ATOMIC_ACQUIRE) : NULL;
}

static void fire(struct vp_vcpu *me, uint32_t vcpu, const struct vp_ecb *ecb, const struct ga_record *rec,
		 uint64_t when)
{
	struct vp_vcpu_session *v = &ecb->es->vcpus[vcpu];
	uint64_t clock = vp_guard_begin(me), args[10] = { 0 };
	uint32_t n = rec->nargs < GA_ARGS ? rec->nargs : GA_ARGS;

	memcpy(args, rec->args, n * sizeof(*args));
	vp_firing_begin(v, NULL, 0, args);
	v->event = rec;
	v->event_ns = when;
	v->resident = true;
	vp_guard_fire(v, ecb, &clock);
	vp_firing_end(v);
	v->event = NULL;
	v->resident = false;
}

/* A ring does not tell whose records had no room. */
static void count_lost(struct vp_records *records, struct vp_record_ring *r, uint32_t vcpu)
{
	uint64_t lost = load((const uint64_t *)&r->ring->lost), grown = lost - r->lost;

	if (ot_likely(!grown))
		return;
	r->lost = lost;
	for (uint32_t i = 0; i < VP_SESSIONS_MAX; i++) {
		struct vp_engine_session *es = __atomic_load_n(&records->sessions[i], __ATOMIC_ACQUIRE);
		uint32_t activity = es ? vp_engine_session_activity(es) : VP_INACTIVE;

		if (activity != VP_ACTIVE && activity != VP_DRAINING)
			continue;
		struct vp_vcpu_session *v = &es->vcpus[vcpu];
		v->counts.records_lost += grown;
		__atomic_store_n(&v->status->records_lost, v->counts.records_lost, __ATOMIC_RELAXED);
	}
}

/* All hits until @now have fired, unless an interrupted one still writes its record. */
static void note_drained(struct vp_record_ring *r, uint64_t now)
{
	__atomic_store_n(&r->ring->tail, r->tail, __ATOMIC_RELEASE);
	if (load(vp_record_head(r)) == r->tail)
		__atomic_store_n(&r->drained_ns, now, __ATOMIC_RELEASE);
	__atomic_store_n(&r->done, r->tail, __ATOMIC_RELEASE);
}

void vp_records_drain(struct vp_engine *engine, uint32_t vcpu, bool visited)
{
	struct vp_records *records = __atomic_load_n(&engine->records, __ATOMIC_ACQUIRE);
	struct ga_record rec;

	if (ot_likely(!records))
		return;
	struct vp_record_ring *r = &records->rings[vcpu];
	if (visited)
		vp_record_mark(engine, vcpu, r);
	else if (!has(r, records->count))
		return;
	uint64_t now = vp_now();
	for (uint32_t n = 0; n < records->count && take(r, records->count, &rec); n++) {
		const struct vp_ecb *ecb = ecb_of(records, rec.slot);
		uint64_t when = vp_record_time(r, rec.tsc, now);

		if (ecb && concerns(ecb->es, when))
			fire(&engine->vcpus[vcpu], vcpu, ecb, &rec, when);
	}
	count_lost(records, r, vcpu);
	note_drained(r, now);
}
