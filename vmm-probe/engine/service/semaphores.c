/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raising and lowering semaphores. */
#include "vmm-probe/engine/service/semaphores.h"

#include <stdlib.h>
#include <string.h>

#include "base/guarded.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/early.h"
#include "vmm-probe/engine/service/parts.h"

#define PAUSE_NS     1000000000ull
#define PAUSE_MAX_NS 64000000000ull

/* --- the list ----------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct vp_semaphore *x = a, *y = b;
	const uint64_t left[] = { x->process.mm, x->process.since_ns, x->process.pid, x->gva, x->only };
	const uint64_t right[] = { y->process.mm, y->process.since_ns, y->process.pid, y->gva, y->only };

	for (size_t i = 0; i < OT_ARRAY_SIZE(left); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

struct vp_reach vp_semaphores_reach(const struct vp_engine_session *es)
{
	const struct vp_facts *f = &es->facts;

	return (struct vp_reach){ .engine = es->engine,
				  .root = f->kernel_root,
				  .levels = f->levels,
				  .task_tgid = f->task_tgid,
				  .task_start_time = f->task_start_time,
				  .task_mm = f->task_mm,
				  .at = f->families };
}

static uint32_t count_wanted(const struct vp_engine *engine)
{
	uint32_t n = 0;

	vp_each_planned(w, engine)
		for (uint32_t i = 0; i < w.probe->nsites; i++)
			n += w.batch->sites[w.probe->first_site + i].semaphore != 0;
	return n;
}

static void add_wanted(const struct vp_engine *engine, struct vp_semaphore *list, uint32_t *n)
{
	vp_each_planned(w, engine)
		for (uint32_t i = 0; !w.probe->file && vp_any_in(w.probe) && i < w.probe->nsites; i++) {
			uint64_t gva = w.batch->sites[w.probe->first_site + i].semaphore;

			if (gva)
				list[(*n)++] = (struct vp_semaphore){ .process = w.probe->process,
								      .gva = gva,
								      .reach = vp_semaphores_reach(w.es),
								      .wanted = true };
		}
}

/* A semaphore by its place in a file. */
struct in_file {
	uint64_t file, at;
};

static int compare_in_file(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct in_file)); /* any order */
}

/* The semaphores that sites in files need: for those in the list that hits have raised. */
static uint32_t find_in_files(const struct vp_engine *engine, struct in_file *ret)
{
	uint32_t n = 0;

	vp_each_planned(w, engine)
		for (uint32_t i = 0; w.probe->file && vp_any_in(w.probe) && i < w.probe->nsites; i++) {
			uint64_t at = w.batch->sites[w.probe->first_site + i].semaphore;

			if (at)
				ret[n++] = (struct in_file){ w.probe->file, at };
		}
	qsort(ret, n, sizeof(*ret), compare_in_file);
	return n;
}

static void keep_raised(const struct vp_engine *engine, struct vp_semaphore *list, uint32_t n,
			struct in_file *room)
{
	uint32_t nfiles = find_in_files(engine, room);

	for (uint32_t i = 0; i < n; i++) {
		const struct in_file at = { list[i].file, list[i].at };

		list[i].wanted = list[i].file && bsearch(&at, room, nfiles, sizeof(at), compare_in_file);
	}
}

/* Merge those of one place: its state, and whether it is requested. */
static uint32_t unite(struct vp_semaphore *list, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct vp_semaphore *s = &list[i], *last = kept ? &list[kept - 1] : NULL;

		if (!last || compare(last, s)) {
			list[kept++] = *s;
			continue;
		}
		bool wanted = last->wanted || s->wanted;
		if (s->raised || s->gone)
			*last = *s;
		last->wanted = wanted;
	}
	return kept;
}

