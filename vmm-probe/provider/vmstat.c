/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmstat: the kernel's events of memory management (enum vm_event_item), by the names that /proc/vmstat has
 * for them. A probe fires at each instruction that counts its event: count_vm_event() is one instruction, on
 * an element of the per-CPU array vm_event_states (include/linux/vmstat.h). The provider vminfo gives
 * Solaris's names to some of them (d/vminfo.d).
 *
 * arg0 is by how much the counter is about to grow, arg1 its address on this CPU.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/readings.h"
#include "vmm-probe/provider/counters.h"
#include "vmm-probe/provider/derivation.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/tracepoint_programs.h"

#define ITEMS_MAX 512u
#define TEXTS_MAX 2048u /* in vmstat_text, which also has the counters by zone and by node */
#define ITEM_NAME 64

/* What all probes share. */
struct vmstat {
	uint64_t array; /* offset of vm_event_states in the per-CPU area */
	uint32_t nitems;
	bool searched;
	struct vp_counter_sites sites;
	uint32_t *programs; /* of each site; 0: none yet */
};

struct own {
	struct vmstat *all;
	uint32_t item;
};

static const struct own *own_of(const struct vp_probe *probe)
{
	return probe->own;
}

/* --- names ----------------------------------------------------------------------------------------------- */

/* The name at @at in vmstat_text, an array of pointers to strings. Hundreds of reads in a row: publish() has
 * emptied the page walker's cache. */
static bool read_name(struct vp_guest *guest, uint64_t at, char ret[ITEM_NAME])
{
	const struct vp_phys *phys = vp_guest_phys(guest);
	struct vp_mmu *mmu = vp_guest_mmu(guest);
	uint64_t text;
	struct ot_err *err = vp_mmu_read(phys, mmu, vp_gva(at), &text, sizeof(text));

	if (!err)
		err = vp_mmu_read(phys, mmu, vp_gva(text), ret, ITEM_NAME);
	bool ok = !err && memchr(ret, 0, ITEM_NAME) && *ret;
	ot_err_destroy(err);
	for (const char *p = ret; ok && *p; p++)
		ok = islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_';
	return ok;
}

/* The place of the first event's name in vmstat_text; the others follow. 0: not found. */
static uint64_t names_of_events(struct vp_guest *guest)
{
	const struct vp_symtab *tab = vp_guest_symtab(guest);
	const struct vp_symbol *sym = vp_symtab_find(tab, "vmlinux", "vmstat_text");
	uint64_t n = sym ? vp_symbol_size(tab, sym) / sizeof(uint64_t) : 0;
	char name[ITEM_NAME];

	for (uint64_t i = 0; i < n && i < TEXTS_MAX; i++)
		if (read_name(guest, sym->addr + i * sizeof(uint64_t), name) && !strcmp(name, "pgpgin"))
			return sym->addr + i * sizeof(uint64_t);
	return 0;
}

/* Otherwise the enumerator's name, which most of them are. */
static const char *name_of(struct vp_probes *probes, uint64_t names, uint32_t item, const char *enumerator)
{
	char name[ITEM_NAME];

	if (names && read_name(vp_probes_guest(probes), names + item * sizeof(uint64_t), name))
		return vp_probes_strdup(probes, name);
	char *lower = vp_probes_strdup(probes, enumerator);
	for (char *p = lower; p && *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return lower;
}

/* --- publishing ------------------------------------------------------------------------------------------ */

static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self, struct vmstat *all,
			  const char *name, uint32_t item)
{
	struct own *own = vp_probes_alloc(probes, sizeof(*own));
	const struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SITE,
		.module = "vmlinux",
		.function = "",
		.name = name,
		.own = own,
	};

	if (!own || !name)
		return ot_err_nomem();
	*own = (struct own){ all, item };
	return vp_probes_add(probes, self, &probe);
}

static const struct btf_type *items_of(const struct vp_btf *btf)
{
	const struct btf_type *t =
	    btf ? vp_btf_type(btf, vp_btf_find(btf, VP_BTF_ENUM, "vm_event_item")) : NULL;

	return t && BTF_INFO_KIND(t->info) == BTF_KIND_ENUM ? t : NULL;
}

