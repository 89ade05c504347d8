/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes static probes. All probes of a file are made when a description first names it. Notes with one name
 * in one function are one probe with several places, each of which may have other arguments.
 */
#include "vmm-probe/provider/usdt_make.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/tracepoint_sites.h"
#include "vmm-probe/provider/usdt_files.h"
#include "vmm-probe/provider/usdt_stand_in.h"

#define DIGITS     "0123456789"
#define DIGITS_MAX 10 /* of a process's number */

/* Probes that slow a program down while their semaphores are raised: only a description with the full name
 * raises them, no pattern. */
static const struct {
	const char *provider, *name, *why;
} costly[] = {
	{ "python", "line", "it costs the program time at each of its lines: give the probe's name, line" },
};

/* --- names -------------------------------------------------------------------------------------------- */

/* The digits that end @pattern, with something before them; NULL: there are none. */
static const char *number_of(const char *pattern)
{
	const char *at = pattern + strlen(pattern);

	while (at > pattern && strchr(DIGITS, at[-1]))
		at--;
	return *at && at > pattern ? at : NULL;
}

/* "*" and "?*" do not name a program: they match everything. */
static bool is_specific(const char *pattern)
{
	return pattern[strspn(pattern, "*?")] != '\0';
}

bool vp_usdt_is_named(const struct vp_probes *probes, const char *pattern)
{
	const char *number = number_of(pattern);

	(void)probes;
	if (vp_provider_is_kernels(pattern))
		return false;
	if (!number)
		return is_specific(pattern) && dif_glob_is_pattern(pattern);
	return number - pattern != (ptrdiff_t)strlen(vp_provider_pid.name) ||
	       strncmp(pattern, vp_provider_pid.name, strlen(vp_provider_pid.name)) != 0;
}

bool vp_usdt_follows(const struct vp_probes *probes, const char *pattern)
{
	return vp_usdt_is_named(probes, pattern) && !vp_probes_no_processes(probes);
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
	bool all;           /* processes are meant */
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
static const char *refusal(const struct vp_usdt_probe *own)
{
	for (uint32_t i = 0; i < own->nplaces; i++)
		if (own->places[i].refused)
			return own->places[i].refused;
	return NULL;
}

const char *vp_usdt_why_costly(const struct vp_usdt_place *p)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(costly); i++)
		if (!strcmp(costly[i].provider, p->provider) && !strcmp(costly[i].name, p->name))
			return costly[i].why;
	return NULL;
}

static struct ot_err *check_number(struct making *m)
{
	if (m->reader.processes->nstatic < VP_PID_PROBES_MAX)
		return NULL;
	return ot_err_new(OT_ERR_LIMIT, "D_PROC_CREATEFAIL: more than %u static probes in processes",
			  VP_PID_PROBES_MAX);
}

static struct ot_err *add_probe(struct making *m, struct vp_usdt_place *places, size_t count)
{
	struct vp_usdt_probe *own = vp_probes_alloc(m->probes, sizeof(*own));

	if (!own)
		return ot_err_nomem();
	OT_TRY(check_number(m));
	*own = (struct vp_usdt_probe){
		.process = m->reader.process->id,
		.of_program = m->object->is_program,
		.costly = vp_usdt_why_costly(places),
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
	m->reader.processes->nstatic++;
	m->reader.process->nstatic++;
	return vp_probes_add(m->probes, &vp_provider_usdt, &probe);
}

/* No probes are made of its notes then: the requested ones are not known. */
static struct ot_err *check_share(struct making *m, size_t count)
{
	struct vp_pid_process *process = m->reader.process;