/* Make the list of the semaphores that are raised or requested. False: out of memory; it is as it was. */
static bool list_wanted(struct vp_engine *engine)
{
	struct vp_semaphores *all = &engine->service->semaphores;
	uint32_t max = all->n + count_wanted(engine), n = 0;
	struct vp_semaphore *list;
	struct in_file *in_files;

	if (!max)
		return true;
	list = calloc(max, sizeof(*list));
	in_files = calloc(max, sizeof(*in_files));
	if (!all->members)
		all->members = calloc(VP_FAMILY_MAX, sizeof(*all->members));
	if (!list || !in_files || !all->members) {
		free(list);
		free(in_files);
		return false;
	}
	for (; n < all->n; n++)
		list[n] = all->list[n];
	keep_raised(engine, list, n, in_files);
	free(in_files);
	add_wanted(engine, list, &n);
	qsort(list, n, sizeof(*list), compare);
	free(all->list);
	all->list = list;
	all->n = unite(list, n);
	return true;
}

static void drop_done(struct vp_semaphores *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->list[i].raised || all->list[i].wanted)
			all->list[n++] = all->list[i];
	all->n = n;
	if (n)
		return;
	free(all->list);
	free(all->members);
	*all = (struct vp_semaphores){ 0 };
}

static bool is_pending(const struct vp_semaphore *s)
{
	return !s->gone && s->wanted != s->raised;
}

bool vp_semaphores_are_pending(const struct vp_engine *engine)
{
	const struct vp_semaphores *all = &engine->service->semaphores;

	for (uint32_t i = 0; i < all->n; i++)
		if (is_pending(&all->list[i]))
			return true;
	return false;
}

/* --- a change; no vCPU executes ------------------------------------------------------------------------- */

/* The pages of one semaphore; a page that members share appears several times. */
struct pages {
	uint8_t *at[VP_FAMILY_MAX];
	uint32_t n;
};

struct change {
	struct vp_engine *engine;
	struct vp_semaphores *all;
	uint32_t next, end;              /* of the list: still to be visited */
	struct vp_batch_process process; /* whose family … */
	struct vp_family family;         /* … this is, file 0: of none … */
	uint32_t nmembers;               /* … with so many members */
	struct pages pages;
};

