/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a session. Buffers are this process's: their pages exist before an engine maps them, or the
 * cgroup of the first writer, the guest's VMM, would be charged. All other memory of an engine is the VMM's;
 * a session for which the VMM's cgroup has no room would get the guest killed, and is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vmm-probe/hosts/enter.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/memory.h"

#define MARGIN        (2ull << 20) /* of the VMM's cgroup, that stays free */
#define SCRATCH_LEAST 65536u
#define MIB(bytes)    ((double)(bytes) / (1 << 20))

/* Its engine is in another process, or will be. */
static bool is_away(const struct vp_feed *feed)
{
	return feed->link && feed->has_work && vp_link_engine_is_away(feed->link);
}

static uint64_t file_size(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* The parts that depend only on the program. */
static void add_program(const struct vp_session *s, struct vp_private_parts *parts)
{
	for (uint32_t i = 0; i < s->program.prog->nclauses; i++) {
		const struct dif_clause_layout *l = &s->program.layouts[i];
		parts->speculates |= l->speculates || l->commits;
		for (uint32_t k = 0; k < l->naggs; k++)
			if (l->aggs[k].tuple_size > parts->tuple_max)
				parts->tuple_max = l->aggs[k].tuple_size;
	}
}

static void add_batch(const struct vp_session *s, const struct vp_feed *feed, struct vp_private_parts *parts)
{
	const struct vp_batch_probe *probes = (const void *)feed->batch_probes.data;
	const struct vp_batch_site *sites = (const void *)feed->batch_sites.data;
	const struct vp_batch_ecb *ecbs = (const void *)feed->batch_ecbs.data;

	parts->probes = feed->batch_probes.len / sizeof(*probes);
	parts->sites = feed->batch_sites.len / sizeof(*sites);
	parts->ecbs = feed->batch_ecbs.len / sizeof(*ecbs);
	for (uint64_t i = 0; i < parts->sites; i++)
		parts->semaphores += sites[i].semaphore != 0;
	parts->epids = s->program.nenabled;
	parts->hits = parts->sites;
	for (uint64_t i = 0; i < parts->ecbs; i++)
		parts->hits += probes[ecbs[i].probe].nsites;
	for (uint64_t i = 0; i < parts->probes; i++)
		parts->timed += vp_private_is_timed(probes[i].kind);
	parts->site_programs = feed->batch_programs.dof.len;
	parts->batch = feed->batch_programs.dof.len + feed->batch_probes.len + feed->batch_sites.len +
		       feed->batch_ecbs.len + feed->batch_strings.len + feed->batch_agent.len +
		       sizeof(struct vp_batch) + 64;
}

static struct ot_err *no_room(const struct vp_feed *feed, uint64_t free_after,
			      const struct vp_memory_room *room)
{
	return ot_err_new(OT_ERR_LIMIT,
			  "tracing %s would take up to %.1f MiB of the memory of its VMM (PID %u), whose "
			  "cgroup %s has %.1f "
			  "MiB left of %.1f MiB: raise that limit, or try fewer probes, or a smaller -b, -x "
			  "aggsize, specsize or nspec",
			  feed->link->client.guest_name, MIB(feed->memory.taken + free_after),
			  feed->link->client.pid, room->group, MIB(room->room), MIB(room->limit));
}

/* Only scratch space can be reduced. */
static struct ot_err *fit(struct vp_feed *feed, const struct vp_private_parts *parts)
{
	struct vp_session_memory *m = &feed->memory;
	const uint64_t free_after = MARGIN + (feed->link->needed_for ? VP_ENTER_BYTES : 0);

	m->taken = vp_private_memory(&feed->open, parts);
	m->scratch = m->scratch_asked = vp_scratch_size(&feed->open);
	m->limited = vp_memory_room("", (pid_t)feed->link->client.pid, &m->room);
	while (m->limited && m->taken + free_after > m->room.room) {
		uint32_t less = m->scratch / 2;
		if (less < SCRATCH_LEAST || less < vp_scratch_least(&feed->open))
			return no_room(feed, free_after, &m->room);
		feed->open.scratch_max = less;
		m->scratch = vp_scratch_size(&feed->open);
		m->taken = vp_private_memory(&feed->open, parts);
	}
	return NULL;
}

struct ot_err *vp_memory_fit(const struct vp_session *s, struct vp_feed *feed,
			     const struct vp_private_parts *parts)
{
	struct vp_private_parts whole = *parts;
	struct ot_buf dof;

	if (!is_away(feed))
		return NULL;
	ot_buf_init(&dof);
	struct ot_err *err = dif_dof_write(s->program.prog, &dof);
	whole.program = dof.len;
	ot_buf_deinit(&dof);
	OT_TRY(err);
	whole.mapped = feed->shared.size + file_size(feed->link->orc_fd);
	add_program(s, &whole);
	add_batch(s, feed, &whole);
	return fit(feed, &whole);
}

static struct ot_err *make_pages(int fd, uint64_t size)
{
	int e;

	if (!size)
		return NULL;
	do
		e = fallocate(fd, 0, 0, (off_t)size) < 0 ? errno : 0;
	while (e == EINTR);
	return e ? ot_err_os(e, "%llu bytes of buffers: try a smaller -b", (unsigned long long)size) : NULL;
}

struct ot_err *vp_memory_make_pages(const struct vp_feed *feed)
{
	if (!is_away(feed))
		return NULL;
	OT_TRY(make_pages(feed->shared.own_fd, feed->shared.size - feed->shared.common));
	/* variables, and the states of speculations */
	return make_pages(feed->shared.common_fd, feed->shared.common);
}

bool vp_session_memory(const struct vp_session *s, uint32_t guest, struct vp_session_memory *ret)
{
	if (!s->feeds || guest + 1 >= s->nfeeds || !is_away(&s->feeds[guest + 1]))
		return false;
	*ret = s->feeds[guest + 1].memory;
	return true;
}
