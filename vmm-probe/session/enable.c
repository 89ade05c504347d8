/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enabling a compiled program on engines: lay clauses out, share memory, open each engine, and send it its
 * batch.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "dif/obj/verify.h"
#include "vmm-probe/backend/none/none.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/session/arrivals.h"
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/memory.h"
#include "vmm-probe/session/modules.h"
#include "vmm-probe/session/sent.h"
#include "vmm-probe/session/user_frames.h"

#define PATCH_TRIES 5
#define PATCH_NS    10000000 /* longer than a kernel takes to patch one place, all three steps */

static struct ot_err *lay_out(struct vp_session *s)
{
	const struct dif_options *o = s->options;

	s->program.layout_opts = (struct dif_layout_opts){
		.strsize = (uint32_t)o->strsize,
		.stackframes = (uint32_t)o->stackframes,
		.ustackframes = (uint32_t)o->ustackframes,
		.jstackframes = (uint32_t)o->jstackframes,
		.jstackstrsize = (uint32_t)o->jstackstrsize,
	};
	s->program.layouts =
	    ot_arena_alloc(&s->arena, (s->program.prog->nclauses + 1) * sizeof(*s->program.layouts));
	if (!s->program.layouts)
		return ot_err_nomem();
	for (uint32_t i = 0; i < s->program.prog->nclauses; i++)
		OT_TRY(dif_clause_layout(&s->program.prog->clauses[i], &s->program.layout_opts, &s->arena,
					 &s->program.layouts[i]));
	return NULL;
}

static struct ot_err *make_feeds(struct vp_session *s)
{
	s->feeds = calloc(1 + s->links.n, sizeof(*s->feeds));
	if (!s->feeds)
		return ot_err_nomem();
	s->nfeeds = 1 + s->links.n;
	for (uint32_t i = 0; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];
		feed->link = i ? s->links.items[i - 1] : NULL;
		feed->guest = i ? i - 1 : 0;
		feed->shared_fd = -1;
		feed->ncpus = i && vp_link_runs(feed->link) ? feed->link->client.nvcpus : 1;
		feed->seen = calloc(feed->ncpus, sizeof(*feed->seen));
		if (!feed->seen)
			return ot_err_nomem();
	}
	return NULL;
}

static struct ot_err *open_host(struct vp_session *s, const void *dof, size_t size)
{
	struct vp_guest_link *only = s->links.n == 1 ? s->links.items[0] : NULL;
	struct vp_facts none = { 0 }; /* no name, and the first number */

	vp_facts_none(&none);
	OT_TRY(vp_none_engine_create(only ? only->guest : NULL, &s->host_engine));
	OT_TRY(vp_engine_session_open(s->host_engine, &s->feeds[0].open, dof, size, &none, s->shared.mem,
				      s->shared.size, NULL, 0, &s->host_es));
	s->feeds[0].opened = true;
	return NULL;
}

static struct ot_err *to_memfd(const char *name, const void *data, size_t size, int *ret_fd)
{
	ot_auto_close int fd = -1;

	OT_TRY(ot_memfd_create(name, size, &fd));
	OT_TRY(ot_write_all(fd, data, size));
	*ret_fd = ot_move_fd(fd);
	return NULL;
}

static struct ot_err *open_guest(struct vp_session *s, struct vp_feed *feed, const void *dof, size_t size)
{
	ot_auto_close int dof_fd = -1;
	ot_auto_close int facts_fd = -1;

	OT_TRY(to_memfd("outsight-program", dof, size, &dof_fd));
	OT_TRY(to_memfd("outsight-facts", &feed->link->facts, sizeof(feed->link->facts), &facts_fd));
	int fds[] = { dof_fd, facts_fd, s->shared.fd, feed->shared_fd, feed->link->orc_fd };
	int nfds = feed->link->orc_fd >= 0 ? 5 : 4;
	/* its own memory is behind what all share, where it maps them */
	struct vp_msg_open open = feed->open;
	open.buffers_offset -= open.status_offset - s->shared.common;
	open.status_offset = s->shared.common;
	OT_TRY(vp_client_open(&feed->link->client, &open, fds, nfds));
	feed->opened = true;
	return NULL;
}

static struct ot_err *open_engines(struct vp_session *s)
{
	for (uint32_t i = 0; i < s->nfeeds; i++) {
		struct ot_buf dof;

		if (i && !s->feeds[i].has_work)
			continue;
		ot_buf_init(&dof);
		struct ot_err *err = vp_sent_write(s, i, &dof);
		if (!err)
			err = i ? open_guest(s, &s->feeds[i], dof.data, dof.len)
				: open_host(s, dof.data, dof.len);
		ot_buf_deinit(&dof);
		OT_TRY(err);
	}
	return NULL;
}

