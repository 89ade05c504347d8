/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All processes of a guest, as they are now: those that have begun, mapped something new, or ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/processes.h"
#include "vmm-probe/provider/pid_process.h"
#include "vmm-probe/provider/registry.h"

#define YOUNG_NS                                                                                   \
	(10 * OT_NS_PER_SEC) /* a younger process is checked at each poll, an older one this often \
			      */

static struct vp_pid_process *known(const struct vp_pid_processes *processes,
				    const struct vp_guest_process *p)
{
	for (size_t i = 0; i < processes->count; i++) {
		const struct vp_batch_process *id = &processes->list[i]->id;

		if (id->pid == p->pid && id->since_ns == p->since_ns && id->mm == p->mm &&
		    !processes->list[i]->superseded)
			return processes->list[i];
	}
	return NULL;
}

/* Has it mapped a file since it was read? A loader does so in a program's first moments; some programs do so
 * all the time. */
static bool check(const struct vp_pid_processes *processes, struct vp_pid_process *process, uint64_t now)
{
	if (process->given_up)
		return false;
	if (process->is_stale || (now - process->since_ns >= YOUNG_NS && now < process->reread_ns))
		return process->is_stale;
	process->reread_ns = now + YOUNG_NS;
	process->is_stale = !vp_maps_are_current(processes->ps, &process->maps);
	return process->is_stale;
}

static uint64_t start_of_code(const struct vp_pid_process *process, uint32_t file)
{
	for (size_t i = 0; i < process->maps.count; i++)
		if (process->maps.items[i].file == file && process->maps.items[i].flags & VP_VMA_EXEC)
			return process->maps.items[i].start;
	return 0;
}

static bool is_same_object(const struct vp_pid_process *a, const struct vp_pid_object *x,
			   const struct vp_pid_process *b, const struct vp_pid_object *y)
{
	return vp_file_is_same(&a->maps.files[x->file].id, &b->maps.files[y->file].id) &&
	       start_of_code(a, x->file) == start_of_code(b, y->file);
}

/* Objects that already have probes get no more. */
static void take_over(struct vp_pid_process *old, struct vp_pid_process *new)
{
	new->since_ns = old->since_ns;
	new->reread_ns = old->reread_ns;
	new->provider = old->provider;
	new->is_named = old->is_named;
	new->reading = old->reading + 1;
	new->nstatic = old->nstatic;
	for (size_t i = 0; i < new->nobjects; i++)
		new->objects[i].reading = new->reading;
	for (size_t i = 0; i < new->nobjects; i++)
		for (size_t k = 0; k < old->nobjects; k++)
			if (is_same_object(old, &old->objects[k], new, &new->objects[i])) {
				new->objects[i].nth = old->objects[k].nth;
				new->objects[i].reading = old->objects[k].reading;
				new->objects[i].notes_read = old->objects[k].notes_read;
			}
	old->superseded = true;
}

static bool is_same_program(const struct vp_pid_process *a, const struct vp_pid_process *b)
{
	return a->id.mm == b->id.mm && a->id.since_ns == b->id.since_ns;
}

/* Probes have the names of its functions. */
static bool is_used(const struct vp_pid_process *process)
{
	for (size_t i = 0; i < process->nobjects; i++)
		if (process->objects[i].read)
			return true;
	return process->is_named && !process->superseded;
}

static void forget(struct vp_pid_processes *processes, struct vp_pid_process *process)
{
	size_t n = 0;

	for (size_t i = 0; i < processes->count; i++)
		if (processes->list[i] != process)
			processes->list[n++] = processes->list[i];
	processes->count = n;
	vp_pid_process_destroy(process);
}

struct ot_err *vp_pid_process_again(struct vp_pid_processes *processes, struct vp_pid_process *old,
				    struct vp_pid_process **ret)
{
	struct vp_pid_process *new = NULL;
	struct ot_err *err = vp_pid_process_add(processes, old->id.pid, &new);

	*ret = old;
	if (err)
		return vp_pid_forgive(err);
	if (!is_same_program(old, new)) {
		forget(processes, new);
		return NULL;
	}
	take_over(old, new);
	if (!is_used(old))
		forget(processes, old);
	*ret = new;
	return NULL;
}

/* NULL: it can't be read; it may have just ended. */
static struct ot_err *find_or_add(struct vp_pid_processes *processes, const struct vp_guest_process *p,
				  struct vp_pid_process **ret)
{
	struct vp_pid_process *old = known(processes, p);

	*ret = old;
	if (old)
		return old->is_stale ? vp_pid_process_again(processes, old, ret) : NULL;
	struct ot_err *err = vp_pid_process_add(processes, p->pid, ret);
	if (err) {
		*ret = NULL;
		return vp_pid_forgive(err);
	}
	(*ret)->since_ns = ot_now_ns();
	return NULL;
}

/* A guest may start thousands of programs without a matching probe. */
static void forget_unused(struct vp_pid_processes *processes)
{
	size_t n = 0;

	for (size_t i = 0; i < processes->count; i++)
		if (processes->list[i]->walk == processes->walks || is_used(processes->list[i]))
			processes->list[n++] = processes->list[i];
		else
			vp_pid_process_destroy(processes->list[i]);
	processes->count = n;
}

