/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suggestions for a description that matches no probe: the probe with that name on another system, or the one
 * with the nearest names. Also the functions that are a compiler's copies of another, which match without
 * their suffix.
 */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/near.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/cpc_name.h"
#include "vmm-probe/provider/fbt_inlined.h"
#include "vmm-probe/provider/hint_systems.h"
#include "vmm-probe/provider/hint_tracers.h"
#include "vmm-probe/provider/pid_process.h"
#include "vmm-probe/provider/profile_name.h"
#include "vmm-probe/provider/registry_internal.h"

/* One field. Runs of probes share their strings, so the last answer is kept. */
struct near_field {
	const char *pattern; /* NULL: matches anything */
	const char *last;
	struct ot_near near;
	unsigned distance; /* difference of last; above limit: too far */
	bool is_glob;
};

static void field_init(struct near_field *f, const char *pattern)
{
	*f = (struct near_field){ .pattern = pattern && *pattern ? pattern : NULL };
	if (!f->pattern)
		return;
	f->is_glob = dif_glob_is_pattern(pattern);
	ot_near_init(&f->near, pattern);
}

/* @most + 1 or more: too far. */
static unsigned field_distance(struct near_field *f, const char *text, unsigned most)
{
	unsigned limit = f->pattern ? f->near.distance - 1 : 0;

	if (!f->pattern)
		return 0;
	if (f->last == text)
		return f->distance;
	f->last = text;
	if (f->is_glob)
		f->distance = dif_glob_match(f->pattern, text) ? 0 : most + 1;
	else if (!strcmp(f->pattern, text))
		f->distance = 0;
	else /* names are case-sensitive: another case is one difference */
		f->distance = ot_near_distance(f->pattern, f->near.len, text, strlen(text), limit) + 1;
	if (f->distance > limit + 1)
		f->distance = most + 1;
	return f->distance;
}

#define FIELDS 4
#define FAR    100u

/* The probe whose names differ least from @desc's, by less than @far. */
static const struct vp_probe *nearer_than(const struct vp_probes *probes, const struct dif_probedesc *desc,
					  unsigned far)
{
	const char *wanted[FIELDS] = { desc->provider, desc->name, desc->module, desc->function };
	const struct vp_probe *best = NULL;
	struct near_field fields[FIELDS];
	unsigned best_sum = far;

	for (unsigned i = 0; i < FIELDS; i++)
		field_init(&fields[i], wanted[i]);
	for (uint32_t id = 1; id <= vp_probes_count(probes); id++) {
		const struct vp_probe *p = vp_probes_get(probes, id);
		const char *is[FIELDS] = { p->provider, p->name, p->module, p->function };
		unsigned sum = 0;
		for (unsigned i = 0; i < FIELDS && sum < best_sum; i++)
			sum += field_distance(&fields[i], is[i], FAR);
		if (sum >= best_sum || p->refused)
			continue;
		best = p;
		best_sum = sum;
	}
	return best;
}

static const struct vp_probe *nearest(const struct vp_probes *probes, const struct dif_probedesc *desc)
{
	return nearer_than(probes, desc, FAR);
}

/* Print the description, with the probe's names where they differ. */
static void print_corrected(const struct dif_probedesc *desc, const struct vp_probe *p, struct ot_buf *out)
{
	const char *wanted[FIELDS] = { desc->provider, desc->module, desc->function, desc->name };
	const char *is[FIELDS] = { p->provider, p->module, p->function, p->name };

	ot_buf_puts(out, "did you mean ");
	for (unsigned i = 0; i < FIELDS; i++) {
		bool keep = !wanted[i] || !*wanted[i] || dif_glob_is_pattern(wanted[i]);
		ot_buf_printf(out, "%s%s", i ? ":" : "", keep ? wanted[i] ? wanted[i] : "" : is[i]);
	}
	ot_buf_putc(out, '?');
}

/* A function's name in the field of a probe's: -n vfs_read. */
static const struct vp_probe *function_for_name(const struct vp_probes *probes,
						const struct dif_probedesc *desc)
{
	const struct dif_probedesc function = {
		.guest = "", .provider = desc->provider, .module = "", .function = desc->name, .name = ""
	};

	if (!desc->name || !*desc->name || dif_glob_is_pattern(desc->name) ||
	    (desc->function && *desc->function))
		return NULL;
	return nearest(probes, &function);
}

