/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page-table walker and its cache. */
#include "vmm-probe/guest/mmu.h"

#include <string.h>

void vp_mmu_init(struct vp_mmu *mmu, const struct vp_paging *paging, struct vp_gpa root, unsigned int levels)
{
	mmu->paging = paging;
	mmu->root = vp_gpa(root.v & paging->address);
	mmu->levels = levels;
	mmu->epoch = 0;
	memset(mmu->turn, 0, sizeof(mmu->turn));
	memset(mmu->tlb, 0, sizeof(mmu->tlb));
	vp_mmu_flush(mmu);
}

/* Before each read of a running guest, so it does not touch the slots. */
void vp_mmu_flush(struct vp_mmu *mmu)
{
	mmu->epoch++;
	for (size_t level = 0; level < VP_MMU_LEVELS; level++)
		for (size_t i = 0; i < VP_MMU_TABLES; i++)
			mmu->tables[level][i].gpa = 0;
}

/* The result of a walk. */
struct walk {
	bool present;
	struct vp_page page;
};

struct reader {
	const struct vp_phys *phys;
	struct vp_mmu *mmu;
	struct ot_err *err;
};

/* The copy of the table at @gpa, or the one to replace. */
static struct vp_mmu_table *table_slot(struct vp_mmu *mmu, unsigned level, uint64_t gpa)
{
	struct vp_mmu_table *tables = mmu->tables[level - 1];

	for (size_t i = 0; i < VP_MMU_TABLES; i++)
		if (tables[i].gpa == (gpa | 1))
			return &tables[i];
	return &tables[mmu->turn[level - 1]++ % VP_MMU_TABLES];
}

static bool read_entry(void *arg, unsigned level, uint64_t gpa, uint64_t index, uint64_t *ret)
{
	struct reader *r = arg;
	struct vp_mmu_table *table = table_slot(r->mmu, level, gpa);

	if (table->gpa != (gpa | 1)) {
		table->gpa = 0;
		r->err = vp_phys_read(r->phys, vp_gpa(gpa), table->entries, sizeof(table->entries));
		if (r->err)
			return false;
		table->gpa = gpa | 1;
	}
	*ret = table->entries[index];
	return true;
}

/* One walk from the root. Fails only if a table can't be read. */
static struct ot_err *walk_tables(const struct vp_phys *phys, struct vp_mmu *mmu, uint64_t gva,
				  struct walk *ret)
{
	const struct vp_paging *p = mmu->paging;
	struct reader r = { phys, mmu, NULL };

	switch (vp_page_walk(p, mmu->root.v, mmu->levels, gva, p->present, read_entry, &r, &ret->page)) {
	case VP_WALK_PAGE:
		ret->present = true;
		return NULL;
	case VP_WALK_ABSENT:
		ret->present = false;
		return NULL;
	case VP_WALK_UNREADABLE:
		break;
	}
	return r.err ? r.err : ot_err_new(OT_ERR_INTERNAL, "page table of %u levels", mmu->levels);
}

static struct vp_mmu_tlb *tlb_slot(struct vp_mmu *mmu, uint64_t gva)
{
	return &mmu->tlb[(gva >> 12) % VP_MMU_TLB_SIZE];
}

struct ot_err *vp_mmu_translate(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva gva,
				struct vp_gpa *ret_gpa, uint64_t *ret_page_size)
{
	uint64_t page = gva.v & VP_PAGE_MASK;
	struct vp_mmu_tlb *slot = tlb_slot(mmu, gva.v);

	if (slot->epoch != mmu->epoch || slot->page != page) {
		struct walk walk = { 0 };
		struct ot_err *err;

		if (!vp_is_canonical(mmu->paging, mmu->levels, gva.v))
			return ot_err_new(OT_ERR_FAULT, "guest address 0x%llx is not canonical",
					  (unsigned long long)gva.v);
		err = walk_tables(phys, mmu, gva.v, &walk);
		if (err)
			return ot_err_prefix(err, "page table of guest address 0x%llx",
					     (unsigned long long)gva.v);
		if (!walk.present)
			return ot_err_new(OT_ERR_FAULT, "guest address 0x%llx is not mapped",
					  (unsigned long long)gva.v);
		*slot = (struct vp_mmu_tlb){ page, mmu->epoch, walk.page.gpa + (page & (walk.page.size - 1)),
					     walk.page.size };
	}
	*ret_gpa = vp_gpa(slot->gpa + (gva.v & ~VP_PAGE_MASK));
	if (ret_page_size)
		*ret_page_size = slot->size;
	return NULL;
}

bool vp_mmu_is_executable(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva gva)
{
	struct walk walk = { 0 };
	struct ot_err *err = walk_tables(phys, mmu, gva.v, &walk);
	bool executable = !err && walk.present && walk.page.executable;

	ot_err_destroy(err);
	return executable;
}

/* The longest physically contiguous part of @p len bytes at @p gva. */
static struct ot_err *find_run(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva gva, size_t len,
			       struct vp_gpa *ret_gpa, size_t *ret_len)
{
	struct vp_gpa first = { 0 }, gpa = { 0 };
	uint64_t size = 0, run;

	OT_TRY(vp_mmu_translate(phys, mmu, gva, &first, &size));
	run = size - (gva.v & (size - 1));
	while (run < len) {
		struct ot_err *err = vp_mmu_translate(phys, mmu, vp_gva(gva.v + run), &gpa, &size);

		/* A fault after the run is reported when the read reaches it. */
		if (err || gpa.v != first.v + run) {
			ot_err_destroy(err);
			break;
		}
		run += size - ((gva.v + run) & (size - 1));
	}
	*ret_gpa = first;
	*ret_len = run < len ? (size_t)run : len;
	return NULL;
}

struct ot_err *vp_mmu_read(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva gva, void *dst,
			   size_t len)
{
	uint8_t *out = dst;

	if (len && gva.v + (len - 1) < gva.v)
		return ot_err_new(OT_ERR_FAULT, "a read of %zu bytes at guest address 0x%llx wraps", len,
				  (unsigned long long)gva.v);
	while (len) {
		struct vp_gpa gpa = { 0 };
		size_t n = 0;

		OT_TRY(find_run(phys, mmu, gva, len, &gpa, &n));
		OT_TRY(vp_phys_read(phys, gpa, out, n));
		out += n;
		gva.v += n;
		len -= n;
	}
	return NULL;
}

struct ot_err *vp_mmu_next_mapped(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva from,
				  struct vp_gva end, struct vp_gva *ret_start, struct vp_gva *ret_end)
{
	uint64_t at = from.v, start = end.v;

	while (at < end.v) {
		struct walk walk = { 0 };
		uint64_t next;

		OT_TRY(walk_tables(phys, mmu, at, &walk));
		if (walk.present && start == end.v)
			start = at;
		if (!walk.present && start < end.v)
			break;
		next = (at | (walk.page.size - 1)) + 1;
		if (next <= at) /* the top of the address space */
			next = end.v;
		at = next < end.v ? next : end.v;
	}
	if (start >= end.v)
		return ot_err_new(OT_ERR_NOT_FOUND, "nothing is mapped from 0x%llx to 0x%llx",
				  (unsigned long long)from.v, (unsigned long long)end.v);
	*ret_start = vp_gva(start);
	*ret_end = vp_gva(at);
	return NULL;
}
