/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket, served by a thread of the engine's own. Each connection is at most one session; a
 * malformed message closes its connection, and a request that can't be carried out is answered with the
 * error. All input is hostile: lengths are checked; program, facts and batch are copied before they are
 * parsed; and memory is only mapped if its size is sealed.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/thread.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/wire/patches.h"

#define CONNECTIONS_MAX VP_SESSIONS_MAX
#define FDS_MAX         4
#define RAM_FDS_MAX     16
#define DOF_MAX         (16u << 20)
#define BATCH_MAX       (256u << 20)
#define ORC_MAX         (256u << 20)
#define RETRY_MS        100
#define SWEEP_MS        1000
#define GUARD_MS        ((int)(VP_GUARD_NS / 1000000))
/* A client that does not receive its replies loses its connection; others wait this long for it. */
#define SEND_TIMEOUT_S  2

struct mapping {
	void *mem;
	size_t size;
};

struct connection {
	int sock; /* -1: free */
	bool greeted;
	struct vp_engine_session *es;
	struct mapping shared, orc;
};

struct vp_server {
	struct vp_engine *engine;
	int listen_fd;
	int wake_fd;    /* eventfd: `stopping`, `draining` or the engine's `guest_end` is set */
	int drained_fd; /* eventfd: no session is open; vp_engine_wait_drained() waits for it */
	bool stopping, draining;
	char path[108];
	pthread_t thread;
	bool running;
	struct connection connections[CONNECTIONS_MAX];
	uint64_t next_sweep_ns;
	uint64_t message[VP_MSG_MAX / 8]; /* the current request */
	uint64_t reply[VP_MSG_MAX / 8];
	struct vp_facts facts; /* of the current OPEN */
};

/* A request with its descriptors, which are closed after it is done. */
struct request {
	const struct vp_msg *head;
	int fds[FDS_MAX];
	int nfds;
};

/* --- memory passed as descriptors -------------------------------------------------------------- */

static void unmap(struct mapping *m)
{
	if (m->mem)
		munmap(m->mem, m->size);
	*m = (struct mapping){ 0 };
}

static struct ot_err *map(int fd, int prot, struct mapping *ret)
{
	size_t size;

	OT_TRY(ot_memfd_check(fd, &size));
	if (!size)
		return ot_err_new(OT_ERR_BAD_DATA, "shared memory of size 0");
	void *mem = mmap(NULL, size, prot, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		return ot_err_os(errno, "mapping %zu bytes", size);
	*ret = (struct mapping){ mem, size };
	return NULL;
}

/* A private copy: its sender can't change it any more. *ret is owned by the caller. */
static struct ot_err *copy(int fd, size_t max, void **ret, size_t *ret_size)
{
	size_t size;

	OT_TRY(ot_memfd_check(fd, &size));
	if (size > max)
		return ot_err_new(OT_ERR_LIMIT, "%zu bytes exceed the limit of %zu", size, max);
	ot_auto_free void *mem = malloc(size + 1);
	if (!mem)
		return ot_err_nomem();
	OT_TRY(ot_pread_all(fd, mem, size, 0));
	*ret = ot_move(mem);
	*ret_size = size;
	return NULL;
}

/* --- requests -------------------------------------------------------------------------------------- */

static struct ot_err *send_hello(struct vp_server *s, struct connection *c)
{
	struct vp_engine *e = s->engine;
	struct vp_msg_hello_reply *r = (void *)s->reply;
	size_t max = (sizeof(s->reply) - sizeof(*r)) / sizeof(r->ram[0]);
	uint32_t nram = e->service->ram.nranges < max ? e->service->ram.nranges : (uint32_t)max;