static int by_address(const void *a, const void *b)
{
	const uint8_t *const *x = a, *const *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Add @by to each page once, unless the result would be below 0 or too large. */
static void add(struct pages *p, int by)
{
	uint16_t value;

	qsort(p->at, p->n, sizeof(p->at[0]), by_address);
	for (uint32_t i = 0; i < p->n; i++) {
		if ((i && p->at[i] == p->at[i - 1]) || !ot_guarded_read(&value, p->at[i], sizeof(value)) ||
		    value == (by < 0 ? 0 : UINT16_MAX))
			continue;
		value = (uint16_t)(value + by); /* by 1, up or down */
		(void)ot_guarded_write(p->at[i], &value, sizeof(value));
	}
}

/* Fill c->all->members with those of the family. Neighbours in the list are mostly of one process. */
static void find_members(struct change *c, const struct vp_semaphore *s, const struct vp_family *family)
{
	if (c->nmembers && c->family.file == family->file && c->family.stack == family->stack)
		return;
	c->family = *family;
	c->nmembers = vp_family_members(&s->reach, family, c->all->members);
	if (c->nmembers > VP_FAMILY_MAX)
		c->nmembers = 0;
}

static bool is_same_process(const struct vp_batch_process *a, const struct vp_batch_process *b)
{
	return a->pid == b->pid && a->mm == b->mm && a->since_ns == b->since_ns;
}

static bool find_family(struct change *c, const struct vp_semaphore *s, struct vp_family *ret)
{
	if (is_same_process(&c->process, &s->process)) {
		*ret = c->family;
		return ret->file != 0;
	}
	c->process = s->process;
	c->family = *ret = (struct vp_family){ 0 };
	c->nmembers = 0;
	return vp_family_find(&s->reach, &s->process, ret);
}

/* All pages or, if the process's own is not among them, none. A hit may have raised it since the records were
 * taken, and none will from now on. */
static void raise_one(struct change *c, struct vp_semaphore *s)
{
	struct vp_family family;
	bool own = false;
	uint8_t *at;

	s->gone = !find_family(c, s, &family);
	if (s->gone)
		return;
	find_members(c, s, &family);
	c->pages.n = 0;
	for (uint32_t i = 0; i < c->nmembers; i++) {
		const struct vp_member *m = &c->all->members[i];

		if (vp_member_page(&s->reach, m, s->gva, &at) != VP_PAGE_PRIVATE)
			continue;
		c->pages.at[c->pages.n++] = at;
		own |= m->mm == s->process.mm;
	}
	if (!own)
		return;
	s->family = family;
	s->raised = true;
	if (!vp_early_has(c->engine, &s->process, s->gva))
		add(&c->pages, 1);
	vp_early_forget(c->engine, &s->process, s->gva);
}

/* A page that is away is lowered when it is back: without the memory for that it stays raised. */
static void keep_owed(struct change *c, const struct vp_semaphore *s, uint64_t mm)
{
	struct vp_semaphores *all = c->all;
	struct vp_semaphore *list = realloc(all->list, (all->n + 1ull) * sizeof(*list));

	if (!list)
		return;
	all->list = list;
	list[all->n] = *s;
	list[all->n].only = mm;
	list[all->n].wanted = false;
	all->n++;
}

static void lower_one(struct change *c, uint32_t nth)
{
	struct vp_semaphore s = c->all->list[nth];
	uint8_t *at;

	c->process = (struct vp_batch_process){ 0 };
	find_members(c, &s, &s.family);
	c->pages.n = 0;
	c->all->list[nth].raised = false;
	for (uint32_t i = 0; i < c->nmembers; i++) {
		const struct vp_member *m = &c->all->members[i];
		enum vp_private_page page;

		if (s.only && s.only != m->mm)
			continue;
		page = vp_member_page(&s.reach, m, s.gva, &at);
		if (page == VP_PAGE_PRIVATE)
			c->pages.at[c->pages.n++] = at;
		else if (page == VP_PAGE_AWAY)
			keep_owed(c, &s, m->mm);
	}
	add(&c->pages, -1);
}

/* The guest is stopped meanwhile, so only some of them at a time. */
static void change_some(void *arg)
{
	struct change *c = arg;
	uint64_t until = vp_now() + VP_SEMAPHORES_STOP_NS;

	c->nmembers = 0;
	c->process = (struct vp_batch_process){ 0 };
	do {
		const struct vp_semaphore *s = &c->all->list[c->next];

		if (is_pending(s) && s->wanted)
			raise_one(c, &c->all->list[c->next]);
		else if (is_pending(s))
			lower_one(c, c->next);
	} while (++c->next < c->end && vp_now() < until);
}

/* Entries that keep_owed() adds are after c->end, and wait for the next change. */
static void change_all(struct vp_engine *engine, struct change *c)
{
	const struct vp_semaphores *all = c->all;

	c->end = all->n;
	while (c->next < c->end && engine->ops->exclusive(engine->backend, change_some, c))
		;
	qsort(all->list, all->n, sizeof(*all->list), compare);
}

/* A page that is swapped out may stay so for long: it is checked less and less often. */
static void set_next(struct vp_semaphores *all, bool pending)
{
	all->pause_ns = !pending ? 0 : all->pause_ns ? 2 * all->pause_ns : PAUSE_NS;
	if (all->pause_ns > PAUSE_MAX_NS)
		all->pause_ns = PAUSE_MAX_NS;
	all->next_ns = vp_now() + all->pause_ns;
}

void vp_semaphores_update(struct vp_engine *engine)
{
	struct vp_semaphores *all = &engine->service->semaphores;
	struct change *c;

	vp_early_take(engine);
	if (!list_wanted(engine) || !all->n)
		return;
	c = vp_semaphores_are_pending(engine) ? calloc(1, sizeof(*c)) : NULL;
	if (c) {
		c->engine = engine;
		c->all = all;
		change_all(engine, c);
		free(c);
	}
	set_next(all, vp_semaphores_are_pending(engine));
	drop_done(all);
}

void vp_semaphores_retry(struct vp_engine *engine, uint64_t now)
{
	if ((vp_semaphores_are_pending(engine) && now >= engine->service->semaphores.next_ns) ||
	    vp_early_is_due(engine, now))
		vp_semaphores_update(engine);
}

void vp_semaphores_forget(struct vp_engine *engine)
{
	struct vp_semaphores *all = &engine->service->semaphores;

	vp_early_clear(engine);
	free(all->list);
	free(all->members);
	*all = (struct vp_semaphores){ 0 };
}
