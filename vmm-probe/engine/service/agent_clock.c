/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's time-stamp counter on the host's clock. The agent reads the counter before and after a call
 * that the engine traps: the time of the call is between the two, and half their distance bounds the error.
 * That can be milliseconds if the host ran another thread between the two: such a mark is not taken while the
 * last good one, with the clocks' possible drift since, is more exact. The rate is the guest's own value
 * until two marks are far enough apart to measure it.
 */
#include "base/guarded.h"
#include "vmm-probe/engine/service/agent.h"

#define RATE_NS   500000000ull /* distance of marks from which the rate is measured */
#define KHZ_MIN   1000u
#define KHZ_MAX   100000000u
#define MULT_MIN  ((uint64_t)((1000000ull << 32) / KHZ_MAX))
#define MULT_MAX  ((uint64_t)((1000000ull << 32) / KHZ_MIN))
#define BILLION   1000000000ull
#define PPB_GUESS 4000000u /* assumed error of the guest's value of its rate */
#define PPB_MIN   500000u  /* the host's clock is itself slewed at up to this rate */
#define RESTARTS                                                                                  \
	2u /* consecutive restarts of the measurement: if marks still disagree, the rate is wrong \
	    */
#define SLACK_NS 1000u /* error of this process's reading of the clock */

uint64_t vp_agent_mult_of(uint32_t khz)
{
	return khz >= KHZ_MIN && khz <= KHZ_MAX ? (BILLION / 1000 << 32) / khz : 0;
}

struct mark {
	uint64_t tsc, ns;
	uint64_t width; /* ticks, half the distance of the two readings */
};

/* Restart the measurement of the rate at this mark. */
static void begin(struct vp_agent_rate *r, const struct mark *m)
{
	r->first_tsc = m->tsc;
	r->first_ns = m->ns;
	r->first_width = m->width;
	r->rate_ppb = PPB_GUESS;
	r->begun = true;
}

/* The farther apart the two marks are, the less their own errors matter. */
static void measure(struct vp_agent_rate *r, const struct mark *m)
{
	uint64_t ticks = m->tsc - r->first_tsc, passed = m->ns - r->first_ns, mult, ppb;

	if (passed < RATE_NS || passed >> 62 || (int64_t)ticks <= 0)
		return;
	mult = (uint64_t)(((unsigned __int128)passed << 32) / ticks);
	/* The guest may report any value: an impossible rate is not used. */
	if (mult < MULT_MIN || mult > MULT_MAX)
		return;
	ppb =
	    (uint64_t)((unsigned __int128)vp_agent_scale(r->first_width + m->width, mult) * BILLION / passed);
	if (r->mult && ppb >= r->rate_ppb)
		return;
	r->mult = mult;
	r->rate_ppb = (uint32_t)(ppb < PPB_MIN ? PPB_MIN : ppb);
}

/* Is this mark better than the one in force? One that contradicts it is: the guest was stopped, or its
 * counter was set, and so the rate is wrong if its measurement spans that. */
static bool is_better(const struct vp_agent_clock *c, struct vp_agent_rate *r, const struct mark *m,
		      uint64_t bound)
{
	uint32_t i = c->seq % VP_AGENT_MARKS;
	uint64_t expected, off, passed, exact;

	if (!c->seq)
		return true;
	expected = vp_agent_on_line(m->tsc, c->at[i].tsc, c->at[i].ns, c->at[i].mult);
	off = expected > m->ns ? expected - m->ns : m->ns - expected;
	passed = m->ns - c->at[i].ns;
	exact = c->at[i].bound_ns + (uint64_t)((unsigned __int128)passed * r->rate_ppb / BILLION) + SLACK_NS;
	if (off <= exact + bound) {
		r->restarts = 0;
		return bound <= exact;
	}
	/* While the rate is the guest's value, that value may be the error. */
	if (r->rate_ppb < PPB_GUESS || r->restarts < RESTARTS) {
		r->restarts++;
		begin(r, m);
	}
	return true;
}

