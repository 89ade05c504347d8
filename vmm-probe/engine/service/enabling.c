/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding a batch of probes, sites and ECBs to a session. */
#include <assert.h>
#include <stdlib.h>

#include "vmm-probe/engine/service/agent.h"
#include "vmm-probe/engine/service/enabling.h"
#include "vmm-probe/engine/service/parts.h"

static uint32_t highest_epid(const struct vp_enabled_batch *b, uint32_t max)
{
	for (uint32_t i = 0; i < b->necbs; i++)
		if (b->ecbs[i].epid > max)
			max = b->ecbs[i].epid;
	return max;
}

/* A new table each time: vCPUs may be reading the old one. A clause without a record has size 4 here, so that
 * the table also shows which EPIDs are in use. */
static struct ot_err *grow_sizes(const struct vp_engine_session *es, const struct vp_enabled_batch *b,
				 struct vp_epid_sizes **ret)
{
	uint32_t n = highest_epid(b, es->sizes ? es->sizes->n - 1 : 0) + 1;
	struct vp_epid_sizes *sizes = calloc(1, sizeof(*sizes) + n * sizeof(sizes->size[0]));

	if (!sizes)
		return ot_err_nomem();
	if (es->sizes)
		memcpy(sizes->size, es->sizes->size, es->sizes->n * sizeof(sizes->size[0]));
	sizes->n = n;
	for (uint32_t i = 0; i < b->necbs; i++) {
		const struct vp_clause *clause = b->ecbs[i].clause;
		assert(clause); /* copy_ecbs() set it */
		uint32_t size = clause->layout.size;
		if (sizes->size[b->ecbs[i].epid]) {
			free(sizes);
			return ot_err_new(OT_ERR_BAD_DATA, "batch: EPID %u twice", b->ecbs[i].epid);
		}
		sizes->size[b->ecbs[i].epid] = size ? size : 4;
	}
	*ret = sizes;
	return NULL;
}

/* The fill policy reserves room for END's records; the ring evicts old records to make that room. Both need a
 * buffer that can hold them. */
static struct ot_err *reserve_end(const struct vp_engine_session *es, const struct vp_enabled_batch *b,
				  uint64_t *ret)
{
	uint64_t keep = es->end_reserve;

	for (uint32_t i = 0; es->open.bufpolicy != VP_BUF_SWITCH && i < b->necbs; i++) {
		const struct vp_ecb *ecb = &b->ecbs[i];
		assert(ecb->probe && ecb->clause); /* copy_ecbs() set them */
		if (ecb->probe->id == DIF_PROBE_END && ecb->probe->kind == VP_PROBE_HOST)
			keep += ecb->clause->layout.size + 4ull;
	}
	if (keep > es->open.bufsize)
		return ot_err_new(OT_ERR_LIMIT, "END enablings exceed size of principal buffer");
	*ret = keep;
	return NULL;
}

static void link_errors(struct vp_engine_session *es, struct vp_enabled_batch *b)
{
	for (uint32_t i = 0; i < b->necbs; i++) {
		struct vp_ecb *ecb = &b->ecbs[i];
		if (ecb->probe->kind != VP_PROBE_ERROR)
			continue;
		es->service->error_regs |= vp_needs_regs(&ecb->clause->needs, VP_ARGS_ERROR);
		/* Release: a vCPU that finds the ECB finds it complete. */
		__atomic_store_n(es->service->last_error ? &es->service->last_error->next_error : &es->errors,
				 ecb, __ATOMIC_RELEASE);
		es->service->last_error = ecb;
	}
}

void vp_batch_free(struct vp_enabled_batch *b)
{
	vp_programs_free(b);
	free(b->strings);
	free(b->probes);
	free(b->sites);
	free(b->ecbs);
	free(b->loads);
	free(b);
}

static struct ot_err *assign_counters(struct vp_engine_session *es, struct vp_enabled_batch *b)
{
	for (uint32_t i = 0; i < b->necbs; i++)
		if (!vp_resident_qualifies(b, &b->ecbs[i]))
			OT_TRY(vp_counter_assign(es, &b->ecbs[i]));
	return NULL;
}

/* The newest one is kept: the guest may have reloaded its module. */
static struct ot_err *keep_agent(struct vp_engine_session *es, const struct vp_batch_parts *p)
{
	struct vp_batch_agent *agent;

	if (!p->head.nagents)
		return NULL;
	agent = malloc(sizeof(*agent));
	if (!agent)
		return ot_err_nomem();
	*agent = *p->agent;
	free(es->service->agent);
	es->service->agent = agent;
	return NULL;
}

