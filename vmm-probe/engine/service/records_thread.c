/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that makes the vCPUs drain their rings. It looks at the rings, and asks only those vCPUs to
 * leave the guest that have records: an idle vCPU sleeps on. It looks more often while rings fill up.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/records.h"

#define LOOK_NS    10000000ull  /* between two looks at the rings */
#define HURRY_NS   625000ull    /* … at least, while they fill up: 10 ms, halved four times */
#define COMPARE_NS 500000000ull /* a vCPU's clocks are compared that often even without records */
#define FLUSH_NS   100000000ull
#define NAP_NS     500000
#define STALE_NS   1000000000ull

/* Number of records that have not fired. The guest may claim any. */
static uint64_t waiting(const struct vp_record_ring *r)
{
	uint64_t done = __atomic_load_n(&r->done, __ATOMIC_ACQUIRE);

	return __atomic_load_n(vp_record_head(r), __ATOMIC_ACQUIRE) - done;
}

static void ask(const struct vp_engine *e, uint32_t vcpu)
{
	if (e->ops->request_visit)
		e->ops->request_visit(e->backend, vcpu);
	else if (e->ops->request_sample)
		e->ops->request_sample(e->backend, vcpu);
}

/* How many wait. An empty ring covers the time before it was looked at. The vCPU may drain it at this moment:
 * whichever is stored last, it is true. */
static uint64_t count_waiting(struct vp_record_ring *r, uint64_t now)
{
	uint64_t n = waiting(r);

	if (!n)
		__atomic_store_n(&r->drained_ns, now, __ATOMIC_RELEASE);
	return n;
}

static uint64_t look(struct vp_records_owner *owner, uint32_t vcpu)
{
	uint64_t now = ot_now_ns(), n = count_waiting(&owner->records.rings[vcpu], now);

	if (n || now - owner->asked_ns[vcpu] >= COMPARE_NS) {
		owner->asked_ns[vcpu] = now;
		ask(owner->engine, vcpu);
	}
	return n;
}

static uint64_t next_look(const struct vp_records_owner *owner, uint64_t look_ns, uint64_t most)
{
	if (most >= owner->records.count / 4)
		return look_ns > HURRY_NS ? look_ns / 2 : look_ns;
	return most < owner->records.count / 16 && look_ns < LOOK_NS ? look_ns * 2 : look_ns;
}

static void *run(void *arg)
{
	struct vp_records_owner *owner = arg;
	struct pollfd wake = { .fd = owner->wake_fd, .events = POLLIN };
	uint64_t look_ns = LOOK_NS;

	for (;;) {
		bool wanted = __atomic_load_n(&owner->wanted, __ATOMIC_ACQUIRE);
		const struct timespec ts = ot_timespec(look_ns);
		uint64_t most = 0, n, word;

		if (ppoll(&wake, 1, wanted ? &ts : NULL, NULL) > 0 &&
		    read(owner->wake_fd, &word, sizeof(word)) == sizeof(word) &&
		    __atomic_load_n(&owner->stop, __ATOMIC_ACQUIRE))
			return NULL;
		for (uint32_t i = 0; wanted && i < owner->engine->nvcpus; i++) {
			n = look(owner, i);
			most = n > most ? n : most;
		}
		look_ns = next_look(owner, look_ns, most);
	}
}

/* --- service thread -------------------------------------------------------------------------------- */

static void wake_up(struct vp_records_owner *owner)
{
	uint64_t one = 1;

	while (write(owner->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

struct ot_err *vp_records_start(struct vp_engine *engine, struct vp_records_owner **ret)
{
	struct vp_records_owner *owner =
	    calloc(1, sizeof(*owner) + engine->nvcpus * sizeof(owner->asked_ns[0]));

	if (!owner)
		return ot_err_nomem();
	owner->engine = engine;
	owner->wake_fd = eventfd(0, EFD_CLOEXEC);
	struct ot_err *err = owner->wake_fd < 0 ? ot_err_os(errno, "eventfd") : NULL;
	if (!err)
		err = ot_thread_start(&owner->thread, NULL, run, owner, "starting the thread for records");
	if (err) {
		if (owner->wake_fd >= 0)
			close(owner->wake_fd);
		free(owner);
		return err;
	}
	*ret = owner;
	return NULL;
}

void vp_records_stop(struct vp_records_owner *owner)
{
	__atomic_store_n(&owner->stop, true, __ATOMIC_RELEASE);
	wake_up(owner);
	pthread_join(owner->thread, NULL);
	close(owner->wake_fd);
	free(owner);
}

void vp_records_want(struct vp_engine *engine, bool wanted)
{
	struct vp_records_owner *owner = engine->service->resident.records;

	if (!owner || owner->wanted == wanted)
		return;
	/* Nothing has looked since the last one. */
	for (uint32_t i = 0; wanted && i < engine->nvcpus; i++)
		count_waiting(&owner->records.rings[i], ot_now_ns());
	__atomic_store_n(&owner->wanted, wanted, __ATOMIC_RELEASE);
	wake_up(owner);
}

/* --- what has fired ---------------------------------------------------------------------------------- */

/* All vCPUs are held: those that did not come. */
static void drain_all(void *arg)
{
	struct vp_engine *engine = arg;

	for (uint32_t i = 0; i < engine->nvcpus; i++) {
		vp_vcpu_enter(&engine->vcpus[i]);
		vp_records_drain(engine, i, true);
		vp_vcpu_leave(&engine->vcpus[i]);
	}
}

/* Until its records of before have fired, or @end_ns. */
static bool await(const struct vp_engine *engine, uint32_t vcpu, uint64_t end_ns)
{
	const struct vp_record_ring *r = &engine->records->rings[vcpu];
	uint64_t last = __atomic_load_n(vp_record_head(r), __ATOMIC_ACQUIRE);
	const struct timespec nap = { .tv_nsec = NAP_NS };

	while ((int64_t)(__atomic_load_n(&r->done, __ATOMIC_ACQUIRE) - last) < 0) {
		if (ot_now_ns() >= end_ns || (!engine->ops->request_visit && !engine->ops->request_sample))
			return false;
		ask(engine, vcpu);
		nanosleep(&nap, NULL);
	}
	return true;
}

void vp_records_flush(struct vp_engine *engine)
{
	uint64_t end_ns = ot_now_ns() + FLUSH_NS;
	bool all = true;

	if (!engine->records)
		return;
	for (uint32_t i = 0; i < engine->nvcpus; i++)
		all &= await(engine, i, end_ns);
	if (!all && engine->ops->exclusive)
		(void)engine->ops->exclusive(engine->backend, drain_all, engine);
}

uint64_t vp_records_covered(const struct vp_engine *engine, uint64_t now)
{
	const struct vp_records *records = engine->records;
	uint64_t covered = now;

	if (!records || !engine->service->resident.records->wanted)
		return now;
	for (uint32_t i = 0; i < engine->nvcpus; i++) {
		uint64_t ns = __atomic_load_n(&records->rings[i].drained_ns, __ATOMIC_ACQUIRE);

		if (ns < covered && now - ns < STALE_NS)
			covered = ns;
	}
	return covered;
}