/* The next one that has memory; *ret_more false: there is none. */
static struct ot_err *next_live(struct vp_pid_processes *processes, struct vp_guest_process *p,
				bool *ret_more)
{
	do {
		uint64_t before = p->pid;
		struct ot_err *err = vp_guest_process_next(processes->ps, before, p, ret_more);

		if (!err)
			continue;
		if (ot_err_code(err) != OT_ERR_BUSY) /* the list itself can't be read */
			return err;
		OT_TRY(vp_pid_forgive(err));
		*ret_more = p->pid > before; /* p->pid kept changing while it was read */
		p->mm = 0;
	} while (*ret_more && (!p->mm || p->is_over));
	return NULL;
}

/* A process whose mappings alone exceed the budget is stored without them. */
static struct ot_err *remember(struct vp_pid_processes *processes, const struct vp_guest_process *p,
			       struct vp_pid_process **ret)
{
	struct vp_pid_process *process = calloc(1, sizeof(*process));

	if (!process ||
	    !ot_grow(&processes->list, &processes->cap, processes->count + 1, sizeof(*processes->list))) {
		free(process);
		return ot_err_nomem();
	}
	process->id =
	    (struct vp_batch_process){ .mm = p->mm, .since_ns = p->since_ns, .pid = (uint32_t)p->pid };
	processes->list[processes->count++] = *ret = process;
	return NULL;
}

static struct ot_err *give_up(struct vp_probes *probes, const struct vp_guest_process *p,
			      struct vp_pid_process *process, struct ot_err *err)
{
	struct vp_pid_processes *processes = *vp_probes_processes(probes);
	char text[512];

	snprintf(text, sizeof(text), "process %" PRIu64 ": %s", p->pid, ot_err_message(err));
	ot_err_destroy(err);
	if (!process)
		OT_TRY(remember(processes, p, &process));
	process->given_up = true;
	process->walk = processes->walks;
	for (size_t i = 0; i < process->nobjects; i++)
		if (process->objects[i].pages)
			vp_elf_pages_forget(process->objects[i].pages);
	vp_probes_say(probes, text);
	return NULL;
}

typedef struct ot_err *(*visitor)(void *arg, struct vp_pid_process *process);

/* The process determines the cost of reading it: without a share for each, one process could keep others from
 * getting probes. */
static struct ot_err *visit(struct vp_probes *probes, const struct vp_guest_process *p, visitor each,
			    void *arg)
{
	struct vp_pid_processes *processes = *vp_probes_processes(probes);
	struct vp_pid_process *process = NULL;
	struct vp_budget share;

	vp_budget_share(&share, &vp_readings[VP_READ_PROCESS]);
	struct ot_err *err = find_or_add(processes, p, &process);
	if (process)
		process->walk = processes->walks;
	if (!err && process && !process->given_up) {
		err = each(arg, process);
		if (!err)
			err = vp_budget_check();
	}
	bool over = vp_budget_share_end(&share);
	if (!err || ot_err_code(err) != OT_ERR_LIMIT)
		return err;
	if (over || (process && process->is_greedy))
		return give_up(probes, p, process, err);
	if (!vp_budget_is_over())
		return err;
	ot_err_destroy(err);
	return vp_budget_check(); /* this names the whole list */
}

static struct ot_err *visit_all(struct vp_probes *probes, struct vp_pid_processes *processes, visitor each,
				void *arg)
{
	struct vp_guest_process p = { 0 };
	bool more;

	for (;;) {
		OT_TRY(next_live(processes, &p, &more));
		if (!more)
			return NULL;
		OT_TRY(visit(probes, &p, each, arg));
	}
}

struct ot_err *vp_pid_process_each(struct vp_probes *probes, struct vp_pid_processes **ret_all, visitor each,
				   void *arg)
{
	OT_TRY(vp_pid_processes_open(probes, ret_all));
	(*ret_all)->walks++;
	vp_processes_keep((*ret_all)->ps, true);
	struct ot_err *err = visit_all(probes, *ret_all, each, arg);
	vp_processes_keep((*ret_all)->ps, false);
	if (!err)
		forget_unused(*ret_all);
	return err;
}

static struct ot_err *look_for_new(struct vp_pid_processes *processes, bool *ret)
{
	struct vp_guest_process p = { 0 };
	uint64_t now = ot_now_ns();
	bool more;

	for (;;) {
		OT_TRY(next_live(processes, &p, &more));
		if (!more)
			return NULL;
		struct vp_pid_process *process = known(processes, &p);
		*ret |= !process || check(processes, process, now);
	}
}

struct ot_err *vp_pid_process_any_new(struct vp_probes *probes, bool *ret)
{
	struct vp_pid_processes *processes;

	*ret = false;
	OT_TRY(vp_pid_processes_open(probes, &processes));
	if (!processes->walks)
		return NULL;
	vp_processes_keep(processes->ps, true);
	struct ot_err *err = look_for_new(processes, ret);
	vp_processes_keep(processes->ps, false);
	return err;
}

bool vp_pid_named_news(struct vp_probes *probes)
{
	struct vp_pid_processes *processes = *vp_probes_processes(probes);
	bool news = false;

	for (size_t i = 0; processes && i < processes->count; i++) {
		struct vp_pid_process *p = processes->list[i];

		if (!p->is_named || p->superseded || !vp_guest_process_is(processes->ps, &p->maps.process))
			continue;
		p->is_stale |= !vp_maps_are_current(processes->ps, &p->maps);
		news |= p->is_stale;
	}
	return news;
}
