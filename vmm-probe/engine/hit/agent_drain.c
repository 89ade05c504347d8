/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU reads the records of its ring and fires for them. Hit path: on the vCPU's own thread, so the guest's
 * CPU is stopped meanwhile and events fire in the order of its records. At most one full ring at a time, so
 * this ends even if the guest's other CPUs change the ring. A ring without memory has no records.
 */
#include "base/guarded.h"
#include "vmm-probe/engine/hit/agent.h"
#include "vmm-probe/engine/hit/guard.h"

#define TELL_EVERY 64 /* records, after which their slots are released to the guest */

static const struct ga_record *record(const struct vp_agent_ring *r, uint64_t n)
{
	return &r->ring->records[n & (r->records - 1)];
}

/* A reader that sees the number also sees the record. */
static bool has(const struct vp_agent_ring *r, uint64_t n)
{
	uint64_t seq;

	return ot_guarded_load64(&record(r, n)->seq, &seq) && seq == n + 1;
}

/* A copy of the next record; false: none yet. */
static bool take(struct vp_agent_ring *r, struct ga_record *ret)
{
	if (!has(r, r->tail) || !ot_guarded_read(ret, record(r, r->tail), sizeof(*ret)))
		return false;
	r->tail++;
	return true;
}

/* Without a mark only the distances of events are known, and that none is older than the last record taken:
 * the newest record's time is taken to be now. */
static uint64_t before(const struct vp_agent *agent, const struct vp_agent_ring *r, uint64_t tsc,
		       uint64_t now)
{
	uint64_t ago = r->newest_tsc - tsc;

	if ((int64_t)ago <= 0)
		return now;
	ago = (uint64_t)((unsigned __int128)ago * agent->khz_mult >> 32);
	return now > r->drained_ns && ago < now - r->drained_ns ? now - ago : r->drained_ns;
}

/* Order within a vCPU is exact, so times are monotonic and never in the future. */
static uint64_t time_of(struct vp_agent *agent, struct vp_agent_ring *r, uint64_t tsc, uint64_t now)
{
	uint64_t ns = vp_agent_time(agent, tsc, before(agent, r, tsc, now), now);

	if (ns < r->last_ns)
		ns = r->last_ns;
	r->last_ns = ns;
	return ns;
}

/* A record's words as the different kinds of probes use them. */
struct words {
	uint64_t agent[10 + VP_AGENT_SKIP_MAX]; /* as received */
	uint64_t syscall[10];  /* GA_WANT_SYSCALL: the call's arguments, or its result twice */
	uint64_t number;       /* … and its number */
	uint64_t returned[10]; /* a function's result, as a return probe's arguments; the offset is not
			    known */
};

static void sort_words(const struct ga_record *rec, struct words *ret)
{
	uint32_t n = rec->nargs < GA_ARGS ? rec->nargs : GA_ARGS;
	bool enter = n == GA_ARGS;

	memset(ret, 0, sizeof(*ret));
	memcpy(ret->agent, rec->args, n * sizeof(rec->args[0]));
	ret->returned[1] = ret->agent[0];
	ret->number = rec->args[enter ? 1 : 2];
	if (enter)
		memcpy(ret->syscall, rec->args + 2, 6 * sizeof(rec->args[0]));
	else
		ret->syscall[0] = ret->syscall[1] = rec->args[1];
}

static const uint64_t *words_for(const struct words *w, const struct vp_enabled_probe *probe)
{
	switch (probe->args) {
	case VP_ARGS_SYSCALL_ENTRY:
	case VP_ARGS_SYSCALL_RETURN:
		return w->syscall;
	case VP_ARGS_FBT_RETURN:
		return w->returned;
	default:
		return w->agent + probe->agent.skip;
	}
}

/* Records from before the session began belong to other sessions at most. */
static bool concerns(const struct vp_ecb *ecb, const struct ga_record *rec, const struct words *w,
		     uint64_t when)
{
	const struct vp_enabled_probe *p = ecb->probe;

	if (vp_engine_session_activity(ecb->es) != VP_ACTIVE || when < ecb->es->since_ns ||
	    (p->agent.syscall && (p->agent.syscall - 1 != w->number || rec->flags & GA_RECORD_32BIT)))
		return false;
	switch (p->agent.when) {
	case VP_WHEN_FIRST:
		return rec->pid == rec->tgid;
	case VP_WHEN_WORD:
		return (w->agent[p->agent.when_word] & p->agent.when_mask) == p->agent.when_value;
	default:
		return true;
	}
}

