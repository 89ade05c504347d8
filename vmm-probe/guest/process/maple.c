/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maple tree of a process's mappings (include/linux/maple_tree.h), depth first. Slot i of a node covers
 * the addresses after pivot i - 1 up to pivot i. A node that was freed and used again while it was read shows
 * in that: a mapping lies exactly in its slot's range.
 */
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/vmas_internal.h"

#define DEPTH_MAX   8u     /* of the kernel's own trees: 16^8 mappings */
#define NODES_MAX   65536u /* a forged tree may share nodes */
#define CHECK_NODES 64u

#define TAG        3u
#define NODE       2u /* a pointer to a node, above NOT_NODES */
#define NOT_NODES  4096u
#define NODE_MASK  0xffull
#define TYPE_SHIFT 3u
#define TYPE_MASK  0xfull

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
	if (entry & TAG)
		return NULL; /* the kernel's own marks: no mapping */
	OT_TRY(vp_vma_add(w->ps, entry, w->vmas));
	vma = &w->vmas->items[w->vmas->count - 1];
	return vma->start == span.first && vma->end == span.last + 1 ? NULL : vp_process_torn();
}

static struct ot_err *walk_node(struct walk *w, uint64_t encoded, struct span span, unsigned depth)
{
	const struct vp_process_layout *l = &w->ps->l;
	int64_t type = (int64_t)(encoded >> TYPE_SHIFT & TYPE_MASK);
	const struct vp_maple_shape *shape = type == l->maple_arange ? &l->range : &l->leaf;
	uint64_t node = encoded & ~NODE_MASK, pivots[VP_PIVOTS_MAX], slots[VP_PIVOTS_MAX];
	bool leaf = type == l->maple_leaf;
	struct span at = span;

	if ((!leaf && type != l->maple_range && type != l->maple_arange) || depth >= DEPTH_MAX ||
	    ++w->nodes > NODES_MAX)
		return vp_process_torn();
	if (w->nodes % CHECK_NODES == 0)
		OT_TRY(vp_budget_check());
	OT_TRY(vp_kernel_read(w->ps, node + shape->pivot, pivots, shape->pivots * sizeof(*pivots)));
	OT_TRY(vp_kernel_read(w->ps, node + shape->slot, slots, shape->slots * sizeof(*slots)));
	for (uint32_t i = 0; i < shape->slots; i++) {
		/* The last slot, and the one whose pivot was left zero, end where the node does. */
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
	if ((entry & TAG) == NODE && entry > NOT_NODES)
		OT_TRY(walk_node(&w, entry, (struct span){ 0, UINT64_MAX }, 0));
	OT_TRY(vp_kernel_u64(ps, root, &again));
	return again == entry ? NULL : vp_process_torn();
}
