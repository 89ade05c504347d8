/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owning the guest's agent: its memory in the VMM's mapping, and the word by which one host owns it. */
#include <string.h>
#include <time.h>

#include "base/guarded.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/agent_owner.h"

#define OWNER_ID      1u
#define STEP_NS       2000000
#define LEASE_POLL_NS (2ull * GA_BEAT_MS * 1000000u)

void vp_agent_nap(void)
{
	const struct timespec t = { .tv_nsec = STEP_NS };

	nanosleep(&t, NULL);
}

/* --- the guest's memory ---------------------------------------------------------------------------- */

static void *memory(const struct vp_engine *engine, uint64_t gpa, uint64_t size)
{
	uint64_t len = 0;
	void *host = gpa % 4096 ? NULL : engine->ops->gpa_to_host(engine->backend, gpa, &len);

	return host && len >= size ? host : NULL;
}

static uint64_t ring_size(uint32_t records)
{
	return sizeof(struct ga_ring) + (uint64_t)records * sizeof(struct ga_record);
}

static struct ot_err *use_ring(struct vp_agent_owner *owner, uint32_t vcpu, uint64_t gpa, uint32_t records)
{
	struct vp_agent_ring *r = &owner->agent.rings[vcpu];

	if (!gpa)
		return NULL;
	if (!records || records & (records - 1) || records > GA_RECORDS_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "the guest's agent has a ring of %u records", records);
	r->ring = memory(owner->agent.engine, gpa, ring_size(records));
	if (!r->ring)
		return ot_err_new(OT_ERR_BAD_DATA, "a ring of the guest's agent is not in its RAM");
	r->records = records;
	if (!ot_guarded_load64(&r->ring->tail, &r->tail) || !ot_guarded_load64(&r->ring->lost, &r->lost))
		return ot_err_new(OT_ERR_FAULT,
				  "a ring of the guest's agent can't be read: its memory is gone");
	r->drained_ns = vp_now();
	return NULL;
}

void vp_agent_forget_records(struct vp_agent_ring *r)
{
	for (uint32_t n = 0; n < r->records; n++, r->tail++) {
		const struct ga_record *at = &r->ring->records[r->tail & (r->records - 1)];
		uint64_t seq;

		if (!ot_guarded_load64(&at->seq, &seq) || seq != r->tail + 1)
			break;
	}
	(void)ot_guarded_store64(&r->ring->tail, r->tail);
}

struct ot_err *vp_agent_use_memory(struct vp_agent_owner *owner, const struct vp_batch_agent *place)
{
	const struct vp_engine *e = owner->agent.engine;

	owner->agent.mem_gen = __atomic_load_n(&e->mem_gen, __ATOMIC_ACQUIRE);
	owner->header = memory(e, place->header_gpa, sizeof(*owner->header));
	owner->control = memory(e, place->control_gpa, sizeof(*owner->control));
	if (!owner->header || !owner->control || !place->token || place->token & 0xff)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "the control block of the guest's agent is not in its RAM");
	for (uint32_t i = 0; i < e->nvcpus; i++)
		OT_TRY(use_ring(owner, i, place->rings[i].gpa, place->rings[i].records));
	return NULL;
}

bool vp_agent_is_usable(const struct vp_agent_owner *owner)
{
	return __atomic_load_n(&owner->agent.usable, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&owner->agent.engine->mem_gen, __ATOMIC_ACQUIRE) ==
		   __atomic_load_n(&owner->agent.mem_gen, __ATOMIC_RELAXED);
}

bool vp_agent_check_again(struct vp_agent_owner *owner)
{
	const struct vp_engine *e = owner->agent.engine;
	uint64_t gen = __atomic_load_n(&e->mem_gen, __ATOMIC_ACQUIRE);

	if (memory(e, owner->place.header_gpa, sizeof(*owner->header)) != owner->header ||
	    memory(e, owner->place.control_gpa, sizeof(*owner->control)) != owner->control)
		return false;
	for (uint32_t i = 0; i < e->nvcpus; i++) {
		const struct vp_agent_ring *r = &owner->agent.rings[i];

		if (r->ring && memory(e, owner->place.rings[i].gpa, ring_size(r->records)) != r->ring)
			return false;
	}
	__atomic_store_n(&owner->agent.mem_gen, gen, __ATOMIC_RELEASE);
	return true;
}

/* --- owning ------------------------------------------------------------------------------------------ */

static bool exchange(struct vp_agent_owner *o, uint64_t from, uint64_t to)
{
	return ot_guarded_exchange(&o->control->owner, from, to);
}

/* An owner without a heartbeat belongs to the VMM from which this guest was migrated. */
static bool take_over(struct vp_agent_owner *owner)
{
	uint64_t start = vp_now(), word, beat, now;

	if (!ot_guarded_load64(&owner->control->owner, &word) ||
	    !ot_guarded_load64(&owner->control->beat, &beat) || (word & ~0xffull) != owner->token)
		return false;
	while (vp_now() - start < LEASE_POLL_NS) {
		if (!ot_guarded_load64(&owner->control->beat, &now) || now != beat)
			return false;
		vp_agent_nap();
	}
	owner->word = owner->token | ((word & 0xff) % 0xff + 1);
	return exchange(owner, word, owner->word);
}

struct ot_err *vp_agent_own(struct vp_agent_owner *owner)
{
	owner->word = owner->token | OWNER_ID;
	if (exchange(owner, owner->token, owner->word) || take_over(owner))
		return NULL;
	return ot_err_new(OT_ERR_BUSY, "the guest's agent has just been unloaded, or another host uses it");
}

void vp_agent_let_go(struct vp_agent_owner *owner)
{
	bool there = vp_agent_is_usable(owner) || vp_agent_check_again(owner);

	if (!__atomic_exchange_n(&owner->agent.usable, 0, __ATOMIC_ACQ_REL))
		return;
	vp_quiesce(owner->agent.engine);
	/* Release: all of our writes precede it. Only while we are still the owner. */
	if (there)
		exchange(owner, owner->word, owner->token);
}
