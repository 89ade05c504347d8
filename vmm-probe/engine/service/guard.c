/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overload guard: the cost of a session to a guest, and which probes are disabled when it is too high.
 *
 * Each hit adds the cost of leaving and re-entering the guest (as the backend reports it) to its ECBs' loads
 * and counts the firing. The time of a firing is measured by timing some of them: a vCPU times each one while
 * hits are rare, and a random one of many otherwise, so that clocks are read some thousand times a second and
 * a guest that repeats a pattern is not sampled at one phase of it only.
 *
 * Every quarter of a second the service thread sums up the session's cost over the last second. If that is
 * over the limit, a check begins: the ECBs' loads are noted and compared a quarter of a second later. If that
 * interval was over the limit too, the most expensive probes are disabled, as many as necessary. Probes, not
 * ECBs: on KVM the exit itself is the cost.
 */
#include <stdlib.h>

#include "vmm-probe/engine/hit/guard.h"
#include "vmm-probe/engine/service/parts.h"

#define WINDOW     4 /* number of VP_GUARD_NS: a second */
#define LINE_LOADS (64 / sizeof(struct vp_load))

/* The session's cost since it was opened. */
struct total {
	uint64_t at_ns;
	uint64_t outside_ns; /* leaving and re-entering the guest, and inline counters */
	uint64_t fired, timed, timed_ns;
};

/* An ECB's load, all vCPUs together, when the check began. */
struct noted {
	uint64_t outside_ns, fired;
};

struct vp_guard {
	struct total past[WINDOW]; /* the last totals; [n % WINDOW] is the oldest */
	uint64_t n;
	uint64_t next_ns;
	struct noted *noted; /* by order of enabling; NULL: no check in progress */
	uint32_t nnoted;
	struct total since; /* when the check began */
};

/* Probes or ECBs that can only be disabled together. */
struct suspect {
	uint64_t ns;
	struct vp_enabled_probe *probe; /* all its ECBs; NULL: those of … */
	struct vp_counter *counter;
	const struct vp_ecb *first;
};

/* --- sums ------------------------------------------------------------------- */

