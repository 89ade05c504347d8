/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the processes of a family and their pages in the guest's list of all processes. */
#include "vmm-probe/engine/service/family.h"

#include "base/guarded.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/service/service.h"

#define PAGE_SIZE     (1ull << vp_native_paging.page_shift)
#define PROCESSES_MAX (4u << 20) /* PID_MAX_LIMIT, include/linux/threads.h */

/* page.mapping, include/linux/page-flags.h: of the two lowest bits only the first is set in a page that is
 * anonymous, and not shared by ksmd. page.compound_head (compound_info): the lowest is set in all pages of a
 * group but the first, whose other words mean something else. */
#define MAPPING_KIND 3u
#define MAPPING_ANON 1u
#define IS_TAIL      1u

/* --- guest memory ------------------------------------------------------------------------------------- */

static uint8_t *ram(const struct vp_reach *r, uint64_t gpa, uint64_t need)
{
	uint64_t len = 0;
	uint8_t *host = r->engine->ops->gpa_to_host(r->engine->backend, gpa, &len);

	return host && len >= need ? host : NULL;
}

/* A walk, and the entry at which it ended. */
struct walk {
	const struct vp_reach *r;
	uint64_t last;
};

static bool read_entry(void *arg, unsigned level, uint64_t table, uint64_t index, uint64_t *ret)
{
	struct walk *w = arg;
	const uint8_t *at = ram(w->r, table + index * sizeof(*ret), sizeof(*ret));

	(void)level;
	if (!at || !ot_guarded_read(ret, at, sizeof(*ret)))
		return false;
	w->last = *ret;
	return true;
}

static bool find_kernel_page(const struct vp_reach *r, uint64_t gva, struct vp_page *ret)
{
	const struct vp_paging *p = &vp_native_paging;
	struct walk w = { .r = r };

	return vp_is_in_half(p, r->levels, gva, 8, true) &&
	       vp_page_walk(p, r->root, r->levels, gva, p->present, read_entry, &w, ret) == VP_WALK_PAGE;
}

/* A word of the kernel's, which lies in one page. */
static bool load(const struct vp_reach *r, uint64_t gva, void *ret, size_t size)
{
	struct vp_page page;

	if (gva % size || !find_kernel_page(r, gva, &page))
		return false;
	const uint8_t *host = ram(r, page.gpa + (gva & (page.size - 1)), size);
	return host && ot_guarded_read(ret, host, size);
}

static bool load_u64(const struct vp_reach *r, uint64_t gva, uint64_t *ret)
{
	return load(r, gva, ret, sizeof(*ret));
}

/* --- processes ---------------------------------------------------------------------------------------- */

/* Go to the next process of the list; false: that was the last one, or the list can't be read. */
static bool next_process(const struct vp_reach *r, uint64_t *task)
{
	uint64_t next;

	if (!load_u64(r, *task + r->at.task_tasks, &next))
		return false;
	*task = next - r->at.task_tasks;
	return *task != r->at.init_task;
}

static bool read_family(const struct vp_reach *r, uint64_t mm, struct vp_family *ret)
{
	return load_u64(r, mm + r->at.mm_exe_file, &ret->file) &&
	       load_u64(r, mm + r->at.mm_start_stack, &ret->stack) && ret->file;
}

static bool is_process(const struct vp_reach *r, uint64_t task, const struct vp_batch_process *process)
{
	uint64_t since, mm;
	uint32_t pid;

	return load(r, task + r->task_tgid, &pid, sizeof(pid)) && pid == process->pid &&
	       load_u64(r, task + r->task_start_time, &since) && since == process->since_ns &&
	       load_u64(r, task + r->task_mm, &mm) && mm == process->mm;
}

bool vp_family_find(const struct vp_reach *r, const struct vp_batch_process *process, struct vp_family *ret)
{
	uint64_t task = r->at.init_task;

	for (uint32_t i = 0; i < PROCESSES_MAX && next_process(r, &task); i++)
		if (is_process(r, task, process))
			return read_family(r, process->mm, ret);
	return false;
}

