/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that has just begun has touched few of its pages: the others are in the guest's memory, and the
 * kernel puts them into the page table at the first access. A system call's entry is often before that. This
 * finds them the way the kernel will, by loads alone:
 *
 *   page table: no entry ── task ── mm ── mapping ── file ── its page in the page cache
 *
 * All of it is guest memory that changes meanwhile, so it is looked up twice, before the copy and after it
 * (docs/design/011-user-space.md).
 */
#include "vmm-probe/engine/hit/untouched.h"
#include "base/guarded.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/kernel_trees.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

#define PAGE_SIZE (1ull << vp_native_paging.page_shift)

/* vm_area_struct.vm_flags (include/linux/mm.h): macros, so that neither types nor symbols have them. */
#define VM_READ    0x00000001ull
#define VM_DRIVERS 0x10004400ull /* VM_PFNMAP, VM_IO, VM_MIXEDMAP: a driver decides what is mapped there */
#define VM_HUGETLB 0x00400000ull /* its file's pages are counted in large ones */

#define FOLIO_PAGES_MAX (1u << 18) /* 1 GiB, the largest page there is */

/* A page's address, and all data on the path to it: two of these are compared as bytes. */
struct place {
	uint64_t vma, file, mapping, index; /* the last one: index of the page in its file */
	/* the struct folio that contains it, and the index of the folio's start in the file */
	uint64_t folio, first;
	const uint8_t *host; /* NULL: zeros */
};

/* --- the page table ---------------------------------------------------------------------------------- */

/* The result of a walk, and the entry at which it ended. */
struct walk {
	const struct vp_vcpu_session *v;
	uint64_t last;
};

static bool read_entry(void *arg, unsigned level, uint64_t table, uint64_t index, uint64_t *ret)
{
	struct walk *w = arg;
	const uint8_t *at = vp_ram(w->v, table + index * sizeof(*ret), sizeof(*ret));

	(void)level;
	if (!at || !ot_guarded_read(ret, at, sizeof(*ret)))
		return false;
	w->last = *ret;
	return true;
}

/* Is the page table's entry empty, without even a mark? */
static bool is_untouched(const struct vp_vcpu_session *v, uint64_t root, uint64_t gva)
{
	const struct vp_paging *p = &vp_native_paging;
	struct walk w = { .v = v };
	struct vp_page page;

	return vp_page_walk(p, root, v->es->facts.levels, gva, p->present | p->user, read_entry, &w, &page) ==
		   VP_WALK_ABSENT &&
	       !w.last;
}

/* --- the mapping ------------------------------------------------------------------------------------- */

static bool has_table(struct vp_vcpu_session *v, uint64_t mm, uint64_t root)
{
	const uint8_t *table = vp_ram(v, root, PAGE_SIZE);
	uint64_t pgd;

	return table && vp_load_u64(v, mm + v->es->facts.mappings.mm_pgd, &pgd) &&
	       vp_kernel_host_now(v->es, pgd) == (uint64_t)(uintptr_t)table;
}

/* The memory of the running task, if the page table belongs to it. */
static bool find_mm(struct vp_vcpu_session *v, uint64_t root, uint64_t *ret)
{
	enum dif_fault fault = DIF_FAULT_NONE;

	*ret = vp_task_field(v, vp_task(v), v->es->facts.task_mm, 8, &fault);
	return *ret && has_table(v, *ret, root);
}

bool vp_runs_mm(struct vp_vcpu_session *v, uint64_t mm)
{
	return has_table(v, mm, vp_reg(v, VP_REG_ROOT) & v->es->facts.user_pgd_mask);
}

bool vp_find_vma(struct vp_vcpu_session *v, uint64_t mm, uint64_t gva, uint64_t *ret)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;

	if (f->mm_tree != VP_NO_OFFSET)
		return vp_maple_find(v, mm + f->mm_tree, gva, ret);
	return vp_rb_find_vma(v, mm + f->mm_rb, gva, ret);
}

/* A page that a process supplies by userfaultfd(2) is not known before it does. */
static bool is_supplied(struct vp_vcpu_session *v, uint64_t vma)
{
	uint32_t offset = v->es->facts.mappings.vma_uffd;
	uint64_t ctx = 0;

	return offset != VP_NO_OFFSET && (!vp_load_u64(v, vma + offset, &ctx) || ctx);
}

