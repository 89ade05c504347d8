/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session's shared memory: sealed memfds, which this process maps one behind the other.
 *
 *   globals | dynamic variables | speculations | feed 0: status, buffers | feed 1: status, buffers | …
 *   ── one that every engine gets ───────────── ── the host engine's ───── ── only this engine's ───
 *
 * So a VMM that is compromised can write the variables that all guests share, but nothing in another guest's
 * buffers. Pages are this process's (memory.c); if an engine is in this process, unwritten pages are never
 * allocated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/memory.h"

#define PAGE 4096ull

static uint64_t page_up(uint64_t n)
{
	return (n + PAGE - 1) & ~(PAGE - 1);
}

/* BEGIN, END and ticks have no CPU of the guest: -x cpu does not exclude them. */
static uint32_t only_cpu(const struct vp_session *s, const struct vp_feed *feed)
{
	return feed->link && s->options->cpu >= 0 ? (uint32_t)s->options->cpu + 1 : 0;
}

/* A comparison is for guests that may not tell the truth: those can raise a backend's counters. */
static uint32_t flags_of(const struct dif_options *o)
{
	const char *view = ot_map_gets(&o->set, "view");

	return (o->destructive ? VP_OPEN_DESTRUCTIVE : 0u) |
	       (view && !strcmp(view, "both") ? VP_OPEN_EACH_HIT : 0u);
}

static void fill_open(struct vp_session *s, struct vp_feed *feed, uint64_t globals, uint64_t dynvars,
		      uint32_t first_cpu)
{
	const struct dif_options *o = s->options;

	feed->open = (struct vp_msg_open){
		.bufsize = o->bufsize & ~7ull,
		.aggsize = s->program.aggregates ? o->aggsize & ~7ull : 0,
		.globals_size = globals,
		.dynvars_size = dynvars,
		.strsize = s->program.layout_opts.strsize,
		.stackframes = s->program.layout_opts.stackframes,
		.ustackframes = s->program.layout_opts.ustackframes,
		.jstackframes = s->program.layout_opts.jstackframes,
		.jstackstrsize = s->program.layout_opts.jstackstrsize,
		.nspec = (uint32_t)o->nspec,
		.specsize = o->specsize,
		.nvcpus = feed->ncpus,
		.first_cpu = first_cpu,
		.bufpolicy = o->bufpolicy,
		.flags = flags_of(o),
		.engine = (uint32_t)(feed - s->feeds),
		.only_cpu = only_cpu(s, feed),
		/* time of this process is no cost to a guest */
		.maxcost = feed->link && vp_link_costs(feed->link) ? (uint32_t)o->maxcost : 0,
	};
}

/* Every feed's status and buffers behind one another; globals and dynamic variables are at the same
 * place for all of them. */
static struct ot_err *place(struct vp_session *s, uint64_t globals, uint64_t dynvars, uint64_t *ret_total)
{
	uint64_t shift = 0, total = 0;
	uint32_t first_cpu = 0;

	for (uint32_t i = 0; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];
		fill_open(s, feed, globals, dynvars, first_cpu);
		OT_TRY(vp_shared_layout(&feed->open, &total));
		uint64_t own = feed->open.status_offset;
		feed->open.status_offset += shift;
		feed->open.buffers_offset += shift;
		feed->shared_size = page_up(total - own);
		shift = page_up(shift + total - own);
		first_cpu += feed->ncpus;
	}
	s->shared.common = s->feeds[0].open.status_offset;
	*ret_total = page_up(s->shared.common + shift);
	return NULL;
}

static struct ot_err *make_files(struct vp_session *s)
{
	OT_TRY(ot_memfd_create("outsight-session", s->shared.common, &s->shared.fd));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		OT_TRY(ot_memfd_create("outsight-buffers", s->feeds[i].shared_size, &s->feeds[i].shared_fd));
	return NULL;
}

static bool map_file(uint8_t *at, uint64_t size, int fd)
{
	return !size || mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
}

/* s->shared.size bytes of address space, then the files in it. */
static struct ot_err *map_files(struct vp_session *s)
{
	void *p = mmap(NULL, s->shared.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bool mapped = p != MAP_FAILED;

	if (mapped) {
		s->shared.mem = p;
		mapped = map_file(s->shared.mem, s->shared.common, s->shared.fd);
	}
	for (uint32_t i = 0; mapped && i < s->nfeeds; i++)
		mapped = map_file(s->shared.mem + s->feeds[i].open.status_offset, s->feeds[i].shared_size,
				  s->feeds[i].shared_fd);
	if (mapped)
		return NULL;
	return ot_err_os(errno, "mapping %llu bytes of buffers: try a smaller -b",
			 (unsigned long long)s->shared.size);
}

struct ot_err *vp_share_create(struct vp_session *s)
{
	struct dif_var_layout vars;
	uint64_t total = 0, dynvars = 0;
	uint32_t ncpus = 0, key_size = 0, value_size = 0;

	for (uint32_t i = 0; i < s->nfeeds; i++)
		s->feeds[i].shared_fd = -1;
	OT_TRY(dif_var_layout(s->program.prog, &s->program.layout_opts, &s->arena, &vars));
	OT_TRY(dif_dynvar_sizes(s->program.prog, &s->program.layout_opts, &vars, &key_size, &value_size));
	if (key_size)
		dynvars = page_up(s->options->dynvarsize ? s->options->dynvarsize : 1);
	OT_TRY(place(s, vars.globals_size, dynvars, &total));
	const struct vp_private_parts parts = { .key_max = key_size, .locals = vars.locals_size };
	OT_TRY(vp_memory_fit(s, &parts));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		ncpus += s->feeds[i].ncpus;

	OT_TRY(make_files(s));
	OT_TRY(vp_memory_make_pages(s));
	s->shared.size = total;
	OT_TRY(map_files(s));
	if (dynvars) {
		uint8_t *mem = s->shared.mem + s->feeds[0].open.dynvars_offset;
		OT_TRY(dif_dynvars_format(mem, dynvars, ncpus, key_size, value_size));
		OT_TRY(dif_dynvars_open(mem, dynvars, &s->shared.dynvars));
	}
	return NULL;
}

void vp_share_destroy(struct vp_session *s)
{
	dif_dynvars_close(s->shared.dynvars);
	if (s->shared.mem)
		munmap(s->shared.mem, s->shared.size);
	if (s->shared.fd >= 0)
		close(s->shared.fd);
	for (uint32_t i = 0; i < s->nfeeds; i++) {
		if (s->feeds[i].shared_fd >= 0)
			close(s->feeds[i].shared_fd);
		s->feeds[i].shared_fd = -1;
	}
	s->shared.dynvars = NULL;
	s->shared.mem = NULL;
	s->shared.fd = -1;
}