/* The last enumerator is the number of events. */
static struct ot_err *add_items(struct vp_probes *probes, const struct vp_provider *self,
				const struct vp_btf *btf, const struct btf_type *t, struct vmstat *all)
{
	uint64_t names = names_of_events(vp_probes_guest(probes));

	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info) && i < ITEMS_MAX; i++) {
		const char *name = vp_btf_str(btf, ((const struct btf_enum *)(t + 1))[i].name_off);
		int64_t value = vp_btf_enum_value(btf, t, i);
		if (value < 0 || value >= ITEMS_MAX || !strncmp(name, "NR_", 3))
			continue;
		if ((uint32_t)value >= all->nitems)
			all->nitems = (uint32_t)value + 1;
		OT_TRY(
		    add(probes, self, all, name_of(probes, names, (uint32_t)value, name), (uint32_t)value));
	}
	return NULL;
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	struct vp_guest *guest = vp_probes_guest(probes);
	const struct vp_btf *btf = vp_guest_btf(guest);
	const struct btf_type *t = items_of(btf);
	const struct vp_symbol *sym = vp_symtab_find(vp_guest_symtab(guest), "vmlinux", "vm_event_states");
	struct vmstat *all = vp_probes_alloc(probes, sizeof(*all));
	struct vp_budget budget;

	if (!all)
		return ot_err_nomem();
	if (!t || !sym || !(sym->flags & VP_SYM_PERCPU))
		return NULL;
	all->array = sym->addr;
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_LISTS]);
	vp_mmu_flush(vp_guest_mmu(guest));
	struct ot_err *err = add_items(probes, self, btf, t, all);
	vp_budget_end(&budget);
	return err;
}

/* --- places ---------------------------------------------------------------------------------------------- */

static struct ot_err *search(struct vp_probes *probes, struct vmstat *all)
{
	if (all->searched)
		return NULL;
	OT_TRY(vp_counter_sites_find(probes, all->array, all->nitems, &all->sites));
	all->programs = vp_probes_alloc(probes, (all->sites.count + 1) * sizeof(*all->programs));
	if (!all->programs)
		return ot_err_nomem();
	all->searched = true;
	return NULL;
}

static struct ot_err *make_program(struct vp_probes *probes, const struct vp_counter_site *site,
				   uint32_t *ret)
{
	struct vp_exprs *exprs = vp_tracepoint_exprs(vp_probes_tracepoints(probes));
	const struct vp_increment *i = &site->increment;
	const struct vp_event_site event = {
		.args = {
			i->by_register ? vp_expr_reg(exprs, i->reg) : vp_expr_const(exprs, (uint64_t)i->by),
			vp_expr_add(exprs, vp_expr_percpu(exprs), i->counter),
		},
	};

	return vp_event_program(probes, &event, 2, ret);
}

static struct ot_err *resolve(struct vp_probes *probes, const struct vp_probe *probe)
{
	struct vmstat *all = own_of(probe)->all;
	bool found = false;

	OT_TRY(search(probes, all));
	for (size_t i = 0; i < all->sites.count; i++) {
		if (all->sites.list[i].element != own_of(probe)->item)
			continue;
		OT_TRY(make_program(probes, &all->sites.list[i], &all->programs[i]));
		found = true;
	}
	if (found)
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "no instruction of the core kernel counts it alone: this kernel finds "
			  "its counter by an index (as those of a zone), or a module counts it, "
			  "or nothing does");
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct vmstat *all = own_of(probe)->all;
	ot_auto_free struct vp_batch_site *list = calloc(all->sites.count + 1, sizeof(*list));
	uint32_t n = 0;

	if (!list)
		return ot_err_nomem();
	for (size_t i = 0; i < all->sites.count; i++)
		if (all->sites.list[i].element == own_of(probe)->item)
			OT_TRY(
			    vp_counter_batch_site(probes, &all->sites.list[i], all->programs[i], &list[n++]));
	*ret = ot_move(list);
	*ret_count = n;
	return NULL;
}

/* --- arguments ------------------------------------------------------------------------------------------- */

static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	(void)probe;
	if (n > 1)
		return false;
	ret->mapping = n;
	ret->native = vp_derivation_type(vp_probes_derivation(probes), n ? "unsigned long *" : "long");
	return ret->native != NULL;
}

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	(void)probes;
	(void)probe;
	return 2;
}

const struct vp_provider vp_provider_vmstat = {
	.name = "vmstat",
	.needs_guest = true,
	.publish = publish,
	.resolve = resolve,
	.sites = sites,
	.arg = arg,
	.nargs = nargs,
};