/* The session's parts, with this batch. */
static struct vp_private_parts with_batch(const struct vp_engine_session *es, const struct vp_batch_parts *p)
{
	struct vp_private_parts ret = es->service->parts;

	ret.batch = p->head.size > ret.batch ? p->head.size : ret.batch;
	ret.site_programs += p->head.dof_size;
	ret.probes += p->head.nprobes;
	ret.sites += p->head.nsites;
	ret.ecbs += p->head.necbs;
	ret.hits += p->head.nsites;
	for (uint32_t i = 0; i < p->head.nsites; i++)
		ret.semaphores += p->sites[i].semaphore != 0;
	for (uint32_t i = 0; i < p->head.nprobes; i++)
		ret.timed += vp_private_is_timed(p->probes[i].kind);
	for (uint32_t i = 0; i < p->head.necbs; i++) {
		ret.hits += p->probes[p->ecbs[i].probe].nsites;
		ret.epids = p->ecbs[i].epid > ret.epids ? p->ecbs[i].epid : ret.epids;
	}
	return ret;
}

static struct ot_err *prepare(struct vp_engine_session *es, const struct vp_batch_parts *p,
			      struct vp_enabled_batch *b, struct vp_epid_sizes **ret_sizes,
			      uint64_t *ret_keep)
{
	OT_TRY(vp_batch_check(es, p));
	struct vp_private_parts whole = with_batch(es, p);
	OT_TRY(vp_engine_session_check_memory(es, &whole));
	OT_TRY(vp_batch_copy(es, p, b));
	OT_TRY(reserve_end(es, b, ret_keep));
	OT_TRY(vp_guard_add(es, b));
	OT_TRY(grow_sizes(es, b, ret_sizes));
	OT_TRY(keep_agent(es, p));
	es->service->parts = whole;
	return NULL;
}

/* The backend can't watch its sites in addition to the present ones (debug registers are few): later plans
 * omit them, because they would fail too, for any session. */
static void leave_out(struct vp_enabled_batch *b)
{
	for (uint32_t i = 0; i < b->nsites; i++) {
		b->sites[i].stale = true;
		b->sites[i].semaphore = 0;
	}
}

/* A busy backend is asked again later. */
static struct ot_err *plan_with(struct vp_engine *engine, struct vp_enabled_batch *b)
{
	struct ot_err *err = vp_replan(engine);

	if (err && ot_err_code(err) != OT_ERR_BUSY)
		leave_out(b);
	return err;
}

/* From here on the session owns the batch, even after an error. */
static struct ot_err *link_batch(struct vp_engine_session *es, struct vp_enabled_batch *b,
				 struct vp_epid_sizes *sizes)
{
	struct vp_epid_sizes *old = es->sizes;

	__atomic_store_n(&es->sizes, sizes, __ATOMIC_RELEASE);
	vp_quiesce(es->engine);
	free(old);
	vp_agent_moved(es, b);
	b->number = ++es->engine->service->nbatches;
	if (es->service->batches.last)
		es->service->batches.last->next = b;
	else
		es->service->batches.first = b;
	es->service->batches.last = b;
	es->service->batches.necbs += b->necbs;
	link_errors(es, b);
	vp_modules_end_late(es, b);
	for (uint32_t i = 0; i < b->nsites; i++)
		es->service->follows |= b->sites[i].sentinel == VP_SENTINEL_MODULE_COMES;
	OT_TRY(assign_counters(es, b));
	if (!es->service->planned)
		return NULL;
	OT_TRY(plan_with(es->engine, b));
	vp_semaphores_update(es->engine);
	OT_TRY(vp_profile_update(es->engine));
	return vp_agent_update(es->engine);
}

struct ot_err *vp_engine_session_enable(struct vp_engine_session *es, const void *batch, size_t size)
{
	struct vp_batch_parts p = { 0 };
	struct vp_epid_sizes *sizes = NULL;
	uint64_t keep = 0;

	if (es->activity == VP_STOPPED)
		return ot_err_new(OT_ERR_BUSY, "the session has been stopped");
	OT_TRY(vp_batch_take_apart(batch, size, &p));
	assert(p.probes && p.sites && p.ecbs && p.strings);
	struct vp_enabled_batch *b = calloc(1, sizeof(*b));
	if (!b)
		return ot_err_nomem();
	struct ot_err *err = prepare(es, &p, b, &sizes, &keep);
	if (err) {
		free(sizes);
		vp_batch_free(b);
		return err;
	}
	__atomic_store_n(&es->end_reserve, keep, __ATOMIC_RELAXED);
	return link_batch(es, b, sizes);
}