/* A probe's name in the field of a function: sdt:sched:sched_switch: */
static bool hint_name(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out)
{
	const struct vp_probe *p;
	struct dif_probedesc name = *desc;

	if (!desc->provider || !*desc->provider || !desc->function || !*desc->function ||
	    (desc->name && *desc->name))
		return false;
	name.function = "";
	name.name = desc->function;
	p = nearest(probes, &name);
	if (p)
		print_corrected(&name, p, out);
	return p != NULL;
}

/* The probe with that name on another system. */
static bool hint_system(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out)
{
	struct dif_probedesc here;
	const struct vp_probe *p = vp_probe_of_linux(desc, &here) ? nearer_than(probes, &here, 1) : NULL;

	if (!p)
		return false;
	print_corrected(&here, p, out);
	return true;
}

/* What bpftrace calls so; the place may be misspelled too. */
static bool hint_tracer(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out)
{
	struct dif_probedesc here;
	const struct vp_probe *p = vp_probe_of_tracer(desc, &here) ? nearest(probes, &here) : NULL;

	if (!p)
		return false;
	print_corrected(&here, p, out);
	return true;
}

static bool is_published(const struct vp_probes *probes, const char *provider)
{
	for (uint32_t id = 1; id <= vp_probes_count(probes); id++)
		if (!strcmp(vp_probes_get(probes, id)->provider, provider))
			return true;
	return false;
}

/* One field too few: fbt::vfs_read. */
static const struct vp_probe *shifted(const struct vp_probes *probes, const struct dif_probedesc *desc)
{
	const struct dif_probedesc more = { .guest = "",
					    .provider = desc->module,
					    .module = desc->function,
					    .function = desc->name,
					    .name = "" };

	if ((desc->provider && *desc->provider) || !desc->module || !*desc->module || !desc->name ||
	    !is_published(probes, desc->module))
		return NULL;
	return nearest(probes, &more);
}

/* A provider in the module's field: syscall:read:entry. */
static bool hint_module(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out)
{
	const struct vp_probe *p;
	struct dif_probedesc more;

	if ((desc->provider && *desc->provider) || !desc->module || !is_published(probes, desc->module))
		return false;
	more = *desc;
	more.provider = desc->module;
	more.module = "";
	p = nearest(probes, &more);
	if (p)
		print_corrected(&more, p, out);
	return p != NULL;
}

/* What the probes of a provider that has none here need; NULL: nothing is known. */
static const char *need_of(const struct vp_probes *probes, const char *provider)
{
	static const char *const of_guests[] = { "fbt", "syscall", "sdt", "sched", "proc", "io" };

	if (!strcmp(provider, "vm"))
		return "a guest on KVM";
	if (!strcmp(provider, "cpc"))
		return "a guest on KVM: name one with -g";
	if (probes->guest) {
		if (vp_guest_btf(probes->guest) || dif_glob_is_pattern(provider) ||
		    !vp_provider_is_kernels(provider))
			return NULL;
		return "the types of the guest's kernel, which has no BTF: --vmlinux FILE supplies them";
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(of_guests); i++)
		if (!strcmp(provider, of_guests[i]))
			return "a guest: name one with -g";
	return NULL;
}

static bool hint_provider(const struct vp_probes *probes, const char *provider, struct ot_buf *out)
{
	const char *need = provider && !is_published(probes, provider) ? need_of(probes, provider) : NULL;

	if (need)
		ot_buf_printf(out, "%s's probes need %s", provider, need);
	return need;
}

/* A name that is no provider here may be a program's. */
static bool hint_process(const struct vp_probes *probes, const char *provider, struct ot_buf *out)
{
	if (!provider || !*provider || strchr("*?[\\", *provider) || vp_provider_is_kernels(provider) ||
	    vp_probes_no_processes(probes) || vp_probes_target(probes) ||
	    isdigit((unsigned char)provider[strlen(provider) - 1]))
		return false;
	if (dif_glob_is_pattern(provider))
		ot_buf_printf(
		    out,
		    "%s is no provider of the kernel, and no program that runs has such a probe; with -Z "
		    "the session waits for one",
		    provider);
	else
		ot_buf_printf(out,
			      "%s is no provider of the kernel; a program's probes have the process's number "
			      "behind it: %s123, or %s* for every process",
			      provider, provider, provider);
	return true;
}

