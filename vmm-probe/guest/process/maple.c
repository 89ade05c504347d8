/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maple tree of a process's mappings (engine/wire/kernel_trees.h), depth first. A node that was freed and
 * reused during the read is detected: a mapping must lie exactly in its slot's range.
 */
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/vmas_internal.h"

#define NODES_MAX   65536u /* a forged tree may share nodes */
#define CHECK_NODES 64u

struct walk {
	struct vp_processes *ps;
	struct vp_vmas *vmas;
	uint32_t nodes;
};

/* Addresses that a node or slot covers, both included. */
struct span {
	uint64_t first, last;
};

static struct ot_err *walk_node(struct walk *w, uint64_t encoded, struct span span, unsigned depth);

static struct ot_err *take_slot(struct walk *w, bool leaf, uint64_t entry, struct span span, unsigned depth)
{
	const struct vp_vma *vma;

	if (!entry)
		return NULL;
	if (!leaf)
		return walk_node(w, entry, span, depth + 1);
	if (entry & VP_ENTRY_TAG)
		return NULL; /* the kernel's own marks: no mapping */
	OT_TRY(vp_vma_add(w->ps, entry, w->vmas));
	vma = &w->vmas->items[w->vmas->count - 1];
	return vma->start == span.first && vma->end == span.last + 1 ? NULL : vp_process_torn();
}

static struct ot_err *walk_node(struct walk *w, uint64_t encoded, struct span span, unsigned depth)
{
	const struct vp_process_layout *l = &w->ps->l;
	int64_t type = (int64_t)(encoded >> VP_MAPLE_TYPE_SHIFT & VP_MAPLE_TYPE_MASK);
	const struct vp_maple_shape *shape = type == l->maple_arange ? &l->range : &l->leaf;
	uint64_t node = encoded & ~VP_MAPLE_NODE_MASK, pivots[VP_MAPLE_PIVOTS_MAX],
		 slots[VP_MAPLE_PIVOTS_MAX];
	bool leaf = type == l->maple_leaf;
	struct span at = span;

	if ((!leaf && type != l->maple_range && type != l->maple_arange) || depth >= VP_MAPLE_DEPTH_MAX ||
	    ++w->nodes > NODES_MAX)
		return vp_process_torn();
	if (w->nodes % CHECK_NODES == 0)
		OT_TRY(vp_budget_check());
	const struct vp_member members[] = {
		{ shape->pivot, (uint32_t)(shape->pivots * sizeof(*pivots)), pivots },
		{ shape->slot, (uint32_t)(shape->slots * sizeof(*slots)), slots },
	};

	OT_TRY(vp_kernel_members(w->ps, node, members, OT_ARRAY_SIZE(members)));
	for (uint32_t i = 0; i < shape->slots; i++) {
		at.last = i < shape->pivots ? pivots[i] : span.last;
		if (!at.last && i)
			at.last = span.last;
		if (at.last < at.first || at.last > span.last)
			return vp_process_torn();
		OT_TRY(take_slot(w, leaf, slots[i], at, depth));
		if (at.last == span.last)
			return NULL;
		at.first = at.last + 1;
	}
	return vp_process_torn();
}

struct ot_err *vp_maple_walk(struct vp_processes *ps, uint64_t root, struct vp_vmas *vmas)
{
	struct walk w = { .ps = ps, .vmas = vmas };
	uint64_t entry, again;

	OT_TRY(vp_kernel_u64(ps, root, &entry));
	/* A tree of one mapping has it in the root only if it begins at address 0, which none does. Only the
	 * root's pointer has a tag. */
	if (vp_entry_is_node(entry))
		OT_TRY(walk_node(&w, entry, (struct span){ 0, UINT64_MAX }, 0));
	OT_TRY(vp_kernel_u64(ps, root, &again));
	return again == entry ? NULL : vp_process_torn();
}