	memset(r, 0, sizeof(*r));
	r->head = (struct vp_msg){ VP_MSG_HELLO_REPLY, (uint32_t)(sizeof(*r) + nram * sizeof(r->ram[0])) };
	r->version = VP_PROTOCOL_VERSION;
	r->nvcpus = e->nvcpus;
	r->nsessions = e->service->nsessions;
	strncpy(r->backend, e->ops->name, sizeof(r->backend) - 1);
	memcpy(r->guest_name, e->service->guest_name, sizeof(r->guest_name));
	r->guest_id = e->service->guest_id;
	r->counter_slots = e->service->slots.n;
	r->can_profile = e->ops->request_sample != NULL;
	r->held_ns = e->ops->traps ? e->ops->traps->held_ns(e->backend) : 0;
	r->traps = e->ops->traps ? e->ops->traps->kinds(e->backend) : 0;
	r->vm = e->ops->vm != NULL;
	r->paused = e->ops->paused && e->ops->paused(e->backend);
	r->nram = nram;
	if (nram)
		memcpy(r->ram, e->service->ram.ranges, nram * sizeof(r->ram[0]));
	if (e->service->ram.nfds > RAM_FDS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "guest RAM in %u files", e->service->ram.nfds);
	return ot_send_fds(c->sock, r, r->head.size, e->service->ram.fds, (int)e->service->ram.nfds);
}

static struct ot_err *do_hello(struct vp_server *s, struct connection *c, const struct request *req)
{
	const struct vp_msg_hello *m = (const void *)req->head;

	if (m->version != VP_PROTOCOL_VERSION)
		return ot_err_new(OT_ERR_UNSUPPORTED, "this engine speaks protocol %u, not %u",
				  VP_PROTOCOL_VERSION, m->version);
	OT_TRY(send_hello(s, c));
	c->greeted = true;
	return NULL;
}

static struct ot_err *do_snapshot(struct vp_server *s, struct connection *c, const struct request *req)
{
	struct vp_engine *e = s->engine;
	struct vp_msg_snapshot_reply *r = (void *)s->reply;
	uint32_t max = (sizeof(s->reply) - sizeof(*r)) / sizeof(r->regs[0]);

	(void)req;
	if (max > e->nvcpus)
		max = e->nvcpus;
	memset(r, 0, sizeof(*r) + max * sizeof(r->regs[0]));
	uint32_t n = e->ops->snapshot(e->backend, r->regs, max);
	r->nvcpus = n < max ? n : max;
	r->head =
	    (struct vp_msg){ VP_MSG_SNAPSHOT_REPLY, (uint32_t)(sizeof(*r) + r->nvcpus * sizeof(r->regs[0])) };
	return ot_send_fds(c->sock, r, r->head.size, NULL, 0);
}

static struct ot_err *do_stats(struct vp_server *s, struct connection *c, const struct request *req)
{
	struct vp_engine *e = s->engine;
	struct vp_msg_stats_reply *r = (void *)s->reply;
	const size_t name = sizeof(r->names[0]);

	(void)req;
	static_assert(sizeof(*r) + VP_VM_STATS_MAX * VP_VM_STAT_NAME <= VP_MSG_MAX, "the reply has room");
	memset(r, 0, sizeof(*r) + VP_VM_STATS_MAX * name);
	if (e->ops->vm)
		r->n = e->ops->vm->stats(e->backend, r->names, VP_VM_STATS_MAX);
	r->head = (struct vp_msg){ VP_MSG_STATS_REPLY, (uint32_t)(sizeof(*r) + r->n * name) };
	return ot_send_fds(c->sock, r, r->head.size, NULL, 0);
}

static struct ot_err *read_facts(int fd, struct vp_facts *ret)
{
	size_t size;

	OT_TRY(ot_memfd_check(fd, &size));
	if (size < sizeof(*ret))
		return ot_err_new(OT_ERR_BAD_DATA, "facts of %zu bytes: another version", size);
	return ot_pread_all(fd, ret, sizeof(*ret), 0);
}

static struct ot_err *open_session(struct vp_server *s, struct connection *c, const struct request *req)
{
	ot_auto_free void *dof = NULL;
	size_t dof_size = 0;

	if (req->nfds < 3)
		return ot_err_new(OT_ERR_BAD_DATA, "OPEN with %d descriptors", req->nfds);
	OT_TRY(ot_err_prefix(copy(req->fds[0], DOF_MAX, &dof, &dof_size), "program"));
	OT_TRY(ot_err_prefix(read_facts(req->fds[1], &s->facts), "facts"));
	OT_TRY(ot_err_prefix(map(req->fds[2], PROT_READ | PROT_WRITE, &c->shared), "buffers"));
	if (req->nfds > 3)
		OT_TRY(ot_err_prefix(map(req->fds[3], PROT_READ, &c->orc), "unwind table"));
	if (c->orc.size > ORC_MAX)
		return ot_err_new(OT_ERR_LIMIT, "unwind table of %zu bytes", c->orc.size);
	return vp_engine_session_open(s->engine, (const void *)req->head, dof, dof_size, &s->facts,
				      c->shared.mem, c->shared.size, c->orc.mem, c->orc.size, &c->es);
}

static struct ot_err *do_open(struct vp_server *s, struct connection *c, const struct request *req)
{
	if (c->es)
		return ot_err_new(OT_ERR_BUSY, "this connection has a session already");
	struct ot_err *err = open_session(s, c, req);
	if (err) {
		unmap(&c->shared);
		unmap(&c->orc);
	}
	return err;
}

static struct ot_err *do_enable(struct vp_server *s, struct connection *c, const struct request *req)
{
	ot_auto_free void *batch = NULL;
	size_t size = 0;

