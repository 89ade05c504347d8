/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ECB fires: its site's condition, room, predicate, actions, commit; and the effects of a fault. Hit
 * path: no allocation, no lock, no system call (the clocks are the vDSO's).
 */
#include <time.h>

#include "vmm-probe/engine/hit/args.h"
#include "vmm-probe/engine/hit/buffer.h"
#include "vmm-probe/engine/hit/fire.h"

#define STABLE_FIRINGS 65536

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t vp_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t vp_clause_time(struct vp_vcpu_session *v)
{
	if (!v->time_ns)
		v->time_ns = v->event ? v->event_ns : vp_now();
	return v->time_ns;
}

void vp_firing_begin(struct vp_vcpu_session *v, void *ctx, uint64_t gva, const uint64_t *args)
{
	/* Acquire: the half's emptying by the service thread is complete. */
	uint32_t half = __atomic_load_n(&v->active, __ATOMIC_ACQUIRE);

	/* Stable translations are looked up again once in STABLE_FIRINGS firings too. */
	if (half != v->half || v->tlb.firing % STABLE_FIRINGS == 0)
		v->tlb.stable++;
	v->half = half;
	v->ctx = ctx;
	v->site_gva = gva;
	v->fired_args = args;
	v->event = NULL;
	v->resident = false;
	v->at = NULL;
	v->known = NULL;
	v->nknown = 0;
	v->level = 0;
	v->running = &v->alone;
	v->alone.known = 0;
	v->file_known = false;
	v->depth_known = v->caller_known = false;
	v->exited = false;
	v->in_error = false;
	v->tlb.firing++;
	dif_vm_begin(&v->vm, DIF_FUEL_DEFAULT);
	if (v->es->dynvars)
		dif_dynvars_enter(v->es->dynvars, v->es->open.first_cpu + v->vcpu);
}

void vp_firing_end(struct vp_vcpu_session *v)
{
	if (v->es->dynvars)
		dif_dynvars_leave(v->es->dynvars, v->es->open.first_cpu + v->vcpu);
}

/* --- records -------------------------------------------------------------------------------- */

static void put_header(uint8_t *record, uint32_t epid, uint64_t time_ns)
{
	uint32_t head[3] = { epid, (uint32_t)(time_ns >> 32), (uint32_t)time_ns };

	memcpy(record, head, sizeof(head));
}

void vp_record_finish(struct vp_vcpu_session *v)
{
	const struct vp_clause *c = v->ecb->clause;

	if (!v->record)
		return;
	memset(v->record + c->layout.size - c->tail, 0, c->tail);
	if (v->spec) {
		/* The commit sets the time. */
		put_header(v->record, v->ecb->epid, ~0ull);
		v->spec->used = (uint64_t)(v->record - v->spec->mem) + c->layout.size;
	} else {
		put_header(v->record, v->ecb->epid, vp_clause_time(v));
		vp_buffer_commit(v, v->record, c->layout.size);
	}
	v->record = NULL;
}

/* Bytes of the half that this ECB must leave free: END's, unless it is END's own. */
static uint64_t keep_free(const struct vp_ecb *ecb)
{
	bool is_end = ecb->probe->id == DIF_PROBE_END && ecb->probe->kind == VP_PROBE_HOST;

	return is_end ? 0 : __atomic_load_n(&ecb->es->end_reserve, __ATOMIC_RELAXED);
}

/* --- faults ---------------------------------------------------------------------------------- */

static void record_fault(struct vp_vcpu_session *v, const uint64_t *args)
{
	uint8_t *record = vp_buffer_reserve(v, sizeof(struct vp_fault_record), 8, keep_free(v->ecb));
	uint64_t now = vp_clause_time(v);

	if (!record)
		return;
	const struct vp_fault_record fault = {
		.epid = VP_EPID_FAULT,
		.time_hi = (uint32_t)(now >> 32),
		.time_lo = (uint32_t)now,
		.ecb = (uint32_t)args[1],
		.action = (uint32_t)args[2],
		.offset = (uint32_t)args[3],
		.fault = (uint32_t)args[4],
		.address = args[5],
	};
	memcpy(record, &fault, sizeof(fault));
	vp_buffer_commit(v, record, sizeof(fault));
}

/* Drop the clause's record and run ERROR's ECBs instead, in the same firing. A fault in one of those only
 * counts.
 * @action: 0 the predicate, else from 1. */
static void fault(struct vp_vcpu_session *v, uint32_t action, enum dif_fault fault)
{
	const struct vp_ecb *ecb = v->ecb;

	v->record = NULL;
	VP_COUNT(v, faults);
	if (v->in_error) {
		VP_COUNT(v, error_drops);
		return;
	}
	const uint64_t args[10] = {
		[1] = ecb->epid,
		[2] = action,
		[3] = v->vm.fault ? (uint64_t)(int32_t)v->vm.fault_offset : ~0ull,
		[4] = fault,
		[5] = v->vm.fault ? v->vm.fault_addr : 0,
	};
	memcpy(v->error_args, args, sizeof(args));
	record_fault(v, args);

	v->error_probe = ecb->probe;
	v->in_error = true;
	const struct vp_ecb *e = __atomic_load_n(&v->es->errors, __ATOMIC_ACQUIRE);
	for (; e; e = __atomic_load_n(&e->next_error, __ATOMIC_ACQUIRE))
		vp_fire_ecb(v, e);
	v->in_error = false;
	v->ecb = ecb;
}

/* --- one ECB ------------------------------------------------------------------------------------ */

/* False: no room; the clause is skipped. */
static bool reserve(struct vp_vcpu_session *v)
{
	const struct dif_clause_layout *l = &v->ecb->clause->layout;

	if (!l->size)
		return true;
	v->record = vp_buffer_reserve(v, l->size, l->align, keep_free(v->ecb));
	return v->record != NULL;
}

/* Is the probe's own condition met? True without one. */
static bool condition(struct vp_vcpu_session *v)
{
	enum dif_fault f = DIF_FAULT_NONE;

	if (!v->at || vp_site_condition(v, &f))
		return true;
	if (f != DIF_FAULT_NONE)
		fault(v, 0, f);
	return false;
}

/* True: continue with the actions. A resident probe has tested its predicate, of values that may have changed
 * since; those of ERROR's clauses are tested here. */
static bool predicate(struct vp_vcpu_session *v)
{
	const struct dif_object *obj = v->ecb->clause->source->predicate;
	uint64_t value;

	if (!obj || (v->resident && !v->in_error))
		return true;
	enum dif_fault f = dif_vm_eval(&v->vm, obj, &value);
	if (f != DIF_FAULT_NONE) {
		fault(v, 0, f);
		return false;
	}
	return value != 0;
}

static void run_actions(struct vp_vcpu_session *v)
{
	const struct vp_clause *c = v->ecb->clause;

	for (uint32_t i = 0; i < c->source->nactions; i++) {
		enum dif_fault f = DIF_FAULT_NONE;
		switch (vp_run_step(v, &c->steps[i], &f)) {
		case VP_STEP_DONE:
			break;
		case VP_STEP_FAULT:
			fault(v, i + 1, f);
			return;
		case VP_STEP_DROP:
			v->record = NULL;
			return;
		}
	}
	vp_record_finish(v);
}

/* The ring evicts old records to make room, and only for a clause that will record. The other policies
 * reserve room first, as DTrace does, so a full buffer skips the predicate's side effects too. */
void vp_fire_ecb(struct vp_vcpu_session *v, const struct vp_ecb *ecb)
{
	bool ring = ecb->es->open.bufpolicy == VP_BUF_RING;

	if (ecb->es->open.only_cpu && ecb->es->open.only_cpu != v->vcpu + 1)
		return;
	v->ecb = ecb;
	v->time_ns = v->wall_ns = 0;
	v->increment = 1;
	v->record = NULL;
	v->spec = NULL;
	dif_vm_begin_clause(&v->vm);
	if (!v->in_error && !condition(v))
		return;
	VP_COUNT(v, hits);
	if (!ring && !reserve(v))
		return;
	if (!predicate(v))
		return;
	if (ring && !reserve(v))
		return;
	run_actions(v);
}
