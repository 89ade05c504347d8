/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fbt: entry and return of every function of the guest's kernel and modules.
 *
 * A function is a text symbol with a size. Its entry site is its first instruction (after endbr64), where the
 * arguments are still in their registers. Symbols that do not follow C's calling convention or can no longer
 * run are published too, with the reason why they can't be enabled. Single instructions are probed by their
 * offset (fbt_offset.h), inlined copies as fbt_inlined.h says.
 */
#include <string.h>

#include "guest-agent/agent_abi.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/fbt_args.h"
#include "vmm-probe/provider/fbt_inlined.h"
#include "vmm-probe/provider/fbt_offset.h"
#include "vmm-probe/provider/fbt_sites.h"
#include "vmm-probe/provider/marks.h"
#include "vmm-probe/provider/providers.h"

#define FUNCTION_MAX (16u << 20)

/* Parts of the core kernel's image in which probes are refused. */
struct marks {
	struct vp_mark_range text, init, entry;
};

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static bool ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

/* Names that a linker script gives to section boundaries. */
static bool is_mark(const char *name)
{
	static const char *const names[] = { "_text",
					     "_stext",
					     "_etext",
					     "_sinittext",
					     "_einittext",
					     "__indirect_thunk_start",
					     "__indirect_thunk_end" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return starts(name, "__") && (ends(name, "_text_start") || ends(name, "_text_end") ||
				      ends(name, "text_start") || ends(name, "text_end"));
}

/* Symbols of the bytes before each function (objtool --prefix, kCFI). They would double the number of probes.
 */
static bool is_padding(const char *name)
{
	return starts(name, "__pfx_") || starts(name, "__cfi_");
}

static const char *refuse_by_name(const char *name)
{
	if (name[0] == '.')
		return "a label, not a function";
	if (strstr(name, ".cold"))
		return "the unlikely part of another function, whose probes cover it";
	if (starts(name, "__SCT__"))
		return "a static call's trampoline, which the kernel rewrites";
	if (starts(name, "__x86_indirect_") || strstr(name, "return_thunk") || ends(name, "untrain_ret"))
		return "a thunk that other functions' returns and calls go through";
	if (!strcmp(name, "__fentry__") || starts(name, "ftrace_stub"))
		return "ftrace's own hook";
	return is_mark(name) ? "the border of a section, not a function" : NULL;
}

static const char *refuse(const struct marks *marks, const struct vp_symbol *sym, const char *name,
			  uint64_t size)
{
	if (sym->module == VP_SYMTAB_VMLINUX) {
		if (vp_mark_has(&marks->init, sym->addr))
			return "initialisation code, which the kernel frees after boot";
		if (vp_mark_has(&marks->entry, sym->addr))
			return "entry code, which is no C function";
		if (marks->text.end && !vp_mark_has(&marks->text, sym->addr))
			return "outside the kernel's text";
	}
	if (!size)
		return "its size is unknown";
	if (size > FUNCTION_MAX)
		return "too large for a function";
	return refuse_by_name(name);
}

static struct ot_err *add_function(struct vp_probes *probes, const struct vp_provider *self,
				   const struct marks *marks, const struct vp_symtab *tab,
				   const struct vp_symbol *sym)
{
	struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_FBT_ENTRY,
		.module = vp_symbol_module(tab, sym),
		.function = vp_symbol_name(tab, sym),
		.name = "entry",
		.gva = sym->addr,
		.size = vp_symbol_size(tab, sym),
	};

	probe.refused = refuse(marks, sym, probe.function, probe.size);
	OT_TRY(vp_probes_add(probes, self, &probe));
	probe.args = VP_ARGS_FBT_RETURN;
	probe.name = "return";
	return vp_probes_add(probes, self, &probe);
}

/* The text of a module that is being loaded is incomplete, and that of one that is being unloaded will
 * disappear. */
static bool is_formed(const struct vp_guest *guest, const char *module)
{
	const struct vp_modules *modules = vp_guest_modules(guest);

	for (size_t i = 0; modules && i < modules->count; i++)
		if (!strcmp(modules->list[i].name, module))
			return modules->list[i].formed;
	return false;
}

