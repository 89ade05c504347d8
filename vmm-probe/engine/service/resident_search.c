/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks and vCPUs that may be in the room of resident probes. Lists and stacks are the guest's, and so
 * hostile: time and the number of tasks are bounded. */
#include "base/clock.h"
#include "base/guarded.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/engine/room.h"

#define PAGE      4096ull
#define TASKS_MAX 65536u
#define STACK_MAX (1u << 20)
#define HELD_NS   50000000ull /* vCPUs are not held for longer */

/* --- memory ---------------------------------------------------------------------------------------- */

static const uint8_t *ram(const struct vp_room_search *s, uint64_t gpa, uint64_t need)
{
	uint64_t len = 0;
	const uint8_t *host = s->gpa_to_host(s->backend, gpa, &len);

	return host && len >= need ? host : NULL;
}

static bool read_entry(void *arg, unsigned level, uint64_t table, uint64_t index, uint64_t *ret)
{
	const uint8_t *at = ram(arg, table + index * sizeof(*ret), sizeof(*ret));

	(void)level;
	return at && ot_guarded_load64(at, ret);
}

/* The page of @gva by the kernel's page table; NULL: it is not mapped, or no RAM. */
static const uint8_t *page_of(struct vp_room_search *s, uint64_t gva)
{
	const struct vp_paging *p = &vp_native_paging;
	const struct vp_facts *f = s->facts;
	struct vp_page found;

	if (!f->kernel_root || !vp_is_in_half(p, f->levels, gva, 1, true) ||
	    vp_page_walk(p, f->kernel_root, f->levels, gva, p->present, read_entry, s, &found) !=
		VP_WALK_PAGE)
		return NULL;
	return ram(s, found.gpa | (gva & (found.size - 1) & ~(PAGE - 1)), PAGE);
}

/* Every word that is loaded is an aligned one. */
static bool load(struct vp_room_search *s, uint64_t gva, uint64_t *ret)
{
	const uint8_t *page = gva & 7 ? NULL : page_of(s, gva);

	return page && ot_guarded_load64(page + gva % PAGE, ret);
}

static bool is_in_room(const struct vp_room_search *s, uint64_t value)
{
	return value - s->from < s->size;
}

/* --- stacks ---------------------------------------------------------------------------------------- */

static bool is_page_clear(struct vp_room_search *s, uint64_t gva)
{
	const uint8_t *page = page_of(s, gva);
	uint64_t words[64];

	for (uint32_t at = 0; page && at < PAGE; at += sizeof(words)) {
		if (!ot_guarded_read(words, page + at, sizeof(words)))
			return false;
		for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (is_in_room(s, words[i]))
				return false;
	}
	return page != NULL;
}

/* A task that is about to be freed has no stack any more. */
static bool is_stack_clear(struct vp_room_search *s, uint64_t task)
{
	uint64_t stack;

	if (!load(s, task + s->facts->task_stack, &stack) || stack & (PAGE - 1))
		return false;
	for (uint64_t at = 0; stack && at < s->facts->stack_size; at += PAGE)
		if (!is_page_clear(s, stack + at))
			return false;
	return true;
}

static bool is_task_clear(struct vp_room_search *s, uint64_t task)
{
	return ++s->tasks <= TASKS_MAX && ot_now_ns() <= s->end_ns && is_stack_clear(s, task);
}

/* --- tasks ----------------------------------------------------------------------------------------- */

/* All on a list from @head on; their struct list_head is @offset bytes in each. */
static bool each_on_list(struct vp_room_search *s, uint64_t head, uint32_t offset,
			 bool (*is_clear)(struct vp_room_search *s, uint64_t task))
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

static bool are_threads_clear(struct vp_room_search *s, uint64_t leader)
{
	const struct vp_resident_facts *f = &s->facts->resident;
	uint64_t signal;

	return load(s, leader + f->signal, &signal) &&
	       each_on_list(s, signal + f->thread_head, f->thread_node, is_task_clear);
}

/* --- the questions --------------------------------------------------------------------------------- */

bool vp_room_can_search(const struct vp_facts *f)
{
	return f->resident.tasks != VP_NO_OFFSET && f->task_stack != VP_NO_OFFSET && f->stack_size &&
	       f->stack_size <= STACK_MAX;
}

bool vp_room_vcpu_is_out(struct vp_room_search *s, uint32_t vcpu, const struct vp_regs *regs)
{
	const struct vp_facts *f = s->facts;
	uint64_t task, stack;

	if (!vp_room_can_search(f) || is_in_room(s, regs->v[VP_REG_PC]) ||
	    !load(s, f->percpu_base[vcpu] + f->current_task, &task) || !load(s, task + f->task_stack, &stack))
		return false;
	if (!vp_mode_is_user(regs->v[VP_REG_MODE]) && regs->v[VP_REG_SP] - stack >= f->stack_size)
		return false;
	return is_stack_clear(s, task); /* an idle one is on no list */
}

bool vp_room_is_empty(struct vp_room_search *s, const struct vp_regs *regs, uint32_t n)
{
	const struct vp_resident_facts *f = &s->facts->resident;

	s->end_ns = ot_now_ns() + HELD_NS;
	s->tasks = 0;
	for (uint32_t i = 0; i < n; i++)
		if (ot_now_ns() > s->end_ns || !vp_room_vcpu_is_out(s, i, &regs[i]))
			return false;
	return are_threads_clear(s, f->init_task) &&
	       each_on_list(s, f->init_task + f->tasks, f->tasks, are_threads_clear);
}
