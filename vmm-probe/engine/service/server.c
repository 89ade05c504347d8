/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that serves the control socket, and its periodic work between requests. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/server.h"

#define RETRY_MS 100
#define SWEEP_MS 1000
#define GUARD_MS ((int)(VP_GUARD_NS / 1000000))

static nfds_t fill_poll(const struct vp_server *s, struct pollfd *fds, unsigned *index)
{
	nfds_t n = 0;

	fds[n++] = (struct pollfd){ .fd = s->wake_fd, .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = s->listen_fd, .events = POLLIN };
	for (unsigned i = 0; i < VP_CONNECTIONS_MAX; i++)
		if (s->connections[i].sock >= 0) {
			index[n] = i;
			fds[n++] = (struct pollfd){ .fd = s->connections[i].sock, .events = POLLIN };
		}
	return n;
}

static bool may_sweep(const struct vp_engine *engine)
{
	return engine->service->plan &&
	       (engine->ops->traps || (engine->service->plan->nsites && vp_stale_can_check(engine)));
}

static int poll_timeout(const struct vp_engine *engine)
{
	if (engine->service->replan)
		return RETRY_MS;
	if (engine->guarded)
		return GUARD_MS;
	if (may_sweep(engine) || vp_semaphores_are_pending(engine) || vp_early_is_used(engine) ||
	    vp_ram_is_watched(engine))
		return SWEEP_MS;
	return -1;
}

/* Periodic work, independent of requests. */
static void do_chores(struct vp_server *s)
{
	struct vp_engine *engine = s->engine;
	uint64_t now = vp_now();

	if (engine->service->replan)
		vp_engine_retry(engine);
	if (engine->guarded)
		vp_guard_check(engine, now);
	vp_semaphores_retry(engine, now);
	vp_ram_watch(s, now);
	if (!may_sweep(engine) || now < s->next_sweep_ns)
		return;
	if (engine->ops->traps)
		engine->ops->traps->sweep(engine->backend);
	if (vp_stale_check(engine))
		ot_err_destroy(vp_replan(engine)); /* retried after an error */
	s->next_sweep_ns = now + SWEEP_MS * 1000000ull;
}

static bool has_sessions(const struct vp_server *s)
{
	for (unsigned i = 0; i < VP_CONNECTIONS_MAX; i++)
		if (s->connections[i].es)
			return true;
	return false;
}

static void serve_all(struct vp_server *s, const struct pollfd *fds, const unsigned *index, nfds_t n)
{
	for (nfds_t i = 2; i < n; i++)
		if (fds[i].revents)
			vp_connection_serve(s, &s->connections[index[i]]);
	if (fds[1].revents)
		vp_connection_accept(s);
}

static void *run_server(void *arg)
{
	struct vp_server *s = arg;
	struct pollfd fds[2 + VP_CONNECTIONS_MAX];
	unsigned index[2 + VP_CONNECTIONS_MAX];

	for (;;) {
		nfds_t n = fill_poll(s, fds, index);
		int ready = poll(fds, n, poll_timeout(s->engine));
		do_chores(s);
		if (ready <= 0)
			continue;
		if (fds[0].revents) {
			eventfd_t times;
			(void)eventfd_read(s->wake_fd, &times);
			vp_engine_report_end(s->engine);
			vp_modules_handle(s->engine);
			if (__atomic_load_n(&s->stopping, __ATOMIC_ACQUIRE))
				return NULL;
		}
		serve_all(s, fds, index, n);
		if (__atomic_load_n(&s->draining, __ATOMIC_ACQUIRE) && !has_sessions(s))
			(void)eventfd_write(s->drained_fd, 1);
	}
}

static struct ot_err *start_thread(struct vp_server *s)
{
	OT_TRY(ot_thread_start(&s->thread, NULL, run_server, s, "starting the engine's thread"));
	s->running = true;
	return NULL;
}

static struct ot_err *start_server(struct vp_server *s, const char *path, int listening)
{
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->drained_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0 || s->drained_fd < 0)
		return ot_err_os(errno, "eventfd");
	OT_TRY(path ? vp_server_listen_at(s, path) : vp_server_listen_on(s, listening));
	return start_thread(s);
}

static struct ot_err *serve(struct vp_engine *engine, const char *path, int listening)
{
	if (engine->service->server)
		return ot_err_new(OT_ERR_BUSY, "the engine is serving already");
	struct vp_server *s = calloc(1, sizeof(*s));
	if (!s)
		return ot_err_nomem();
	s->engine = engine;
	s->listen_fd = s->wake_fd = s->drained_fd = -1;
	for (unsigned i = 0; i < VP_CONNECTIONS_MAX; i++)
		s->connections[i].sock = -1;
	engine->service->server = s;
	struct ot_err *err = start_server(s, path, listening);
	if (err)
		vp_server_stop(engine);
	return err;
}

struct ot_err *vp_engine_serve(struct vp_engine *engine, const char *path)
{
	return serve(engine, path, -1);
}

struct ot_err *vp_engine_serve_fd(struct vp_engine *engine, int listening)
{
	return serve(engine, NULL, listening);
}

void vp_server_stop(struct vp_engine *engine)
{
	struct vp_server *s = engine->service->server;

	if (!s)
		return;
	if (s->running) {
		__atomic_store_n(&s->stopping, true, __ATOMIC_RELEASE);
		(void)eventfd_write(s->wake_fd, 1);
		pthread_join(s->thread, NULL);
	}
	for (unsigned i = 0; i < VP_CONNECTIONS_MAX; i++)
		if (s->connections[i].sock >= 0)
			vp_connection_close(&s->connections[i]);
	if (s->listen_fd >= 0) {
		close(s->listen_fd);
		if (*s->path)
			unlink(s->path);
	}
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	if (s->drained_fd >= 0)
		close(s->drained_fd);
	engine->service->server = NULL;
	free(s);
}

void vp_server_wake(struct vp_engine *engine)
{
	if (engine->service->server)
		(void)eventfd_write(engine->service->server->wake_fd, 1);
}

void vp_engine_guest_ended(struct vp_engine *engine, enum vp_guest_end how)
{
	__atomic_store_n(&engine->service->guest_end, how, __ATOMIC_RELEASE);
	vp_server_wake(engine);
}

void vp_engine_wait_drained(struct vp_engine *engine, int timeout_ms)
{
	struct vp_server *s = engine->service->server;

	if (!s || !s->running)
		return;
	struct pollfd drained = { .fd = s->drained_fd, .events = POLLIN };
	__atomic_store_n(&s->draining, true, __ATOMIC_RELEASE);
	(void)eventfd_write(s->wake_fd, 1);
	(void)poll(&drained, 1, timeout_ms);
}