	(void)s;
	if (req->nfds != 1)
		return ot_err_new(OT_ERR_BAD_DATA, "ENABLE with %d descriptors", req->nfds);
	OT_TRY(ot_err_prefix(copy(req->fds[0], BATCH_MAX, &batch, &size), "batch"));
	return vp_engine_session_enable(c->es, batch, size);
}

static struct ot_err *do_start(struct vp_server *s, struct connection *c, const struct request *req)
{
	(void)s;
	(void)req;
	return vp_engine_session_start(c->es);
}

static struct ot_err *do_stop(struct vp_server *s, struct connection *c, const struct request *req)
{
	(void)s;
	(void)req;
	return vp_engine_session_stop(c->es);
}

static struct ot_err *do_switch(struct vp_server *s, struct connection *c, const struct request *req)
{
	struct vp_msg_switch_reply reply;

	(void)s;
	(void)req;
	OT_TRY(vp_engine_session_switch(c->es, &reply));
	return ot_send_fds(c->sock, &reply, sizeof(reply), NULL, 0);
}

static struct ot_err *do_look(struct vp_server *s, struct connection *c, const struct request *req)
{
	struct vp_msg_switch_reply reply;

	(void)s;
	(void)req;
	OT_TRY(vp_engine_session_look(c->es, &reply));
	return ot_send_fds(c->sock, &reply, sizeof(reply), NULL, 0);
}

static struct ot_err *do_patches(struct vp_server *s, struct connection *c, const struct request *req)
{
	struct vp_msg_patches_reply r = { .head = { VP_MSG_PATCHES_REPLY, sizeof(r) } };
	struct vp_patches patches;
	ot_auto_close int fd = -1;

	(void)req;
	OT_TRY(vp_patches_of_engine(s->engine, &patches));
	size_t size = patches.n * sizeof(*patches.list);
	struct ot_err *err = patches.n ? ot_memfd_create("outsight-patches", size, &fd) : NULL;
	if (!err && patches.n)
		err = ot_write_all(fd, patches.list, size);
	free(patches.list);
	r.npatches = patches.n;
	return err ? err : ot_send_fds(c->sock, &r, sizeof(r), &fd, fd >= 0);
}

/* --- dispatch ------------------------------------------------------------------------------------------ */

/* A kind of request: its size, the state that it needs, whether it has a reply of its own (not REPLY), and
 * its handler. */
struct request_kind {
	size_t size;
	bool before_hello, needs_session, answers_itself;
	struct ot_err *(*handle)(struct vp_server *s, struct connection *c, const struct request *req);
};

static const struct request_kind request_kinds[] = {
	[VP_MSG_HELLO] = { .size = sizeof(struct vp_msg_hello),
			   .before_hello = true,
			   .answers_itself = true,
			   .handle = do_hello },
	[VP_MSG_SNAPSHOT] = { .size = sizeof(struct vp_msg), .answers_itself = true, .handle = do_snapshot },
	[VP_MSG_STATS] = { .size = sizeof(struct vp_msg), .answers_itself = true, .handle = do_stats },
	[VP_MSG_PATCHES] = { .size = sizeof(struct vp_msg), .answers_itself = true, .handle = do_patches },
	[VP_MSG_OPEN] = { .size = sizeof(struct vp_msg_open), .handle = do_open },
	[VP_MSG_ENABLE] = { .size = sizeof(struct vp_msg), .needs_session = true, .handle = do_enable },
	[VP_MSG_START] = { .size = sizeof(struct vp_msg), .needs_session = true, .handle = do_start },
	[VP_MSG_SWITCH] = { .size = sizeof(struct vp_msg),
			    .needs_session = true,
			    .answers_itself = true,
			    .handle = do_switch },
	[VP_MSG_LOOK] = { .size = sizeof(struct vp_msg),
			  .needs_session = true,
			  .answers_itself = true,
			  .handle = do_look },
	[VP_MSG_STOP] = { .size = sizeof(struct vp_msg), .needs_session = true, .handle = do_stop },
};

/* NULL: no request has this type. */
static const struct request_kind *find_kind(uint32_t type)
{
	return type < OT_ARRAY_SIZE(request_kinds) && request_kinds[type].handle ? &request_kinds[type]
										 : NULL;
}

static struct ot_err *handle(struct vp_server *s, struct connection *c, const struct request *req,
			     const struct request_kind *kind)
{
	if (!c->greeted && !kind->before_hello)
		return ot_err_new(OT_ERR_BAD_DATA, "the first request must be HELLO");
	if (!c->es && kind->needs_session)
		return ot_err_new(OT_ERR_BAD_DATA, "this connection has no session");
	return kind->handle(s, c, req);
}

static struct ot_err *send_reply(struct connection *c, const struct ot_err *err)
{
	struct vp_msg_reply r = { .head = { VP_MSG_REPLY, sizeof(r) } };

