/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of clients to an engine: a record for each kind of message. All input is hostile: lengths are
 * checked; program, facts and batch are copied before they are parsed; and memory is only mapped if its size
 * is sealed.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/access.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/server.h"
#include "vmm-probe/engine/wire/patches.h"

#define PAGE      4096u
#define DOF_MAX   (16u << 20)
#define BATCH_MAX (256u << 20)
#define ORC_MAX   (256u << 20)

/* --- memory passed as descriptors -------------------------------------------------------------- */

void vp_mapping_release(struct vp_mapping *m)
{
	if (m->mem)
		munmap(m->mem, m->size);
	*m = (struct vp_mapping){ 0 };
}

static struct ot_err *map(int fd, int prot, struct vp_mapping *ret)
{
	size_t size;

	OT_TRY(ot_memfd_check(fd, &size));
	if (!size)
		return ot_err_new(OT_ERR_BAD_DATA, "shared memory of size 0");
	void *mem = mmap(NULL, size, prot, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		return ot_err_os(errno, "mapping %zu bytes", size);
	*ret = (struct vp_mapping){ mem, size };
	return NULL;
}

/* Two files as one piece of memory: the memory that all engines of a session share, perhaps none, and this
 * engine's own. */
static struct ot_err *map_shared(const int fds[2], struct vp_mapping *ret)
{
	const int prot = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_FIXED;
	size_t common, own;

