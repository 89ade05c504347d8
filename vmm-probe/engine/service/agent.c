/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commanding the guest's agent: which probes it enables. A thread of ours updates the heartbeat, so that the
 * agent knows that the host is alive, makes every vCPU drain its ring a hundred times a second, and releases
 * the agent at once when the guest unloads the module.
 */
#include "vmm-probe/engine/service/agent.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/guarded.h"
#include "base/thread.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/agent_owner.h"
#include "vmm-probe/engine/service/parts.h"

#define KICK_NS    10000000ull
#define APPLY_NS   3000000000ull /* the guest polls ten times a second; a thousand probes take it longer */
#define FLUSH_NS   300000000ull
#define BEAT_EVERY (GA_BEAT_MS * 1000000ull / KICK_NS / 4)
/* A vCPU that has not drained its ring for this long is not waited for. */
#define STALE_NS   1000000000ull
/* The guest hits the first mark when the commands are in force, unless the mark can't be trapped, and others
 * at each of its polls, because on a busy host the first ones are inexact. */
#define HOLD_NS    1000000000ull

static struct vp_agent_owner *owner_of(const struct vp_engine *engine)
{
	return engine->agent ? OT_CONTAINER_OF(engine->agent, struct vp_agent_owner, agent) : NULL;
}

/* A ring without memory is not drained. */
static bool is_live(const struct vp_agent_owner *owner)
{
	const struct ga_header *h = owner->header;
	uint64_t magic;
	uint32_t state;

	return ot_guarded_load64(&h->magic, &magic) && magic == GA_MAGIC &&
	       ot_guarded_load32(&h->state, &state) && state == GA_LIVE;
}

/* --- commands ---------------------------------------------------------------------------------------- */

static bool is_applied(const struct vp_agent_owner *owner)
{
	uint32_t applied;

	return ot_guarded_load32(&owner->header->applied, &applied) && applied == owner->generation;
}

static void command(struct vp_agent_owner *owner, const struct vp_agent_map *map)
{
	uint64_t start = vp_now();
	uint32_t applied;

	if (!vp_agent_is_usable(owner) || !ot_guarded_load32(&owner->header->applied, &applied))
		return;
	vp_agent_write_wants(owner->control, map);
	owner->generation = applied + 1;
	owner->generation += !owner->generation; /* 0: no command yet */
	(void)ot_guarded_store32(&owner->control->generation, owner->generation);
	/* A paused guest does not poll; it will later. */
	while (vp_agent_is_usable(owner) && is_live(owner) && vp_now() - start < APPLY_NS &&
	       !is_applied(owner))
		vp_agent_nap();
}

/* Only the owner changes it. */
static void beat(struct vp_agent_owner *owner)
{
	uint64_t beats;

	if (ot_guarded_load64(&owner->control->beat, &beats))
		(void)ot_guarded_store64(&owner->control->beat, beats + 1);
}

/* --- the thread ---------------------------------------------------------------------------------------- */

static void ask(const struct vp_agent_owner *owner)
{
	const struct vp_engine *e = owner->agent.engine;

	for (uint32_t i = 0; i < e->nvcpus; i++) {
		if (e->ops->request_visit)
			e->ops->request_visit(e->backend, i);
		else if (e->ops->request_sample)
			e->ops->request_sample(e->backend, i);
	}
}

static bool all_drained(const struct vp_agent_owner *owner, uint64_t since)
{
	for (uint32_t i = 0; i < owner->agent.engine->nvcpus; i++)
		if (owner->agent.rings[i].ring &&
		    __atomic_load_n(&owner->agent.rings[i].drained_ns, __ATOMIC_ACQUIRE) < since)
			return false;
	return true;
}

/* On return all events until now are in the buffers, unless a vCPU does not respond. */
static void flush(struct vp_agent_owner *owner)
{
	uint64_t start = vp_now();

	__atomic_store_n(&owner->agent.hold_until, 0, __ATOMIC_RELEASE);
	while (vp_agent_is_usable(owner) && !all_drained(owner, start) && vp_now() - start < FLUSH_NS) {
		ask(owner);
		vp_agent_nap();
	}
}

static void *run(void *arg)
{
	struct vp_agent_owner *owner = arg;
	struct pollfd wake = { .fd = owner->wake_fd, .events = POLLIN };
	const struct timespec ts = { .tv_nsec = KICK_NS };

	for (uint64_t n = 0;; n++) {
		if (ppoll(&wake, 1, &ts, NULL) > 0)
			return NULL;
		if (!__atomic_load_n(&owner->agent.usable, __ATOMIC_ACQUIRE))
			continue;
		if (!vp_agent_is_usable(owner) && !vp_agent_check_again(owner)) {
			__atomic_store_n(&owner->agent.usable, 0, __ATOMIC_RELEASE);
			continue;
		}
		if (!is_live(owner)) {
			flush(owner);
			vp_agent_let_go(owner);
			continue;
		}
		if (n % BEAT_EVERY == 0)
			beat(owner);
		vp_agent_clock_poll(owner);
		ask(owner);
	}
}

