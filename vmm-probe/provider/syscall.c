/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscall: the guest's 64-bit system calls, at the functions __x64_sys_NAME that the kernel makes for
 * each (those of 32 bits that come to the same function are left out); module is the kernel's, function the
 * bare name. Their only parameter is the caller's registers, so args[] has no types; arg0 to arg5 are read
 * from there.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/fbt_sites.h"
#include "vmm-probe/provider/registry.h"

#define PREFIX    "__x64_sys_"
#define PREFIX_32 "__ia32_" /* sys_, compat_sys_ */

/* What the table is filled with where a call does not exist; no system call of its own. */
#define HOLE "ni_syscall"

/* The kernel's table of functions by number; it is kept for tracing where calls do not go through it. */
#define TABLE_MAX 1024u

struct table {
	uint64_t entries[TABLE_MAX];
	uint32_t n;
};

/* Without the table, or without what the engine needs to tell which call a task is in, probes have no
 * number, and a call that ends by a tail jump returns there. */
static void read_table(struct vp_guest *guest, struct table *ret)
{
	const struct vp_symtab *tab = vp_guest_symtab(guest);
	const struct vp_symbol *sym = vp_symtab_find(tab, "vmlinux", "sys_call_table");
	uint64_t n = sym ? vp_symbol_size(tab, sym) / sizeof(uint64_t) : 0;

	ret->n = 0;
	if (!n || !vp_guest_btf(guest) || !vp_symtab_find(tab, "vmlinux", "do_syscall_64"))
		return;
	n = n < TABLE_MAX ? n : TABLE_MAX;

	struct ot_err *err = vp_guest_read(guest, vp_gva(sym->addr), ret->entries, n * sizeof(uint64_t));

	if (!err)
		ret->n = (uint32_t)n;
	ot_err_destroy(err);
}

/* A call's number + 1; 0 when the table has it not, or twice. */
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

/* A function without parameters has a name for each ABI. Symbols of one address stand side by side. */
static bool has_both_abis(const struct vp_symtab *tab, size_t i)
{
	uint64_t addr = vp_symtab_at(tab, i)->addr;

	while (i && vp_symtab_at(tab, i - 1)->addr == addr)
		i--;
	for (; i < vp_symtab_count(tab) && vp_symtab_at(tab, i)->addr == addr; i++)
		if (!strncmp(vp_symbol_name(tab, vp_symtab_at(tab, i)), PREFIX_32, strlen(PREFIX_32)))
			return true;
	return false;
}

static struct ot_err *add(struct vp_probes *probes, const struct vp_symtab *tab, size_t i,
			  const struct table *table)
{
	const struct vp_symbol *sym = vp_symtab_at(tab, i);
	struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SYSCALL_ENTRY,
		.module = vp_symbol_module(tab, sym),
		.function = vp_symbol_name(tab, sym) + strlen(PREFIX),
		.name = "entry",
		.gva = sym->addr,
		.size = vp_symbol_size(tab, sym),
		.syscall = find_number(table, sym->addr),
		.both_abis = has_both_abis(tab, i),
	};

	if (!probe.size)
		probe.refused = "its size is unknown";
	OT_TRY(vp_probes_add(probes, &vp_provider_syscall, &probe));
	probe.args = VP_ARGS_SYSCALL_RETURN;
	probe.name = "return";
	return vp_probes_add(probes, &vp_provider_syscall, &probe);
}

static bool is_syscall(const struct vp_symtab *tab, const struct vp_symbol *sym)
{
	const char *name;

	if (!vp_symbol_is_function(sym) || sym->flags || sym->module != VP_SYMTAB_VMLINUX)
		return false;
	name = vp_symbol_name(tab, sym);
	return !strncmp(name, PREFIX, strlen(PREFIX)) && strcmp(name + strlen(PREFIX), HOLE) != 0 &&
	       !strchr(name, '.');
}

static struct ot_err *publish(struct vp_probes *probes)
{
	const struct vp_symtab *tab = vp_guest_symtab(vp_probes_guest(probes));
	struct table *table = malloc(sizeof(*table));
	struct ot_err *err = NULL;

	if (!table)
		return ot_err_nomem();
	read_table(vp_probes_guest(probes), table);
	for (size_t i = 0; !err && i < vp_symtab_count(tab); i++)
		if (is_syscall(tab, vp_symtab_at(tab, i)))
			err = add(probes, tab, i, table);
	free(table);
	return err;
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	if (probe->args == VP_ARGS_SYSCALL_ENTRY)
		return vp_fbt_entry_site(probes, probe, ret, ret_count);
	return vp_syscall_return_sites(probes, probe, ret, ret_count);
}

const struct vp_provider vp_provider_syscall = {
	.name = "syscall",
	.needs_guest = true,
	.publish = publish,
	.sites = sites,
};