/* The event that happened to the task of GA_WANT_TASK. */
static struct ga_record of_task(const struct ga_record *rec, const struct words *w, uint32_t flags)
{
	struct ga_record ret = *rec;

	ret.task = w->agent[GA_TASK_WORD(flags)];
	ret.pid = (uint32_t)w->agent[5];
	ret.tgid = (uint32_t)(w->agent[5] >> 32);
	memcpy(ret.comm, &w->agent[6], sizeof(ret.comm));
	return ret;
}

/* A record, while its probes fire. */
struct event {
	const struct ga_record *rec;
	struct ga_record other; /* `rec` for probes about another task */
	struct words words;
	uint64_t when;
	uint64_t clock;            /* the guard's */
	struct vp_vcpu_session *v; /* session of the current firing */
};

static void leave(struct event *ev)
{
	if (!ev->v)
		return;
	vp_firing_end(ev->v);
	ev->v->event = NULL;
	ev->v = NULL;
}

/* A firing is of one session and about one task: values cached per firing (the task of thread-local
 * variables) would be the other task's. */
static void enter(struct event *ev, struct vp_engine_session *es, uint32_t vcpu,
		  const struct ga_record *about)
{
	if (ev->v && ev->v->es == es && ev->v->event == about)
		return;
	leave(ev);
	ev->v = &es->vcpus[vcpu];
	vp_firing_begin(ev->v, NULL, 0, ev->words.agent);
	ev->v->event = about;
	ev->v->event_ns = ev->when;
}

static void fire(struct event *ev, const struct vp_ecb *ecb, uint32_t vcpu)
{
	const struct vp_enabled_probe *probe = ecb->probe;
	const struct ga_record *about = ev->rec;

	if (probe->agent.flags & GA_WANT_TASK) {
		ev->other = of_task(ev->rec, &ev->words, probe->agent.flags);
		about = &ev->other;
	}
	enter(ev, ecb->es, vcpu, about);
	ev->v->fired_args = words_for(&ev->words, probe);
	vp_guard_fire(ev->v, ecb, &ev->clock);
}

static void fire_record(const struct vp_agent_map *map, struct vp_vcpu *me, uint32_t vcpu,
			const struct ga_record *rec, uint64_t when)
{
	struct event ev; /* not initialised completely: that would take longer than the rest */
	uint32_t first, n;

	if (rec->slot >= GA_SLOTS)
		return;
	first = map->slots[rec->slot].first;
	n = map->slots[rec->slot].n;
	if (!n)
		return;
	ev.rec = rec;
	ev.when = when;
	ev.v = NULL;
	ev.clock = vp_guard_begin(me);
	sort_words(rec, &ev.words);
	for (uint32_t i = first; i < first + n; i++) {
		const struct vp_ecb *ecb = map->ecbs[i];

		if (!concerns(ecb, rec, &ev.words, when))
			continue;
		fire(&ev, ecb, vcpu);
	}
	leave(&ev);
}

/* Every listening session gets the number of lost events. */
static void count_lost(const struct vp_agent_map *map, struct vp_agent_ring *r, uint32_t vcpu)
{
	uint64_t lost, grown;

	if (!ot_guarded_load64(&r->ring->lost, &lost) || ot_likely(lost == r->lost))
		return;
	grown = lost - r->lost;
	r->lost = lost;
	for (uint32_t i = 0; i < map->nsessions; i++) {
		struct vp_vcpu_session *v = &map->sessions[i]->vcpus[vcpu];

		v->counts.agent_lost += grown;
		__atomic_store_n(&v->status->agent_lost, v->counts.agent_lost, __ATOMIC_RELAXED);
	}
}

/* No time is known before the first mark, which the guest makes as soon as its probes are enabled. Until a
 * mark is exact, events wait in the ring, while it has space. */
