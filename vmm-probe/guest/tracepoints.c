/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the list of a guest's tracepoints. */
#include "vmm-probe/guest/tracepoints.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/trace_systems.h"

#define PREFIX                 "__tracepoint_"
#define SIZE_MAX_OF_TRACEPOINT 1024u
#define MODULE_TRACEPOINTS_MAX 4096u

struct reader {
	struct vp_guest *guest;
	struct vp_guest_tracepoints *ret;
	struct vp_trace_systems systems;
	uint32_t at_name, at_key, at_call_key;
	uint32_t at_regfunc, at_ext; /* regfunc: in *ext, where there is one */
	bool has_call_key, has_ext;
	size_t cap;
};

/* Its words are read from one copy. */
static bool is_within(const struct reader *r, uint32_t at)
{
	return at <= r->ret->size - sizeof(uint64_t);
}

static bool find_layout(const struct vp_btf *btf, struct reader *r)
{
	r->ret->size = vp_btf_sizeof(btf, "tracepoint");
	r->has_call_key = vp_btf_member_offset(btf, "tracepoint", "static_call_key", &r->at_call_key, NULL);
	/* Since 6.14 in a struct of its own, which few tracepoints have. */
	r->has_ext = vp_btf_member_offset(btf, "tracepoint", "ext", &r->at_ext, NULL);
	if (!vp_btf_member_offset(btf, r->has_ext ? "tracepoint_ext" : "tracepoint", "regfunc",
				  &r->at_regfunc, NULL))
		return false;
	return r->ret->size >= sizeof(uint64_t) && r->ret->size <= SIZE_MAX_OF_TRACEPOINT &&
	       vp_btf_member_offset(btf, "tracepoint", "name", &r->at_name, NULL) &&
	       vp_btf_member_offset(btf, "tracepoint", "key", &r->at_key, NULL) && is_within(r, r->at_name) &&
	       (!r->has_call_key || is_within(r, r->at_call_key)) &&
	       is_within(r, r->has_ext ? r->at_ext : r->at_regfunc);
}

/* False: unreadable. Hundreds of reads in a row: the page walker's cache is emptied once, before the first.
 */
static bool read_at(struct reader *r, uint64_t gva, void *dst, size_t len)
{
	struct ot_err *err =
	    vp_mmu_read(vp_guest_phys(r->guest), vp_guest_mmu(r->guest), vp_gva(gva), dst, len);

	ot_err_destroy(err);
	return !err;
}

