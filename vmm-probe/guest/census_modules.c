/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules in three ways. lsmod prints the list; sysfs has a directory for each module; and the tree that the
 * kernel searches for an address (kernel/module/tree_lookup.c) must contain every module whose functions a
 * stack trace can name.
 */
#include "vmm-probe/guest/census_internal.h"

#include <string.h>

#include "base/buf.h"

#define STATE_UNFORMED 3u /* MODULE_STATE_UNFORMED: the kernel itself does not list it yet */

struct layout {
	uint32_t list, name, state;
	uint32_t kset_list, entry, kobj, mkobj_mod;
	uint32_t seq, tree, mtn_mod, mtn_node;
	uint32_t name_size, rb_size;
	struct vp_rb_layout rb;
};

struct ctx {
	struct vp_guest *guest;
	struct layout l;
	uint64_t modules, kset, tree;
	struct vp_census *census;
	uint32_t way;
	uint64_t node; /* offset of the tree's nodes in struct mod_tree_node, in the copy that is walked */
	struct ot_buf todo; /* addresses of nodes of the tree */
};

static uint32_t find_layout(const struct vp_btf *btf, struct layout *l)
{
	const struct vp_member module[] = {
		{ "module", "name", &l->name },
		{ "module", "state", &l->state },
	};
	const struct vp_member list[] = { { "module", "list", &l->list } };
	const struct vp_member sysfs[] = {
		{ "kset", "list", &l->kset_list },
		{ "kobject", "entry", &l->entry },
		{ "module_kobject", "kobj", &l->kobj },
		{ "module_kobject", "mod", &l->mkobj_mod },
	};
	const struct vp_member tree[] = {
		{ "mod_tree_root", "root.seq", &l->seq },
		{ "mod_tree_root", "root.tree", &l->tree },
		{ "mod_tree_node", "mod", &l->mtn_mod },
		{ "mod_tree_node", "node", &l->mtn_node },
	};
	struct vp_btf_field field;
	uint32_t id = vp_btf_find(btf, VP_BTF_STRUCT, "module"), have = 0;
	uint64_t size;

	if (!id || !vp_census_members(btf, module, OT_ARRAY_SIZE(module)) ||
	    !vp_btf_field(btf, id, "name", &field) || !vp_btf_size(btf, field.type, &size) || !size ||
	    size >= VP_FOUND_NAME)
		return 0;
	l->name_size = (uint32_t)size;
	l->rb_size = (uint32_t)vp_btf_sizeof(btf, "rb_node");
	if (vp_census_members(btf, list, OT_ARRAY_SIZE(list)))
		have |= VP_MODULE_LIST;
	if (vp_census_members(btf, sysfs, OT_ARRAY_SIZE(sysfs)))
		have |= VP_MODULE_SYSFS;
	if (vp_census_members(btf, tree, OT_ARRAY_SIZE(tree)) && vp_census_rb_layout(btf, &l->rb) &&
	    l->rb_size)
		have |= VP_MODULE_ADDRESSES;
	return have;
}

static struct ot_err *add_module(struct ctx *c, uint64_t module)
{
	char name[VP_FOUND_NAME];
	uint32_t state;

	OT_TRY(vp_guest_read_u32(c->guest, vp_gva(module + c->l.state), &state));
	OT_TRY(vp_guest_read(c->guest, vp_gva(module + c->l.name), name, c->l.name_size));
	if (state > STATE_UNFORMED || !*name)
		return vp_census_torn();
	return state == STATE_UNFORMED ? NULL : vp_census_add(c->census, 0, 0, c->way, name, c->l.name_size);
}

/* --- the list --------------------------------------------------------------------------------------- */

static struct ot_err *list_node(void *arg, uint64_t node)
{
	struct ctx *c = arg;

	return add_module(c, node - c->l.list);
}

static struct ot_err *walk_list(void *arg, struct vp_census *census)
{
	struct ctx *c = arg;

	c->census = census;
	c->way = VP_MODULE_LIST;
	return vp_census_list(c->guest, c->modules, VP_FOUND_MAX, list_node, c);
}

/* --- sysfs ------------------------------------------------------------------------------------------- */

/* Built-in modules have a directory too, but no struct module. */
static struct ot_err *sysfs_node(void *arg, uint64_t node)
{
	struct ctx *c = arg;
	uint64_t mkobj = node - c->l.entry - c->l.kobj, module;

	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(mkobj + c->l.mkobj_mod), &module));
	return module ? add_module(c, module) : NULL;
}

static struct ot_err *walk_sysfs(void *arg, struct vp_census *census)
{
	struct ctx *c = arg;
	uint64_t kset;

	c->census = census;
	c->way = VP_MODULE_SYSFS;
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(c->kset), &kset));
	return vp_census_list(c->guest, kset + c->l.kset_list, VP_FOUND_MAX, sysfs_node, c);
}

/* --- addresses ------------------------------------------------------------------------------------------ */

static struct ot_err *tree_node(void *arg, uint64_t node)
{
	struct ctx *c = arg;
	uint64_t module;

	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(node - c->node + c->l.mtn_mod), &module));
	return add_module(c, module);
}

/* A latched tree has two copies; the lowest bit of its sequence selects the one that is not being changed
 * (include/linux/rbtree_latch.h). */
static struct ot_err *walk_addresses(void *arg, struct vp_census *census)
{
	struct ctx *c = arg;
	uint64_t root;
	uint32_t seq, after, copy;

	c->census = census;
	c->way = VP_MODULE_ADDRESSES;
	OT_TRY(vp_guest_read_u32(c->guest, vp_gva(c->tree + c->l.seq), &seq));
	copy = seq & 1;
	c->node = c->l.mtn_node + copy * c->l.rb_size;
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(c->tree + c->l.tree + 8 * copy), &root));
	OT_TRY(vp_census_rb(c->guest, &c->l.rb, root, &c->todo, tree_node, c));
	OT_TRY(vp_guest_read_u32(c->guest, vp_gva(c->tree + c->l.seq), &after));
	return after == seq ? NULL : vp_census_torn();
}

/* --- all --------------------------------------------------------------------------------------------- */

struct ot_err *vp_census_modules(struct vp_guest *guest, struct vp_census *ret)
{
	static const struct vp_way ways[] = {
		{ VP_MODULE_LIST, "list of modules", walk_list },
		{ VP_MODULE_SYSFS, "modules in sysfs", walk_sysfs },
		{ VP_MODULE_ADDRESSES, "tree of modules' addresses", walk_addresses },
	};
	const struct vp_btf *btf = vp_guest_btf(guest);
	struct ctx c = { .guest = guest };
	uint32_t have = btf ? find_layout(btf, &c.l) : 0;

	memset(ret, 0, sizeof(*ret));
	c.modules = vp_guest_symbol_or_0(guest, "modules");
	c.kset = vp_guest_symbol_or_0(guest, "module_kset");
	c.tree = vp_guest_symbol_or_0(guest, "mod_tree");
	have &= (c.modules ? VP_MODULE_LIST : 0u) | (c.kset ? VP_MODULE_SYSFS : 0u) |
		(c.tree ? VP_MODULE_ADDRESSES : 0u);
	if (!have)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "the guest's types do not describe its lists of modules");
	ot_buf_init(&c.todo);
	vp_mmu_flush(vp_guest_mmu(guest));
	struct ot_err *err =
	    vp_census_walk(guest, &vp_readings[VP_READ_CENSUS], ways, OT_ARRAY_SIZE(ways), have, &c, ret);

	ot_buf_deinit(&c.todo);
	return err;
}
