/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's time-stamp counter on the host's clock. The counter is read while the vCPU is outside the
 * guest, at most a hundred times a second, and with it the host's clock: an event's time is its distance from
 * the last such mark, by the rate between that mark and one of some time before.
 *
 * However wrong that is (a guest sets its counter, or lies), the result lies between the last time that the
 * ring was drained and now, as the event does.
 */
#include "vmm-probe/engine/hit/agent.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/hit/records.h"

#define OFTEN_NS   5000000ull    /* marks are not made more often */
#define WIDE_NS    100000ull     /* the thread was interrupted while it read the two */
#define RATE_NS    1000000ull    /* two marks that far apart have a rate */
#define BETTER_NS  500000000ull  /* … and a good one */
#define REBASE_NS  4000000000ull /* below 2^32 */
#define DEVIATE_NS 1000000ull    /* marks that are so far from the line are on another one */
/* 1 MHz to 100 GHz. */
#define MULT_MIN   (1ull << 32 >> 7)
#define MULT_MAX   (1000ull << 32)

static bool read_mark(const struct vp_engine *engine, uint32_t vcpu, struct vp_record_mark *ret)
{
	const struct vp_backend_resident *ops = engine->ops->resident;
	uint64_t before = vp_now();

	if (!ops || !ops->counter || !ops->counter(engine->backend, vcpu, &ret->tsc))
		return false;
	uint64_t took = vp_now() - before;
	ret->ns = before + took / 2;
	return took < WIDE_NS;
}

/* Has the counter been set since the last mark? */
static bool deviates(const struct vp_record_ring *r, const struct vp_record_mark *m)
{
	uint64_t expected = vp_agent_on_line(m->tsc, r->last.tsc, r->last.ns, r->mult);
	uint64_t off = expected > m->ns ? expected - m->ns : m->ns - expected;

	return off > DEVIATE_NS + (m->ns - r->last.ns) / 1000;
}

static void measure(struct vp_record_ring *r, const struct vp_record_mark *m)
{
	uint64_t passed = m->ns - r->first.ns, ticks = m->tsc - r->first.tsc;

	if (passed > REBASE_NS || (int64_t)ticks <= 0) {
		r->first = *m; /* the rate stays until there is a better one */
		return;
	}
	if (passed < (r->mult ? BETTER_NS : RATE_NS))
		return;
	uint64_t mult = (passed << 32) / ticks;
	if (mult >= MULT_MIN && mult <= MULT_MAX)
		r->mult = mult;
}

void vp_record_mark(const struct vp_engine *engine, uint32_t vcpu, struct vp_record_ring *r)
{
	struct vp_record_mark m;

	if ((r->mult && vp_now() - r->last.ns < OFTEN_NS) || !read_mark(engine, vcpu, &m))
		return;
	if (!r->first.ns || (r->mult && deviates(r, &m)))
		r->first = m;
	else
		measure(r, &m);
	r->last = m;
}

uint64_t vp_record_time(struct vp_record_ring *r, uint64_t tsc, uint64_t now)
{
	uint64_t ns = r->mult ? vp_agent_on_line(tsc, r->last.tsc, r->last.ns, r->mult) : now;
	uint64_t least = __atomic_load_n(&r->drained_ns, __ATOMIC_RELAXED);

	least = least > r->last_ns ? least : r->last_ns;
	ns = ns < now ? ns : now;
	r->last_ns = ns > least ? ns : least;
	return r->last_ns;
}
