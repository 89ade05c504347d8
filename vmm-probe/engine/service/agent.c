/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owning the guest's agent: taking it over, telling it what to turn on, giving it back. One thread of ours
 * beats, so that the agent knows that we are there, has every vCPU look into its ring a hundred times a
 * second, and lets go at once when the guest unloads the module.
 */
#include "vmm-probe/engine/agent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define OWNER_ID      1u
#define APPLY_NS      3000000000ull /* the guest looks ten times a second; a thousand probes take it longer */
#define FLUSH_NS      300000000ull
#define STEP_NS       2000000
#define BEAT_EVERY    (GA_BEAT_MS * 1000000ull / VP_AGENT_KICK_NS / 4)
#define LEASE_LOOK_NS (2ull * GA_BEAT_MS * 1000000u)
/* A vCPU that does not look for so long holds nobody up any more. */
#define STALE_NS      1000000000ull
/* The first mark comes with the commands' being in force, unless the guest's call for it can't be trapped. */
#define HOLD_NS       300000000ull

static void nap(void)
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

static struct ot_err *use_ring(struct vp_agent *agent, uint32_t vcpu, uint64_t gpa, uint32_t records)
{
	struct vp_agent_ring *r = &agent->rings[vcpu];

	if (!gpa)
		return NULL;
	if (!records || records & (records - 1) || records > GA_RECORDS_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "the guest's agent has a ring of %u records", records);
	r->ring = memory(agent->engine, gpa, ring_size(records));
	if (!r->ring)
		return ot_err_new(OT_ERR_BAD_DATA, "a ring of the guest's agent is not in its RAM");
	r->records = records;
	r->tail = __atomic_load_n(&r->ring->tail, __ATOMIC_ACQUIRE);
	r->lost = __atomic_load_n(&r->ring->lost, __ATOMIC_RELAXED);
	r->drained_ns = vp_now();
	return NULL;
}

/* What its last owner has left there happened before any of our sessions. Once the memory is ours. */
static void forget_old_records(struct vp_agent_ring *r)
{
	for (uint32_t n = 0; n < r->records; n++, r->tail++) {
		const struct ga_record *at = &r->ring->records[r->tail & (r->records - 1)];

		if (__atomic_load_n(&at->seq, __ATOMIC_ACQUIRE) != r->tail + 1)
			break;
	}
	__atomic_store_n(&r->ring->tail, r->tail, __ATOMIC_RELEASE);
}

static struct ot_err *use_memory(struct vp_agent *agent, const struct vp_batch_agent *place)
{
	const struct vp_engine *e = agent->engine;

	agent->mem_gen = __atomic_load_n(&e->mem_gen, __ATOMIC_ACQUIRE);
	agent->header = memory(e, place->header_gpa, sizeof(*agent->header));
	agent->control = memory(e, place->control_gpa, sizeof(*agent->control));
	if (!agent->header || !agent->control || !place->token || place->token & 0xff)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "the control block of the guest's agent is not in its RAM");
	for (uint32_t i = 0; i < e->nvcpus; i++)
		OT_TRY(use_ring(agent, i, place->rings[i].gpa, place->rings[i].records));
	return NULL;
}

/* The guest's memory is where it was, and ours to look at. */
static bool is_usable(const struct vp_agent *agent)
{
	return __atomic_load_n(&agent->usable, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&agent->engine->mem_gen, __ATOMIC_ACQUIRE) ==
		   __atomic_load_n(&agent->mem_gen, __ATOMIC_RELAXED);
}

/* The VMM has changed the guest's memory. True: not what is the agent's, so all goes on. */
static bool look_again(struct vp_agent *agent)
{
	const struct vp_engine *e = agent->engine;
	uint64_t gen = __atomic_load_n(&e->mem_gen, __ATOMIC_ACQUIRE);

	if (memory(e, agent->place.header_gpa, sizeof(*agent->header)) != agent->header ||
	    memory(e, agent->place.control_gpa, sizeof(*agent->control)) != agent->control)
		return false;
	for (uint32_t i = 0; i < e->nvcpus; i++) {
		const struct vp_agent_ring *r = &agent->rings[i];

		if (r->ring && memory(e, agent->place.rings[i].gpa, ring_size(r->records)) != r->ring)
			return false;
	}
	__atomic_store_n(&agent->mem_gen, gen, __ATOMIC_RELEASE);
	return true;
}

/* --- owning ------------------------------------------------------------------------------------------ */