bool vp_family_of(const struct vp_reach *r, uint64_t file, struct vp_family *ret)
{
	uint64_t task = r->at.init_task, mm;

	for (uint32_t i = 0; i < PROCESSES_MAX && next_process(r, &task); i++)
		if (load_u64(r, task + r->task_mm, &mm) && mm && read_family(r, mm, ret) && ret->file == file)
			return true;
	return false;
}

uint32_t vp_family_files(const struct vp_reach *r, uint64_t *ret, uint32_t max)
{
	uint64_t task = r->at.init_task, mm;
	struct vp_family family;
	uint32_t n = 0;

	for (uint32_t i = 0; i < PROCESSES_MAX && next_process(r, &task); i++) {
		if (!load_u64(r, task + r->task_mm, &mm) || !mm || !read_family(r, mm, &family))
			continue;
		if (n == max)
			return n + 1;
		ret[n++] = family.file;
	}
	return n;
}

/* The memory of @task, if it belongs to the family. */
static bool read_member(const struct vp_reach *r, uint64_t task, const struct vp_family *family,
			struct vp_member *ret)
{
	struct vp_family of;
	struct vp_page page;
	uint64_t pgd;

	if (!load_u64(r, task + r->task_mm, &ret->mm) || !ret->mm || !read_family(r, ret->mm, &of) ||
	    of.file != family->file || of.stack != family->stack ||
	    !load_u64(r, ret->mm + r->at.mm_pgd, &pgd) || !find_kernel_page(r, pgd, &page))
		return false;
	ret->root = page.gpa + (pgd & (page.size - 1));
	return true;
}

/* vfork(), and clone() with CLONE_VM. */
static bool is_known(const struct vp_member *list, uint32_t n, uint64_t mm)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].mm == mm)
			return true;
	return false;
}

uint32_t vp_family_members(const struct vp_reach *r, const struct vp_family *family,
			   struct vp_member ret[VP_FAMILY_MAX])
{
	uint64_t task = r->at.init_task;
	struct vp_member m;
	uint32_t n = 0;

	for (uint32_t i = 0; i < PROCESSES_MAX && next_process(r, &task); i++) {
		if (!read_member(r, task, family, &m) || is_known(ret, n, m.mm))
			continue;
		if (n == VP_FAMILY_MAX)
			return n + 1;
		ret[n++] = m;
	}
	return n;
}

/* --- pages -------------------------------------------------------------------------------------------- */

/* Does the page at @gpa belong to no file and no group of pages? A private mapping's copies are single
 * pages. */
static bool is_anonymous(const struct vp_reach *r, uint64_t gpa)
{
	uint64_t page = r->at.vmemmap + gpa / PAGE_SIZE * r->at.page_size, mapping, head;

	return load_u64(r, page + r->at.page_mapping, &mapping) &&
	       load_u64(r, page + r->at.page_head, &head) && (mapping & MAPPING_KIND) == MAPPING_ANON &&
	       !(head & IS_TAIL);
}

enum vp_private_page vp_member_page(const struct vp_reach *r, const struct vp_member *m, uint64_t gva,
				    uint8_t **ret)
{
	const struct vp_paging *p = &vp_native_paging;
	struct walk w = { .r = r };
	struct vp_page page;
	enum vp_walk how =
	    vp_page_walk(p, m->root, r->levels, gva, p->present | p->user, read_entry, &w, &page);

	if (how == VP_WALK_ABSENT && page.size == PAGE_SIZE && w.last)
		return VP_PAGE_AWAY;
	if (how != VP_WALK_PAGE || page.size != PAGE_SIZE || !is_anonymous(r, page.gpa))
		return VP_PAGE_NONE;
	*ret = ram(r, page.gpa + gva % PAGE_SIZE, 2);
	return *ret ? VP_PAGE_PRIVATE : VP_PAGE_NONE;
}