	if (!m->all || process->nstatic + count <= VP_PID_STATIC_MAX)
		return NULL;
	process->is_greedy = true;
	m->object->notes_read = false; /* for a description with the process's number */
	return ot_err_new(OT_ERR_LIMIT,
			  "it has more than %u static probes: it has no more probes; name the process to "
			  "have them",
			  VP_PID_STATIC_MAX);
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
	OT_TRY(check_share(m, all.count));
	m->module = vp_probes_strdup(m->probes, m->object->name);
	if (!m->module)
		return ot_err_nomem();
	for (size_t i = 1; i <= all.count; i++) {
		if (i < all.count && is_same_probe(&all.items[from], &all.items[i]))
			continue;
		OT_TRY(add_probe(m, &all.items[from], i - from));
		if (all.whole)
			OT_TRY(vp_usdt_stand_in(m->probes, &m->reader, m->object, m->module, &all.items[from],
						i - from));
		from = i;
	}
	if (m->object->pages)
		vp_elf_pages_forget(m->object->pages);
	return vp_budget_check();
}

static bool is_match(const struct making *m, const struct vp_pid_object *o)
{
	return vp_pid_object_is(o->name, o->is_program, m->desc->module);
}

/* A description with the full name of such a probe raises its semaphore. */
static void allow_costly(const struct making *m)
{
	const char *name = m->desc->name;

	if (!name || dif_glob_is_pattern(name))
		return;
	for (uint32_t id = vp_probes_count(m->probes); id; id--) {
		const struct vp_probe *p = vp_probes_get(m->probes, id);

		if (vp_probes_is_of(m->probes, p, &vp_provider_usdt) && !strcmp(p->name, name) &&
		    dif_glob_match(m->desc->provider, p->provider))
			((struct vp_usdt_probe *)(uintptr_t)p->own)->costly = NULL;
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

/* Notes that could not be read may be the requested ones. */
static struct ot_err *explain_none(const struct making *m)
{
	const struct vp_pid_process *process = m->reader.process;

	for (size_t i = 0; i < process->nobjects; i++) {
		const struct vp_pid_object *o = &process->objects[i];

		if (o->notes_missing && is_match(m, o) && !has_match(m))
			return ot_err_new(
			    OT_ERR_NOT_FOUND,
			    "D_PROC_USDT: no probe matches, but not all notes of %s are in the guest's "
			    "memory: read the file in the guest (`cat FILE >/dev/null`) and try again",
			    o->name);
	}
	return NULL;
}

/* The probes of @process that the description may match. */
static struct ot_err *make_of(struct making *m, struct vp_pid_process *process)
{
	m->reader.process = process;
	m->named = NULL; /* of the previous process */
	for (size_t i = 0; i < process->nobjects; i++) {
		m->object = &process->objects[i];
		if (is_match(m, m->object))
			OT_TRY(make_of_object(m));
	}
	return NULL;
}

static struct ot_err *make_of_one(struct making *m)
{
	struct vp_pid_process *process;
	uint64_t pid;

	OT_TRY(process_of(m->probes, m->desc->provider, &pid));
	OT_TRY(vp_pid_process_find(m->probes, pid, &m->reader.processes, &process));
	OT_TRY(make_of(m, process));
	return explain_none(m);
}

/* An error of one process among many is not reported: it may have just ended. */
static struct ot_err *pass_over(struct making *m, struct ot_err *err)
{
	if (m->reader.process->is_greedy)
		return err;
	OT_TRY(vp_pid_forgive(err));
	return check_number(m);
}

/* A file is opened in a process only if one of its notes matches there: most processes have none. */
static struct ot_err *make_if_noted(struct making *m, struct vp_pid_process *process)
{
	m->reader.process = process;
	m->named = NULL;
	for (size_t i = 0; i < process->nobjects; i++) {
		bool noted = false;

		m->object = &process->objects[i];
		if (m->object->notes_read || !is_match(m, m->object))
			continue;
		OT_TRY(pass_over(m, vp_usdt_file_has(&m->reader, m->object, m->desc->provider, &noted)));
		if (noted)
			OT_TRY(pass_over(m, make_of_object(m)));
	}
	return NULL;
}

/* A file that exceeded the budget in one process is not read in the next: a few processes with it would use
 * up the whole budget. */
static struct ot_err *each_process(void *arg, struct vp_pid_process *process)
{
	struct making *m = arg;

	m->object = NULL;
	struct ot_err *err = make_if_noted(m, process);
	if (!err || !m->object || !(process->is_greedy || vp_budget_is_over()))
		return err;
	if (!vp_usdt_file_pass_over(&m->reader, m->object)) {
		ot_err_destroy(err);
		return ot_err_nomem();
	}
	return ot_err_prefix(err, "%s, which is passed over in all processes", m->object->name);
}

static struct ot_err *make_of_all(struct making *m)
{
	return vp_pid_process_each(m->probes, &m->reader.processes, each_process, m);
}

struct ot_err *vp_usdt_has_news(struct vp_probes *probes, bool *ret)
{
	struct vp_budget budget;

	vp_guest_budget_begin(vp_probes_guest(probes), &budget, &vp_readings[VP_READ_PROCESSES]);
	struct ot_err *err = vp_pid_process_any_new(probes, ret);
	vp_budget_end(&budget);
	return err;
}

struct ot_err *vp_usdt_make(struct vp_probes *probes, const struct dif_probedesc *desc)
{
	bool all = !number_of(desc->provider) && !vp_probes_target(probes);
	struct making m = { .probes = probes, .desc = desc, .all = all };
	const char *refused = vp_probes_no_processes(probes);
	struct vp_budget budget;

	if (refused) /* a pattern may also match other probes */
		return all ? NULL : ot_err_new(OT_ERR_UNSUPPORTED, "D_PROC_NODEV: %s", refused);
	OT_TRY(vp_arch_code(&vp_arch_native, &m.reader.code));
	m.reader.exprs = vp_tracepoint_exprs(vp_probes_tracepoints(probes));
	vp_guest_budget_begin(vp_probes_guest(probes), &budget,
			      &vp_readings[all ? VP_READ_PROCESSES : VP_READ_FUNCTIONS]);
	struct ot_err *err = all ? make_of_all(&m) : make_of_one(&m);
	vp_budget_end(&budget);
	if (!err)
		allow_costly(&m);
	return err;
}
