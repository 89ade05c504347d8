/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's time-stamp counter on the host's clock. The agent reads the counter before and after a call
 * that we see: the moment of the call lies between the two, whatever else is true, and half their distance
 * bounds the error. The rate is what the guest says until two marks lie far enough apart to tell better.
 */
#include "vmm-probe/engine/agent.h"

#define RATE_NS  500000000ull /* marks that far apart give a rate */
#define KHZ_MIN  1000u
#define KHZ_MAX  100000000u
#define MULT_MIN ((uint64_t)((1000000ull << 32) / KHZ_MAX))
#define MULT_MAX ((uint64_t)((1000000ull << 32) / KHZ_MIN))

void vp_agent_mark(struct vp_engine *engine)
{
	struct vp_agent *agent = __atomic_load_n(&engine->agent, __ATOMIC_ACQUIRE);

	if (!agent)
		return;
	__atomic_store_n(&agent->mark_ns, vp_now(), __ATOMIC_RELAXED);
	/* Release: who sees the number sees the time, or a later one. */
	__atomic_add_fetch(&agent->marks, 1, __ATOMIC_RELEASE);
}

static uint64_t scale(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)((unsigned __int128)ticks * mult >> 32);
}

static uint64_t rate(const struct vp_agent *agent, uint64_t tsc, uint64_t ns)
{
	const struct vp_agent_clock *c = &agent->clock;
	uint64_t mult = 0, ticks = tsc - c->first_tsc, passed = ns - c->first_ns;

	if (c->seq && passed >= RATE_NS && passed >> 62 == 0 && (int64_t)ticks > 0)
		mult = (uint64_t)(((unsigned __int128)passed << 32) / ticks);
	else if (agent->tsc_khz >= KHZ_MIN && agent->tsc_khz <= KHZ_MAX)
		mult = (1000000ull << 32) / agent->tsc_khz;
	/* The guest may say anything: a rate that no computer has is none. */
	return mult >= MULT_MIN && mult <= MULT_MAX ? mult : 0;
}

/* Release throughout: who sees the number sees what lies there, and who sees any of what comes next sees that
 * the number has moved. */
static void publish(struct vp_agent *agent, uint64_t tsc, uint64_t ns, uint64_t mult, uint64_t bound)
{
	struct vp_agent_clock *c = &agent->clock;
	uint32_t next = c->seq + 1;

	next += !next;
	__atomic_store_n(&c->at[next % 2].tsc, tsc, __ATOMIC_RELEASE);
	__atomic_store_n(&c->at[next % 2].ns, ns, __ATOMIC_RELEASE);
	__atomic_store_n(&c->at[next % 2].mult, mult, __ATOMIC_RELEASE);
	__atomic_store_n(&c->at[next % 2].bound_ns, bound, __ATOMIC_RELEASE);
	__atomic_store_n(&c->seq, next, __ATOMIC_RELEASE);
}

/* The mark that the guest tells of must be the one that was hit: exactly one since we last looked. */
void vp_agent_clock_look(struct vp_agent *agent)
{
	struct vp_agent_clock *c = &agent->clock;
	const struct ga_header *h = agent->header;
	uint32_t seq = __atomic_load_n(&h->clock_seq, __ATOMIC_ACQUIRE);
	uint64_t before, after, marks, ns, mult;

	if (seq & 1 || seq == c->seen)
		return;
	before = __atomic_load_n(&h->clock_before, __ATOMIC_ACQUIRE);
	after = __atomic_load_n(&h->clock_after, __ATOMIC_ACQUIRE);
	marks = __atomic_load_n(&agent->marks, __ATOMIC_ACQUIRE);
	ns = __atomic_load_n(&agent->mark_ns, __ATOMIC_RELAXED);
	if (__atomic_load_n(&h->clock_seq, __ATOMIC_ACQUIRE) != seq)
		return;
	bool paired = seq == c->seen + 2 && marks == c->marks + 1;

	c->seen = seq;
	c->marks = marks;
	if (!paired || after < before)
		return;
	uint64_t middle = before + (after - before) / 2;

	mult = rate(agent, middle, ns);
	if (!mult)
		return;
	if (!c->seq) {
		c->first_tsc = middle;
		c->first_ns = ns;
	}
	publish(agent, middle, ns, mult, scale(after - before, mult) / 2);
}

uint64_t vp_agent_time(const struct vp_agent *agent, uint64_t tsc, uint64_t now)
{
	const struct vp_agent_clock *c = &agent->clock;

	for (;;) {
		uint32_t seq = __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE);
		uint64_t at = __atomic_load_n(&c->at[seq % 2].tsc, __ATOMIC_ACQUIRE);
		uint64_t ns = __atomic_load_n(&c->at[seq % 2].ns, __ATOMIC_ACQUIRE);
		uint64_t mult = __atomic_load_n(&c->at[seq % 2].mult, __ATOMIC_ACQUIRE);

		if (!seq)
			return now;
		if (__atomic_load_n(&c->seq, __ATOMIC_RELAXED) != seq)
			continue; /* ten times a second at most */
		return (int64_t)(tsc - at) >= 0 ? ns + scale(tsc - at, mult) : ns - scale(at - tsc, mult);
	}
}

uint64_t vp_agent_clock_bound(const struct vp_agent *agent, uint64_t *ret_tsc, uint64_t *ret_ns)
{
	const struct vp_agent_clock *c = &agent->clock;

	for (;;) {
		uint32_t seq = __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE);
		uint64_t tsc = __atomic_load_n(&c->at[seq % 2].tsc, __ATOMIC_ACQUIRE);
		uint64_t ns = __atomic_load_n(&c->at[seq % 2].ns, __ATOMIC_ACQUIRE);
		uint64_t bound = __atomic_load_n(&c->at[seq % 2].bound_ns, __ATOMIC_ACQUIRE);

		if (!seq)
			return 0;
		if (__atomic_load_n(&c->seq, __ATOMIC_RELAXED) != seq)
			continue; /* as above */
		*ret_tsc = tsc;
		*ret_ns = ns;
		/* 0 is not known; the shortest mark takes longer than a nanosecond. */
		return bound + 1;
	}
}
