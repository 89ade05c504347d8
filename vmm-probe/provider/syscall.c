/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscall: the guest's system calls, at the functions that the kernel defines for each (named with a prefix,
 * the architecture's); function is the bare name. 64-bit calls have the kernel's module, 32-bit ones "ia32".
 * Calls of both kinds may reach the same function: a condition tells them apart. Many end in a tail jump into
 * code that other calls share: there the number of the task's system call decides. The functions' only
 * parameter is the caller's registers, from which arg0 to arg5 are read.
 */
#include <stdio.h>
#include <string.h>

#include "guest-agent/agent_abi.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/fbt_sites.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/syscall_args.h"
#include "vmm-probe/provider/syscall_numbers.h"
#include "vmm-probe/provider/tracepoint.h"

/* The table's entry for a number without a system call; it is no system call itself. */
#define HOLE "ni_syscall"

/* A function without parameters has a symbol for each ABI. Symbols of one address are adjacent. */
static bool is_named_too(const struct vp_symtab *tab, size_t i, const char *prefix)
{
	uint64_t addr = vp_symtab_at(tab, i)->addr;

	while (i && vp_symtab_at(tab, i - 1)->addr == addr)
		i--;
	for (; i < vp_symtab_count(tab) && vp_symtab_at(tab, i)->addr == addr; i++)
		if (!strncmp(vp_symbol_name(tab, vp_symtab_at(tab, i)), prefix, strlen(prefix)))
			return true;
	return false;
}

/* The data of a call's probes. */
struct call {
	uint32_t number;    /* + 1; 0: it has none. Of 64-bit calls */
	uint32_t condition; /* VP_SYSCALL_*, if calls of the other kind reach that function too; else 0 */
	uint64_t metadata;  /* of its parameters; 0: unknown */
	struct vp_syscall_numbers *numbers; /* of 32-bit calls, read when one is needed; NULL: a 64-bit one */
};

bool vp_syscall_is_native(const struct vp_probe *probe)
{
	const struct call *call = probe->own;

	return !call->numbers && call->number;
}

/* Its entry and its return. */
static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self,
			  const struct vp_symtab *tab, size_t i, struct vp_probe *probe, struct call call)
{
	const struct vp_symbol *sym = vp_symtab_at(tab, i);
	struct call *own = vp_probes_alloc(probes, sizeof(*own));

	if (!own)
		return ot_err_nomem();
	*own = call;
	probe->kind = VP_PROBE_SITE;
	probe->name = "entry";
	probe->gva = sym->addr;
	probe->size = vp_symbol_size(tab, sym);
	probe->own = own;
	if (!probe->size)
		probe->refused = "its size is unknown";
	OT_TRY(vp_probes_add(probes, self, probe));
	probe->args = VP_ARGS_SYSCALL_RETURN;
	probe->name = "return";
	return vp_probes_add(probes, self, probe);
}

static struct ot_err *add_native(struct vp_probes *probes, const struct vp_provider *self,
				 const struct vp_symtab *tab, size_t i,
				 const struct vp_syscall_numbers *numbers)
{
	const struct vp_symbol *sym = vp_symtab_at(tab, i);
	bool both = is_named_too(tab, i, vp_arch_native.syscall_prefix_32);
	struct call call = { vp_syscall_number(numbers, sym->addr), both ? VP_SYSCALL_NATIVE : 0, 0, NULL };
	struct vp_probe probe = {
		.args = VP_ARGS_SYSCALL_ENTRY,
		.module = vp_symbol_module(tab, sym),
		.function = vp_symbol_name(tab, sym) + strlen(vp_arch_native.syscall_prefix),
	};

	call.metadata = vp_syscall_metadata(probes, probe.function);
	return add(probes, self, tab, i, &probe, call);
}

/* The call's name behind one of the prefixes of a function's; NULL: the function is no system call. */
static const char *call_name(const struct vp_symtab *tab, const struct vp_symbol *sym,
			     const char *const *prefixes)
{
	if (!vp_symbol_is_function(sym) || sym->flags || sym->module != VP_SYMTAB_VMLINUX)
		return NULL;
	for (const char *name = vp_symbol_name(tab, sym); *prefixes; prefixes++) {
		size_t len = strlen(*prefixes);
		if (!strncmp(name, *prefixes, len))
			return strcmp(name + len, HOLE) != 0 && !strchr(name, '.') ? name + len : NULL;
	}
	return NULL;
}

/* Is there a function of 32-bit calls of that name with a prefix that comes before @p prefix? That one is
 * reached then. */
