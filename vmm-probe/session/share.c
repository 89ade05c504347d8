/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that a session shares with each of its engines: two sealed memfds, which this process maps one
 * behind the other.
 *
 *   globals | dynamic variables | speculations | status | buffers
 *   ── common ────────────────────────────────── ── own ─────────
 *
 * No other engine gets the private parts. What is common, the host engine and the guest of a session of one
 * guest have together, as in dtrace(1): a tick reads the values that the guest's clauses count. Of several
 * guests each has its own (variables.c), and a VMM that is compromised can write nothing that another guest's
 * clauses read.
 *
 * Pages are this process's (memory.c); if an engine is in this process, unwritten pages are never allocated.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/memory.h"

#define PAGE 4096ull

/* The size of the program's variables. */
struct needs {
	uint64_t globals, dynvars;
	uint32_t key_size, value_size, locals;
};

static uint64_t page_up(uint64_t n)
{
	return (n + PAGE - 1) & ~(PAGE - 1);
}

/* BEGIN, END and ticks have no CPU of the guest: -x cpu does not exclude them. */
static uint32_t only_cpu(const struct vp_session *s, const struct vp_feed *feed)
{
	return feed->link && s->options->cpu >= 0 ? (uint32_t)s->options->cpu + 1 : 0;
}

/* Resident probes, if requested. */
static uint32_t resident_flags(const struct dif_options *o)
{
	const char *inject = ot_map_gets(&o->set, "inject");

	if (!inject || !strcmp(inject, "off"))
		return 0;
	return strcmp(inject, "force") ? VP_OPEN_RESIDENT : VP_OPEN_RESIDENT | VP_OPEN_RESIDENT_ANYWAY;
}

/* A comparison is for guests that may lie: those can raise a backend's counters, and the counts of code in
 * them. */
static uint32_t flags_of(const struct dif_options *o)
{
	const char *view = ot_map_gets(&o->set, "view");
	bool both = view && !strcmp(view, "both");

	return (o->destructive ? VP_OPEN_DESTRUCTIVE : 0u) | (both ? VP_OPEN_EACH_HIT : resident_flags(o));
}

/* It shares its variables with the host engine. */
static bool is_with_host(const struct vp_session *s, const struct vp_feed *feed)
{
	return feed->link && !s->apart;
}

static void fill_open(struct vp_session *s, struct vp_feed *feed, const struct needs *needs)
{
	const struct dif_options *o = s->options;

	feed->open = (struct vp_msg_open){
		.bufsize = o->bufsize & ~7ull,
		.aggsize = s->program.aggregates ? o->aggsize & ~7ull : 0,
		.globals_size = needs->globals,
		.dynvars_size = needs->dynvars,
		.strsize = s->program.layout_opts.strsize,
		.stackframes = s->program.layout_opts.stackframes,
		.ustackframes = s->program.layout_opts.ustackframes,
		.jstackframes = s->program.layout_opts.jstackframes,
		.jstackstrsize = s->program.layout_opts.jstackstrsize,
		.nspec = (uint32_t)o->nspec,
		.specsize = o->specsize,
		.ring_size = o->injectsize,
		.nvcpus = feed->ncpus,
		.first_cpu = is_with_host(s, feed) ? s->feeds[0].ncpus : 0,
		.bufpolicy = o->bufpolicy,
		.flags = flags_of(o),
		.engine = feed->link ? 1 : 0,
		.only_cpu = only_cpu(s, feed),
		/* this process's time is not a guest's cost */
		.maxcost = feed->link && vp_link_costs(feed->link) ? (uint32_t)o->maxcost : 0,
	};
}

static struct ot_err *place(struct vp_session *s, struct vp_feed *feed, const struct needs *needs)
{
	uint64_t total = 0;

	fill_open(s, feed, needs);
	OT_TRY(vp_shared_layout(&feed->open, &total));
	feed->shared.common = feed->open.status_offset;
	feed->shared.size = page_up(total);
	return NULL;
}

static struct ot_err *make_files(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_feed_shared *sh = &feed->shared;

	if (!is_with_host(s, feed)) {
		OT_TRY(ot_memfd_create("outsight-session", sh->common, &sh->common_fd));
	} else {
		sh->common_fd = fcntl(s->feeds[0].shared.common_fd, F_DUPFD_CLOEXEC, 3);
		if (sh->common_fd < 0)
			return ot_err_os(errno, "duplicating a descriptor");
	}
	return ot_memfd_create("outsight-buffers", sh->size - sh->common, &sh->own_fd);
}

