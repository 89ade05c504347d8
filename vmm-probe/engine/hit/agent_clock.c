/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event's time on the host's clock, by the marks that the agent's thread has taken
 * (service/agent_clock.c). Hit path. */
#include "vmm-probe/engine/hit/agent.h"
#include "vmm-probe/engine/hit/fire.h"

void vp_agent_mark(struct vp_engine *engine)
{
	struct vp_agent *agent = __atomic_load_n(&engine->agent, __ATOMIC_ACQUIRE);

	if (!agent)
		return;
	__atomic_store_n(&agent->mark_ns, vp_now(), __ATOMIC_RELAXED);
	/* Release: a reader that sees the number sees this time or a later one. */
	__atomic_add_fetch(&agent->marks, 1, __ATOMIC_RELEASE);
}

bool vp_agent_clock_known(const struct vp_agent *agent)
{
	return __atomic_load_n(&agent->clock.seq, __ATOMIC_ACQUIRE) != 0;
}

static bool is_exact(const struct vp_agent_clock *c, uint32_t i)
{
	return __atomic_load_n(&c->at[i].mult, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&c->at[i].bound_ns, __ATOMIC_RELAXED) <= VP_AGENT_EXACT_NS;
}

bool vp_agent_clock_exact(const struct vp_agent *agent)
{
	uint32_t seq = __atomic_load_n(&agent->clock.seq, __ATOMIC_ACQUIRE);

	return seq && is_exact(&agent->clock, seq % VP_AGENT_MARKS);
}

/* An event in the future shows that the clock is ahead, by that much at least. Until the next mark all times
 * are corrected by it: cut off at now, those of one batch would be one moment. More than the mark's error is
 * a guest whose counter was set, or that lies. */
static uint64_t not_after(struct vp_agent *agent, uint32_t i, uint64_t ns, uint64_t now)
{
	uint64_t *known = &agent->clock.at[i].ahead_ns;
	uint64_t most = __atomic_load_n(&agent->clock.at[i].bound_ns, __ATOMIC_RELAXED);
	uint64_t ahead = __atomic_load_n(known, __ATOMIC_RELAXED);

	ns = ns > ahead ? ns - ahead : 0;
	if (ns <= now)
		return ns;
	/* if two vCPUs correct at once, one of them may do so at its next event */
	if (ns - now <= most - ahead)
		__atomic_store_n(known, ahead + (ns - now), __ATOMIC_RELAXED);
	return now;
}

/* Each time is computed from the mark before it if that is one of the last two, so an event's time does not
 * depend on whether it is taken before or after the next mark; unless only the later mark is exact, for which
 * events have waited. */
uint64_t vp_agent_time(struct vp_agent *agent, uint64_t tsc, uint64_t unknown, uint64_t now)
{
	const struct vp_agent_clock *c = &agent->clock;

	for (;;) {
		uint32_t seq = __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE);
		uint32_t i = seq % VP_AGENT_MARKS, before = (seq - 1) % VP_AGENT_MARKS;
		uint64_t at = __atomic_load_n(&c->at[i].tsc, __ATOMIC_ACQUIRE), most = ~0ull;

		if (!seq)
			return unknown;
		if ((int64_t)(tsc - at) < 0 && __atomic_load_n(&c->at[before].mult, __ATOMIC_ACQUIRE) &&
		    (is_exact(c, before) || !is_exact(c, i))) {
			most = __atomic_load_n(&c->at[i].ns, __ATOMIC_ACQUIRE);
			i = before;
			at = __atomic_load_n(&c->at[i].tsc, __ATOMIC_ACQUIRE);
		}
		uint64_t ns = __atomic_load_n(&c->at[i].ns, __ATOMIC_ACQUIRE);
		uint64_t mult = __atomic_load_n(&c->at[i].mult, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&c->seq, __ATOMIC_RELAXED) != seq)
			continue; /* at most ten times a second */
		ns = not_after(agent, i, vp_agent_on_line(tsc, at, ns, mult), now);
		return ns < most ? ns : most;
	}
}
