/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking one of the kernel's red-black trees (include/linux/rbtree.h). */
#include <string.h>

#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/census_internal.h"

#define RB_COLOR    3ull /* low bits of __rb_parent_color */
#define CHECK_NODES 256u

bool vp_census_rb_layout(const struct vp_btf *btf, struct vp_rb_layout *ret)
{
	const struct vp_member members[] = {
		{ "rb_node", "rb_left", &ret->left },
		{ "rb_node", "rb_right", &ret->right },
		{ "rb_node", "__rb_parent_color", &ret->parent },
	};

	return vp_census_members(btf, members, OT_ARRAY_SIZE(members));
}

/* A node names one parent, and the root none: the nodes reached by that rule are a tree, even if the guest
 * writes others. */
static struct ot_err *add_node(struct vp_guest *guest, const struct vp_rb_layout *l, uint64_t node,
			       uint64_t parent, struct ot_buf *todo)
{
	uint64_t named;

	if (!node)
		return NULL;
	OT_TRY(vp_guest_read_u64(guest, vp_gva(node + l->parent), &named));
	if ((named & ~RB_COLOR) != parent)
		return vp_census_torn();
	if (todo->len >= VP_FOUND_MAX * sizeof(node))
		return vp_census_endless();
	ot_buf_append(todo, &node, sizeof(node));
	return todo->failed ? ot_err_nomem() : NULL;
}

struct ot_err *vp_census_rb(struct vp_guest *guest, const struct vp_rb_layout *l, uint64_t node,
			    struct ot_buf *todo, struct ot_err *(*each)(void *ctx, uint64_t node), void *ctx)
{
	uint64_t left, right;

	ot_buf_clear(todo);
	OT_TRY(add_node(guest, l, node, 0, todo));
	for (size_t i = 0; i < todo->len; i += sizeof(node)) {
		if (i % (CHECK_NODES * sizeof(node)) == 0)
			OT_TRY(vp_budget_check());
		memcpy(&node, todo->data + i, sizeof(node));
		OT_TRY(each(ctx, node));
		OT_TRY(vp_guest_read_u64(guest, vp_gva(node + l->left), &left));
		OT_TRY(vp_guest_read_u64(guest, vp_gva(node + l->right), &right));
		if (left && left == right)
			return vp_census_torn();
		OT_TRY(add_node(guest, l, left, node, todo));
		OT_TRY(add_node(guest, l, right, node, todo));
	}
	return NULL;
}