/* May the process read at @gva, and does it have no page of its own in that mapping? While the kernel moves
 * such a page, or merges several into a large one, the page table is empty there for a moment. A mapping gets
 * its anon_vma before its first own page, and keeps it. */
static bool read_vma(struct vp_vcpu_session *v, uint64_t gva, struct place *p)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;
	uint64_t start, end, flags, pgoff, ops, anon;

	if (!vp_load_u64(v, p->vma + f->vma_start, &start) || !vp_load_u64(v, p->vma + f->vma_end, &end) ||
	    !vp_load_u64(v, p->vma + f->vma_flags, &flags) ||
	    !vp_load_u64(v, p->vma + f->vma_pgoff, &pgoff) ||
	    !vp_load_u64(v, p->vma + f->vma_file, &p->file) || !vp_load_u64(v, p->vma + f->vma_ops, &ops) ||
	    !vp_load_u64(v, p->vma + f->vma_anon, &anon))
		return false;
	p->index = pgoff + (gva - start) / PAGE_SIZE;
	/* Mappings of the kernel itself have operations, and no file. */
	return gva >= start && gva < end && flags & VM_READ && !(flags & (VM_DRIVERS | VM_HUGETLB)) &&
	       !anon && (p->file || !ops) && !is_supplied(v, p->vma);
}

/* --- the file ---------------------------------------------------------------------------------------- */

/* The folio must belong to this file, and be up to date. */
static bool read_folio(struct vp_vcpu_session *v, struct place *p)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;
	uint64_t flags, mapping;

	return vp_load_u64(v, p->folio + f->folio_flags, &flags) &&
	       vp_load_u64(v, p->folio + f->folio_mapping, &mapping) &&
	       vp_load_u64(v, p->folio + f->folio_index, &p->first) && mapping == p->mapping &&
	       flags >> f->folio_uptodate & 1;
}

/* The page's memory, by the folio's place in the kernel's table of pages. */
static bool locate(const struct vp_vcpu_session *v, struct place *p)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;
	uint64_t from = p->folio - f->vmemmap, nth = p->index - p->first;

	if (p->folio < f->vmemmap || from % f->page_size || p->index < p->first || nth >= FOLIO_PAGES_MAX)
		return false;
	p->host = vp_ram(v, (from / f->page_size + nth) * PAGE_SIZE, PAGE_SIZE);
	return p->host != NULL;
}

static bool find_page(struct vp_vcpu_session *v, struct place *p)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;
	uint64_t folio;

	if (!vp_load_u64(v, p->file + f->file_mapping, &p->mapping) ||
	    !vp_xarray_find(v, p->mapping + f->mapping_pages, p->index, &folio))
		return false;
	p->folio = folio;
	return read_folio(v, p) && locate(v, p);
}

/* --- together ---------------------------------------------------------------------------------------- */

static bool find(struct vp_vcpu_session *v, uint64_t root, uint64_t gva, struct place *ret)
{
	uint64_t mm;

	*ret = (struct place){ 0 };
	return is_untouched(v, root, gva) && find_mm(v, root, &mm) && vp_find_vma(v, mm, gva, &ret->vma) &&
	       read_vma(v, gva, ret) && (!ret->file || find_page(v, ret));
}

enum vp_untouched vp_load_untouched(struct vp_vcpu_session *v, uint64_t root, uint64_t gva, void *dst,
				    uint64_t len)
{
	struct place before, after;

	root &= vp_native_paging.address;
	if (!v->es->facts.mappings.vmemmap)
		return VP_UNTOUCHED_NONE;
	/* A folio that does not, or no longer, belong to the file is being moved or freed. */
	if (!find(v, root, gva, &before))
		return before.folio ? VP_UNTOUCHED_CHANGED : VP_UNTOUCHED_NONE;
	if (!before.host)
		memset(dst, 0, len);
	else if (!ot_guarded_read(dst, before.host + gva % PAGE_SIZE, len))
		return VP_UNTOUCHED_NONE;
	return find(v, root, gva, &after) && !memcmp(&before, &after, sizeof(before)) ? VP_UNTOUCHED_READ
										      : VP_UNTOUCHED_CHANGED;
}