static uint64_t word(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static void add_load(struct vp_load *sum, const struct vp_load *load)
{
	sum->outside_ns += word(&load->outside_ns);
	sum->fired += word(&load->fired);
	sum->timed += word(&load->timed);
	sum->timed_ns += word(&load->timed_ns);
}

static struct vp_load load_of(const struct vp_ecb *ecb)
{
	struct vp_load sum = { 0 };

	for (uint32_t i = 0; i < ecb->es->open.nvcpus; i++)
		add_load(&sum, &ecb->loads[(size_t)i * ecb->load_stride]);
	return sum;
}

static uint64_t counter_cost(const struct vp_engine_session *es, const struct vp_counter *c)
{
	const struct vp_engine *e = es->engine;

	return e->ops->counters->cost_ns ? e->ops->counters->cost_ns(e->backend, c->slot) : 0;
}

static struct total total_of(const struct vp_engine_session *es, uint64_t now_ns)
{
	struct vp_load sum = { 0 };

	for (uint32_t i = 0; i < es->open.nvcpus; i++)
		add_load(&sum, &es->vcpus[i].load);
	for (const struct vp_counter *c = es->service->counters; c; c = c->next)
		sum.outside_ns += counter_cost(es, c);
	return (struct total){ now_ns, sum.outside_ns, sum.fired, sum.timed, sum.timed_ns };
}

static uint64_t mean(uint64_t ns, uint64_t n)
{
	return n ? ns / n : 0;
}

static uint64_t spent(const struct total *from, const struct total *to)
{
	return to->outside_ns - from->outside_ns +
	       (to->fired - from->fired) * mean(to->timed_ns - from->timed_ns, to->timed - from->timed);
}

/* Per cent of the vCPUs' time, rounded up. */
static uint32_t percent(const struct vp_engine_session *es, uint64_t ns, uint64_t elapsed_ns)
{
	uint64_t one = elapsed_ns * es->open.nvcpus / 100 + 1, all = (ns + one - 1) / one;

	return all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
}

/* --- a check of the ECBs --------------------------------------------------------------------------- */

static void end_check(struct vp_guard *g)
{
	free(g->noted);
	g->noted = NULL;
}

/* Out of memory: no check this time. */
static void begin_check(struct vp_engine_session *es, const struct total *now)
{
	struct vp_guard *g = es->service->guard;

	g->noted = calloc(es->service->batches.necbs + 1u, sizeof(*g->noted));
	g->nnoted = es->service->batches.necbs;
	g->since = *now;
	if (!g->noted)
		return;
	vp_each_batch(b, es)
		for (uint32_t i = 0; i < b->necbs; i++) {
			struct vp_load load = load_of(&b->ecbs[i]);
			g->noted[b->ecbs[i].order] = (struct noted){ load.outside_ns, load.fired };
		}
	for (struct vp_counter *c = es->service->counters; c; c = c->next)
		c->cost_ns = counter_cost(es, c);
}

/* An ECB with a counter of its own is disabled with its probe. */
static bool own_counter(const struct vp_ecb *ecb)
{
	return ecb->counter && ecb->clause->counts_per_probe;
}

/* The load of a probe's ECBs since the check began: its hits once, then each ECB's firings. */
static uint64_t probe_cost(const struct vp_engine_session *es, const struct vp_enabled_probe *probe,
			   uint64_t session_mean, uint64_t *ret_firing)
{
	const struct vp_guard *g = es->service->guard;
	uint64_t outside = 0, firing = 0, counting = 0;

	for (const struct vp_ecb *e = probe->first; e; e = e->next) {
		if (e->order >= g->nnoted || e->out)
			continue;
		struct vp_load now = load_of(e);
		const struct noted *then = &g->noted[e->order];
		uint64_t each = now.timed >= VP_TIMED_FEW ? mean(now.timed_ns, now.timed) : session_mean;
		firing += (now.fired - then->fired) * each;
		if (now.outside_ns - then->outside_ns > outside)
			outside = now.outside_ns - then->outside_ns;
		if (own_counter(e))
			counting += counter_cost(es, e->counter) - e->counter->cost_ns;
	}
	*ret_firing += firing;
	return outside + firing + counting;
}

static bool can_go(const struct vp_enabled_probe *probe)
{
	return probe->first &&
	       (probe->kind == VP_PROBE_SITE || probe->kind == VP_PROBE_PROFILE ||
		probe->kind == VP_PROBE_VM || probe->kind == VP_PROBE_AGENT || probe->kind == VP_PROBE_CPC);
}

/* Put everything with a cost into @suspects (as many as there are probes and counters); returns their number,
 * and the time of firings. */
static size_t each_suspect(const struct vp_engine_session *es, uint64_t session_mean,
			   struct suspect *suspects, uint64_t *ret_firing)
{
	size_t n = 0;

	*ret_firing = 0;
	vp_each_probe(w, es) {
		uint64_t ns = can_go(w.probe) ? probe_cost(es, w.probe, session_mean, ret_firing) : 0;
		if (ns)
			suspects[n++] =
			    (struct suspect){ .ns = ns, .probe = w.probe, .first = w.probe->first };
	}
	for (struct vp_counter *c = es->service->counters; c; c = c->next) {
		uint64_t ns = own_counter(c->ecb) ? 0 : counter_cost(es, c) - c->cost_ns;
		if (ns)
			suspects[n++] = (struct suspect){ .ns = ns, .counter = c, .first = c->ecb };
	}
	return n;
}

static int most_first(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->first->order < y->first->order ? -1 : x->first->order > y->first->order;
}

/* Mark the ECBs to disable; returns the number of probes. */
static uint32_t take_out(struct vp_engine_session *es, const struct suspect *s)
{
	uint32_t n = 0;

	if (s->probe) {
		for (struct vp_ecb *e = s->probe->first; e; e = e->next)
			e->out = true;
		return 1;
	}
	vp_each_batch(b, es)
		for (uint32_t i = 0; i < b->necbs; i++)
			if (b->ecbs[i].counter == s->counter && !b->ecbs[i].out) {
				b->ecbs[i].out = true;
				n++;
			}
	return n;
}

static size_t count_suspects(const struct vp_engine_session *es)
{
	size_t n = 1;

	vp_each_batch(b, es)
		n += b->nprobes;
	for (const struct vp_counter *c = es->service->counters; c; c = c->next)
		n++;
	return n;
}

/* True: some probes were disabled. Their counts are kept, and delivered as before. */
static bool judge(struct vp_engine_session *es, const struct total *now)
{
	struct vp_guard *g = es->service->guard;
	uint64_t elapsed = now->at_ns - g->since.at_ns, firing;
	uint64_t limit = elapsed / 100 * es->open.nvcpus * es->open.maxcost;
	struct suspect *suspects = calloc(count_suspects(es), sizeof(*suspects));
	uint32_t taken = 0;

	if (!suspects)
		return false;
	size_t n = each_suspect(es, mean(now->timed_ns, now->timed), suspects, &firing);
	uint64_t rest = now->outside_ns - g->since.outside_ns + firing;
	uint32_t all = percent(es, rest, elapsed);
	qsort(suspects, n, sizeof(*suspects), most_first);
	for (size_t i = 0; i < n && rest > limit; i++) {
		taken += take_out(es, &suspects[i]);
		rest -= suspects[i].ns < rest ? suspects[i].ns : rest;
	}
	if (taken && !es->service->overload.taken)
		es->service->overload =
		    (struct vp_overload){ .epid = suspects[0].first->epid, .percent = all };
	es->service->overload.taken += taken;
	free(suspects);
	return taken != 0;
}

/* --- every quarter of a second ------------------------------------------------------------------------ */

/* True: the plan must be rebuilt. */
static bool check(struct vp_engine_session *es, uint64_t now_ns)
{
	struct vp_guard *g = es->service->guard;
	struct total now = total_of(es, now_ns);
	const struct total *oldest = &g->past[g->n % WINDOW];
	bool too_much =
	    g->n >= WINDOW && percent(es, spent(oldest, &now), now_ns - oldest->at_ns) > es->open.maxcost;
	bool struck = g->noted && judge(es, &now);

	g->next_ns = now_ns + VP_GUARD_NS;
	end_check(g);
	if (struck) {
		g->n = 0; /* costs until now do not count against the remaining probes */
	} else if (too_much) {
		begin_check(es, &now);
	}
	g->past[g->n++ % WINDOW] = now;
	return struck;
}

void vp_guard_check(struct vp_engine *engine, uint64_t now_ns)
{
	bool struck = false;

	for (uint32_t i = 0; i < engine->service->nsessions; i++) {
		struct vp_engine_session *es = engine->service->sessions[i];
		if (es->service->guard && es->service->planned &&
		    vp_engine_session_activity(es) == VP_ACTIVE && now_ns >= es->service->guard->next_ns)
			struck |= check(es, now_ns);
	}
	if (struck)
		vp_engine_retry(engine); /* retried while the backend is busy, as for any other change */
}

/* --- life ----------------------------------------------------------------------------------------------- */

struct ot_err *vp_guard_create(struct vp_engine_session *es)
{
	es->service->guard = calloc(1, sizeof(*es->service->guard));
	if (!es->service->guard)
		return ot_err_nomem();
	__atomic_add_fetch(&es->engine->guarded, 1, __ATOMIC_RELAXED);
	return NULL;
}

void vp_guard_destroy(struct vp_engine_session *es)
{
	if (!es->service->guard)
		return;
	__atomic_sub_fetch(&es->engine->guarded, 1, __ATOMIC_RELAXED);
	end_check(es->service->guard);
	free(es->service->guard);
	es->service->guard = NULL;
}

/* No two vCPUs write to one cache line. */
struct ot_err *vp_guard_add(struct vp_engine_session *es, struct vp_enabled_batch *batch)
{
	uint32_t stride = (uint32_t)((batch->necbs + LINE_LOADS - 1) / LINE_LOADS * LINE_LOADS);

	if (!es->service->guard || !stride)
		return NULL;
	/* calloc: pages that no ECB touches take no memory */
	batch->loads = calloc((size_t)stride * es->open.nvcpus + LINE_LOADS, sizeof(*batch->loads));
	if (!batch->loads)
		return ot_err_nomem();
	uintptr_t aligned = ((uintptr_t)batch->loads + 63) & ~(uintptr_t)63;
	for (uint32_t i = 0; i < batch->necbs; i++) {
		batch->ecbs[i].loads = (struct vp_load *)aligned + i;
		batch->ecbs[i].load_stride = stride;
	}
	return NULL;
}