static bool exchange(struct vp_agent *agent, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&agent->control->owner, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* An owner that does not beat is one that went with the VMM that this guest came from. */
static bool take_over(struct vp_agent *agent)
{
	uint64_t owner = __atomic_load_n(&agent->control->owner, __ATOMIC_ACQUIRE);
	uint64_t beat = __atomic_load_n(&agent->control->beat, __ATOMIC_RELAXED), start = vp_now();

	if ((owner & ~0xffull) != agent->token)
		return false;
	while (vp_now() - start < LEASE_LOOK_NS) {
		if (__atomic_load_n(&agent->control->beat, __ATOMIC_RELAXED) != beat)
			return false;
		nap();
	}
	agent->owner = agent->token | ((owner & 0xff) % 0xff + 1);
	return exchange(agent, owner, agent->owner);
}

static struct ot_err *own(struct vp_agent *agent)
{
	agent->owner = agent->token | OWNER_ID;
	if (exchange(agent, agent->token, agent->owner) || take_over(agent))
		return NULL;
	return ot_err_new(OT_ERR_BUSY, "the guest's agent has just been unloaded, or another host uses it");
}

static bool is_live(const struct vp_agent *agent)
{
	const struct ga_header *h = agent->header;

	return __atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) == GA_MAGIC &&
	       __atomic_load_n(&h->state, __ATOMIC_ACQUIRE) == GA_LIVE;
}

/* From here on nobody of ours touches the guest's memory. Any thread but a vCPU's. */
static void let_go(struct vp_agent *agent)
{
	bool there = is_usable(agent) || look_again(agent);

	if (!__atomic_exchange_n(&agent->usable, 0, __ATOMIC_ACQ_REL))
		return;
	vp_quiesce(agent->engine);
	/* Release: all of our writes are before it. Only while it is still ours. */
	if (there)
		exchange(agent, agent->owner, agent->token);
}

/* --- what is to be on -------------------------------------------------------------------------------- */

/* The first of a probe's ECBs that is not out, from @p ecb on. */
static struct vp_ecb *still_in(struct vp_ecb *ecb)
{
	while (ecb && ecb->out)
		ecb = ecb->next;
	return ecb;
}

static uint32_t each_ecb(const struct vp_engine *engine, struct vp_agent_map *map, uint32_t slot)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < engine->nsessions; s++) {
		const struct vp_es *es = engine->sessions[s];
		for (const struct vp_batch_rt *b = es->planned ? es->batches : NULL; b; b = b->next)
			for (uint32_t i = 0; i < b->nprobes; i++) {
				const struct vp_probe_rt *p = &b->probes[i];
				if (p->kind != VP_PROBE_AGENT || (map && p->slot != slot))
					continue;
				for (struct vp_ecb *e = still_in(p->first); e; e = still_in(e->next), n++)
					if (map)
						map->ecbs[map->slots[slot].first + n] = e;
			}
	}
	return n;
}

static bool listens(const struct vp_es *es)
{
	for (const struct vp_batch_rt *b = es->planned ? es->batches : NULL; b; b = b->next)
		for (uint32_t i = 0; i < b->nprobes; i++)
			if (b->probes[i].kind == VP_PROBE_AGENT && still_in(b->probes[i].first))
				return true;
	return false;
}

/* Two probes may listen to one slot: they asked the same catalogue, so it is the same place, and a record for
 * the one that needs more does for the other. */
static void join_needs(struct vp_agent_map *map, uint32_t slot)
{
	uint32_t first = map->slots[slot].first;

	for (uint32_t i = first; i < first + map->slots[slot].n; i++) {
		const struct vp_probe_rt *p = map->ecbs[i]->probe;

		map->slots[slot].address = p->address;
		map->slots[slot].want = p->want;
		map->slots[slot].flags |= (uint16_t)p->flags;
		if (p->nargs > map->slots[slot].nargs)
			map->slots[slot].nargs = (uint16_t)p->nargs;
	}
}

/* NULL: without memory. */
static struct vp_agent_map *make_map(const struct vp_engine *engine, uint32_t n)
{
	struct vp_agent_map *map = calloc(1, sizeof(*map) + n * sizeof(map->ecbs[0]));
	bool used[GA_SLOTS] = { false };
	uint32_t at = 0;

