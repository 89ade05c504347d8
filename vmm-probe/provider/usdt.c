/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The static probes (USDT) of a program: PROVIDERn:OBJECT:FUNCTION:NAME in process n of the guest, at the
 * nops that <sys/sdt.h> has put into its files, with the arguments that their notes describe. As DTrace does,
 * probes have the program's own provider with the process's number behind it: python123, and python$target.
 * A pattern without a number means the process of -p.
 *
 * All probes of a file are made when a description first names it. Notes of one name in one function are one
 * probe with several places, each of which may have its arguments elsewhere: each has a site program.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/derivation.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/tracepoint_sites.h"
#include "vmm-probe/provider/usdt_places.h"

#define DIGITS     "0123456789"
#define DIGITS_MAX 10 /* of a process's number */

/* Probes whose semaphores are raised for their full name only: no pattern means them. */
static const struct {
	const char *provider, *name, *why;
} dear[] = {
	{ "python", "line", "it costs the program time at each of its lines: give the probe's name, line" },
};

/* What is remembered of a probe. The registry's memory. */
struct own {
	struct vp_batch_process process;
	bool of_program; /* its module is a.out too */
	const char
	    *dear; /* why its semaphore is not raised; NULL: it is, or a description has its full name */
	struct vp_usdt_place *places;
	uint32_t nplaces;
};

static struct own *own_of(const struct vp_probe *probe)
{
	return (struct own *)(uintptr_t)probe->own;
}

/* --- names -------------------------------------------------------------------------------------------- */

/* The digits that end @pattern, with something before them; NULL: there are none. */
static const char *number_of(const char *pattern)
{
	const char *at = pattern + strlen(pattern);

	while (at > pattern && strchr(DIGITS, at[-1]))
		at--;
	return *at && at > pattern ? at : NULL;
}

/* "*" and "?*" name no program, but everything. */
static bool says_something(const char *pattern)
{
	return pattern[strspn(pattern, "*?")] != '\0';
}

static bool is_named(const struct vp_probes *probes, const char *pattern)
{
	const char *number = number_of(pattern);

	if (vp_provider_is_kernels(pattern))
		return false;
	if (!number)
		return vp_probes_target(probes) && says_something(pattern) && dif_glob_is_pattern(pattern);
	return number - pattern != (ptrdiff_t)strlen(vp_provider_pid.name) ||
	       strncmp(pattern, vp_provider_pid.name, strlen(vp_provider_pid.name)) != 0;
}

static struct ot_err *process_of(const struct vp_probes *probes, const char *pattern, uint64_t *ret)
{
	const char *number = number_of(pattern);

	*ret = vp_probes_target(probes);
	if (number)
		*ret = strlen(number) > DIGITS_MAX ? 0 : strtoull(number, NULL, 10);
	if (*ret && *ret <= INT32_MAX)
		return NULL;
	return ot_err_new(OT_ERR_NOT_FOUND, "D_PROC_BADPID: %s contains an invalid pid", pattern);
}

/* --- making probes ------------------------------------------------------------------------------------ */

/* The probes that a description asks for, while they are made. */
struct making {
	struct vp_probes *probes;
	const struct dif_probedesc *desc;
	struct vp_usdt_reader reader;
	struct vp_pid_object *object;
	const char *module; /* the registry's copy of the object's name */
	const char *named;  /* the provider of a note for which … */
	char *provider;     /* … this is the probes' */
};

static struct ot_err *name_provider(struct making *m, const char *named)
{
	if (m->named && !strcmp(m->named, named))
		return NULL;
	m->named = named;
	m->provider =
	    ot_arena_printf(&m->reader.exprs->arena, "%s%" PRIu32, named, m->reader.process->id.pid);
	return m->provider ? NULL : ot_err_nomem();
}

/* All or none of its places: one that misses some would count wrong. */
static const char *refusal(const struct own *own)
{
	for (uint32_t i = 0; i < own->nplaces; i++)
		if (own->places[i].refused)
			return own->places[i].refused;
	return NULL;
}

static const char *why_dear(const struct vp_usdt_place *p)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(dear); i++)
		if (!strcmp(dear[i].provider, p->provider) && !strcmp(dear[i].name, p->name))
			return dear[i].why;
	return NULL;
}

static struct ot_err *add_probe(struct making *m, struct vp_usdt_place *places, size_t count)
{
	struct own *own = vp_probes_alloc(m->probes, sizeof(*own));

	if (!own)
		return ot_err_nomem();
	*own = (struct own){
		.process = m->reader.process->id,
		.of_program = m->object->is_program,
		.dear = why_dear(places),
		.places = places,
		.nplaces = (uint32_t)count,
	};
	OT_TRY(name_provider(m, places->provider));
	const struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SITE,
		.provider = m->provider,
		.module = m->module,
		.function = places->function,
		.name = places->name,
		.own = own,
		.refused = refusal(own),
	};
	return vp_probes_add(m->probes, &vp_provider_usdt, &probe);
}

