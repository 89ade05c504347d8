/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking over semaphores that hits have raised. */
#include "vmm-probe/engine/service/early.h"

#include <stdlib.h>

#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/early.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/service.h"

#define PAUSE_NS 1000000000ull

struct ot_err *vp_early_prepare(struct vp_engine *engine, const struct vp_plan *plan)
{
	const struct vp_site *site = NULL;
	struct vp_early *early;

	for (uint32_t i = 0; !site && i < plan->nsites; i++)
		if (plan->sites[i].sentinel == VP_SENTINEL_MAPS)
			site = &plan->sites[i];
	if (!site)
		return NULL;
	engine->service->early.reach = vp_semaphores_reach(site->es);
	if (engine->early)
		return NULL;
	early = calloc(1, sizeof(*early));
	if (!early)
		return ot_err_nomem();
	__atomic_store_n(&engine->early, early, __ATOMIC_RELEASE);
	return NULL;
}

static bool has_records(const struct vp_early *early)
{
	return early && __atomic_load_n(&early->given, __ATOMIC_ACQUIRE) != early->taken;
}

bool vp_early_is_used(const struct vp_engine *engine)
{
	return engine->early && (engine->service->plan || has_records(engine->early));
}

bool vp_early_is_due(const struct vp_engine *engine, uint64_t now)
{
	return has_records(engine->early) && now >= engine->service->early.next_ns;
}

/* --- no vCPU executes ----------------------------------------------------------------------------------- */

static const struct vp_early_record *next_record(const struct vp_early *early, uint64_t nth)
{
	const struct vp_early_record *r = &early->records[nth % VP_EARLY_RECORDS];

	return __atomic_load_n(&r->ready, __ATOMIC_ACQUIRE) == nth + 1 ? r : NULL;
}

bool vp_early_has(const struct vp_engine *engine, const struct vp_batch_process *process, uint64_t gva)
{
	const struct vp_early *early = engine->early;
	const struct vp_early_record *r;

	for (uint64_t i = early ? early->taken : 0; early && (r = next_record(early, i)); i++)
		if (r->gva == gva && r->process.mm == process->mm && r->process.pid == process->pid &&
		    r->process.since_ns == process->since_ns)
			return true;
	return false;
}

void vp_early_forget(struct vp_engine *engine, const struct vp_batch_process *process, uint64_t gva)
{
	struct vp_early *early = engine->early;

	for (uint32_t i = 0; early && i < VP_EARLY_PAGES; i++)
		if (early->pages[i].owner == process->mm &&
		    early->pages[i].gva >> vp_native_paging.page_shift == gva >> vp_native_paging.page_shift)
			__atomic_store_n(&early->pages[i].owner, 0, __ATOMIC_RELEASE);
}

struct taking {
	struct vp_engine *engine;
	struct vp_family family; /* of the last record */
	uint64_t exe;
};

/* Neighbouring records mostly belong to one process. If no process has that file any more, none has a copy.
 */
static bool find_family(struct taking *t, const struct vp_early_record *r)
{
	if (t->exe != r->exe) {
		t->exe = r->exe;
		if (!vp_family_of(&t->engine->service->early.reach, r->exe, &t->family))
			t->family.file = 0;
	}
	return t->family.file != 0;
}

/* The list has room for all. */
static void take_some(void *arg)
{
	struct taking *t = arg;
	struct vp_service *service = t->engine->service;
	struct vp_semaphores *all = &service->semaphores;
	struct vp_early *early = t->engine->early;
	const struct vp_early_record *r;
	uint64_t until = vp_now() + VP_SEMAPHORES_STOP_NS;

	t->exe = 0;
	while ((r = next_record(early, early->taken)) && vp_now() < until) {
		if (find_family(t, r))
			all->list[all->n++] = (struct vp_semaphore){ .process = r->process,
								     .gva = r->gva,
								     .reach = service->early.reach,
								     .family = t->family,
								     .raised = true,
								     .file = r->file,
								     .at = r->at };
		__atomic_store_n(&early->taken, early->taken + 1, __ATOMIC_RELEASE);
	}
}

/* The files of all programs that run. */
struct files {
	struct vp_reach reach;
	uint64_t *list;
	uint32_t n;
};

static void find_files(void *arg)
{
	struct files *files = arg;

	files->n = vp_family_files(&files->reach, files->list, VP_EARLY_FILES_MAX);
}

/* --- vCPUs execute -------------------------------------------------------------------------------------- */

static uint32_t count_taken(const struct vp_semaphores *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++)
		n += all->list[i].file != 0;
	return n;
}

static bool make_room(struct vp_semaphores *all)
{
	struct vp_semaphore *list = realloc(all->list, (all->n + VP_EARLY_RECORDS) * sizeof(*list));

	if (list)
		all->list = list;
	return list != NULL;
}

static int by_file(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Leave out those whose families have ended: no process has a copy. */
static void drop_ended(struct vp_engine *engine)
{
	struct vp_semaphores *all = &engine->service->semaphores;
	struct files files = { .reach = engine->service->early.reach,
			       .list = calloc(VP_EARLY_FILES_MAX, sizeof(*files.list)) };
	uint32_t n = 0;

	if (files.list && engine->ops->exclusive(engine->backend, find_files, &files) &&
	    files.n <= VP_EARLY_FILES_MAX) {
		qsort(files.list, files.n, sizeof(*files.list), by_file);
		for (uint32_t i = 0; i < all->n; i++)
			if (!all->list[i].file || bsearch(&all->list[i].family.file, files.list, files.n,
							  sizeof(*files.list), by_file))
				all->list[n++] = all->list[i];
		all->n = n;
	}
	free(files.list);
}

void vp_early_take(struct vp_engine *engine)
{
	struct taking t = { .engine = engine };
	struct vp_semaphores *all = &engine->service->semaphores;
	struct vp_early *early = engine->early;

	while (has_records(early) && make_room(all) && engine->ops->exclusive(engine->backend, take_some, &t))
		;
	if (!early)
		return;
	engine->service->early.next_ns = vp_now() + PAUSE_NS;
	if (count_taken(all) >= VP_EARLY_TAKEN_MAX)
		drop_ended(engine);
	__atomic_store_n(&early->full, count_taken(all) >= VP_EARLY_TAKEN_MAX, __ATOMIC_RELAXED);
}

void vp_early_clear(struct vp_engine *engine)
{
	struct vp_early *early = engine->early;

	for (uint32_t i = 0; early && i < VP_EARLY_PAGES; i++)
		__atomic_store_n(&early->pages[i].owner, 0, __ATOMIC_RELEASE);
	while (has_records(early) && next_record(early, early->taken))
		__atomic_store_n(&early->taken, early->taken + 1, __ATOMIC_RELEASE);
}