	if (!map)
		return NULL;
	for (uint32_t s = 0; s < engine->nsessions; s++) {
		const struct vp_es *es = engine->sessions[s];
		if (!listens(es))
			continue;
		map->sessions[map->nsessions++] = engine->sessions[s];
		map->variables |= es->dynvars != NULL;
		for (const struct vp_batch_rt *b = es->batches; b; b = b->next)
			for (uint32_t i = 0; i < b->nprobes; i++)
				if (b->probes[i].kind == VP_PROBE_AGENT)
					used[b->probes[i].slot] = true;
	}
	for (uint32_t slot = 0; slot < GA_SLOTS; slot++) {
		if (!used[slot])
			continue;
		map->slots[slot].first = at;
		map->slots[slot].n = each_ecb(engine, map, slot);
		at += map->slots[slot].n;
		join_needs(map, slot);
	}
	return map;
}

static bool is_written(const struct ga_want *at, const struct ga_want *want)
{
	uint32_t kind = __atomic_load_n(&at->kind, __ATOMIC_RELAXED);

	if (want->kind == GA_OFF)
		return kind == GA_OFF;
	return kind == want->kind && __atomic_load_n(&at->address, __ATOMIC_RELAXED) == want->address &&
	       __atomic_load_n(&at->nargs, __ATOMIC_RELAXED) == want->nargs &&
	       __atomic_load_n(&at->flags, __ATOMIC_RELAXED) == want->flags;
}

/* The guest may be looking: what stays as it is must not be off for a moment. */
static void write_want(struct ga_want *at, const struct ga_want *want)
{
	if (is_written(at, want))
		return;
	/* Kind first to nothing and last to what it is: the guest reads it first. */
	__atomic_store_n(&at->kind, GA_OFF, __ATOMIC_RELEASE);
	__atomic_store_n(&at->address, want->address, __ATOMIC_RELAXED);
	__atomic_store_n(&at->nargs, want->nargs, __ATOMIC_RELAXED);
	__atomic_store_n(&at->flags, want->flags, __ATOMIC_RELAXED);
	__atomic_store_n(&at->kind, want->kind, __ATOMIC_RELEASE);
}

static struct ga_want wanted(const struct vp_agent_map *map, uint32_t slot)
{
	if (!map || !map->slots[slot].n)
		return (struct ga_want){ .kind = GA_OFF };
	return (struct ga_want){
		.address = map->slots[slot].address,
		.kind = map->slots[slot].want,
		.nargs = map->slots[slot].nargs,
		.flags = map->slots[slot].flags,
	};
}

static void command(struct vp_agent *agent, const struct vp_agent_map *map)
{
	uint64_t start = vp_now();

	if (!is_usable(agent))
		return;
	for (uint32_t slot = 0; slot < GA_SLOTS; slot++) {
		const struct ga_want want = wanted(map, slot);

		write_want(&agent->control->slots[slot], &want);
	}
	agent->generation = __atomic_load_n(&agent->header->applied, __ATOMIC_RELAXED) + 1;
	agent->generation += !agent->generation; /* 0 is that of nothing */
	__atomic_store_n(&agent->control->generation, agent->generation, __ATOMIC_RELEASE);
	/* A paused guest does not look; it will. */
	while (is_usable(agent) && is_live(agent) && vp_now() - start < APPLY_NS &&
	       __atomic_load_n(&agent->header->applied, __ATOMIC_ACQUIRE) != agent->generation)
		nap();
}

/* --- the thread ---------------------------------------------------------------------------------------- */

static void ask(const struct vp_agent *agent)
{
	const struct vp_engine *e = agent->engine;

	for (uint32_t i = 0; i < e->nvcpus; i++) {
		if (e->ops->request_visit)
			e->ops->request_visit(e->backend, i);
		else if (e->ops->request_sample)
			e->ops->request_sample(e->backend, i);
	}
}

static bool all_drained(const struct vp_agent *agent, uint64_t since)
{
	for (uint32_t i = 0; i < agent->engine->nvcpus; i++)
		if (agent->rings[i].ring &&
		    __atomic_load_n(&agent->rings[i].drained_ns, __ATOMIC_ACQUIRE) < since)
			return false;
	return true;
}

/* What happened until now is in the buffers when it returns, unless a vCPU does not come by. */
static void flush(struct vp_agent *agent)
{
	uint64_t start = vp_now();

	__atomic_store_n(&agent->hold_until, 0, __ATOMIC_RELEASE);
	while (is_usable(agent) && !all_drained(agent, start) && vp_now() - start < FLUSH_NS) {
		ask(agent);
		nap();
	}
}