	if (err) {
		r.code = (uint32_t)ot_err_code(err);
		strncpy(r.text, ot_err_message(err), sizeof(r.text) - 1);
	}
	return ot_send_fds(c->sock, &r, sizeof(r), NULL, 0);
}

/* --- connections ---------------------------------------------------------------------------------------- */

/* The only clean-up, for every way in which a client can end. */
static void close_connection(struct connection *c)
{
	vp_engine_session_close(c->es);
	unmap(&c->shared);
	unmap(&c->orc);
	if (c->sock >= 0)
		close(c->sock);
	*c = (struct connection){ .sock = -1 };
}

static bool serve_request(struct vp_server *s, struct connection *c, const struct request *req, size_t len)
{
	const struct request_kind *kind = len < sizeof(*req->head) ? NULL : find_kind(req->head->type);

	if (!kind || req->head->size != len || kind->size != len)
		return false;
	struct ot_err *err = handle(s, c, req, kind);
	struct ot_err *sent = err || !kind->answers_itself ? send_reply(c, err) : NULL;
	bool ok = !sent;
	ot_err_destroy(err);
	ot_err_destroy(sent);
	return ok;
}

static void serve_connection(struct vp_server *s, struct connection *c)
{
	struct request req = { .head = (const void *)s->message };
	size_t len = 0;
	struct ot_err *err =
	    ot_recv_fds(c->sock, s->message, sizeof(s->message), req.fds, FDS_MAX, &len, &req.nfds);

	if (err) {
		ot_err_destroy(err);
		close_connection(c);
		return;
	}
	if (!len || !serve_request(s, c, &req, len))
		close_connection(c);
	for (int i = 0; i < req.nfds; i++)
		close(req.fds[i]);
}

/* The owner of a VMM, and root, may trace its guest. */
static bool peer_allowed(int sock)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static void accept_connection(struct vp_server *s)
{
	struct timeval timeout = { .tv_sec = SEND_TIMEOUT_S };
	ot_auto_close int sock = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (sock < 0 || !peer_allowed(sock))
		return;
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
		if (s->connections[i].sock < 0) {
			s->connections[i].sock = ot_move_fd(sock);
			return;
		}
	/* Full: this connection is closed, and the client reads its end. */
}

/* --- the thread ----------------------------------------------------------------------------------------- */

static nfds_t fill_poll(const struct vp_server *s, struct pollfd *fds, unsigned *index)
{
	nfds_t n = 0;

	fds[n++] = (struct pollfd){ .fd = s->wake_fd, .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = s->listen_fd, .events = POLLIN };
	for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
		if (s->connections[i].sock >= 0) {
			index[n] = i;
			fds[n++] = (struct pollfd){ .fd = s->connections[i].sock, .events = POLLIN };
		}
	return n;
}

static bool may_sweep(const struct vp_engine *engine)
{
	return engine->service->plan &&
	       (engine->ops->traps || (engine->service->plan->nsites && vp_stale_can_look(engine)));
}

static int poll_timeout(const struct vp_engine *engine)
{
	if (engine->service->replan)
		return RETRY_MS;
	if (engine->guarded)
		return GUARD_MS;
	return may_sweep(engine) ? SWEEP_MS : -1;
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
	if (!may_sweep(engine) || now < s->next_sweep_ns)
		return;
	if (engine->ops->traps)
		engine->ops->traps->sweep(engine->backend);
	if (vp_stale_look(engine))
		ot_err_destroy(vp_replan(engine)); /* retried after an error */
	s->next_sweep_ns = now + SWEEP_MS * 1000000ull;
}

static bool has_sessions(const struct vp_server *s)
{
	for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
		if (s->connections[i].es)
			return true;
	return false;
}

static void serve_all(struct vp_server *s, const struct pollfd *fds, const unsigned *index, nfds_t n)
{
	for (nfds_t i = 2; i < n; i++)
		if (fds[i].revents)
			serve_connection(s, &s->connections[index[i]]);
	if (fds[1].revents)
		accept_connection(s);
}

static void *run_server(void *arg)
{
	struct vp_server *s = arg;
	struct pollfd fds[2 + CONNECTIONS_MAX];
	unsigned index[2 + CONNECTIONS_MAX];

	for (;;) {
		nfds_t n = fill_poll(s, fds, index);
		int ready = poll(fds, n, poll_timeout(s->engine));
		do_chores(s);
		if (ready <= 0)
			continue;
		if (fds[0].revents) {
			eventfd_t times;
			(void)eventfd_read(s->wake_fd, &times);
			vp_engine_tell_end(s->engine);
			if (__atomic_load_n(&s->stopping, __ATOMIC_ACQUIRE))
				return NULL;
		}
		serve_all(s, fds, index, n);
		if (__atomic_load_n(&s->draining, __ATOMIC_ACQUIRE) && !has_sessions(s))
			(void)eventfd_write(s->drained_fd, 1);
	}
}

static struct ot_err *set_address(struct vp_server *s, const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return ot_err_new(OT_ERR_LIMIT, "%s: too long for a socket's path", path);
	memcpy(ret->sun_path, path, strlen(path) + 1);
	memcpy(s->path, path, strlen(path) + 1);
	return NULL;
}

/* A socket left behind by a VMM that died is replaced, that of a living one is not. */
static struct ot_err *remove_stale(const struct sockaddr_un *addr)
{
	struct stat st;
	ot_auto_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (lstat(addr->sun_path, &st) < 0)
		return NULL;
	if (!S_ISSOCK(st.st_mode))
		return ot_err_new(OT_ERR_BUSY, "%s exists and is no socket", addr->sun_path);
	if (sock >= 0 && connect(sock, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
		return ot_err_new(OT_ERR_BUSY, "%s is in use", addr->sun_path);
	unlink(addr->sun_path);
	return NULL;
}

/* connect() fails before listen(), so the mode is set before any client connects. */
static struct ot_err *listen_at(struct vp_server *s, const char *path)
{
	struct sockaddr_un addr;

	OT_TRY(set_address(s, path, &addr));
	OT_TRY(remove_stale(&addr));
	ot_auto_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return ot_err_os(errno, "socket");
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return ot_err_os(errno, "%s", path);
	s->listen_fd = ot_move_fd(sock);
	if (chmod(path, 0600) < 0 || listen(s->listen_fd, 8) < 0)
		return ot_err_os(errno, "%s", path);
	return NULL;
}

static struct ot_err *start_thread(struct vp_server *s)
{
	OT_TRY(ot_thread_start(&s->thread, NULL, run_server, s, "starting the engine's thread"));
	s->running = true;
	return NULL;
}

static struct ot_err *listen_on(struct vp_server *s, int listening)
{
	s->listen_fd = fcntl(listening, F_DUPFD_CLOEXEC, 3);
	return s->listen_fd < 0 ? ot_err_os(errno, "duplicating the listening socket") : NULL;
}

static struct ot_err *start_server(struct vp_server *s, const char *path, int listening)
{
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->drained_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0 || s->drained_fd < 0)
		return ot_err_os(errno, "eventfd");
	OT_TRY(path ? listen_at(s, path) : listen_on(s, listening));
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
	for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
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
	for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
		if (s->connections[i].sock >= 0)
			close_connection(&s->connections[i]);
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

void vp_engine_guest_ended(struct vp_engine *engine, enum vp_guest_end how)
{
	__atomic_store_n(&engine->service->guest_end, how, __ATOMIC_RELEASE);
	if (engine->service->server)
		(void)eventfd_write(engine->service->server->wake_fd, 1);
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
