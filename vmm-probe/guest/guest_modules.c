/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a guest's modules again while it is traced. The symbol table is changed in place: probes borrow its
 * names. Symbols of a module that is gone stay, for stacks that were recorded before, until another module
 * takes their place or the same one comes again.
 */
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/guest_internal.h"

static bool is_same(const struct vp_module *a, const struct vp_module *b)
{
	return a->addr.v == b->addr.v && a->ranges[0].start == b->ranges[0].start &&
	       !strcmp(a->name, b->name);
}

static const struct vp_module *find(const struct vp_modules *modules, const struct vp_module *like)
{
	for (size_t i = 0; i < modules->count; i++)
		if (is_same(&modules->list[i], like))
			return &modules->list[i];
	return NULL;
}

/* Number those that came. One that is not formed yet, or is going, is left for the next time. */
static struct ot_err *number(struct vp_guest *guest, struct vp_modules *now, uint64_t *ret_came)
{
	size_t kept = 0;

	for (size_t i = 0; i < now->count; i++) {
		struct vp_module *m = &now->list[i];
		const struct vp_module *before = find(&guest->modules, m);
		if (!before && !m->formed)
			continue;
		m->nth = before ? before->nth : ++*ret_came;
		now->list[kept++] = *m;
	}
	now->count = kept;
	if (*ret_came > VP_GUEST_ARRIVALS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u modules were loaded in one session",
				  VP_GUEST_ARRIVALS_MAX);
	return NULL;
}

static struct ot_err *add_symbols(struct vp_guest *guest, struct vp_modules *now)
{
	for (size_t i = 0; i < now->count; i++) {
		const struct vp_module *m = &now->list[i];
		if (m->nth <= guest->came)
			continue;
		vp_symtab_drop(guest->symtab, vp_symtab_find_module(guest->symtab, m->name), 0, 0);
		for (size_t k = 0; k < m->nranges; k++)
			vp_symtab_drop(guest->symtab, -1, m->ranges[k].start, m->ranges[k].end);
		OT_TRY(vp_module_add_symbols(guest->phys, &guest->kernel.mmu, &guest->layout, m,
					     guest->symtab, &now->skipped));
	}
	return NULL;
}

static struct ot_err *read_list(struct vp_guest *guest, struct vp_modules *ret)
{
	struct vp_gva head;

	OT_TRY(vp_guest_symbol(guest, "modules", &head));
	OT_TRY(vp_guest_walk_modules(guest, head, ret));
	if (ret->torn)
		return ot_err_new(OT_ERR_BUSY, "the guest's list of modules keeps changing");
	return vp_modules_read_btf(guest->phys, &guest->kernel.mmu,
				   vp_gva(vp_guest_address(guest->symtab, "btf_modules")), &guest->layout,
				   ret);
}

struct ot_err *vp_guest_modules_update(struct vp_guest *guest)
{
	ot_auto(vp_modules_deinit) struct vp_modules now = { 0 };
	uint64_t came = guest->came;
	struct vp_budget budget;

	if (!guest->have_layout)
		return NULL;
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_ARRIVALS]);
	struct ot_err *err = read_list(guest, &now);
	if (!err)
		err = number(guest, &now, &came);
	bool changes = !err && came > guest->came;
	if (changes)
		err = add_symbols(guest, &now);
	vp_budget_end(&budget);
	if (changes) { /* whatever was added: the table must be whole again */
		struct ot_err *unfinished = vp_symtab_finish(guest->symtab);
		if (unfinished) {
			ot_err_destroy(err);
			return unfinished;
		}
	}
	OT_TRY(err);
	guest->came = came;
	struct vp_modules before = guest->modules;
	guest->modules = now;
	now = before;
	return NULL;
}

void vp_guest_module_gone(struct vp_guest *guest, struct vp_gva addr)
{
	struct vp_modules *m = &guest->modules;
	size_t kept = 0;

	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].addr.v != addr.v)
			m->list[kept++] = m->list[i];
	m->count = kept;
}

uint64_t vp_guest_arrivals(const struct vp_guest *guest)
{
	return guest->came;
}
