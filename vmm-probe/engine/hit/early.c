/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raising semaphores on the vCPU of a process that maps their file. Hit path. */
#include "vmm-probe/engine/hit/early.h"

#include "base/guarded.h"
#include "base/search.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/untouched.h"
#include "vmm-probe/engine/hit/walk.h"

#define PAGE_SIZE (1ull << vp_native_paging.page_shift)
#define IN_PAGE   2048u /* semaphores at most */
#define CHANGING  1u    /* a note that another vCPU is just changing */
#define TRIES     16u

/* vm_area_struct.vm_flags (include/linux/mm.h) */
#define VM_WRITE     0x2u
#define VM_SHARED    0x8u
/* page.mapping, page.compound_head: see service/family.c */
#define MAPPING_KIND 3u
#define MAPPING_ANON 1u
#define IS_TAIL      1u

/* A mapping, as far as it matters here. */
struct mapping {
	uint64_t start, end, flags, at, file, anon; /* at, file: where it begins in which file */
};

static bool read_mapping(struct vp_vcpu_session *v, uint64_t vma, struct mapping *ret)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;
	uint64_t file;

	if (!vp_load_u64(v, vma + f->vma_file, &file) || !file ||
	    !vp_load_u64(v, vma + f->vma_flags, &ret->flags) ||
	    (ret->flags & (VM_WRITE | VM_SHARED)) != VM_WRITE ||
	    !vp_load_u64(v, vma + f->vma_start, &ret->start) ||
	    !vp_load_u64(v, vma + f->vma_end, &ret->end) || !vp_load_u64(v, vma + f->vma_pgoff, &ret->at) ||
	    !vp_load_u64(v, vma + f->vma_anon, &ret->anon))
		return false;
	ret->at *= PAGE_SIZE;
	return ret->start < ret->end && vp_load_u64(v, file + f->file_mapping, &ret->file);
}

static bool read_process(struct vp_vcpu_session *v, struct vp_batch_process *ret)
{
	const struct vp_facts *f = &v->es->facts;
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t task = vp_task(v), leader = vp_task_field(v, task, f->task_group_leader, 8, &fault);

	*ret = (struct vp_batch_process){ .mm = vp_task_field(v, task, f->task_mm, 8, &fault),
					  .since_ns = vp_task_field(v, leader, f->task_start_time, 8, &fault),
					  .pid = (uint32_t)vp_task_field(v, task, f->task_tgid, 4, &fault) };
	return ret->mm > CHANGING && fault == DIF_FAULT_NONE;
}

/* --- the semaphores of a file --------------------------------------------------------------------------- */

/* The plan's sites in @file; *ret_n of them. */
static const struct vp_site *sites_in(const struct vp_plan *plan, uint64_t file, uint32_t *ret_n)
{
	const struct vp_site *users = plan->sites + plan->nsites;
	size_t first = OT_COUNT_BEFORE(plan->nusers, i, users[i].file < file), end = first;

	while (end < plan->nusers && users[end].file == file)
		end++;
	*ret_n = (uint32_t)(end - first);
	return users + first;
}

/* Which of the numbers in the page at @at of the file are semaphores. A session that leaves them alone has
 * sent none. */
static void find_in_page(const struct vp_plan *plan, uint64_t file, uint64_t at, uint64_t ret[IN_PAGE / 64])
{
	uint32_t n;
	const struct vp_site *sites = sites_in(plan, file, &n);

	memset(ret, 0, IN_PAGE / 8);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < sites[i].necbs; k++) {
			uint64_t semaphore = sites[i].enabled[k]->semaphore, nth = (semaphore - at) / 2;

			if (semaphore && nth < IN_PAGE)
				ret[nth / 64] |= 1ull << nth % 64;
		}
}

/* --- notes ---------------------------------------------------------------------------------------------- */

static uint64_t owner_of(const struct vp_early_page *page)
{
	return __atomic_load_n(&page->owner, __ATOMIC_ACQUIRE);
}