static bool map_file(uint8_t *at, uint64_t size, int fd)
{
	return !size || mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
}

/* Address space, then the files in it. */
static struct ot_err *map_files(struct vp_feed_shared *sh)
{
	void *p = mmap(NULL, sh->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p != MAP_FAILED) {
		sh->mem = p;
		if (map_file(sh->mem, sh->common, sh->common_fd) &&
		    map_file(sh->mem + sh->common, sh->size - sh->common, sh->own_fd))
			return NULL;
	}
	return ot_err_os(errno, "mapping %llu bytes of buffers: try a smaller -b",
			 (unsigned long long)sh->size);
}

/* The table has a part for each vCPU of the engines that use it. */
static struct ot_err *format_dynvars(struct vp_session *s, struct vp_feed *feed, const struct needs *needs)
{
	uint32_t ncpus = feed->ncpus;
	uint8_t *mem = feed->shared.mem + feed->open.dynvars_offset;

	if (!needs->dynvars || is_with_host(s, feed))
		return NULL;
	for (uint32_t i = 1; !feed->link && !s->apart && i < s->nfeeds; i++)
		ncpus += s->feeds[i].ncpus;
	OT_TRY(dif_dynvars_format(mem, needs->dynvars, ncpus, needs->key_size, needs->value_size));
	return dif_dynvars_open(mem, needs->dynvars, &feed->shared.dynvars);
}

static struct ot_err *find_needs(struct vp_session *s, struct needs *ret)
{
	struct dif_var_layout *vars = &s->program.vars;

	*ret = (struct needs){ 0 };
	OT_TRY(dif_var_layout(s->program.prog, &s->program.layout_opts, &s->arena, vars));
	OT_TRY(dif_dynvar_sizes(s->program.prog, &s->program.layout_opts, vars, &ret->key_size,
				&ret->value_size));
	ret->globals = vars->globals_size;
	ret->locals = vars->locals_size;
	if (ret->key_size)
		ret->dynvars = page_up(s->options->dynvarsize ? s->options->dynvarsize : 1);
	s->program.dynamic |= ret->key_size != 0;
	return NULL;
}

static struct ot_err *make(struct vp_session *s, struct vp_feed *feed, const struct needs *needs)
{
	const struct vp_private_parts parts = { .key_max = needs->key_size, .locals = needs->locals };

	OT_TRY(vp_memory_fit(s, feed, &parts));
	OT_TRY(make_files(s, feed));
	OT_TRY(vp_memory_make_pages(feed));
	OT_TRY(map_files(&feed->shared));
	return format_dynvars(s, feed, needs);
}

void vp_share_init(struct vp_feed *feed)
{
	feed->shared = (struct vp_feed_shared){ .common_fd = -1, .own_fd = -1 };
}

struct ot_err *vp_share_create(struct vp_session *s)
{
	struct needs needs;

	for (uint32_t i = 0; i < s->nfeeds; i++)
		vp_share_init(&s->feeds[i]);
	OT_TRY(find_needs(s, &needs));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		OT_TRY(place(s, &s->feeds[i], &needs));
	for (uint32_t i = 0; i < s->nfeeds; i++)
		OT_TRY(make(s, &s->feeds[i], &needs));
	return NULL;
}

struct ot_err *vp_share_add(struct vp_session *s, struct vp_feed *feed)
{
	struct needs needs;

	OT_TRY(find_needs(s, &needs));
	OT_TRY(place(s, feed, &needs));
	return make(s, feed, &needs);
}

void vp_share_leave(struct vp_feed *feed)
{
	struct vp_feed_shared *sh = &feed->shared;
	const int fds[] = { sh->common_fd, sh->own_fd };

	dif_dynvars_close(sh->dynvars);
	if (sh->mem)
		munmap(sh->mem, sh->size);
	for (size_t i = 0; i < OT_ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	vp_share_init(feed);
}

void vp_share_destroy(struct vp_session *s)
{
	for (uint32_t i = 0; i < s->nfeeds; i++)
		vp_share_leave(&s->feeds[i]);
}
