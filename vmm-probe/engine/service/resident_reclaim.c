/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Giving the room back. A task that was interrupted in a trampoline returns there whenever it runs again, so
 * the room may be reused only if no task is in it. That is so if, while all vCPUs are held, nothing on any
 * kernel stack could be an address there, and no vCPU is.
 *
 * The stacks of interrupts and exceptions are not read: a vCPU is only taken for outside if it is in user
 * mode, or uses the stack of its task, from which the kernel has then not switched to another one.
 */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/engine/hit/walk.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/resident.h"

#define PAGE       4096ull
#define TASKS_MAX  65536u
#define HELD_NS    50000000ull /* vCPUs are not held for longer */
#define TRIES      8u
#define BETWEEN_NS 3000000

struct search {
	struct vp_engine *engine;
	struct vp_engine_session *es;
	uint64_t end_ns;
	uint32_t tasks;
	bool clear;
};

static bool is_in_room(const struct search *s, uint64_t value)
{
	const struct vp_resident_room *room = &s->engine->service->resident.room;

	return value - room->code_gva < room->code_size;
}

static bool load(const struct search *s, uint64_t gva, uint64_t *ret)
{
	return vp_load_kernel(s->es->spare, gva, ret, sizeof(*ret));
}

/* --- stacks ---------------------------------------------------------------------------------------- */

static bool is_page_clear(const struct search *s, uint64_t gva)
{
	const uint64_t *words = (const uint64_t *)(uintptr_t)vp_kernel_host_now(s->es, gva);

	for (uint32_t i = 0; words && i < PAGE / sizeof(*words); i++)
		if (is_in_room(s, __atomic_load_n(&words[i], __ATOMIC_RELAXED)))
			return false;
	return words != NULL;
}

/* A task that is about to be freed has no stack any more. */
static bool is_task_clear(struct search *s, uint64_t task)
{
	uint64_t stack;

	if (++s->tasks > TASKS_MAX || ot_now_ns() > s->end_ns ||
	    !load(s, task + s->es->facts.task_stack, &stack) || stack & (PAGE - 1))
		return false;
	for (uint64_t at = 0; stack && at < s->es->facts.stack_size; at += PAGE)
		if (!is_page_clear(s, stack + at))
			return false;
	return true;
}

/* --- tasks ----------------------------------------------------------------------------------------- */

/* All on a list from @head on; their struct list_head is @offset bytes in each. */
static bool each_on_list(struct search *s, uint64_t head, uint32_t offset,
			 bool (*is_clear)(struct search *s, uint64_t task))
{
	uint64_t node;

	for (bool ok = load(s, head, &node);; ok = load(s, node, &node)) {
		if (!ok)
			return false;
		if (node == head)
			return true;
		if (!is_clear(s, node - offset))
			return false;
	}
}

static bool are_threads_clear(struct search *s, uint64_t leader)
{
	const struct vp_resident_facts *f = &s->es->facts.resident;
	uint64_t signal;

	return load(s, leader + f->signal, &signal) &&
	       each_on_list(s, signal + f->thread_head, f->thread_node, is_task_clear);
}

/* --- vCPUs ----------------------------------------------------------------------------------------- */

static bool is_vcpu_clear(struct search *s, uint32_t vcpu, const struct vp_regs *regs)
{
	const struct vp_facts *f = &s->es->facts;
	uint64_t task, stack;

	if (is_in_room(s, regs->v[VP_REG_PC]) || !load(s, f->percpu_base[vcpu] + f->current_task, &task) ||
	    !load(s, task + f->task_stack, &stack))
		return false;
	if (!vp_mode_is_user(regs->v[VP_REG_MODE]) && regs->v[VP_REG_SP] - stack >= f->stack_size)
		return false;
	return is_task_clear(s, task); /* an idle one is on no list */
}

static bool are_vcpus_clear(struct search *s)
{
	static struct vp_regs regs[VP_VCPUS_MAX]; /* the service thread's */
	const struct vp_engine *e = s->engine;
	uint32_t n = e->ops->nvcpus(e->backend);

	if (n > VP_VCPUS_MAX || e->ops->resident->regs(e->backend, regs, VP_VCPUS_MAX) != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!is_vcpu_clear(s, i, &regs[i]))
			return false;
	return true;
}

/* All vCPUs are held. */
static void search(void *arg)
{
	struct search *s = arg;
	const struct vp_resident_facts *f = &s->es->facts.resident;

	s->end_ns = ot_now_ns() + HELD_NS;
	s->tasks = 0;
	s->clear = are_vcpus_clear(s) && are_threads_clear(s, f->init_task) &&
		   each_on_list(s, f->init_task + f->tasks, f->tasks, are_threads_clear);
}

/* --- when ------------------------------------------------------------------------------------------ */

/* Nothing leads there, and nothing is counted there any more. */
static bool is_unused(const struct vp_service *service)
{
	const struct vp_plan *plan = service->plan; /* in force */

	for (uint32_t i = 0; plan && i < plan->nsites; i++)
		if (plan->sites[i].jump)
			return false;
	for (uint32_t i = 0; i < service->nsessions; i++)
		if (service->sessions[i]->service->resident.words ||
		    service->sessions[i]->service->resident.tables)
			return false;
	return true;
}

static bool is_half_full(const struct vp_resident *r)
{
	return vp_resident_code_left(r) < r->room.code_size / 2 || r->data_used > r->room.data_size / 2;
}

static bool can_search(const struct vp_engine_session *es)
{
	const struct vp_facts *f = &es->facts;

	return f->resident.tasks != VP_NO_OFFSET && f->task_stack != VP_NO_OFFSET && f->stack_size &&
	       f->stack_size <= 1u << 20 && es->engine->ops->exclusive && es->engine->ops->resident->regs;
}

void vp_resident_reclaim(struct vp_engine_session *es)
{
	struct vp_engine *engine = es->engine;
	struct vp_resident *r = &engine->service->resident;
	struct search s = { .engine = engine, .es = es };

	/* The tasks of a kernel that ran before are gone with it. */
	if (!r->room.code || !is_half_full(r) || !is_unused(engine->service) || !can_search(es))
		return;
	for (uint32_t i = 0; i < TRIES && !s.clear; i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = BETWEEN_NS }, NULL);
		if (!engine->ops->exclusive(engine->backend, search, &s))
			return;
	}
	if (!s.clear)
		return; /* the room that is left will do, or the next session tries again */
	r->nsites = 0;  /* of a plan that could not be installed */
	r->code_used = r->keys_used = 0;
	r->data_used = VP_RESIDENT_FIRST;
}