/* For all modules, or number @only. */
static struct ot_err *publish_functions(struct vp_probes *probes, const struct vp_provider *self, int only)
{
	struct vp_guest *guest = vp_probes_guest(probes);
	const struct vp_symtab *tab = vp_guest_symtab(guest);
	const struct marks marks = {
		.text = vp_marked(guest, "_stext", "_etext"),
		.init = vp_marked(guest, "_sinittext", "_einittext"),
		.entry = vp_marked(guest, "__entry_text_start", "__entry_text_end"),
	};
	uint32_t module = UINT32_MAX;
	bool formed = false;

	for (size_t i = 0; i < vp_symtab_count(tab); i++) {
		const struct vp_symbol *sym = vp_symtab_at(tab, i);

		if (!vp_symbol_is_function(sym) || sym->flags || (only >= 0 && sym->module != only))
			continue;
		if (sym->module != module) {
			module = sym->module;
			formed = module == VP_SYMTAB_VMLINUX || is_formed(guest, vp_symbol_module(tab, sym));
		}
		if (formed && !is_padding(vp_symbol_name(tab, sym)))
			OT_TRY(add_function(probes, self, &marks, tab, sym));
	}
	return NULL;
}

static struct ot_err *provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	OT_TRY(vp_fbt_inlined_provide(probes, self, desc));
	return vp_fbt_provide(probes, self, desc);
}

static struct ot_err *resolve(struct vp_probes *probes, const struct vp_probe *probe)
{
	return vp_fbt_is_inlined(probe) ? vp_fbt_inlined_resolve(probes, probe) : NULL;
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	return publish_functions(probes, self, -1);
}

static struct ot_err *arrive(struct vp_probes *probes, const struct vp_provider *self,
			     const struct vp_module *module, uint32_t before)
{
	int number = vp_symtab_find_module(vp_guest_symtab(vp_probes_guest(probes)), module->name);

	(void)before;
	return number > VP_SYMTAB_VMLINUX ? publish_functions(probes, self, number) : NULL;
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	if (vp_fbt_is_inlined(probe))
		return vp_fbt_inlined_sites(probes, probe, ret, ret_count);
	if (vp_fbt_is_offset(probe))
		return vp_fbt_offset_site(probes, probe, ret, ret_count);
	if (probe->args == VP_ARGS_FBT_ENTRY)
		return vp_function_entry_site(probes, probe, NULL, ret, ret_count);
	return vp_function_return_sites(probes, probe, NULL, ret, ret_count);
}

/* As events of kprobes in the guest. */
static bool inside(const struct vp_probes *probes, const struct vp_probe *probe,
		   const struct vp_guest_agent *agent, struct vp_batch_event *ret)
{
	bool entry = probe->args == VP_ARGS_FBT_ENTRY;

	(void)probes;
	(void)agent;
	if (vp_fbt_is_offset(probe) || vp_fbt_is_inlined(probe))
		return false;
	ret->want = entry ? GA_KPROBE : GA_KRETPROBE;
	ret->nargs = entry ? 6 : 1;
	ret->address = probe->gva;
	ret->slot = GA_TRACEPOINTS;
	return true;
}

static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	return vp_fbt_is_inlined(probe) ? vp_fbt_inlined_arg(probes, probe, n, ret)
					: vp_fbt_arg(probes, probe, n, ret);
}

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	return vp_fbt_is_inlined(probe) ? vp_fbt_inlined_nargs(probe) : vp_fbt_nargs(probes, probe);
}

static void describe(struct vp_probes *probes, const struct vp_probe *probe, struct ot_buf *out)
{
	if (vp_fbt_is_inlined(probe))
		vp_fbt_inlined_describe(probes, probe, out);
}

const struct vp_provider vp_provider_fbt = {
	.name = "fbt",
	.needs_guest = true,
	.publish = publish,
	.arrive = arrive,
	.provide = provide,
	.resolve = resolve,
	.sites = sites,
	.inside = inside,
	.arg = arg,
	.nargs = nargs,
	.describe = describe,
};