	OT_TRY(ot_memfd_check(fds[0], &common));
	OT_TRY(ot_memfd_check(fds[1], &own));
	if (!own || common % PAGE || common > SIZE_MAX / 2 || own > SIZE_MAX / 2)
		return ot_err_new(OT_ERR_BAD_DATA, "shared memory of %zu and %zu bytes", common, own);
	uint8_t *mem =
	    mmap(NULL, common + own, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return ot_err_os(errno, "mapping %zu bytes", common + own);
	if ((common && mmap(mem, common, prot, how, fds[0], 0) == MAP_FAILED) ||
	    mmap(mem + common, own, prot, how, fds[1], 0) == MAP_FAILED) {
		struct ot_err *err = ot_err_os(errno, "mapping %zu bytes", common + own);
		munmap(mem, common + own);
		return err;
	}
	*ret = (struct vp_mapping){ mem, common + own };
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

static struct ot_err *send_hello(struct vp_server *s, struct vp_connection *c)
{
	struct vp_engine *e = s->engine;
	struct vp_msg_hello_reply *r = (void *)s->reply;
	const struct vp_ram_layout *ram = &e->service->ram.is;

	static_assert(sizeof(*r) + VP_RAM_RANGES_MAX * sizeof(r->ram[0]) <= VP_MSG_MAX, "the reply has room");
	if (ram->nranges > VP_RAM_RANGES_MAX || ram->nfds > VP_RAM_FDS_MAX)
		return ot_err_new(OT_ERR_LIMIT,
				  "guest RAM in %u ranges and %u files: at most %u and %u can be read",
				  ram->nranges, ram->nfds, VP_RAM_RANGES_MAX, VP_RAM_FDS_MAX);
	memset(r, 0, sizeof(*r));
	r->head =
	    (struct vp_msg){ VP_MSG_HELLO_REPLY, (uint32_t)(sizeof(*r) + ram->nranges * sizeof(r->ram[0])) };
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
	r->modules = e->ops->has_modules;
	r->processes = vp_engine_has_processes(e);
	r->semaphores = r->processes && e->ops->exclusive;
	r->paused = e->ops->paused && e->ops->paused(e->backend);
	r->nram = ram->nranges;
	if (ram->nranges)
		memcpy(r->ram, ram->ranges, ram->nranges * sizeof(r->ram[0]));
	return ot_send_fds(c->sock, r, r->head.size, ram->fds, (int)ram->nfds);
}

static struct ot_err *do_hello(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	const struct vp_msg_hello *m = (const void *)req->head;

	if (m->version != VP_PROTOCOL_VERSION)
		return ot_err_new(OT_ERR_UNSUPPORTED, "this engine speaks protocol %u, not %u",
				  VP_PROTOCOL_VERSION, m->version);
	vp_access_read(&c->peer);
	vp_ram_query(s);
	OT_TRY(send_hello(s, c));
	c->ram = s->engine->service->ram.is.number;
	c->greeted = true;
	return NULL;
}

static struct ot_err *do_snapshot(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	struct vp_engine *e = s->engine;
	struct vp_msg_snapshot_reply *r = (void *)s->reply;
	uint32_t max = (sizeof(s->reply) - sizeof(*r)) / sizeof(r->regs[0]);

	(void)req;
	OT_TRY(vp_ram_check(e));
	if (max > e->nvcpus)
		max = e->nvcpus;
	memset(r, 0, sizeof(*r) + max * sizeof(r->regs[0]));
	uint32_t n = e->ops->snapshot(e->backend, r->regs, max);
	r->nvcpus = n < max ? n : max;
	r->head =
	    (struct vp_msg){ VP_MSG_SNAPSHOT_REPLY, (uint32_t)(sizeof(*r) + r->nvcpus * sizeof(r->regs[0])) };
	return ot_send_fds(c->sock, r, r->head.size, NULL, 0);
}

static struct ot_err *do_stats(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
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

static struct ot_err *do_cpc(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	const struct vp_msg_cpc *m = (const void *)req->head;
	const struct vp_engine *e = s->engine;

	(void)c;
	if (!vp_cpc_is_valid(&m->event))
		return ot_err_new(OT_ERR_BAD_DATA, "CPC of an unknown event");
	if (!e->ops->cpc)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "the %s backend keeps no counters: cpc probes are for guests on KVM, with the "
		    "engine in their VMM",
		    e->ops->name);
	return e->ops->cpc->test(e->backend, &m->event);
}

static struct ot_err *read_facts(int fd, struct vp_facts *ret)
{
	size_t size;

	OT_TRY(ot_memfd_check(fd, &size));
	if (size < sizeof(*ret))
		return ot_err_new(OT_ERR_BAD_DATA, "facts of %zu bytes: another version", size);
	return ot_pread_all(fd, ret, sizeof(*ret), 0);
}

static struct ot_err *open_session(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	ot_auto_free void *dof = NULL;
	size_t dof_size = 0;

	if (req->nfds < 4)
		return ot_err_new(OT_ERR_BAD_DATA, "OPEN with %d descriptors", req->nfds);
	OT_TRY(ot_err_prefix(copy(req->fds[0], DOF_MAX, &dof, &dof_size), "program"));
	OT_TRY(ot_err_prefix(read_facts(req->fds[1], &s->facts), "facts"));
	OT_TRY(ot_err_prefix(map_shared(&req->fds[2], &c->shared), "buffers"));
	if (req->nfds > 4)
		OT_TRY(ot_err_prefix(map(req->fds[4], PROT_READ, &c->orc), "unwind table"));
	if (c->orc.size > ORC_MAX)
		return ot_err_new(OT_ERR_LIMIT, "unwind table of %zu bytes", c->orc.size);
	return vp_engine_session_open(s->engine, (const void *)req->head, dof, dof_size, &s->facts,
				      c->shared.mem, c->shared.size, c->orc.mem, c->orc.size, &c->es);
}

static struct ot_err *do_open(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	if (c->es)
		return ot_err_new(OT_ERR_BUSY, "this connection has a session already");
	if (c->ram != s->engine->service->ram.is.number)
		return ot_err_new(OT_ERR_BUSY, "the guest was given other memory meanwhile: try again");
	struct ot_err *err = open_session(s, c, req);
	if (err) {
		vp_mapping_release(&c->shared);
		vp_mapping_release(&c->orc);
		return err;
	}
	const struct vp_msg_open *open = (const void *)req->head;
	c->es->service->ram = c->ram;
	c->access = vp_access_open(&c->peer, open->flags & VP_OPEN_DESTRUCTIVE);
	return NULL;
}

/* The probes that @b enables in the guest. */
static void record_batch(uint64_t access, const struct vp_enabled_batch *b)
{
	const struct vp_enabled_probe *first = NULL;
	char name[VP_ACCESS_PROBE] = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->necbs; i++) {
		const struct vp_enabled_probe *probe = b->ecbs[i].probe;
		if (probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_ERROR)
			continue;
		first = first ? first : probe;
		n++;
	}
	if (first)
		snprintf(name, sizeof(name), "%s:%s:%s:%s", first->provider, first->module, first->function,
			 first->name);
	vp_access_enable(access, n, name);
}

static struct ot_err *do_enable(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	ot_auto_free void *batch = NULL;
	size_t size = 0;

	(void)s;
	if (req->nfds != 1)
		return ot_err_new(OT_ERR_BAD_DATA, "ENABLE with %d descriptors", req->nfds);
	OT_TRY(ot_err_prefix(copy(req->fds[0], BATCH_MAX, &batch, &size), "batch"));
	const struct vp_enabled_batch *before = c->es->service->batches.last;
	struct ot_err *err = vp_engine_session_enable(c->es, batch, size);
	if (c->es->service->batches.last != before) /* after BUSY too: it is planted later */
		record_batch(c->access, c->es->service->batches.last);
	return err;
}

static struct ot_err *do_frames(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	struct vp_mapping frames = { 0 };

	(void)s;
	if (req->nfds != 1)
		return ot_err_new(OT_ERR_BAD_DATA, "FRAMES with %d descriptors", req->nfds);
	OT_TRY(ot_err_prefix(map(req->fds[0], PROT_READ, &frames), "frames"));
	struct ot_err *err = vp_engine_session_frames(c->es, frames.mem, frames.size);
	if (err)
		vp_mapping_release(&frames);
	return err;
}

static struct ot_err *do_start(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	struct vp_msg_reply reply = { .head = { VP_MSG_REPLY, sizeof(reply) } };

	(void)req;
	OT_TRY(vp_engine_session_start(c->es));
	vp_access_start(c->access, s->engine->service->guest_name);
	vp_resident_describe(c->es, reply.text, sizeof(reply.text));
	return ot_send_fds(c->sock, &reply, sizeof(reply), NULL, 0);
}

static struct ot_err *do_stop(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	(void)s;
	(void)req;
	return vp_engine_session_stop(c->es);
}

static struct ot_err *do_switch(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	struct vp_msg_switch_reply reply;

	(void)s;
	(void)req;
	OT_TRY(vp_engine_session_switch(c->es, &reply));
	return ot_send_fds(c->sock, &reply, sizeof(reply), NULL, 0);
}

static struct ot_err *do_poll(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	struct vp_msg_switch_reply reply;

	(void)s;
	(void)req;
	OT_TRY(vp_engine_session_poll(c->es, &reply));
	return ot_send_fds(c->sock, &reply, sizeof(reply), NULL, 0);
}

static struct ot_err *do_modules(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	const struct vp_msg_modules *m = (const void *)req->head;
	struct vp_msg_modules_reply reply = { .head = { VP_MSG_MODULES_REPLY, sizeof(reply) } };

	(void)s;
	vp_modules_answer(c->es, m->seen, &reply);
	return ot_send_fds(c->sock, &reply, sizeof(reply), NULL, 0);
}

static struct ot_err *do_access(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
{
	const struct vp_msg_access *m = (const void *)req->head;
	struct vp_msg_access_reply *r = (void *)s->reply;

	static_assert(sizeof(*r) <= VP_MSG_MAX, "the reply has room");
	vp_access_answer(&c->peer, m->logged, r);
	return ot_send_fds(c->sock, r, sizeof(*r), NULL, 0);
}

static struct ot_err *do_patches(struct vp_server *s, struct vp_connection *c, const struct vp_request *req)
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
	struct ot_err *(*handle)(struct vp_server *s, struct vp_connection *c, const struct vp_request *req);
};

static const struct request_kind request_kinds[] = {
	[VP_MSG_HELLO] = { .size = sizeof(struct vp_msg_hello),
			   .before_hello = true,
			   .answers_itself = true,
			   .handle = do_hello },
	[VP_MSG_SNAPSHOT] = { .size = sizeof(struct vp_msg), .answers_itself = true, .handle = do_snapshot },
	[VP_MSG_STATS] = { .size = sizeof(struct vp_msg), .answers_itself = true, .handle = do_stats },
	[VP_MSG_PATCHES] = { .size = sizeof(struct vp_msg), .answers_itself = true, .handle = do_patches },
	[VP_MSG_ACCESS] = { .size = sizeof(struct vp_msg_access),
			    .answers_itself = true,
			    .handle = do_access },
	[VP_MSG_CPC] = { .size = sizeof(struct vp_msg_cpc), .handle = do_cpc },
	[VP_MSG_OPEN] = { .size = sizeof(struct vp_msg_open), .handle = do_open },
	[VP_MSG_ENABLE] = { .size = sizeof(struct vp_msg), .needs_session = true, .handle = do_enable },
	[VP_MSG_FRAMES] = { .size = sizeof(struct vp_msg), .needs_session = true, .handle = do_frames },
	[VP_MSG_START] = { .size = sizeof(struct vp_msg),
			   .needs_session = true,
			   .answers_itself = true,
			   .handle = do_start },
	[VP_MSG_SWITCH] = { .size = sizeof(struct vp_msg),
			    .needs_session = true,
			    .answers_itself = true,
			    .handle = do_switch },
	[VP_MSG_POLL] = { .size = sizeof(struct vp_msg),
			  .needs_session = true,
			  .answers_itself = true,
			  .handle = do_poll },
	[VP_MSG_MODULES] = { .size = sizeof(struct vp_msg_modules),
			     .needs_session = true,
			     .answers_itself = true,
			     .handle = do_modules },
	[VP_MSG_STOP] = { .size = sizeof(struct vp_msg), .needs_session = true, .handle = do_stop },
};

/* NULL: no request has this type. */
static const struct request_kind *find_kind(uint32_t type)
{
	return type < OT_ARRAY_SIZE(request_kinds) && request_kinds[type].handle ? &request_kinds[type]
										 : NULL;
}

static struct ot_err *handle(struct vp_server *s, struct vp_connection *c, const struct vp_request *req,
			     const struct request_kind *kind)
{
	if (!c->greeted && !kind->before_hello)
		return ot_err_new(OT_ERR_BAD_DATA, "the first request must be HELLO");
	if (!c->es && kind->needs_session)
		return ot_err_new(OT_ERR_BAD_DATA, "this connection has no session");
	return kind->handle(s, c, req);
}

static struct ot_err *send_reply(struct vp_connection *c, const struct ot_err *err)
{
	struct vp_msg_reply r = { .head = { VP_MSG_REPLY, sizeof(r) } };

	if (err) {
		r.code = (uint32_t)ot_err_code(err);
		strncpy(r.text, ot_err_message(err), sizeof(r.text) - 1);
	}
	return ot_send_fds(c->sock, &r, sizeof(r), NULL, 0);
}

bool vp_request_serve(struct vp_server *s, struct vp_connection *c, const struct vp_request *req, size_t len)
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
