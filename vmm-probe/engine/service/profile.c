/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile-n. One timer thread for all rates: when a probe is due it stores the due time for each vCPU and
 * requests a sample of all of them from the backend; the vCPU takes the due time and fires. A due time that
 * has not been taken when the next is due stays: the sample is late, and arg2 is its lateness. Statistics of
 * the vm provider are samples too, of the VMM's counters.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/hit/sample.h"
#include "vmm-probe/engine/service/parts.h"

/* Rebuilt at each change, immutable while in force. */
struct vp_profile {
	struct vp_samples samples; /* vp_engine.profile points here */
	struct vp_engine *engine;
	uint64_t *due, *stats; /* of all entries */
	int wake_fd;
	pthread_t thread;
	bool running;
};

/* --- the timer thread ------------------------------------------------------------------------ */

static uint64_t earliest(const struct vp_profile *p)
{
	uint64_t next = ~0ull;

	for (uint32_t i = 0; i < p->samples.n; i++)
		if (p->samples.entries[i].next_ns < next)
			next = p->samples.entries[i].next_ns;
	return next;
}

static bool note_due(const struct vp_profile *p, uint64_t now)
{
	bool any = false;

	for (uint32_t i = 0; i < p->samples.n; i++) {
		struct vp_sample_entry *e = &p->samples.entries[i];
		if (e->next_ns > now)
			continue;
		for (uint32_t k = 0; k < p->engine->nvcpus; k++) {
			uint64_t none = 0;
			__atomic_compare_exchange_n(&e->due[k], &none, e->next_ns, false, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED);
		}
		e->next_ns += e->probe->interval_ns;
		if (e->next_ns <= now) /* a suspended host: restart instead of catching up */
			e->next_ns = now + e->probe->interval_ns;
		any = true;
	}
	return any;
}

static void *run_timer(void *arg)
{
	struct vp_profile *p = arg;
	const struct vp_engine *e = p->engine;
	struct pollfd wake = { .fd = p->wake_fd, .events = POLLIN };

	for (;;) {
		uint64_t now = vp_now(), next = earliest(p), left = next > now ? next - now : 0;
		const struct timespec ts = ot_timespec(left);
		if (ppoll(&wake, 1, &ts, NULL) > 0)
			return NULL;
		if (!note_due(p, vp_now()))
			continue;
		for (uint32_t k = 0; k < e->nvcpus; k++)
			e->ops->request_sample(e->backend, k);
	}
}

static struct ot_err *start_thread(struct vp_profile *p)
{
	OT_TRY(ot_thread_start(&p->thread, NULL, run_timer, p, "starting the profile timer"));
	p->running = true;
	return NULL;
}

static void stop_thread(struct vp_profile *p)
{
	uint64_t one = 1;

	if (!p || !p->running)
		return;
	while (write(p->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(p->thread, NULL);
	p->running = false;
}

/* --- changes: service thread --------------------------------------------------------------------- */

static void free_profile(struct vp_profile *p)
{
	if (!p)
		return;
	if (p->wake_fd >= 0)
		close(p->wake_fd);
	free(p->samples.entries);
	free(p->due);
	free(p->stats);
	free(p);
}

/* All profile probes in force; @entries NULL: only count. */
static uint32_t each_probe(const struct vp_engine *engine, struct vp_sample_entry *entries)
{
	uint32_t n = 0;

	if (!engine->ops->request_sample || engine->host)
		return 0;
	vp_each_planned(w, engine) {
		if ((w.probe->kind != VP_PROBE_PROFILE && !vp_vm_is_timed(w.probe)) || !vp_any_in(w.probe))
			continue;
		if (entries)
			entries[n] = (struct vp_sample_entry){ .es = w.es, .probe = w.probe };
		n++;
	}
	return n;
}

bool vp_profile_wanted(const struct vp_engine *engine)
{
	return each_probe(engine, NULL) != 0;
}

static void init_stat(const struct vp_engine *engine, struct vp_sample_entry *e, uint64_t *stats)
{
	e->stats = stats;
	for (uint32_t i = 0; i < engine->nvcpus; i++)
		stats[i] = vp_sample_stat(engine, e, i);
}

static struct ot_err *build(struct vp_engine *engine, struct vp_profile **ret)
{
	uint32_t n = each_probe(engine, NULL);
	uint64_t now = vp_now();

	*ret = NULL;
	if (!n)
		return NULL;
	struct vp_profile *p = calloc(1, sizeof(*p));
	if (!p)
		return ot_err_nomem();
	p->engine = engine;
	p->samples.cost_ns = engine->ops->hit_cost_ns ? engine->ops->hit_cost_ns(engine->backend, NULL) : 0;
	p->wake_fd = eventfd(0, EFD_CLOEXEC);
	p->samples.entries = calloc(n, sizeof(*p->samples.entries));
	p->due = calloc((size_t)n * engine->nvcpus, sizeof(*p->due));
	p->stats = calloc((size_t)n * engine->nvcpus, sizeof(*p->stats));
	if (p->wake_fd < 0 || !p->samples.entries || !p->due || !p->stats) {
		free_profile(p);
		return ot_err_nomem();
	}
	p->samples.n = each_probe(engine, p->samples.entries);
	for (uint32_t i = 0; i < p->samples.n; i++) {
		p->samples.entries[i].due = p->due + (size_t)i * engine->nvcpus;
		p->samples.entries[i].next_ns = now + p->samples.entries[i].probe->interval_ns;
		if (vp_vm_is_timed(p->samples.entries[i].probe))
			init_stat(engine, &p->samples.entries[i], p->stats + (size_t)i * engine->nvcpus);
	}
	*ret = p;
	return NULL;
}

static void put_in_force(struct vp_engine *engine, struct vp_profile *p)
{
	struct vp_profile *old =
	    engine->profile ? OT_CONTAINER_OF(engine->profile, struct vp_profile, samples) : NULL;

	stop_thread(old);
	__atomic_store_n(&engine->profile, p ? &p->samples : NULL, __ATOMIC_RELEASE);
	vp_quiesce(engine);
	free_profile(old);
}

struct ot_err *vp_profile_update(struct vp_engine *engine)
{
	struct vp_profile *p = NULL;

	OT_TRY(build(engine, &p));
	if (!p && !engine->profile)
		return NULL;
	put_in_force(engine, p);
	return p ? start_thread(p) : NULL;
}

void vp_profile_stop(struct vp_engine *engine)
{
	if (engine->profile)
		put_in_force(engine, NULL);
}
