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
#include "vmm-probe/session/stacks.h"
#include "vmm-probe/session/user_frames.h"
#include "vmm-probe/session/variables.h"

#define PATCH_TRIES 5
#define PATCH_NS    10000000 /* longer than a kernel takes to patch one place, all three steps */

static struct dif_layout_opts layout_opts_of(const struct dif_options *o)
{
	return (struct dif_layout_opts){
		.strsize = (uint32_t)o->strsize,
		.stackframes = (uint32_t)o->stackframes,
		.ustackframes = (uint32_t)o->ustackframes,
		.jstackframes = (uint32_t)o->jstackframes,
		.jstackstrsize = (uint32_t)o->jstackstrsize,
	};
}

/* Of the clauses from number @first on: enabled ones keep their layouts. */
static struct ot_err *lay_out(struct vp_session *s, uint32_t first)
{
	struct vp_session_program *p = &s->program;
	struct dif_clause_layout *all = ot_arena_alloc(&s->arena, (p->prog->nclauses + 1) * sizeof(*all));

	if (!all)
		return ot_err_nomem();
	if (first)
		memcpy(all, p->layouts, first * sizeof(*all));
	for (uint32_t i = first; i < p->prog->nclauses; i++)
		OT_TRY(dif_clause_layout(&p->prog->clauses[i], &p->layout_opts, &s->arena, &all[i]));
	p->layouts = all;
	return NULL;
}

static struct ot_err *make_feed(struct vp_session *s, struct vp_guest_link *link)
{
	struct vp_feed *feed = &s->feeds[s->nfeeds];

	*feed = (struct vp_feed){ .session = s, .link = link, .guest = link ? s->nfeeds - 1 : 0 };
	vp_share_init(feed);
	feed->ncpus = link && vp_link_runs(link) ? link->client.nvcpus : 1;
	feed->seen = calloc(feed->ncpus, sizeof(*feed->seen));
	s->nfeeds += feed->seen != NULL;
	return feed->seen ? NULL : ot_err_nomem();
}

static struct ot_err *make_feeds(struct vp_session *s)
{
	s->feeds = calloc(1 + VP_GUESTS_MAX, sizeof(*s->feeds));
	if (!s->feeds)
		return ot_err_nomem();
	OT_TRY(make_feed(s, NULL));
	for (uint32_t i = 0; i < s->links.n; i++)
		OT_TRY(make_feed(s, s->links.items[i]));
	return NULL;
}

static struct ot_err *open_host(struct vp_session *s, const void *dof, size_t size)
{
	struct vp_guest_link *only = s->links.n == 1 ? s->links.items[0] : NULL;
	struct vp_facts none = { 0 }; /* no name, and the first number */

	vp_facts_none(&none);
	OT_TRY(vp_none_engine_create(only ? only->guest : NULL, &s->host.engine));
	OT_TRY(vp_engine_session_open(s->host.engine, &s->feeds[0].open, dof, size, &none,
				      s->feeds[0].shared.mem, s->feeds[0].shared.size, NULL, 0, &s->host.es));
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

static struct ot_err *open_guest(struct vp_feed *feed, const void *dof, size_t size)
{
	ot_auto_close int dof_fd = -1;
	ot_auto_close int facts_fd = -1;

	OT_TRY(to_memfd("outsight-program", dof, size, &dof_fd));
	OT_TRY(to_memfd("outsight-facts", &feed->link->facts, sizeof(feed->link->facts), &facts_fd));
	int fds[] = { dof_fd, facts_fd, feed->shared.common_fd, feed->shared.own_fd, feed->link->orc_fd };
	int nfds = feed->link->orc_fd >= 0 ? 5 : 4;
	OT_TRY(vp_client_open(&feed->link->client, &feed->open, fds, nfds));
	feed->opened = true;
	return NULL;
}

static struct ot_err *open_engine(struct vp_session *s, uint32_t nth)
{
	struct ot_buf dof;

