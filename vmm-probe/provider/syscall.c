/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscall: the guest's 64-bit system calls, at the functions __x64_sys_NAME that the kernel makes for
 * each; module is the kernel's, function the bare name. Their only parameter is the caller's
 * registers, so args[] has no types; arg0 to arg5 are read from there.
 */
#include <string.h>

#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/fbt_sites.h"
#include "vmm-probe/provider/registry.h"

#define PREFIX "__x64_sys_"

/* What the table is filled with where a call does not exist; no system call of its own. */
#define HOLE "ni_syscall"

static struct ot_err *add(struct vp_probes *probes, const struct vp_symtab *tab, const struct vp_symbol *sym)
{
	struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SYSCALL_ENTRY,
		.module = vp_symbol_module(tab, sym),
		.function = vp_symbol_name(tab, sym) + strlen(PREFIX),
		.name = "entry",
		.gva = sym->addr,
		.size = vp_symbol_size(tab, sym),
	};

	if (!probe.size)
		probe.refused = "its size is unknown";
	OT_TRY(vp_probes_add(probes, &vp_provider_syscall, &probe));
	probe.args = VP_ARGS_SYSCALL_RETURN;
	probe.name = "return";
	return vp_probes_add(probes, &vp_provider_syscall, &probe);
}

static struct ot_err *publish(struct vp_probes *probes)
{
	const struct vp_symtab *tab = vp_guest_symtab(vp_probes_guest(probes));

	for (size_t i = 0; i < vp_symtab_count(tab); i++) {
		const struct vp_symbol *sym = vp_symtab_at(tab, i);
		const char *name;

		if (!vp_symbol_is_function(sym) || sym->flags || sym->module != VP_SYMTAB_VMLINUX)
			continue;
		name = vp_symbol_name(tab, sym);
		if (!strncmp(name, PREFIX, strlen(PREFIX)) && strcmp(name + strlen(PREFIX), HOLE) != 0 &&
		    !strchr(name, '.'))
			OT_TRY(add(probes, tab, sym));
	}
	return NULL;
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	if (probe->args == VP_ARGS_SYSCALL_ENTRY)
		return vp_fbt_entry_site(probes, probe, ret, ret_count);
	return vp_fbt_return_sites(probes, probe, ret, ret_count);
}

const struct vp_provider vp_provider_syscall = {
	.name = "syscall",
	.needs_guest = true,
	.publish = publish,
	.sites = sites,
};