struct ot_err *vp_batch_send(struct vp_feed *feed)
{
	struct ot_buf whole;
	ot_auto_close int fd = -1;

	ot_buf_init(&whole);
	struct ot_err *err = vp_batch_assemble(feed, &whole);
	if (!err)
		err = to_memfd("outsight-enablings", whole.data, whole.len, &fd);
	if (!err)
		err = vp_client_enable(&feed->link->client, fd);
	ot_buf_deinit(&whole);
	return err;
}

static struct ot_err *send_once(struct vp_session *s, struct vp_feed *feed)
{
	struct ot_buf whole;

	if (!feed->has_work)
		return NULL;
	if (feed->link) {
		OT_TRY(vp_frames_send_batch(s, feed));
		return vp_batch_send(feed);
	}
	ot_buf_init(&whole);
	struct ot_err *err = vp_batch_assemble(feed, &whole);
	if (!err)
		err = vp_engine_session_enable(s->host_es, whole.data, whole.len);
	ot_buf_deinit(&whole);
	return err;
}

/* A guest patches its text, for its own tracing and static keys: then the bytes that were read differ from
 * those that the engine finds, which it reports before it changes anything. Read again and retry. */
struct ot_err *vp_batch_send_retrying(struct vp_session *s, struct vp_feed *feed)
{
	static const struct timespec pause = { .tv_nsec = PATCH_NS };
	struct ot_err *err = send_once(s, feed);

	bool half_done = false; /* the bytes may be an int3 in the middle of patching */

	for (unsigned tries = 0; err && feed->link && tries < PATCH_TRIES; tries++) {
		if (ot_err_code(err) != OT_ERR_BAD_DATA && ot_err_code(err) != OT_ERR_FAULT && !half_done)
			break;
		ot_err_destroy(err);
		nanosleep(&pause, NULL);
		err = vp_batch_reread(s, feed);
		half_done = err && ot_err_code(err) == OT_ERR_UNSUPPORTED;
		if (!err)
			err = send_once(s, feed);
	}
	return err;
}

static bool is_destructive(const struct dif_program *prog)
{
	for (uint32_t i = 0; i < prog->nclauses; i++) {
		const struct dif_clause *c = &prog->clauses[i];
		if (c->predicate && c->predicate->destructive)
			return true;
		for (uint32_t k = 0; k < c->nactions; k++) {
			unsigned class = DIF_ACT_CLASS(c->actions[k].kind);
			if (class == 0x200 || class == 0x500)
				return true;
			if (c->actions[k].object && c->actions[k].object->destructive)
				return true;
		}
	}
	return false;
}

/* What is right for each kernel may not fit together: a variable is one. */
static struct ot_err *verify(const struct vp_session *s, struct dif_program *prog)
{
	struct ot_err *err = dif_program_verify(prog);

	if (!err || s->kernels.n < 2 || ot_err_code(err) != OT_ERR_BAD_DATA)
		return err;
	return ot_err_prefix(
	    err, "the program for the guests' kernels, which may be traced in sessions of their own");
}

struct ot_err *vp_session_enable(struct vp_session *s, struct dif_program *prog, const struct vp_sink *sink)
{
	s->program.prog = prog;
	s->sink = *sink;
	OT_TRY(vp_support_add(s, prog));
	OT_TRY(verify(s, prog));
	if (is_destructive(prog) && !s->options->destructive)
		return ot_err_new(OT_ERR_UNSUPPORTED, "Destructive actions not allowed");
	if (!s->links.n && !s->host_probes)
		OT_TRY(vp_probes_create(NULL, &s->host_probes));
	OT_TRY(lay_out(s));
	OT_TRY(make_feeds(s));
	for (uint32_t i = 0; i < s->nfeeds; i++) {
		vp_modules_follow(s, &s->feeds[i]);
		vp_arrivals_follow(s, &s->feeds[i]);
	}
	OT_TRY(vp_sizes_fit(s));
	OT_TRY(vp_batches_make(s)); /* before memory is shared: an engine's memory depends on it */
	OT_TRY(vp_share_create(s));
	OT_TRY(vp_links_enter(&s->links)); /* everything that can fail without an engine has succeeded */
	OT_TRY(open_engines(s));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		OT_TRY(vp_batch_send_retrying(s, &s->feeds[i]));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		vp_batch_say_registers(s, &s->feeds[i]);
	return NULL;
}