static void *run(void *arg)
{
	struct vp_agent *agent = arg;
	struct pollfd wake = { .fd = agent->wake_fd, .events = POLLIN };
	const struct timespec ts = { .tv_nsec = VP_AGENT_KICK_NS };

	for (uint64_t n = 0;; n++) {
		if (ppoll(&wake, 1, &ts, NULL) > 0)
			return NULL;
		if (!__atomic_load_n(&agent->usable, __ATOMIC_ACQUIRE))
			continue;
		if (!is_usable(agent) && !look_again(agent)) {
			__atomic_store_n(&agent->usable, 0, __ATOMIC_RELEASE);
			continue;
		}
		if (!is_live(agent)) {
			flush(agent);
			let_go(agent);
			continue;
		}
		if (n % BEAT_EVERY == 0)
			__atomic_add_fetch(&agent->control->beat, 1, __ATOMIC_RELAXED);
		vp_agent_clock_look(agent);
		ask(agent);
	}
}

static struct ot_err *start_thread(struct vp_agent *agent)
{
	sigset_t all, old;

	agent->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (agent->wake_fd < 0)
		return ot_err_os(errno, "eventfd");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&agent->thread, NULL, run, agent);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return ot_err_os(err, "starting the agent's thread");
	agent->running = true;
	return NULL;
}

