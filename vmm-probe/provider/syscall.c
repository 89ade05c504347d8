/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscall: the guest's 64-bit system calls, at the functions that the kernel defines for each (named with a
 * prefix, the architecture's; 32-bit calls that reach the same function are excluded); module is the
 * kernel's, function the bare name. Their only parameter is the caller's registers, so args[] has no types;
 * arg0 to arg5 are read from those registers.
 */
#include <stdlib.h>
#include <string.h>

#include "guest-agent/agent_abi.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/fbt_sites.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/tracepoint.h"

/* The table's entry for a number without a system call; it is no system call itself. */
#define HOLE "ni_syscall"

/* sys_call_table by number; kernels since commit 1e3ad78334a6 keep it for tracing only. */
#define TABLE_MAX 1024u

struct table {
	uint64_t entries[TABLE_MAX];
	uint32_t n;
};

/* Without the table, or without BTF and do_syscall_64, by which the engine knows the task's current system
 * call, probes have no number, and the return probe of a call that ends in a tail jump fires there. */
static void read_table(struct vp_guest *guest, struct table *ret)
{
	const struct vp_symtab *tab = vp_guest_symtab(guest);
	const struct vp_symbol *sym = vp_symtab_find(tab, "vmlinux", "sys_call_table");
	uint64_t n = sym ? vp_symbol_size(tab, sym) / sizeof(uint64_t) : 0;

	ret->n = 0;
	if (!n || !vp_guest_btf(guest) || !vp_symtab_find(tab, "vmlinux", vp_arch_native.syscall_dispatcher))
		return;
	n = n < TABLE_MAX ? n : TABLE_MAX;

	struct ot_err *err = vp_guest_read(guest, vp_gva(sym->addr), ret->entries, n * sizeof(uint64_t));

	if (!err)
		ret->n = (uint32_t)n;
	ot_err_destroy(err);
}

/* A call's number + 1; 0: the table has no such entry, or several. */
static uint32_t find_number(const struct table *table, uint64_t addr)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < table->n; i++) {
		if (table->entries[i] != addr)
			continue;
		if (found)
			return 0;
		found = i + 1;
	}
	return found;
}

/* A function without parameters has a symbol for each ABI. Symbols of one address are adjacent. */
static bool has_both_abis(const struct vp_symtab *tab, size_t i)
{
	const char *prefix = vp_arch_native.syscall_prefix_32;
	uint64_t addr = vp_symtab_at(tab, i)->addr;

	while (i && vp_symtab_at(tab, i - 1)->addr == addr)
		i--;
	for (; i < vp_symtab_count(tab) && vp_symtab_at(tab, i)->addr == addr; i++)
		if (!strncmp(vp_symbol_name(tab, vp_symtab_at(tab, i)), prefix, strlen(prefix)))
			return true;
	return false;
}

/* The data of a call's two probes. */
struct call {
	uint32_t number; /* + 1; 0: it has none */
	bool both_abis;  /* 32-bit calls reach that function too */
};

static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self,
			  const struct vp_symtab *tab, size_t i, const struct table *table)
{
	const struct vp_symbol *sym = vp_symtab_at(tab, i);
	struct call *own = vp_probes_alloc(probes, sizeof(*own));
	struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SYSCALL_ENTRY,
		.module = vp_symbol_module(tab, sym),
		.function = vp_symbol_name(tab, sym) + strlen(vp_arch_native.syscall_prefix),
		.name = "entry",
		.gva = sym->addr,
		.size = vp_symbol_size(tab, sym),
		.own = own,
	};

	if (!own)
		return ot_err_nomem();
	*own = (struct call){ find_number(table, sym->addr), has_both_abis(tab, i) };
	if (!probe.size)
		probe.refused = "its size is unknown";
	OT_TRY(vp_probes_add(probes, self, &probe));
	probe.args = VP_ARGS_SYSCALL_RETURN;
	probe.name = "return";
	return vp_probes_add(probes, self, &probe);
}

static bool is_syscall(const struct vp_symtab *tab, const struct vp_symbol *sym)
{
	const char *prefix = vp_arch_native.syscall_prefix, *name;

	if (!vp_symbol_is_function(sym) || sym->flags || sym->module != VP_SYMTAB_VMLINUX)
		return false;
	name = vp_symbol_name(tab, sym);
	return !strncmp(name, prefix, strlen(prefix)) && strcmp(name + strlen(prefix), HOLE) != 0 &&
	       !strchr(name, '.');
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	const struct vp_symtab *tab = vp_guest_symtab(vp_probes_guest(probes));
	struct table *table = malloc(sizeof(*table));
	struct ot_err *err = NULL;

	if (!table)
		return ot_err_nomem();
	read_table(vp_probes_guest(probes), table);
	for (size_t i = 0; !err && i < vp_symtab_count(tab); i++)
		if (is_syscall(tab, vp_symtab_at(tab, i)))
			err = add(probes, self, tab, i, table);
	free(table);
	return err;
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct call *own = probe->own;
	const struct vp_site_conditions when = {
		.own = own->both_abis ? VP_SYSCALL_NATIVE : 0,
		.shared = own->number,
	};

	if (probe->args == VP_ARGS_SYSCALL_ENTRY)
		return vp_function_entry_site(probes, probe, &when, ret, ret_count);
	return vp_function_return_sites(probes, probe, &when, ret, ret_count);
}

/* As events of the tracepoints of all system calls. */
static bool inside(const struct vp_probes *probes, const struct vp_probe *probe,
		   const struct vp_guest_agent *agent, struct vp_batch_event *ret)
{
	bool entry = probe->args == VP_ARGS_SYSCALL_ENTRY;
	const struct call *own = probe->own;
	const struct vp_agent_event *e = vp_tracepoint_find(agent, entry ? "sys_enter" : "sys_exit");

	(void)probes;
	if (!e || !own->number)
		return false;
	ret->want = GA_TRACEPOINT;
	ret->slot = e->slot;
	ret->address = e->address;
	ret->flags = GA_WANT_SYSCALL;
	/* as agent_abi.h has them */
	ret->nargs = entry ? GA_ARGS : 3;
	ret->syscall = own->number;
	return true;
}

const struct vp_provider vp_provider_syscall = {
	.name = "syscall",
	.needs_guest = true,
	.publish = publish,
	.sites = sites,
	.inside = inside,
};
