/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stub's thread: resumes the target, handles its stops, and carries out other threads' calls in between.
 * A running target answers no request, so a call stops it; it is resumed when no other call has arrived for a
 * while, because calls come in bursts.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "vmm-probe/backend/gdb/internal.h"

#define LINGER_NS 3000000ull
#define POLL_NS   50000000ull

void vp_gdb_wake(struct vp_gdb *gdb)
{
	(void)eventfd_write(gdb->asked.wake_fd, 1);
}

/* --- calls ---------------------------------------------------------------------------------------------- */

static struct ot_err *too_late(void)
{
	return ot_err_new(OT_ERR_GUEST_GONE, "the guest is no longer reachable through its gdb stub");
}

struct ot_err *vp_gdb_call(struct vp_gdb *gdb, struct ot_err *(*fn)(struct vp_gdb *gdb, void *arg), void *arg)
{
	struct vp_gdb_call call = { .fn = fn, .arg = arg };

	if (!gdb->asked.started) /* while it is being opened there is one thread */
		return fn(gdb, arg);
	pthread_mutex_lock(&gdb->asked.lock);
	if (gdb->asked.dead) {
		pthread_mutex_unlock(&gdb->asked.lock);
		return too_late();
	}
	*gdb->asked.last = &call;
	gdb->asked.last = &call.next;
	vp_gdb_wake(gdb);
	while (!call.done)
		pthread_cond_wait(&gdb->asked.done, &gdb->asked.lock);
	pthread_mutex_unlock(&gdb->asked.lock);
	return call.err;
}

static struct vp_gdb_call *next_call(struct vp_gdb *gdb)
{
	struct vp_gdb_call *call;

	pthread_mutex_lock(&gdb->asked.lock);
	call = gdb->asked.calls;
	if (call)
		gdb->asked.calls = call->next;
	if (!gdb->asked.calls)
		gdb->asked.last = &gdb->asked.calls;
	pthread_mutex_unlock(&gdb->asked.lock);
	return call;
}

static void finish_call(struct vp_gdb *gdb, struct vp_gdb_call *call, struct ot_err *err)
{
	pthread_mutex_lock(&gdb->asked.lock);
	call->err = err;
	call->done = true;
	pthread_cond_broadcast(&gdb->asked.done);
	pthread_mutex_unlock(&gdb->asked.lock);
}

/* An error of the connection ends the backend; other errors are the caller's. */
static bool is_broken(const struct ot_err *err)
{
	enum ot_err_code code = err ? ot_err_code(err) : 0;

	return code == OT_ERR_GUEST_GONE || code == OT_ERR_BUSY || code == OT_ERR_BAD_DATA;
}

static void do_calls(struct vp_gdb *gdb)
{
	for (struct vp_gdb_call *call = next_call(gdb); call; call = next_call(gdb)) {
		struct ot_err *err = gdb->broken ? too_late() : call->fn(gdb, call->arg);
		if (is_broken(err) && !gdb->broken)
			gdb->broken = ot_err_new(ot_err_code(err), "%s", ot_err_message(err));
		finish_call(gdb, call, err);
		gdb->linger_ns = ot_now_ns() + LINGER_NS;
	}
}

static bool has_calls(struct vp_gdb *gdb)
{
	pthread_mutex_lock(&gdb->asked.lock);
	bool any = gdb->asked.calls != NULL;
	pthread_mutex_unlock(&gdb->asked.lock);
	return any;
}

static bool is_closing(struct vp_gdb *gdb)
{
	pthread_mutex_lock(&gdb->asked.lock);
	bool closing = gdb->asked.closing;
	pthread_mutex_unlock(&gdb->asked.lock);
	return closing;
}

static bool wants_samples(const struct vp_gdb *gdb)
{
	for (uint32_t i = 0; i < gdb->stub.nthreads; i++)
		if (__atomic_load_n(&gdb->sample_wanted[i], __ATOMIC_ACQUIRE))
			return true;
	return false;
}

/* --- stops ---------------------------------------------------------------------------------------------- */

/*
 * A stop that we requested may follow one that occurred by itself, or may then not occur at all; so the next
 * one of its kind is taken for it. A stop that this process did not request is another client's (a monitor's
 * `stop`): then we do not resume the guest until that client does.
 */
static struct ot_err *on_stop(struct vp_gdb *gdb, const struct vp_gdb_stop *stop)
{
	/* a target that did not acknowledge our vCont;c was already running: the packet stopped it */
	bool asked = gdb->interrupted || !gdb->stub.conn.acks;

	gdb->running = gdb->left_stopped = false;
	if (stop->signal == VP_GDB_SIGTRAP)
		return vp_gdb_hit(gdb, stop->vcpu);
	gdb->interrupted = false;
	if (stop->signal == VP_GDB_SIGABRT && !gdb->parted)
		vp_engine_guest_ended(gdb->engine, VP_GUEST_FAILED);
	gdb->left_stopped = stop->signal != VP_GDB_SIGINT || !asked;
	gdb->stub.meddled |= gdb->left_stopped;
	return NULL;
}

static struct ot_err *take_stops(struct vp_gdb *gdb)
{
	bool any = true, is;
	struct vp_gdb_stop stop;