static bool is_same_probe(const struct vp_usdt_place *a, const struct vp_usdt_place *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name) &&
	       !strcmp(a->function, b->function);
}

static struct ot_err *make_of_object(struct making *m)
{
	struct vp_usdt_places all;
	size_t from = 0;

	if (m->object->notes_read)
		return NULL;
	m->object->notes_read = true;
	OT_TRY(vp_usdt_places_read(&m->reader, m->object, &all));
	m->object->notes_missing = !all.whole;
	m->module = vp_probes_strdup(m->probes, m->object->name);
	if (!m->module)
		return ot_err_nomem();
	for (size_t i = 1; i <= all.count; i++) {
		if (i < all.count && is_same_probe(&all.items[from], &all.items[i]))
			continue;
		OT_TRY(add_probe(m, &all.items[from], i - from));
		from = i;
	}
	if (m->object->pages)
		vp_elf_pages_forget(m->object->pages);
	return vp_budget_check();
}

static bool is_meant(const struct making *m, const struct vp_pid_object *o)
{
	return vp_pid_object_is(o->name, o->is_program, m->desc->module);
}

/* A description with a probe's full name means it, whatever it costs. */
static void allow_dear(const struct making *m)
{
	const char *name = m->desc->name;

	if (!name || dif_glob_is_pattern(name))
		return;
	for (uint32_t id = vp_probes_count(m->probes); id; id--) {
		const struct vp_probe *p = vp_probes_get(m->probes, id);

		if (vp_probes_is_of(m->probes, p, &vp_provider_usdt) && !strcmp(p->name, name) &&
		    dif_glob_match(m->desc->provider, p->provider))
			own_of(p)->dear = NULL;
	}
}

static bool has_match(const struct making *m)
{
	for (uint32_t id = vp_probes_count(m->probes); id; id--) {
		const struct vp_probe *p = vp_probes_get(m->probes, id);

		if (dif_glob_match(m->desc->provider, p->provider) &&
		    dif_glob_match(m->desc->name ? m->desc->name : "", p->name))
			return true;
	}
	return false;
}

/* Notes that could not be read may be those that were meant. */
static struct ot_err *explain_none(const struct making *m)
{
	const struct vp_pid_process *process = m->reader.process;

	for (size_t i = 0; i < process->nobjects; i++) {
		const struct vp_pid_object *o = &process->objects[i];

		if (o->notes_missing && is_meant(m, o) && !has_match(m))
			return ot_err_new(
			    OT_ERR_NOT_FOUND,
			    "D_PROC_USDT: no probe matches, but not all notes of %s are in the guest's "
			    "memory: read the file in the guest (`cat FILE >/dev/null`) and try again",
			    o->name);
	}
	return NULL;
}

static struct ot_err *make(struct making *m)
{
	struct vp_pid_process *process;
	uint64_t pid;

	OT_TRY(process_of(m->probes, m->desc->provider, &pid));
	OT_TRY(vp_pid_process_find(m->probes, pid, &m->reader.processes, &process));
	m->reader.process = process;
	for (size_t i = 0; i < process->nobjects; i++) {
		m->object = &process->objects[i];
		if (is_meant(m, m->object))
			OT_TRY(make_of_object(m));
	}
	allow_dear(m);
	return explain_none(m);
}

static struct ot_err *provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	struct making m = { .probes = probes, .desc = desc };
	const char *refused = vp_probes_no_processes(probes);
	struct vp_budget budget;

	(void)self;
	if (refused)
		return ot_err_new(OT_ERR_UNSUPPORTED, "D_PROC_NODEV: %s", refused);
	OT_TRY(vp_arch_code(&vp_arch_native, &m.reader.code));
	m.reader.exprs = vp_tracepoint_exprs(vp_probes_tracepoints(probes));
	vp_guest_budget_begin(vp_probes_guest(probes), &budget, &vp_readings[VP_READ_FUNCTIONS]);
	struct ot_err *err = make(&m);
	vp_budget_end(&budget);
	return err;
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	(void)probes;
	(void)self;
	return NULL;
}

static bool is_module(const struct vp_probe *probe, const char *pattern)
{
	return vp_pid_object_is(probe->module, own_of(probe)->of_program, pattern);
}

/* --- sites -------------------------------------------------------------------------------------------- */

static struct ot_err *add_program(struct vp_probes *probes, struct vp_usdt_place *place)
{
	struct dif_clause program;

	if (!place->args.count || place->site.raw)
		return NULL;
	OT_TRY(vp_usdt_program(&place->args, vp_tracepoint_exprs(vp_probes_tracepoints(probes)), &program));
	return vp_probes_add_program(probes, &program, &place->site.raw);
}

static struct ot_err *resolve(struct vp_probes *probes, const struct vp_probe *probe)
{
	struct own *own = own_of(probe);