/* Release throughout: a reader that sees the number sees the mark, and one that sees any word of the next
 * mark sees that the number has changed. */
static void publish(struct vp_agent *agent, uint64_t tsc, uint64_t ns, uint64_t mult, uint64_t bound)
{
	struct vp_agent_clock *c = &agent->clock;
	uint32_t next = c->seq + 1;

	next += !next;
	__atomic_store_n(&c->at[next % VP_AGENT_MARKS].tsc, tsc, __ATOMIC_RELEASE);
	__atomic_store_n(&c->at[next % VP_AGENT_MARKS].ns, ns, __ATOMIC_RELEASE);
	__atomic_store_n(&c->at[next % VP_AGENT_MARKS].mult, mult, __ATOMIC_RELEASE);
	__atomic_store_n(&c->at[next % VP_AGENT_MARKS].bound_ns, bound, __ATOMIC_RELEASE);
	__atomic_store_n(&c->at[next % VP_AGENT_MARKS].ahead_ns, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&c->seq, next, __ATOMIC_RELEASE);
}

/* The guest's mark, if it is the one that was hit: exactly one since the last check. */
static bool new_mark(struct vp_agent_owner *owner, struct mark *ret)
{
	struct vp_agent_rate *r = &owner->rate;
	const struct vp_agent *agent = &owner->agent;
	const struct ga_header *h = owner->header;
	uint32_t seq, again;
	uint64_t before, after, marks;

	if (!ot_guarded_load32(&h->clock_seq, &seq) || seq & 1 || seq == r->seen ||
	    !ot_guarded_load64(&h->clock_before, &before) || !ot_guarded_load64(&h->clock_after, &after))
		return false;
	marks = __atomic_load_n(&agent->marks, __ATOMIC_ACQUIRE);
	ret->ns = __atomic_load_n(&agent->mark_ns, __ATOMIC_ACQUIRE);
	/* The next one may have been hit meanwhile: the guest reports it only later, and its time would be
	 * paired with this one's counter. */
	if (__atomic_load_n(&agent->marks, __ATOMIC_ACQUIRE) != marks ||
	    !ot_guarded_load32(&h->clock_seq, &again) || again != seq)
		return false;
	bool paired = seq == r->seen + 2 && marks == r->marks + 1;

	r->seen = seq;
	r->marks = marks;
	ret->width = (after - before) / 2;
	ret->tsc = before + ret->width;
	return paired && after >= before;
}

void vp_agent_clock_poll(struct vp_agent_owner *owner)
{
	struct vp_agent_rate *r = &owner->rate;
	struct mark m;

	if (!new_mark(owner, &m))
		return;
	if (!r->begun) {
		begin(r, &m);
		r->mult = vp_agent_mult_of(owner->tsc_khz);
	}
	measure(r, &m);
	if (!r->mult)
		return;
	uint64_t bound = vp_agent_scale(m.width, r->mult);

	if (is_better(&owner->agent.clock, r, &m, bound))
		publish(&owner->agent, m.tsc, m.ns, r->mult, bound);
}

uint64_t vp_agent_clock_bound(const struct vp_agent *agent, uint64_t *ret_tsc, uint64_t *ret_ns)
{
	const struct vp_agent_clock *c = &agent->clock;

	for (;;) {
		uint32_t seq = __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE);
		uint64_t tsc = __atomic_load_n(&c->at[seq % VP_AGENT_MARKS].tsc, __ATOMIC_ACQUIRE);
		uint64_t ns = __atomic_load_n(&c->at[seq % VP_AGENT_MARKS].ns, __ATOMIC_ACQUIRE);
		uint64_t bound = __atomic_load_n(&c->at[seq % VP_AGENT_MARKS].bound_ns, __ATOMIC_ACQUIRE);

		if (!seq)
			return 0;
		if (__atomic_load_n(&c->seq, __ATOMIC_RELAXED) != seq)
			continue; /* as above */
		*ret_tsc = tsc;
		*ret_ns = ns;
		/* 0 means unknown; the shortest mark takes longer than a nanosecond. */
		return bound + 1;
	}
}
