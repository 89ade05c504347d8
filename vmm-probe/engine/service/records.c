/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rings of resident probes' records, and the ECBs of their slots. */
#include "vmm-probe/engine/service/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "vmm-probe/engine/service/parts.h"

#define RECORD_SHIFT 7u /* a record's bytes, 2^7 */
#define COUNT_MIN    8u
#define SLOTS_FIRST  64u

_Static_assert(sizeof(struct ga_record) == 1u << RECORD_SHIFT, "an index is shifted to a record's offset");

/* --- rings ---------------------------------------------------------------------------------------- */

static uint64_t ring_bytes(uint32_t count)
{
	return sizeof(struct ga_ring) + count * sizeof(struct ga_record);
}

/* Words of aggregations keep an eighth. */
static uint32_t choose_count(uint64_t size, uint64_t left)
{
	uint32_t count = 1;

	while (2 * count <= GA_RECORDS_MAX && 2 * count * sizeof(struct ga_record) <= size &&
	       ring_bytes(2 * count) <= left - left / 8)
		count *= 2;
	return count < COUNT_MIN ? 0 : count;
}

bool vp_records_layout(const struct vp_resident *r, const struct vp_engine_session *es,
		       struct vp_tramp_ring *ret)
{
	const int64_t preempt = (int64_t)es->facts.preempt_count;
	uint32_t count = choose_count(es->open.ring_size, r->room.data_size - r->data_used);

	if (!count || preempt != (int32_t)preempt)
		return false;
	*ret = (struct vp_tramp_ring){
		.at = (r->room.data_size - ring_bytes(count)) & ~63ull,
		.head = offsetof(struct ga_ring, reserved),
		.tail = offsetof(struct ga_ring, tail),
		.lost = offsetof(struct ga_ring, lost),
		.first = offsetof(struct ga_ring, records),
		.count = count,
		.shift = RECORD_SHIFT,
	};
	return ret->at >= r->data_used;
}

bool vp_records_would_grow(const struct vp_resident *r, const struct vp_engine_session *es)
{
	return r->ring.count &&
	       choose_count(es->open.ring_size, r->room.data_size - VP_RESIDENT_FIRST) > r->ring.count;
}

static void init_ring(const struct vp_engine_session *es, const struct vp_tramp_ring *at, uint32_t vcpu,
		      struct vp_record_ring *ret)
{
	const struct vp_resident_room *room = &es->engine->service->resident.room;
	uint8_t *data = room->data + (es->facts.percpu_base[vcpu] - room->lowest);

	*ret = (struct vp_record_ring){ .ring = (struct ga_ring *)(void *)(data + at->at),
					.drained_ns = ot_now_ns() };
	memset(ret->ring, 0, ring_bytes(at->count));
}

/* All vCPUs are held. */
static void mark_all(void *arg)
{
	struct vp_engine *engine = arg;

	for (uint32_t i = 0; i < engine->nvcpus; i++)
		vp_record_mark(engine, i, &engine->records->rings[i]);
}

struct ot_err *vp_records_open(struct vp_engine *engine, const struct vp_engine_session *es,
			       const struct vp_tramp_ring *ring)
{
	struct vp_resident *r = &engine->service->resident;
	size_t size = engine->nvcpus * sizeof(struct vp_record_ring);
	struct vp_record_ring *rings = aligned_alloc(64, size);

	if (!rings)
		return ot_err_nomem();
	for (uint32_t i = 0; i < engine->nvcpus; i++)
		init_ring(es, ring, i, &rings[i]);
	struct ot_err *err = vp_records_start(engine, &r->records);
	if (err) {
		free(rings);
		return err;
	}
	r->records->records.count = ring->count;
	r->records->records.rings = rings;
	r->ring = *ring;
	r->slots = 0;
	__atomic_store_n(&engine->records, &r->records->records, __ATOMIC_RELEASE);
	/* Without, times are exact from the second visit of a vCPU on. */
	if (engine->ops->exclusive)
		(void)engine->ops->exclusive(engine->backend, mark_all, engine);
	return NULL;
}

void vp_records_close(struct vp_engine *engine)
{
	struct vp_resident *r = &engine->service->resident;
	struct vp_records_owner *owner = r->records;

	if (!owner)
		return;
	const struct vp_records records = owner->records;
	__atomic_store_n(&engine->records, NULL, __ATOMIC_RELEASE);
	vp_quiesce(engine);
	vp_records_stop(owner);
	free(records.rings);
	free(records.slots);
	r->records = NULL;
	r->ring = (struct vp_tramp_ring){ 0 };
}

/* --- slots ----------------------------------------------------------------------------------------- */

static struct ot_err *grow(struct vp_engine *engine, uint32_t need)
{
	struct vp_records *records = engine->records;
	struct vp_record_slots *old = records->slots, *new;
	uint32_t n = old ? old->n : SLOTS_FIRST;

	while (n < need)
		n *= 2;
	if (old && n == old->n)
		return NULL;
	new = calloc(1, sizeof(*new) + n * sizeof(new->ecbs[0]));
	if (!new)
		return ot_err_nomem();
	new->n = n;
	if (old)
		memcpy(new->ecbs, old->ecbs, old->n * sizeof(old->ecbs[0]));
	__atomic_store_n(&records->slots, new, __ATOMIC_RELEASE);
	vp_quiesce(engine);
	free(old);
	return NULL;
}

static void note_session(struct vp_records *records, struct vp_engine_session *es)
{
	struct vp_engine_session **free_one = NULL;

	for (uint32_t i = 0; i < VP_SESSIONS_MAX; i++) {
		if (records->sessions[i] == es)
			return;
		if (!records->sessions[i] && !free_one)
			free_one = &records->sessions[i];
	}
	if (free_one)
		__atomic_store_n(free_one, es, __ATOMIC_RELEASE);
}

struct ot_err *vp_records_add(struct vp_engine *engine, struct vp_ecb *const *ecbs, uint32_t n)
{
	struct vp_resident *r = &engine->service->resident;

	OT_TRY(grow(engine, r->slots + n));
	for (uint32_t i = 0; i < n; i++) {
		note_session(engine->records, ecbs[i]->es);
		__atomic_store_n(&engine->records->slots->ecbs[r->slots++], ecbs[i], __ATOMIC_RELEASE);
	}
	return NULL;
}

void vp_records_forget(struct vp_engine_session *es)
{
	struct vp_records *records = es->engine->records;
	bool any = false;

	if (!records)
		return;
	for (uint32_t i = 0; i < VP_SESSIONS_MAX; i++) {
		if (records->sessions[i] != es)
			continue;
		__atomic_store_n(&records->sessions[i], NULL, __ATOMIC_RELEASE);
		any = true;
	}
	for (uint32_t i = 0; any && i < records->slots->n; i++)
		if (records->slots->ecbs[i] && records->slots->ecbs[i]->es == es)
			__atomic_store_n(&records->slots->ecbs[i], NULL, __ATOMIC_RELEASE);
	if (any)
		vp_quiesce(es->engine);
}