static bool is_name(const char *s)
{
	size_t len = strnlen(s, VP_TRACEPOINT_NAME_MAX);

	for (size_t i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", s[i]))
			return false;
	return len && len < VP_TRACEPOINT_NAME_MAX;
}

/* A struct tracepoint. */
struct copy {
	uint64_t gva;
	unsigned char bytes[SIZE_MAX_OF_TRACEPOINT];
};

static uint64_t word(const struct copy *tp, uint32_t at)
{
	uint64_t ret;

	memcpy(&ret, tp->bytes + at, sizeof(ret));
	return ret;
}

/* False: unreadable. */
static bool read_regfunc(struct reader *r, const struct copy *copy, uint64_t *ret)
{
	*ret = r->has_ext ? 0 : word(copy, r->at_regfunc);
	uint64_t ext = r->has_ext ? word(copy, r->at_ext) : 0;

	return !ext || read_at(r, ext + r->at_regfunc, ret, sizeof(*ret));
}

static struct ot_err *add(struct reader *r, const char *module, const char *name, const struct copy *copy)
{
	struct vp_guest_tracepoints *all = r->ret;
	struct vp_guest_tracepoint tp = { .module = module, .gva = copy->gva, .key = copy->gva + r->at_key };

	if (all->count >= VP_TRACEPOINTS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "the guest has more than %u tracepoints", VP_TRACEPOINTS_MAX);
	if (all->count % 256 == 0)
		OT_TRY(vp_budget_check());
	if (r->has_call_key)
		tp.call_key = word(copy, r->at_call_key);
	if (!read_regfunc(r, copy, &tp.regfunc))
		return NULL;
	OT_TRY(vp_budget_take(sizeof(tp) + VP_TRACEPOINT_NAME_MAX));
	tp.name = ot_arena_strdup(&all->names, name);
	tp.system = ot_arena_strdup(&all->names, vp_trace_systems_find(&r->systems, copy->gva));
	if (!tp.name || !tp.system || !ot_grow(&all->list, &r->cap, all->count + 1, sizeof(*all->list)))
		return ot_err_nomem();
	all->list[all->count++] = tp;
	return NULL;
}

/* The struct tracepoint at @p gva, and its name. */
static bool read_one(struct reader *r, uint64_t gva, struct copy *copy, char ret[VP_TRACEPOINT_NAME_MAX])
{
	uint64_t text, len = VP_TRACEPOINT_NAME_MAX, to_end;

	copy->gva = gva;
	if (!read_at(r, gva, copy->bytes, r->ret->size))
		return false;
	text = word(copy, r->at_name);
	/* The page after the string's may not be mapped. */
	to_end = 4096 - text % 4096;
	if (!read_at(r, text, ret, len < to_end ? len : to_end))
		return false;
	if (len > to_end)
		ret[to_end] = '\0';
	return is_name(ret);
}

static struct ot_err *add_core(struct reader *r)
{
	const struct vp_symtab *tab = vp_guest_symtab(r->guest);
	char name[VP_TRACEPOINT_NAME_MAX];
	struct copy copy;

	for (size_t i = 0; i < vp_symtab_count(tab); i++) {
		const struct vp_symbol *sym = vp_symtab_at(tab, i);
		const char *symbol = vp_symbol_name(tab, sym);

		/* Other symbols begin like this too. */
		if (sym->module == VP_SYMTAB_VMLINUX && !strncmp(symbol, PREFIX, sizeof(PREFIX) - 1) &&
		    read_one(r, sym->addr, &copy, name) && !strcmp(name, symbol + sizeof(PREFIX) - 1))
			OT_TRY(add(r, "vmlinux", name, &copy));
	}
	return NULL;
}

/* The tracepoint to which the entry at @p at of a module's table is the distance. */
static struct ot_err *add_entry(struct reader *r, const char *module, uint64_t at)
{
	char name[VP_TRACEPOINT_NAME_MAX];
	struct copy copy;
	int32_t distance;

	if (!read_at(r, at, &distance, sizeof(distance)) ||
	    !read_one(r, at + (uint64_t)(int64_t)distance, &copy, name))
		return NULL;
	return add(r, module, name, &copy);
}

static struct ot_err *add_module(struct reader *r, const struct vp_module *m)
{
	const struct vp_btf *btf = vp_guest_btf(r->guest);
	uint32_t at_table, at_count, n;
	uint64_t table;

	if (!m->formed || !vp_btf_member_offset(btf, "module", "tracepoints_ptrs", &at_table, NULL) ||
	    !vp_btf_member_offset(btf, "module", "num_tracepoints", &at_count, NULL) ||
	    !read_at(r, m->addr.v + at_table, &table, sizeof(table)) ||
	    !read_at(r, m->addr.v + at_count, &n, sizeof(n)) || !n || n > MODULE_TRACEPOINTS_MAX)
		return NULL;
	const char *module = ot_arena_strdup(&r->ret->names, m->name);
	if (!module)
		return ot_err_nomem();
	for (uint32_t i = 0; i < n; i++)
		OT_TRY(add_entry(r, module, table + 4u * i));
	return NULL;
}

/* Of all, or of @only. */
static struct ot_err *read_all(struct reader *r, const struct vp_module *only)
{
	const struct vp_modules *modules = vp_guest_modules(r->guest);

	OT_TRY(vp_trace_systems_read(r->guest, &r->systems));
	vp_mmu_flush(vp_guest_mmu(r->guest));
	if (only)
		return add_module(r, only);
	OT_TRY(add_core(r));
	for (size_t i = 0; modules && i < modules->count; i++)
		OT_TRY(add_module(r, &modules->list[i]));
	return NULL;
}

static struct ot_err *read_tracepoints(struct vp_guest *guest, const struct vp_module *only,
				       struct vp_guest_tracepoints *ret)
{
	struct reader r = { .guest = guest, .ret = ret };
	const struct vp_btf *btf = vp_guest_btf(guest);

	*ret = (struct vp_guest_tracepoints){ 0 };
	ot_arena_init(&ret->names);
	if (!btf || !find_layout(btf, &r))
		return NULL;
	struct ot_err *err = read_all(&r, only);
	vp_trace_systems_deinit(&r.systems);
	if (err)
		vp_guest_tracepoints_deinit(ret);
	return err;
}

struct ot_err *vp_guest_tracepoints_read(struct vp_guest *guest, struct vp_guest_tracepoints *ret)
{
	return read_tracepoints(guest, NULL, ret);
}

struct ot_err *vp_guest_tracepoints_read_module(struct vp_guest *guest, const struct vp_module *module,
						struct vp_guest_tracepoints *ret)
{
	return read_tracepoints(guest, module, ret);
}

void vp_guest_tracepoints_deinit(struct vp_guest_tracepoints *tracepoints)
{
	free(tracepoints->list);
	ot_arena_deinit(&tracepoints->names);
	*tracepoints = (struct vp_guest_tracepoints){ 0 };
}