static void stop_thread(struct vp_agent *agent)
{
	uint64_t one = 1;

	if (!agent->running)
		return;
	while (write(agent->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(agent->thread, NULL);
	agent->running = false;
}

/* --- life ------------------------------------------------------------------------------------------------
 */

static void free_agent(struct vp_agent *agent)
{
	if (agent->wake_fd >= 0)
		close(agent->wake_fd);
	free(agent->map);
	free(agent->rings);
	free(agent);
}

static struct ot_err *init(struct vp_agent *agent, const struct vp_batch_agent *place)
{
	size_t size = agent->engine->nvcpus * sizeof(*agent->rings);

	agent->place = *place;
	agent->token = place->token;
	agent->tsc_khz = place->tsc_khz;
	agent->khz_mult = vp_agent_mult_of(place->tsc_khz);
	agent->hold_until = ~0ull;
	agent->rings = aligned_alloc(64, size);
	if (!agent->rings)
		return ot_err_nomem();
	memset(agent->rings, 0, size);
	OT_TRY(use_memory(agent, place));
	OT_TRY(own(agent));
	for (uint32_t i = 0; i < agent->engine->nvcpus; i++)
		if (agent->rings[i].ring)
			forget_old_records(&agent->rings[i]);
	agent->usable = 1;
	agent->clock.seen = __atomic_load_n(&agent->header->clock_seq, __ATOMIC_ACQUIRE) & ~1u;
	struct ot_err *err = start_thread(agent);
	if (err)
		let_go(agent);
	return err;
}

static struct ot_err *create(struct vp_engine *engine, const struct vp_batch_agent *place)
{
	struct vp_agent *agent = calloc(1, sizeof(*agent));

	if (!agent)
		return ot_err_nomem();
	agent->engine = engine;
	agent->wake_fd = -1;
	struct ot_err *err = init(agent, place);
	if (err) {
		free_agent(agent);
		return err;
	}
	__atomic_store_n(&engine->agent, agent, __ATOMIC_RELEASE);
	return NULL;
}

void vp_agent_stop(struct vp_engine *engine)
{
	struct vp_agent *agent = engine->agent;

	if (!agent)
		return;
	command(agent, NULL);
	stop_thread(agent);
	let_go(agent);
	__atomic_store_n(&engine->agent, NULL, __ATOMIC_RELEASE);
	vp_quiesce(engine);
	free_agent(agent);
}

/* The place that the sessions that want something have been told of; NULL: nobody does. */
static const struct vp_batch_agent *place_of(const struct vp_engine *engine)
{
	const struct vp_batch_agent *place = NULL;

	for (uint32_t s = 0; s < engine->nsessions; s++)
		if (engine->sessions[s]->agent && listens(engine->sessions[s]))
			place = engine->sessions[s]->agent;
	return place;
}

static void put_in_force(struct vp_agent *agent, struct vp_agent_map *map)
{
	struct vp_agent_map *old = agent->map;

	__atomic_store_n(&agent->map, map, __ATOMIC_RELEASE);
	vp_quiesce(agent->engine);
	free(old);
}

struct ot_err *vp_agent_update(struct vp_engine *engine)
{
	const struct vp_batch_agent *place = place_of(engine);
	struct vp_agent_map *map;

	if (!place || (engine->agent && engine->agent->token != place->token))
		vp_agent_stop(engine);
	if (!place)
		return NULL;
	map = make_map(engine, each_ecb(engine, NULL, 0));
	if (!map)
		return ot_err_nomem();
	if (!engine->agent) {
		struct ot_err *err = create(engine, place);
		if (err) {
			free(map);
			return err;
		}
	}
	put_in_force(engine->agent, map);
	command(engine->agent, map);
	if (__atomic_load_n(&engine->agent->hold_until, __ATOMIC_ACQUIRE) == ~0ull)
		__atomic_store_n(&engine->agent->hold_until, vp_now() + HOLD_NS, __ATOMIC_RELEASE);
	return NULL;
}

void vp_agent_flush(struct vp_engine *engine)
{
	if (engine->agent)
		flush(engine->agent);
}

uint64_t vp_agent_covered(const struct vp_engine *engine, uint64_t now)
{
	const struct vp_agent *agent = engine->agent;
	uint64_t covered = now;

	if (!agent || !__atomic_load_n(&agent->usable, __ATOMIC_ACQUIRE))
		return now;
	for (uint32_t i = 0; i < engine->nvcpus; i++) {
		uint64_t ns = __atomic_load_n(&agent->rings[i].drained_ns, __ATOMIC_ACQUIRE);

		if (agent->rings[i].ring && ns < covered && now - ns < STALE_NS)
			covered = ns;
	}
	return covered;
}

static void move_probe(struct vp_es *es, const struct vp_probe_rt *to)
{
	for (struct vp_batch_rt *b = es->batches; b; b = b->next)
		for (uint32_t i = 0; i < b->nprobes; i++) {
			struct vp_probe_rt *p = &b->probes[i];

			if (p->kind != VP_PROBE_AGENT || p->id != to->id || p->want != to->want)
				continue;
			p->slot = to->slot;
			p->address = to->address;
		}
}

void vp_agent_moved(struct vp_es *es, const struct vp_batch_rt *b)
{
	bool calls = false;

	for (uint32_t i = 0; i < b->nprobes; i++) {
		calls |= b->probes[i].kind == VP_PROBE_AGENT_CALL;
		if (b->probes[i].kind == VP_PROBE_AGENT && !b->probes[i].first)
			move_probe(es, &b->probes[i]);
	}
	for (struct vp_batch_rt *old = es->batches; calls && old; old = old->next)
		for (uint32_t i = 0; i < old->nsites; i++)
			old->sites[i].agent = VP_AGENT_CALL_NONE;
}

uint64_t vp_agent_bound(const struct vp_es *es, uint64_t *ret_tsc, uint64_t *ret_ns)
{
	const struct vp_agent *agent = es->engine->agent;

	return agent && listens(es) ? vp_agent_clock_bound(agent, ret_tsc, ret_ns) : 0;
}

bool vp_agent_gone(const struct vp_es *es)
{
	const struct vp_agent *agent = es->engine->agent;

	return es->agent && listens(es) && (!agent || !__atomic_load_n(&agent->usable, __ATOMIC_ACQUIRE));
}

static bool is_kprobe(const struct vp_probe_rt *p)
{
	return p->kind == VP_PROBE_AGENT && p->want != GA_TRACEPOINT;
}

/* Note which slots are taken by the first @p n probes of @p b; the one that wants what @p probe wants is its.
 */
static bool find_slot(const struct vp_batch_rt *b, uint32_t n, bool *used, struct vp_probe_rt *probe)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_probe_rt *p = &b->probes[i];

		if (!is_kprobe(p))
			continue;
		used[p->slot - GA_TRACEPOINTS] = true;
		if (p->address == probe->address && p->want == probe->want) {
			probe->slot = p->slot;
			return true;
		}
	}
	return false;
}

static struct ot_err *place_probe(const struct vp_engine *engine, struct vp_batch_rt *b, uint32_t i)
{
	bool used[GA_KPROBES] = { false };
	struct vp_probe_rt *probe = &b->probes[i];

	for (uint32_t s = 0; s < engine->nsessions; s++)
		for (const struct vp_batch_rt *other = engine->sessions[s]->batches; other;
		     other = other->next)
			if (find_slot(other, other->nprobes, used, probe))
				return NULL;
	if (find_slot(b, i, used, probe))
		return NULL;
	for (uint32_t slot = 0; slot < GA_KPROBES; slot++) {
		if (used[slot])
			continue;
		probe->slot = GA_TRACEPOINTS + slot;
		return NULL;
	}
	return ot_err_new(OT_ERR_LIMIT, "the guest's agent has room for %u functions' probes", GA_KPROBES);
}

struct ot_err *vp_agent_place_probes(const struct vp_engine *engine, struct vp_batch_rt *b)
{
	for (uint32_t i = 0; i < b->nprobes; i++)
		if (is_kprobe(&b->probes[i]))
			OT_TRY(place_probe(engine, b, i));
	return NULL;
}