static bool waits(const struct vp_agent *agent, const struct vp_agent_ring *r, uint64_t now)
{
	return now < __atomic_load_n(&agent->hold_until, __ATOMIC_ACQUIRE) &&
	       !has(r, r->tail + r->records / 2 - 1);
}

static void read_newest(struct vp_agent_ring *r)
{
	for (uint64_t n = r->tail; n - r->tail < r->records && has(r, n); n++)
		(void)ot_guarded_load64(&record(r, n)->tsc, &r->newest_tsc);
}

/* The threads that a record is about: the running one, and that of GA_WANT_TASK. */
struct claims {
	uint32_t *held[2];
	uint32_t n;
};

static bool claim(struct vp_agent *agent, uint64_t task, uint32_t vcpu, struct claims *c)
{
	/* The low bits of all tasks' addresses are equal. */
	uint64_t hash = task * 0x9e3779b97f4a7c15ull >> 32;
	uint32_t *at = &agent->claims[hash % VP_AGENT_CLAIMS], none = 0;

	if (c->n && c->held[0] == at)
		return true;
	if (!__atomic_compare_exchange_n(at, &none, vcpu + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	c->held[c->n++] = at;
	return true;
}

static void release(struct claims *c)
{
	while (c->n)
		__atomic_store_n(c->held[--c->n], 0, __ATOMIC_RELEASE);
}

/* A clause's thread-local variables must not change between its predicate and its end: while another vCPU
 * fires for the same thread, the record stays. */
static bool claim_threads(struct vp_agent *agent, const struct vp_agent_map *map, const struct ga_record *rec,
			  uint32_t vcpu, struct claims *c)
{
	uint32_t flags = rec->slot < GA_SLOTS ? map->slots[rec->slot].flags : 0;

	c->n = 0;
	if (!map->variables || rec->slot >= GA_SLOTS || !map->slots[rec->slot].n)
		return true;
	if (claim(agent, rec->task, vcpu, c) &&
	    (!(flags & GA_WANT_TASK) || claim(agent, rec->args[GA_TASK_WORD(flags)], vcpu, c)))
		return true;
	release(c);
	return false;
}

static void drain(struct vp_agent *agent, struct vp_agent_ring *r, const struct vp_agent_map *map,
		  uint32_t vcpu, bool at_once)
{
	uint64_t now = vp_now();
	uint64_t until = now;
	struct ga_record rec;
	struct claims c;
	uint32_t n = 0;

	if (ot_unlikely(!vp_agent_clock_exact(agent))) {
		if (!at_once && waits(agent, r, now))
			return;
		if (!vp_agent_clock_known(agent))
			read_newest(r);
	}
	for (; n < r->records && take(r, &rec); n++) {
		uint64_t when = time_of(agent, r, rec.tsc, now);

		/* Even with @at_once: a record of another thread may follow, and can't be delayed. */
		if (!claim_threads(agent, map, &rec, vcpu, &c) && !at_once) {
			r->tail--;
			until = when;
			break;
		}
		fire_record(map, &agent->engine->vcpus[vcpu], vcpu, &rec, when);
		release(&c);
		/* The copy is complete before the guest may write there. */
		if (r->tail % TELL_EVERY == 0)
			(void)ot_guarded_store64(&r->ring->tail, r->tail);
	}
	if (n)
		(void)ot_guarded_store64(&r->ring->tail, r->tail);
	count_lost(map, r, vcpu);
	__atomic_store_n(&r->drained_ns, until, __ATOMIC_RELEASE);
}

void vp_agent_drain(struct vp_engine *engine, uint32_t vcpu, bool at_once)
{
	struct vp_agent *agent = __atomic_load_n(&engine->agent, __ATOMIC_ACQUIRE);
	const struct vp_agent_map *map;
	struct vp_agent_ring *r;

	if (!agent)
		return;
	r = &agent->rings[vcpu];
	map = __atomic_load_n(&agent->map, __ATOMIC_ACQUIRE);
	if (!map || !r->ring || !__atomic_load_n(&agent->usable, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&engine->mem_gen, __ATOMIC_ACQUIRE) !=
		__atomic_load_n(&agent->mem_gen, __ATOMIC_ACQUIRE))
		return;
	drain(agent, r, map, vcpu, at_once);
}