	if (nth && !s->feeds[nth].has_work)
		return NULL;
	ot_buf_init(&dof);
	struct ot_err *err = vp_sent_write(s, nth, &dof);
	if (!err)
		err = nth ? open_guest(&s->feeds[nth], dof.data, dof.len) : open_host(s, dof.data, dof.len);
	ot_buf_deinit(&dof);
	return err;
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
		err = vp_engine_session_enable(s->host.es, whole.data, whole.len);
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

/* Programs that are valid for each kernel may conflict: they share variables. */
static struct ot_err *verify(const struct vp_session *s, struct dif_program *prog)
{
	struct ot_err *err = dif_program_verify(prog);

	if (!err || s->kernels.n < 2 || ot_err_code(err) != OT_ERR_BAD_DATA)
		return err;
	return ot_err_prefix(
	    err, "the program for the guests' kernels, which may be traced in sessions of their own");
}

static void follow(struct vp_session *s, struct vp_feed *feed)
{
	vp_modules_follow(s, feed);
	vp_arrivals_follow(s, feed);
}

/* Most programs have no stacks. */
static struct ot_err *make_unwind_table(const struct vp_session *s, struct vp_guest_link *link)
{
	return vp_program_has_stacks(s->program.prog) ? vp_link_unwind_table(link) : NULL;
}

/* Add the clauses that the program needs besides its own, and verify all. */
static struct ot_err *check(struct vp_session *s, struct dif_program *prog, const struct vp_sink *sink)
{
	s->program.prog = prog;
	s->sink = *sink;
	vp_session_say_kept(s);
	OT_TRY(vp_support_add(s, prog));
	OT_TRY(verify(s, prog));
	if (is_destructive(prog) && !s->options->destructive)
		return ot_err_new(OT_ERR_UNSUPPORTED, "Destructive actions not allowed");
	return NULL;
}

struct ot_err *vp_session_enable(struct vp_session *s, struct dif_program *prog, const struct vp_sink *sink)
{
	s->apart = s->links.n > 1 || s->awaits;
	OT_TRY(check(s, prog, sink));
	if (!s->links.n && !s->host.probes)
		OT_TRY(vp_probes_create(NULL, &s->host.probes));
	s->program.layout_opts = layout_opts_of(s->options);
	OT_TRY(lay_out(s, 0));
	for (uint32_t i = 0; i < s->links.n; i++)
		OT_TRY(make_unwind_table(s, s->links.items[i]));
	OT_TRY(make_feeds(s));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		follow(s, &s->feeds[i]);
	OT_TRY(vp_sizes_fit(s));
	OT_TRY(vp_batches_make(s)); /* before memory is shared: an engine's memory depends on it */
	OT_TRY(vp_share_create(s));
	OT_TRY(vp_links_enter(&s->links)); /* everything that can fail without an engine has succeeded */
	for (uint32_t i = 0; i < s->nfeeds; i++)
		OT_TRY(open_engine(s, i));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		OT_TRY(vp_batch_send_retrying(s, &s->feeds[i]));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		vp_batch_say_registers(s, &s->feeds[i]);
	return vp_variables_say_mixed(s);
}

struct ot_err *vp_enable_joining(struct vp_session *s, uint32_t nclauses)
{
	struct vp_guest_link *link = s->links.items[s->links.n - 1];
	uint32_t nth = s->nfeeds;

	OT_TRY(vp_support_add_of(s, s->program.prog, s->links.n - 1));
	OT_TRY(verify(s, s->program.prog));
	OT_TRY(lay_out(s, nclauses));
	OT_TRY(make_unwind_table(s, link));
	OT_TRY(make_feed(s, link));
	struct vp_feed *feed = &s->feeds[nth];
	vp_feed_share_wait(feed);
	follow(s, feed);
	OT_TRY(vp_sizes_check(s, feed));
	OT_TRY(vp_batch_make_joining(s, nth));
	OT_TRY(vp_share_add(s, feed));
	OT_TRY(vp_link_enter(&s->links, link));
	vp_feed_share_wait(feed); /* an engine that was just injected gets a connection of its own */
	OT_TRY(open_engine(s, nth));
	OT_TRY(vp_batch_send_retrying(s, feed));
	vp_batch_say_registers(s, feed);
	return vp_feed_start(s, feed);
}