	for (uint32_t i = 0; i < own->nplaces; i++)
		OT_TRY(add_program(probes, &own->places[i]));
	return NULL;
}

/* Why its semaphores are left alone; NULL: they are raised while the probe is enabled. */
static const char *why_not_raised(const struct vp_probes *probes, const struct own *own)
{
	const char *why = vp_probes_no_semaphores(probes);

	return why ? why : own->dear;
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct own *own = own_of(probe);

	*ret = malloc(own->nplaces * sizeof(**ret));
	if (!*ret)
		return ot_err_nomem();
	for (uint32_t i = 0; i < own->nplaces; i++) {
		(*ret)[i] = own->places[i].site;
		(*ret)[i].semaphore = why_not_raised(probes, own) ? 0 : own->places[i].semaphore;
	}
	*ret_count = own->nplaces;
	return NULL;
}

static void fill(const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	bp->process = own_of(probe)->process;
}

static const char *asleep(const struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct own *own = own_of(probe);
	const char *why = why_not_raised(probes, own);

	for (uint32_t i = 0; i < own->nplaces; i++) {
		const struct vp_usdt_place *p = &own->places[i];

		if (p->semaphore && why && p->raised <= 0)
			return why;
		if (p->semaphore && p->raised == VP_USDT_NOT_READ)
			return "its page is not in memory: it is raised when that is back";
	}
	return NULL;
}

/* --- arguments ---------------------------------------------------------------------------------------- */

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct own *own = own_of(probe);
	uint32_t n = 0;

	(void)probes;
	for (uint32_t i = 0; i < own->nplaces; i++)
		n = own->places[i].args.count > n ? own->places[i].args.count : n;
	return (int)n;
}

/* What C makes of an integer of that size in an expression. D prints smaller ones without their sign. */
static const char *type_of(uint8_t size, bool is_signed)
{
	if (size == sizeof(long))
		return is_signed ? "long" : "unsigned long";
	return is_signed || size < sizeof(int) ? "int" : "unsigned int";
}

/* A note has sizes and signs, but no types. Places may differ in them: then the widest, and signed if one is.
 */
static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	const struct own *own = own_of(probe);
	bool is_signed = false;
	uint8_t size = 0;

	for (uint32_t i = 0; i < own->nplaces; i++) {
		const struct vp_usdt_args *args = &own->places[i].args;
		const struct vp_usdt_arg *a = n < args->count ? &args->items[n] : NULL;

		if (!a || a->refused)
			continue;
		size = a->size > size ? a->size : size;
		is_signed |= a->is_signed;
	}
	if (!size)
		return false;
	ret->native = vp_derivation_type(vp_probes_derivation(probes), type_of(size, is_signed));
	ret->mapping = n;
	return ret->native != NULL;
}

/* --- listings ----------------------------------------------------------------------------------------- */

static void describe_semaphore(const struct vp_usdt_place *p, const char *not_raised, struct ot_buf *out)
{
	ot_buf_printf(out, "\tsemaphore: 0x%" PRIx64 ", ", p->semaphore);
	if (p->raised == VP_USDT_NOT_READ)
		ot_buf_puts(out, "not in memory");
	else
		ot_buf_printf(out, "%" PRId32, p->raised);
	if (!not_raised)
		ot_buf_puts(out, ": raised while the probe is enabled\n");
	else if (p->raised > 0)
		ot_buf_puts(out, ": raised by another\n");
	else
		ot_buf_printf(out, ": the program skips the probe until it is raised, which it is not: %s\n",
			      not_raised);
}

static void describe_place(const struct vp_usdt_place *p, const char *not_raised, struct ot_buf *out)
{
	ot_buf_printf(out, "Place: 0x%" PRIx64 "\n", p->site.gva);
	if (p->refused)
		ot_buf_printf(out, "\t%s\n", p->refused);
	for (uint32_t n = 0; n < p->args.count; n++) {
		const struct vp_usdt_arg *a = &p->args.items[n];

		ot_buf_printf(out, "\targ%u: %.*s%s%s\n", n, (int)a->len, a->text,
			      a->refused ? ": it has no value: " : "", a->refused ? a->refused : "");
	}
	if (p->semaphore)
		describe_semaphore(p, not_raised, out);
}

static void describe(struct vp_probes *probes, const struct vp_probe *probe, struct ot_buf *out)
{
	const struct own *own = own_of(probe);

	for (uint32_t i = 0; i < own->nplaces; i++)
		describe_place(&own->places[i], why_not_raised(probes, own), out);
}

const struct vp_provider vp_provider_usdt = {
	.name = "usdt",
	.needs_guest = true,
	.is_named = is_named,
	.publish = publish,
	.provide = provide,
	.is_module = is_module,
	.resolve = resolve,
	.sites = sites,
	.fill = fill,
	.arg = arg,
	.nargs = nargs,
	.describe = describe,
	.asleep = asleep,
};