static struct ot_err *start_thread(struct vp_agent_owner *owner)
{
	owner->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (owner->wake_fd < 0)
		return ot_err_os(errno, "eventfd");
	OT_TRY(ot_thread_start(&owner->thread, NULL, run, owner, "starting the agent's thread"));
	owner->running = true;
	return NULL;
}

static void stop_thread(struct vp_agent_owner *owner)
{
	uint64_t one = 1;

	if (!owner->running)
		return;
	while (write(owner->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(owner->thread, NULL);
	owner->running = false;
}

/* --- life ----------------------------------------------------------------------------------------------- */

static void free_agent(struct vp_agent_owner *owner)
{
	if (owner->wake_fd >= 0)
		close(owner->wake_fd);
	free(owner->agent.map);
	free(owner->agent.rings);
	free(owner);
}

static struct ot_err *init(struct vp_agent_owner *owner, const struct vp_batch_agent *place)
{
	size_t size = owner->agent.engine->nvcpus * sizeof(*owner->agent.rings);

	owner->place = *place;
	owner->token = place->token;
	owner->tsc_khz = place->tsc_khz;
	owner->agent.khz_mult = vp_agent_mult_of(place->tsc_khz);
	owner->agent.hold_until = ~0ull;
	owner->agent.rings = aligned_alloc(64, size);
	if (!owner->agent.rings)
		return ot_err_nomem();
	memset(owner->agent.rings, 0, size);
	OT_TRY(vp_agent_use_memory(owner, place));
	OT_TRY(vp_agent_own(owner));
	for (uint32_t i = 0; i < owner->agent.engine->nvcpus; i++)
		if (owner->agent.rings[i].ring)
			vp_agent_forget_records(&owner->agent.rings[i]);
	owner->agent.usable = 1;
	if (ot_guarded_load32(&owner->header->clock_seq, &owner->rate.seen))
		owner->rate.seen &= ~1u;
	struct ot_err *err = start_thread(owner);
	if (err)
		vp_agent_let_go(owner);
	return err;
}

static struct ot_err *create(struct vp_engine *engine, const struct vp_batch_agent *place)
{
	struct vp_agent_owner *owner = calloc(1, sizeof(*owner));

	if (!owner)
		return ot_err_nomem();
	owner->agent.engine = engine;
	owner->wake_fd = -1;
	struct ot_err *err = init(owner, place);
	if (err) {
		free_agent(owner);
		return err;
	}
	__atomic_store_n(&engine->agent, &owner->agent, __ATOMIC_RELEASE);
	return NULL;
}

void vp_agent_stop(struct vp_engine *engine)
{
	struct vp_agent_owner *owner = owner_of(engine);

	if (!owner)
		return;
	command(owner, NULL);
	stop_thread(owner);
	vp_agent_let_go(owner);
	__atomic_store_n(&engine->agent, NULL, __ATOMIC_RELEASE);
	vp_quiesce(engine);
	free_agent(owner);
}

/* The agent of the sessions that need its events; NULL: none does. */
static const struct vp_batch_agent *place_of(const struct vp_engine *engine)
{
	const struct vp_batch_agent *place = NULL;

	for (uint32_t s = 0; s < engine->service->nsessions; s++)
		if (engine->service->sessions[s]->service->agent &&
		    vp_agent_listens(engine->service->sessions[s]))
			place = engine->service->sessions[s]->service->agent;
	return place;
}

static void put_in_force(struct vp_agent_owner *owner, struct vp_agent_map *map)
{
	struct vp_agent_map *old = owner->agent.map;

	__atomic_store_n(&owner->agent.map, map, __ATOMIC_RELEASE);
	vp_quiesce(owner->agent.engine);
	free(old);
}

struct ot_err *vp_agent_update(struct vp_engine *engine)
{
	const struct vp_batch_agent *place = place_of(engine);
	struct vp_agent_map *map;

	if (!place || (engine->agent && owner_of(engine)->token != place->token))
		vp_agent_stop(engine);
	if (!place)
		return NULL;
	map = vp_agent_map_make(engine);
	if (!map)
		return ot_err_nomem();
	if (!engine->agent) {
		struct ot_err *err = create(engine, place);
		if (err) {
			free(map);
			return err;
		}
	}
	put_in_force(owner_of(engine), map);
	command(owner_of(engine), map);
	if (__atomic_load_n(&engine->agent->hold_until, __ATOMIC_ACQUIRE) == ~0ull)
		__atomic_store_n(&engine->agent->hold_until, vp_now() + HOLD_NS, __ATOMIC_RELEASE);
	return NULL;
}

void vp_agent_flush(struct vp_engine *engine)
{
	if (engine->agent)
		flush(owner_of(engine));
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

uint64_t vp_agent_bound(const struct vp_engine_session *es, uint64_t *ret_tsc, uint64_t *ret_ns)
{
	const struct vp_agent *agent = es->engine->agent;

	return agent && vp_agent_listens(es) ? vp_agent_clock_bound(agent, ret_tsc, ret_ns) : 0;
}

bool vp_agent_gone(const struct vp_engine_session *es)
{
	const struct vp_agent *agent = es->engine->agent;

	return es->service->agent && vp_agent_listens(es) &&
	       (!agent || !__atomic_load_n(&agent->usable, __ATOMIC_ACQUIRE));
}