static bool is_replaced(const struct vp_symtab *tab, const char *name, const char *prefix)
{
	char other[128];

	for (const char *const *p = vp_arch_native.syscall_prefixes_32; *p && *p != prefix; p++) {
		snprintf(other, sizeof(other), "%s%s", *p, name);
		if (vp_symtab_find(tab, "vmlinux", other))
			return true;
	}
	return false;
}

static struct ot_err *add_compat(struct vp_probes *probes, const struct vp_provider *self,
				 const struct vp_symtab *tab, size_t i, const char *name,
				 struct vp_syscall_numbers *numbers)
{
	const char *symbol = vp_symbol_name(tab, vp_symtab_at(tab, i));
	bool both = is_named_too(tab, i, vp_arch_native.syscall_prefix);
	struct vp_probe probe = { .args = VP_ARGS_SYSCALL32_ENTRY, .module = "ia32", .function = name };
	const char *const *prefix = vp_arch_native.syscall_prefixes_32;

	while (strncmp(symbol, *prefix, strlen(*prefix)) != 0)
		prefix++;
	if (is_replaced(tab, name, *prefix))
		return NULL;
	/* the kernel keeps nothing of functions for 32-bit calls alone: their parameters mean what the 64-bit
	 * call's do, with few exceptions (pread64's position is in two), and a description names both */
	struct call call = { 0, both ? VP_SYSCALL_COMPAT : 0, vp_syscall_metadata(probes, name), numbers };

	return add(probes, self, tab, i, &probe, call);
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	const struct vp_symtab *tab = vp_guest_symtab(vp_probes_guest(probes));
	const char *const native[] = { vp_arch_native.syscall_prefix, NULL };
	struct vp_syscall_numbers *numbers = vp_probes_alloc(probes, sizeof(*numbers));
	struct vp_syscall_numbers *numbers_32 = vp_probes_alloc(probes, sizeof(*numbers_32));
	struct ot_err *err = NULL;

	if (!numbers || !numbers_32)
		return ot_err_nomem();
	numbers_32->read = false;
	vp_syscall_numbers_read(probes, numbers);
	for (size_t i = 0; !err && i < vp_symtab_count(tab); i++)
		if (call_name(tab, vp_symtab_at(tab, i), native))
			err = add_native(probes, self, tab, i, numbers);
	for (size_t i = 0; !err && i < vp_symtab_count(tab); i++) {
		const char *name = call_name(tab, vp_symtab_at(tab, i), vp_arch_native.syscall_prefixes_32);
		if (name)
			err = add_compat(probes, self, tab, i, name, numbers_32);
	}
	return err;
}

/* The number that identifies the call in code that it shares with others; 0: nothing does. */
static struct ot_err *shared_condition(struct vp_probes *probes, const struct vp_probe *probe, uint32_t *ret)
{
	const struct call *own = probe->own;
	uint32_t number = own->number;

	if (own->numbers) {
		OT_TRY(vp_syscall_numbers_read_32(probes, own->numbers));
		number = vp_syscall_number(own->numbers, probe->gva);
	}
	*ret = number && own->numbers ? number | VP_SYSCALL_32 : number;
	return NULL;
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct call *own = probe->own;
	struct vp_site_conditions when = { .own = own->condition };

	if (probe->args != VP_ARGS_SYSCALL_RETURN)
		return vp_function_entry_site(probes, probe, &when, ret, ret_count);
	OT_TRY(shared_condition(probes, probe, &when.shared));
	return vp_function_return_sites(probes, probe, &when, ret, ret_count);
}

/* At the return, args[0] and args[1] are the result. */
static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	const struct call *own = probe->own;

	if (probe->args != VP_ARGS_SYSCALL_RETURN)
		return vp_syscall_arg(probes, own->metadata, n, ret);
	ret->mapping = n;
	ret->native = n < 2 ? vp_types_find(vp_probes_types(probes), NULL, DIF_C_TYPEDEF, "long") : NULL;
	return ret->native != NULL;
}

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct call *own = probe->own;

	return probe->args == VP_ARGS_SYSCALL_RETURN ? 2 : vp_syscall_nargs(probes, own->metadata);
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

/* Modules of other systems' calls. */
static bool is_module(const struct vp_probe *probe, const char *pattern)
{
	bool native =
	    !strcmp(pattern, "genunix") || !strcmp(pattern, "freebsd") || !strcmp(pattern, "mach_kernel");

	return strcmp(probe->module, "ia32") != 0 ? native : !strcmp(pattern, "freebsd32");
}

const struct vp_provider vp_provider_syscall = {
	.name = "syscall",
	.needs_guest = true,
	.publish = publish,
	.sites = sites,
	.inside = inside,
	.arg = arg,
	.nargs = nargs,
	.is_module = is_module,
};
