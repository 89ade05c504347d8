/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's modules: found when it is opened, and again while it is traced. They are collected in a table of
 * their own, and then added to the guest's symbol table, which is changed in place because probes borrow its
 * names. Symbols of an unloaded module are kept, for stacks that were recorded before, until another module
 * takes their place or the same one is loaded again.
 */
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/guest_internal.h"

#define WALKS 3

void vp_arrivals_deinit(struct vp_arrivals *arrivals)
{
	vp_modules_deinit(&arrivals->list);
	vp_symtab_destroy(arrivals->symbols);
	arrivals->symbols = NULL;
}

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

/* Number the new ones. One that is being loaded or unloaded is left for the next time. */
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

static bool is_new(const struct vp_guest *guest, bool opening, const struct vp_module *m)
{
	return opening || m->nth > guest->came;
}

/* --- finding --------------------------------------------------------------------------------------------- */

struct ot_err *vp_guest_walk_modules(struct vp_guest *guest, struct vp_gva head, struct vp_modules *ret)
{
	for (int attempt = 0; attempt < WALKS && (attempt == 0 || ret->torn); attempt++) {
		vp_modules_deinit(ret);
		vp_mmu_flush(&guest->kernel.mmu);
		OT_TRY(vp_modules_read(guest->phys, &guest->kernel.mmu, head, &guest->layout, ret));
	}
	return NULL;
}

struct ot_err *vp_guest_find_modules(struct vp_guest *guest, bool opening, struct vp_arrivals *ret)
{
	struct vp_mmu *mmu = &guest->kernel.mmu;
	uint64_t came = guest->came, head = vp_guest_address(guest->symtab, "modules");
	uint64_t types = vp_guest_address(guest->symtab, "btf_modules");

	if (!head || !guest->have_layout)
		return ot_err_new(OT_ERR_NOT_FOUND, "the kernel's list of modules can't be found");
	OT_TRY(vp_guest_walk_modules(guest, vp_gva(head), &ret->list));
	if (ret->list.torn && !opening)
		return ot_err_new(OT_ERR_BUSY, "the guest's list of modules keeps changing");
	OT_TRY(vp_modules_read_btf(guest->phys, mmu, vp_gva(types), &guest->layout, &ret->list));
	if (!opening)
		OT_TRY(number(guest, &ret->list, &came));
	OT_TRY(vp_symtab_create(&ret->symbols));
	for (size_t i = 0; i < ret->list.count; i++)
		if (is_new(guest, opening, &ret->list.list[i]))
			OT_TRY(vp_module_add_symbols(guest->phys, mmu, &guest->layout, &ret->list.list[i],
						     ret->symbols, &ret->list.skipped));
	return NULL;
}

/* --- taking ---------------------------------------------------------------------------------------------- */

/* A new module: its memory now belongs to it. */
static void drop_before(struct vp_guest *guest, const struct vp_module *m)
{
	vp_symtab_drop(guest->symtab, vp_symtab_find_module(guest->symtab, m->name), 0, 0);
	for (size_t k = 0; k < m->nranges; k++)
		vp_symtab_drop(guest->symtab, -1, m->ranges[k].start, m->ranges[k].end);
}

static struct ot_err *add_ranges(struct vp_guest *guest, const struct vp_module *m)
{
	int known = vp_symtab_find_module(guest->symtab, m->name);
	uint16_t number = (uint16_t)known;

	if (known < 0)
		OT_TRY(vp_symtab_add_module(guest->symtab, m->name, &number));
	for (size_t k = 0; k < m->nranges; k++)
		OT_TRY(vp_symtab_add_range(guest->symtab, number, m->ranges[k].start, m->ranges[k].end));
	return NULL;
}

static struct ot_err *add_symbols(struct vp_symtab *to, const struct vp_symtab *from)
{
	int number = -1, of = -1; /* a module's symbols are together */

	for (size_t i = 0; i < vp_symtab_count(from); i++) {
		const struct vp_symbol *s = vp_symtab_at(from, i);
		const char *name = vp_symbol_name(from, s);

		if (s->module != of)
			number = vp_symtab_find_module(to, vp_symbol_module(from, s));
		of = s->module;
		if (number > VP_SYMTAB_VMLINUX)
			OT_TRY(vp_symtab_add(to, s->addr, s->type, (uint16_t)number, s->flags, name,
					     strlen(name)));
	}
	return NULL;
}

static struct ot_err *add_all(struct vp_guest *guest, bool opening, const struct vp_arrivals *found)
{
	for (size_t i = 0; i < found->list.count; i++) {
		const struct vp_module *m = &found->list.list[i];

		if (!is_new(guest, opening, m))
			continue;
		if (!opening)
			drop_before(guest, m);
		OT_TRY(add_ranges(guest, m));
	}
	return add_symbols(guest->symtab, found->symbols);
}

struct ot_err *vp_guest_take_modules(struct vp_guest *guest, bool opening, struct vp_arrivals *found)
{
	uint64_t came = guest->came;

	if (!opening)
		OT_TRY(number(guest, &found->list, &came));
	if (opening || came > guest->came) {
		struct ot_err *err = add_all(guest, opening, found);
		struct ot_err *unfinished = vp_symtab_finish(guest->symtab); /* it must be consistent again */

		if (unfinished) {
			ot_err_destroy(err);
			return unfinished;
		}
		OT_TRY(err);
	}
	guest->came = came;
	struct vp_modules before = guest->modules;
	guest->modules = found->list;
	found->list = before;
	return NULL;
}

/* --- again ----------------------------------------------------------------------------------------------- */

struct ot_err *vp_guest_modules_update(struct vp_guest *guest)
{
	ot_auto(vp_arrivals_deinit) struct vp_arrivals found = { 0 };
	struct vp_budget budget;

	if (!guest->have_layout)
		return NULL;
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_ARRIVALS]);
	struct ot_err *err = vp_guest_find_modules(guest, false, &found);
	if (!err)
		err = vp_guest_take_modules(guest, false, &found);
	vp_budget_end(&budget);
	return err;
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
