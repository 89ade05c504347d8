/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading mappings, from whichever structure the kernel has; the list of older ones. */
#include "vmm-probe/guest/process/vmas.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/vmas_internal.h"

#define CHECK_VMAS 256u

void vp_vmas_deinit(struct vp_vmas *vmas)
{
	free(vmas->items);
	memset(vmas, 0, sizeof(*vmas));
}

static struct ot_err *read_vma(struct vp_processes *ps, struct vp_near *near, uint64_t at, struct vp_vma *ret)
{
	const struct vp_process_layout *l = &ps->l;
	uint64_t page;
	const struct vp_member members[] = {
		VP_MEMBER(l->vma_start, &ret->start), VP_MEMBER(l->vma_end, &ret->end),
		VP_MEMBER(l->vma_flags, &ret->flags), VP_MEMBER(l->vma_pgoff, &page),
		VP_MEMBER(l->vma_file, &ret->file),
	};

	OT_TRY(vp_near_members(ps, near, at, members, OT_ARRAY_SIZE(members)));
	/* The offset of a mapping without a file has no meaning for its readers. */
	ret->offset = ret->file ? page * VP_PAGE_SIZE : 0;
	return NULL;
}

struct ot_err *vp_vma_add(struct vp_processes *ps, uint64_t at, struct vp_vmas *vmas)
{
	uint64_t behind = vmas->count ? vmas->items[vmas->count - 1].end : 0;
	size_t cap = vmas->cap;
	struct vp_vma vma;

	if (vmas->count >= VP_VMAS_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "more than %u mappings", VP_VMAS_MAX);
	if (vmas->count % CHECK_VMAS == 0)
		OT_TRY(vp_budget_check());
	OT_TRY(read_vma(ps, vmas->near, at, &vma));
	if (vma.start < behind || vma.end <= vma.start || (vma.start | vma.end) & ~VP_PAGE_MASK)
		return vp_process_torn();
	if (!ot_grow(&vmas->items, &vmas->cap, vmas->count + 1, sizeof(vma)))
		return ot_err_nomem();
	OT_TRY(vp_budget_take((vmas->cap - cap) * sizeof(vma)));
	vmas->items[vmas->count++] = vma;
	return NULL;
}

/* The list is by address, so one that has a loop fails in vp_vma_add(). */
static struct ot_err *walk_list(struct vp_processes *ps, uint64_t first, struct vp_vmas *vmas)
{
	uint64_t at;

	OT_TRY(vp_kernel_u64(ps, first, &at));
	while (at) {
		OT_TRY(vp_vma_add(ps, at, vmas));
		OT_TRY(vp_kernel_u64(ps, at + ps->l.vma_next, &at));
	}
	return NULL;
}

/* The kernel counts mappings: a walk that found each of them once has the same number. */
static struct ot_err *read_once(struct vp_processes *ps, const struct vp_guest_process *process,
				struct vp_vmas *vmas)
{
	const struct vp_process_layout *l = &ps->l;
	struct vp_near near = { .page = 0 };
	uint32_t before, after;

	vmas->count = 0;
	vmas->near = &near;
	OT_TRY(vp_kernel_u32(ps, process->mm + l->mm_map_count, &before));
	if (l->mm_tree != VP_NO_MEMBER)
		OT_TRY(vp_maple_walk(ps, process->mm + l->mm_tree, vmas));
	else
		OT_TRY(walk_list(ps, process->mm + l->mm_list, vmas));
	OT_TRY(vp_kernel_u32(ps, process->mm + l->mm_map_count, &after));
	if (before != after || before != vmas->count)
		return vp_process_torn();
	if (l->mm_vdso != VP_NO_MEMBER)
		OT_TRY(vp_kernel_u64(ps, process->mm + l->mm_vdso, &vmas->vdso));
	return NULL;
}

struct ot_err *vp_vmas_read(struct vp_processes *ps, const struct vp_guest_process *process,
			    struct vp_vmas *ret)
{
	struct ot_err *err = NULL;

	memset(ret, 0, sizeof(*ret));
	if (!process->mm)
		return ot_err_new(OT_ERR_NOT_FOUND, "process %llu has no memory of its own",
				  (unsigned long long)process->pid);
	for (unsigned nth = 0; vp_process_again(ps, nth, &err); nth++)
		err = read_once(ps, process, ret);
	ret->near = NULL;
	if (!err && !vp_guest_process_is(ps, process))
		err = ot_err_new(OT_ERR_NOT_FOUND, "process %llu ended", (unsigned long long)process->pid);
	return err ? ot_err_prefix(err, "the mappings of the guest's process %llu",
				   (unsigned long long)process->pid)
		   : NULL;
}

bool vp_vmas_mark(struct vp_processes *ps, const struct vp_guest_process *process, uint64_t *ret)
{
	const struct vp_process_layout *l = &ps->l;
	uint32_t count;
	uint64_t first = 0;
	struct ot_err *err;

	if (!process->mm)
		return false;
	err = vp_kernel_u32(ps, process->mm + l->mm_map_count, &count);
	if (!err)
		err = vp_kernel_u64(ps, process->mm + (l->mm_tree != VP_NO_MEMBER ? l->mm_tree : l->mm_list),
				    &first);
	ot_err_destroy(err);
	/* The address is a multiple of 64 at least, but for its tag. */
	*ret = first * 31 + (err ? 0 : count);
	return !err;
}
