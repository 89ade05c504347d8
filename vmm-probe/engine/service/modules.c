/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules that the guest loads and unloads while it is traced. A vCPU reports each and waits: at an unload
 * for the engine, which removes the module's sites from its plan; at a load for the clients that follow
 * modules. The guest comes first: no client is waited for longer than VP_MODULES_HOLD_NS, and a client that
 * was too slow is not waited for until it has caught up. Events of the engine are numbered from 1.
 */
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/parts.h"

uint64_t vp_engine_module(struct vp_engine *engine, enum vp_sentinel kind, uint64_t module)
{
	struct vp_modules_log *log = &engine->service->modules;

	pthread_mutex_lock(&log->lock);
	uint64_t number = log->last + 1;
	log->events[number % VP_MODULES_KEPT] =
	    (struct vp_module_event){ .module = module, .time_ns = vp_now(), .kind = (uint32_t)kind };
	__atomic_store_n(&log->last, number, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&log->lock);
	vp_server_wake(engine);
	return number;
}

bool vp_engine_module_done(const struct vp_engine *engine, uint64_t number)
{
	return __atomic_load_n(&engine->service->modules.done, __ATOMIC_ACQUIRE) >= number;
}

/* Copy the events after number @from, the newest ones if they are too many; returns the number of the
 * last. */
static uint64_t copy_events(struct vp_modules_log *log, uint64_t from, struct vp_module_event *ret,
			    uint32_t *ret_n)
{
	uint32_t n = 0;

	pthread_mutex_lock(&log->lock);
	uint64_t last = log->last;
	if (from > last)
		from = last;
	if (last - from > VP_MODULES_KEPT)
		from = last - VP_MODULES_KEPT;
	while (from < last)
		ret[n++] = log->events[++from % VP_MODULES_KEPT];
	pthread_mutex_unlock(&log->lock);
	*ret_n = n;
	return last;
}

static bool is_told(const struct vp_engine_session *es)
{
	return es->service->follows && vp_engine_session_activity(es) == VP_ACTIVE;
}

static bool is_waited_for(const struct vp_engine_session *es, uint64_t now)
{
	return is_told(es) && es->service->behind_ns && now - es->service->behind_ns < VP_MODULES_HOLD_NS;
}

void vp_modules_recount(struct vp_engine *engine)
{
	struct vp_modules_log *log = &engine->service->modules;
	uint64_t done = log->handled, now = vp_now();

	for (uint32_t i = 0; i < engine->service->nsessions; i++) {
		const struct vp_engine_session *es = engine->service->sessions[i];
		if (is_waited_for(es, now) && es->service->modules_seen < done)
			done = es->service->modules_seen;
	}
	if (done > log->done)
		__atomic_store_n(&log->done, done, __ATOMIC_RELEASE);
}

static void notify(struct vp_engine_session *es, uint64_t last, uint64_t now)
{
	if (!is_told(es))
		return;
	if (!es->service->behind_ns)
		es->service->behind_ns = now;
	__atomic_store_n(&es->vcpus[0].status->modules, last, __ATOMIC_RELEASE);
}

bool vp_modules_end(struct vp_engine *engine)
{
	struct vp_modules_log *log = &engine->service->modules;
	struct vp_module_event events[VP_MODULES_KEPT];
	bool some = false;
	uint32_t n;

	log->ended = copy_events(log, log->ended, events, &n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t s = 0;
		     events[i].kind == VP_SENTINEL_MODULE_GOES && s < engine->service->nsessions; s++)
			vp_each_batch(b, engine->service->sessions[s])
				some |= vp_stale_owner(b, events[i].module);
	return some;
}

void vp_modules_end_late(struct vp_engine_session *es, struct vp_enabled_batch *batch)
{
	struct vp_module_event events[VP_MODULES_KEPT];
	uint32_t n;

	if (es->activity != VP_ACTIVE)
		return;
	copy_events(&es->engine->service->modules, es->service->modules_reported, events, &n);
	for (uint32_t i = 0; i < n; i++)
		if (events[i].kind == VP_SENTINEL_MODULE_GOES)
			vp_stale_owner(batch, events[i].module);
}

void vp_modules_handle(struct vp_engine *engine)
{
	struct vp_modules_log *log = &engine->service->modules;
	uint64_t last = __atomic_load_n(&log->last, __ATOMIC_ACQUIRE), now = vp_now();

	if (last == log->handled)
		return;
	if (vp_modules_end(engine))
		ot_err_destroy(vp_replan(engine)); /* retried after an error */
	log->handled = last;
	for (uint32_t i = 0; i < engine->service->nsessions; i++)
		notify(engine->service->sessions[i], last, now);
	vp_modules_recount(engine);
}

/* The client has handled the events up to number @seen: was it in time? */
static void catch_up(struct vp_engine_session *es, uint64_t seen)
{
	struct vp_module_event events[VP_MODULES_KEPT];
	uint64_t now = vp_now(), before = es->service->modules_seen;
	uint32_t n;

	uint64_t last = copy_events(&es->engine->service->modules, before, events, &n);
	for (uint32_t i = 0; i < n && last - n + i < seen; i++)
		es->service->modules_late += events[i].kind == VP_SENTINEL_MODULE_COMES &&
					     now - events[i].time_ns > VP_MODULES_HOLD_NS;
	es->service->modules_seen = seen;
}

void vp_modules_answer(struct vp_engine_session *es, uint64_t seen, struct vp_msg_modules_reply *ret)
{
	struct vp_modules_log *log = &es->engine->service->modules;

	vp_modules_handle(es->engine);
	if (seen > log->handled)
		seen = log->handled;
	if (seen > es->service->modules_seen)
		catch_up(es, seen);
	ret->late = es->service->modules_late;
	if (es->service->modules_seen == log->handled)
		es->service->behind_ns = 0;
	vp_modules_recount(es->engine);
	ret->last = copy_events(log, es->service->modules_seen, ret->events, &ret->n);
	es->service->modules_reported = ret->last;
}