static bool claim(struct vp_early_page *page, uint64_t owner)
{
	return owner != CHANGING && __atomic_compare_exchange_n(&page->owner, &owner, CHANGING, false,
								__ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool is_of(const struct vp_early_page *page, const struct vp_batch_process *p)
{
	return page->pid == p->pid && page->since_ns == p->since_ns;
}

/* A free note, an older one of the same page, or another's. */
static struct vp_early_page *choose(struct vp_early *early, const struct vp_batch_process *p, uint64_t gva)
{
	struct vp_early_page *ret = NULL;

	for (uint32_t i = 0; i < VP_EARLY_PAGES; i++) {
		struct vp_early_page *page = &early->pages[i];
		uint64_t owner = owner_of(page);

		if (owner == p->mm && page->gva == gva)
			return page;
		if (!owner && !ret)
			ret = page;
	}
	if (ret)
		return ret;
	return &early->pages[__atomic_fetch_add(&early->turn, 1, __ATOMIC_RELAXED) % VP_EARLY_PAGES];
}

static void note(struct vp_early *early, const struct vp_batch_process *p, uint64_t gva, uint64_t file,
		 uint64_t at)
{
	struct vp_early_page *page = choose(early, p, gva);

	if (!claim(page, owner_of(page)))
		return;
	page->since_ns = p->since_ns;
	page->pid = p->pid;
	page->gva = gva;
	page->file = file;
	page->at = at;
	__atomic_store_n(&page->owner, p->mm, __ATOMIC_RELEASE);
}

/* A mapping that has had a private page has its anon_vma, and may have been raised in before. */
static void note_pages(struct vp_vcpu_session *v, const struct vp_plan *plan,
		       const struct vp_batch_process *p, uint64_t vma)
{
	struct mapping m;
	uint64_t last = 0;
	uint32_t n;

	if (!read_mapping(v, vma, &m) || m.anon)
		return;
	const struct vp_site *sites = sites_in(plan, m.file, &n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < sites[i].necbs; k++) {
			uint64_t semaphore = sites[i].enabled[k]->semaphore;
			uint64_t at = semaphore & ~(PAGE_SIZE - 1), gva = m.start + (at - m.at);

			if (!semaphore || at < m.at || at - m.at >= m.end - m.start || gva == last)
				continue;
			note(v->es->engine->early, p, gva, m.file, at);
			last = gva;
		}
}

/* --- raising -------------------------------------------------------------------------------------------- */

/* Is it still the file's page that is meant at @page->gva, in a private mapping? */
static bool is_mapped(struct vp_vcpu_session *v, const struct vp_batch_process *p,
		      const struct vp_early_page *page)
{
	struct mapping m;
	uint64_t vma;

	return vp_find_vma(v, p->mm, page->gva, &vma) && read_mapping(v, vma, &m) && m.file == page->file &&
	       page->gva >= m.start && page->gva < m.end && m.at + (page->gva - m.start) == page->at;
}

/* The page, if it is the process's own and no file's. */
static uint8_t *find_private(struct vp_vcpu_session *v, uint64_t gva)
{
	const struct vp_family_facts *f = &v->es->facts.families;
	uint64_t gpa, page, mapping, head;

	if (!vp_user_gpa(v, gva, &gpa))
		return NULL;
	page = f->vmemmap + gpa / PAGE_SIZE * f->page_size;
	if (!vp_load_u64(v, page + f->page_mapping, &mapping) ||
	    !vp_load_u64(v, page + f->page_head, &head) || (mapping & MAPPING_KIND) != MAPPING_ANON ||
	    head & IS_TAIL)
		return NULL;
	return (uint8_t *)(uintptr_t)vp_ram(v, gpa, PAGE_SIZE);
}

/* False: there is no room. */
static bool record(struct vp_early *early, const struct vp_early_record *r)
{
	uint64_t n = __atomic_load_n(&early->given, __ATOMIC_RELAXED);
	struct vp_early_record *to;

	do {
		if (n - __atomic_load_n(&early->taken, __ATOMIC_ACQUIRE) >= VP_EARLY_RECORDS)
			return false;
	} while (!__atomic_compare_exchange_n(&early->given, &n, n + 1, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	to = &early->records[n % VP_EARLY_RECORDS];
	to->process = r->process;
	to->gva = r->gva;
	to->exe = r->exe;
	to->file = r->file;
	to->at = r->at;
	__atomic_store_n(&to->ready, n + 1, __ATOMIC_RELEASE);
	return true;
}

/* Another tracer, in the guest, may change it on another vCPU. */
static void add_one(uint8_t *page, uint64_t offset)
{
	uint8_t *word = page + (offset & ~7ull);
	unsigned shift = (unsigned)(offset % 8 * 8);
	uint64_t old;

	for (unsigned i = 0; i < TRIES && ot_guarded_read(&old, word, sizeof(old)); i++)
		if ((uint16_t)(old >> shift) == UINT16_MAX ||
		    ot_guarded_exchange(word, old, old + (1ull << shift)))
			return;
}

/* The note is the caller's, who has claimed it. True: it is done with. */
static bool raise(struct vp_vcpu_session *v, const struct vp_plan *plan, const struct vp_batch_process *p,
		  const struct vp_early_page *page)
{
	struct vp_early *early = v->es->engine->early;
	struct vp_early_record r = { .process = *p, .file = page->file };
	uint64_t semaphores[IN_PAGE / 64];
	uint8_t *host;

	if (!is_of(page, p) || !is_mapped(v, p, page))
		return true;
	host = find_private(v, page->gva);
	if (!host)
		return false;
	if (!vp_load_u64(v, p->mm + v->es->facts.families.mm_exe_file, &r.exe) || !r.exe)
		return true;
	find_in_page(plan, page->file, page->at, semaphores);
	for (uint64_t i = 0; i < IN_PAGE; i++) {
		if (!(semaphores[i / 64] >> i % 64 & 1))
			continue;
		r.gva = page->gva + 2 * i;
		r.at = page->at + 2 * i;
		if (!record(early, &r))
			break;
		add_one(host, 2 * i);
	}
	return true;
}

static void raise_noted(struct vp_vcpu_session *v, const struct vp_plan *plan,
			const struct vp_batch_process *p)
{
	struct vp_early *early = v->es->engine->early;

	for (uint32_t i = 0; i < VP_EARLY_PAGES; i++) {
		struct vp_early_page *page = &early->pages[i];

		if (owner_of(page) != p->mm || !claim(page, p->mm))
			continue;
		uint64_t owner = raise(v, plan, p, page) ? 0 : p->mm;
		__atomic_store_n(&page->owner, owner, __ATOMIC_RELEASE);
	}
}

void vp_early_mapped(struct vp_vcpu_session *v, const struct vp_plan *plan, uint64_t vma)
{
	const struct vp_facts *f = &v->es->facts;
	const struct vp_early *early = v->es->engine->early;
	struct vp_batch_process process;

	if (!early || !f->mappings.vmemmap || !f->families.init_task ||
	    __atomic_load_n(&early->full, __ATOMIC_RELAXED) || !read_process(v, &process) ||
	    !vp_runs_mm(v, process.mm))
		return;
	raise_noted(v, plan, &process);
	note_pages(v, plan, &process, vma);
}