static bool hint_file(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out)
{
	if (!desc->provider || strcmp(desc->provider, "user") != 0 || vp_probes_no_processes(probes) ||
	    !desc->module)
		return false;
	for (uint32_t id = vp_probes_count(probes); id; id--) {
		const struct vp_probe *p = vp_probes_get(probes, id);

		if (!strcmp(p->provider, "user") && vp_pid_object_is(p->module, false, desc->module))
			return false;
	}
	ot_buf_puts(out, "no such function of that file is known; if no process has mapped it, -Z waits");
	return true;
}

static bool is_of(const struct dif_probedesc *desc, const char *provider)
{
	return desc->provider && !strcmp(desc->provider, provider) && desc->name;
}

static bool has_module(const struct vp_probes *probes, const char *module)
{
	for (uint32_t id = 1; id <= vp_probes_count(probes); id++)
		if (!strcmp(vp_probes_get(probes, id)->module, module))
			return true;
	return false;
}

/* Nothing is near: point to the lists. */
static bool hint_names(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out)
{
	if (!desc->provider || !is_published(probes, desc->provider) ||
	    !vp_probes_guest((struct vp_probes *)(uintptr_t)probes))
		return false;
	if (is_of(desc, "fbt") && desc->module && *desc->module && !dif_glob_is_pattern(desc->module) &&
	    !has_module(probes, desc->module))
		ot_buf_printf(out, "the guest has no module %s (the core kernel is vmlinux): ", desc->module);
	ot_buf_printf(out, "outsight -l -P %s lists what there is; with -Z the program does without",
		      desc->provider);
	return true;
}

static bool hint_inlined(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out)
{
	const struct vp_guest *guest = vp_probes_guest((struct vp_probes *)(uintptr_t)probes);

	if (!guest || !desc->name || strcmp(desc->name, VP_FBT_INLINED) != 0)
		return false;
	if (!vp_guest_vmlinux(guest)) {
		ot_buf_puts(out,
			    "where functions are inlined is known with --vmlinux FILE, the guest's kernel "
			    "with its debugging information");
		return true;
	}
	ot_buf_puts(out, "the core kernel has no inlined copy of such a function");
	return true;
}

static void print_found(const struct vp_probe *p, const char *called, struct ot_buf *out)
{
	if (called && !strcmp(called, p->function))
		ot_buf_printf(out, "%s is a function: ", called);
	ot_buf_printf(out, "did you mean %s::%s:%s?", p->provider, p->function, p->name);
}

bool vp_probes_hint(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out)
{
	const struct vp_probe *p;

	if (desc->id)
		return false;
	if (desc->name && vp_profile_hint(desc->name, out))
		return true;
	if (is_of(desc, "cpc") && is_published(probes, "cpc") && vp_cpc_hint(desc->name, out))
		return true;
	if (hint_inlined(probes, desc, out))
		return true;
	if (hint_system(probes, desc, out) || vp_timer_of_tracer(desc, out) || hint_tracer(probes, desc, out))
		return true;
	p = nearest(probes, desc);
	if (p) {
		print_corrected(desc, p, out);
		return true;
	}
	p = function_for_name(probes, desc);
	if (!p)
		p = shifted(probes, desc);
	if (p) {
		print_found(p, desc->name, out);
		return true;
	}
	if (hint_module(probes, desc, out) || hint_name(probes, desc, out) || hint_file(probes, desc, out))
		return true;
	return hint_provider(probes, desc->provider, out) || hint_process(probes, desc->provider, out) ||
	       hint_names(probes, desc, out);
}

/* --- copies -------------------------------------------------------------------------------------------- */

bool vp_function_is_copy(const char *name, const char *of)
{
	static const char *const marks[] = { ".isra.", ".constprop." };
	size_t len = strlen(of);

	if (!len || strncmp(name, of, len) != 0 || !name[len])
		return false;
	name += len;
	while (*name) {
		size_t mark = 0, digits;
		for (size_t i = 0; i < OT_ARRAY_SIZE(marks) && !mark; i++)
			if (!strncmp(name, marks[i], strlen(marks[i])))
				mark = strlen(marks[i]);
		digits = mark ? strspn(name + mark, "0123456789") : 0;
		if (!digits)
			return false;
		name += mark + digits;
	}
	return true;
}