	OT_TRY(vp_gdb_fill(&gdb->stub.conn));
	while (any) {
		OT_TRY(vp_gdb_take(&gdb->stub.conn, &gdb->stub.reply, &any));
		if (!any)
			break;
		OT_TRY(vp_gdb_parse_stop(&gdb->stub, &gdb->stub.reply, &is, &stop));
		if (is)
			return on_stop(gdb, &stop);
	}
	return NULL;
}

static struct ot_err *interrupt(struct vp_gdb *gdb)
{
	struct vp_gdb_stop stop;

	OT_TRY(vp_gdb_interrupt(&gdb->stub.conn));
	gdb->interrupted = true;
	OT_TRY(vp_gdb_wait_stop(&gdb->stub, &stop));
	return on_stop(gdb, &stop);
}

static struct ot_err *resume(struct vp_gdb *gdb)
{
	vp_gdb_forget(gdb);
	return vp_gdb_continue(&gdb->stub, &gdb->running);
}

/* --- the thread ----------------------------------------------------------------------------------------- */

/* Wait until a call or a stop arrives, or the time is over (-1: never). */
static void sleep_until(struct vp_gdb *gdb, uint64_t until_ns)
{
	struct pollfd fds[2] = { { .fd = gdb->stub.conn.fd, .events = POLLIN },
				 { .fd = gdb->asked.wake_fd, .events = POLLIN } };
	uint64_t now = ot_now_ns(), left = until_ns > now ? until_ns - now : 0;
	const struct timespec ts = ot_timespec(left);
	eventfd_t times;

	if (ppoll(fds, 2, until_ns == ~0ull ? NULL : &ts, NULL) > 0 && fds[1].revents)
		(void)eventfd_read(gdb->asked.wake_fd, &times);
}

static struct ot_err *while_running(struct vp_gdb *gdb)
{
	OT_TRY(take_stops(gdb)); /* one may have arrived with the acknowledgement of the resume */
	if (!gdb->running)
		return NULL;
	if (has_calls(gdb) || wants_samples(gdb) || is_closing(gdb))
		return interrupt(gdb);
	sleep_until(gdb, ~0ull);
	return NULL;
}

/* Another client stopped the target, and may have resumed it since: the stub reports neither that nor a
 * breakpoint hit then. So it is polled. */
static struct ot_err *while_left_stopped(struct vp_gdb *gdb)
{
	bool held;

	if (!has_calls(gdb) && !wants_samples(gdb)) {
		sleep_until(gdb, ot_now_ns() + POLL_NS);
		OT_TRY(take_stops(gdb));
		if (!gdb->left_stopped)
			return NULL;
	}
	OT_TRY(vp_gdb_is_held(&gdb->stub, &held));
	uint32_t stops = gdb->stub.stops, lost = gdb->stub.lost;
	do_calls(gdb);
	if (gdb->broken)
		return NULL;
	OT_TRY(vp_gdb_samples(gdb));
	gdb->left_stopped = held && gdb->stub.stops == stops && gdb->stub.lost == lost;
	return NULL;
}

static struct ot_err *while_stopped(struct vp_gdb *gdb)
{
	do_calls(gdb);
	if (gdb->broken)
		return NULL;
	OT_TRY(vp_gdb_samples(gdb));
	if (is_closing(gdb))
		return NULL;
	if (gdb->linger_ns > ot_now_ns()) {
		sleep_until(gdb, gdb->linger_ns);
		return NULL;
	}
	return resume(gdb);
}

static struct ot_err *turn(struct vp_gdb *gdb)
{
	if (gdb->running)
		return while_running(gdb);
	return gdb->left_stopped ? while_left_stopped(gdb) : while_stopped(gdb);
}

/* The connection is unusable: end the sessions, and wake the callers that wait. */
static void die(struct vp_gdb *gdb)
{
	if (gdb->broken && !gdb->parted)
		vp_engine_guest_ended(gdb->engine, VP_GUEST_UNREACHABLE);
	/* from here on the engine may be destroyed */
	pthread_mutex_lock(&gdb->asked.lock);
	gdb->asked.dead = true;
	pthread_mutex_unlock(&gdb->asked.lock);
	do_calls(gdb);
}

static void *run(void *arg)
{
	struct vp_gdb *gdb = arg;

	pthread_mutex_lock(&gdb->asked.lock);
	pthread_mutex_unlock(&gdb->asked.lock);
	while (!gdb->broken && !(is_closing(gdb) && !gdb->running)) {
		struct ot_err *err = turn(gdb);
		if (err && !gdb->broken)
			gdb->broken = err;
		else
			ot_err_destroy(err);
	}
	die(gdb);
	return NULL;
}

struct ot_err *vp_gdb_run(struct vp_gdb *gdb)
{
	gdb->linger_ns = ot_now_ns() + LINGER_NS;
	pthread_mutex_lock(&gdb->asked.lock); /* the thread waits for the lock, and then knows its own ID */
	struct ot_err *err =
	    ot_thread_start(&gdb->asked.thread, NULL, run, gdb, "starting the thread for the gdb stub");
	gdb->asked.started = !err;
	pthread_mutex_unlock(&gdb->asked.lock);
	return err;
}

void vp_gdb_stop_running(struct vp_gdb *gdb)
{
	if (!gdb->asked.started)
		return;
	pthread_mutex_lock(&gdb->asked.lock);
	gdb->asked.closing = true;
	pthread_mutex_unlock(&gdb->asked.lock);
	vp_gdb_wake(gdb);
	pthread_join(gdb->asked.thread, NULL);
	gdb->asked.started = false;
}
