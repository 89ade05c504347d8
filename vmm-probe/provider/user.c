/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user: functions of a file of the guest, in every process that executes it: user:OBJECT:FUNCTION:entry,
 * :return, and single instructions by their offset.
 *
 * OBJECT is a file that some process has mapped as code. Its functions are read once, in whichever process
 * that is; their sites are the file's, so that one probe is enough for all of its processes, and one that
 * begins later has them from its first instruction on. A file that is mapped for the first time later is
 * found as programs with static probes are (session/arrivals.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/process/processes.h"
#include "vmm-probe/provider/pid_function.h"
#include "vmm-probe/provider/providers.h"

struct making {
	struct vp_pid_making m;
	struct ot_err *why; /* why the first of its objects has no such function; owned */
};

/* --- files -------------------------------------------------------------------------------------------- */

static bool is_match(const struct vp_pid_process *process, const struct vp_pid_object *o, const char *pattern)
{
	return vp_pid_object_is(o->name, false, pattern) ||
	       dif_glob_match(pattern, process->maps.files[o->file].path);
}

/* The file's number, from 1 on. */
static struct ot_err *number_of(struct vp_pid_processes *all, const struct vp_file_id *id, uint32_t *ret)
{
	uintptr_t nth = (uintptr_t)ot_map_get(&all->files, id, sizeof(*id));

	if (!nth) {
		nth = all->files.count + 1;
		if (!ot_map_put(&all->files, id, sizeof(*id), (void *)nth))
			return ot_err_nomem();
	}
	*ret = (uint32_t)nth;
	return NULL;
}

/* A description's probes are made once of each file; *ret: they were. @nth 0: of any. */
static struct ot_err *was_done(struct making *u, uint32_t nth, bool *ret)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };
	const struct dif_probedesc *d = u->m.desc;
	struct ot_map *done = &u->m.processes->done;

	ot_buf_printf(&text, "%" PRIu32 " %s:%s:%s", nth, d->module, d->function ? d->function : "",
		      d->name ? d->name : "");
	if (text.failed)
		return ot_err_nomem();
	*ret = ot_map_gets(done, ot_buf_str(&text)) != NULL;
	return *ret || ot_map_puts(done, ot_buf_str(&text), done) ? NULL : ot_err_nomem();
}

/* --- making probes -------------------------------------------------------------------------------------- */

static struct ot_err *make_of_object(struct making *u, struct vp_pid_object *o)
{
	const struct vp_file *file = &u->m.process->maps.files[o->file];
	uint32_t before = u->m.made;
	bool done;

	OT_TRY(number_of(u->m.processes, &file->id, &u->m.nth));
	OT_TRY(was_done(u, u->m.nth, &done));
	if (done)
		return NULL;
	u->m.path = vp_probes_strdup(u->m.probes, file->path);
	if (!u->m.path)
		return ot_err_nomem();
	OT_TRY(vp_pid_object_make(&u->m, o));
	if (u->m.made == before && !u->why)
		u->why = vp_pid_explain_none(o);
	return NULL;
}

/* An error in one file among several is not reported, because others may have the function. */
static struct ot_err *pass_over(struct ot_err *err)
{
	if (err && ot_err_code(err) == OT_ERR_LIMIT)
		return err;
	return vp_pid_forgive(err);
}

static struct ot_err *each_process(void *arg, struct vp_pid_process *process)
{
	struct making *u = arg;

	u->m.process = process;
	for (size_t i = 0; i < process->nobjects; i++)
		if (is_match(process, &process->objects[i], u->m.desc->module))
			OT_TRY(pass_over(make_of_object(u, &process->objects[i])));
	return NULL;
}

static struct ot_err *make(struct making *u)
{
	bool done;

	OT_TRY(vp_pid_processes_open(u->m.probes, &u->m.processes));
	OT_TRY(was_done(u, 0, &done));
	OT_TRY(vp_pid_process_each(u->m.probes, &u->m.processes, each_process, u));
	if (u->m.made || done)
		return NULL;
	struct ot_err *why = u->m.why ? u->m.why : u->why;

	if (why == u->m.why)
		u->m.why = NULL;
	else
		u->why = NULL;
	return why;
}

/* --- the provider --------------------------------------------------------------------------------------- */

/* "" and "*" would match all programs of the guest. */
static bool is_specific(const char *pattern)
{
	return pattern && pattern[strspn(pattern, "*?")] != '\0';
}

/* The message names the alternative. @no_processes: the reason why a process has no probes; NULL: it can have
 * them. */
static struct ot_err *refuse_on_kvm(const struct dif_probedesc *d, const char *no_processes)
{
	static const char why[] = "D_PROC_NODEV: the user provider needs a guest under TCG: on KVM a debug "
				  "register stops at one address, and each process has a file at another";

	if (no_processes)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s. Nor can a single process be probed: %s", why,
				  no_processes);
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "%s. Name a process instead, for up to %d places: pid123:%s:%s:%s, or pid$target "
			  "with -p PID, or with -W NAME for the next one of that name",
			  why, VP_HW_SITES, d->module ? vp_path_name(d->module) : "",
			  d->function ? d->function : "", d->name ? d->name : "");
}

static struct ot_err *check(struct vp_probes *probes, struct vp_pid_making *m)
{
	const char *refused = vp_probes_no_processes(probes);

	if (vp_probes_planner(probes))
		return refuse_on_kvm(m->desc, refused);
	if (refused)
		return ot_err_new(OT_ERR_UNSUPPORTED, "D_PROC_NODEV: %s", refused);
	if (!is_specific(m->desc->module))
		return ot_err_new(OT_ERR_SYNTAX, "D_PROC_LIB: user's probes are in a file: name it, as in "
						 "user:libc.so.6:malloc:entry");
	if (!strcmp(m->desc->module, "a.out"))
		return ot_err_new(
		    OT_ERR_SYNTAX,
		    "D_PROC_LIB: a.out is the program of a process, and user means no process: name "
		    "the program's file, or use pid123:a.out");
	if (!vp_guest_vmemmap(vp_probes_guest(probes)))
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "D_PROC_NODEV: the guest's kernel shows no table of pages (vmemmap_base): whose page a "
		    "process executes can't be known");
	OT_TRY(vp_pid_check_fields(m));
	return vp_arch_code(&vp_arch_native, &m->code.ops);
}

static struct ot_err *provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	struct making u = { .m = { .probes = probes, .of = self, .desc = desc, .provider = self->name } };
	struct vp_budget budget;

	OT_TRY(check(probes, &u.m));
	u.m.code.of_file = true;
	vp_guest_budget_begin(vp_probes_guest(probes), &budget, &vp_readings[VP_READ_PROCESSES]);
	struct ot_err *err = make(&u);
	vp_budget_end(&budget);
	vp_pid_piece_deinit(&u.m.piece);
	ot_err_destroy(u.m.why);
	ot_err_destroy(u.why);
	return err;
}

/* No pattern selects it: reading every process must be requested by name. */
static bool is_named(const struct vp_probes *probes, const char *pattern)
{
	(void)probes;
	return !strcmp(pattern, vp_provider_user.name);
}

static bool follows(const struct vp_probes *probes, const char *pattern)
{
	return is_named(probes, pattern) && !vp_probes_no_processes(probes);
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	(void)probes;
	(void)self;
	return NULL;
}

const struct vp_provider vp_provider_user = {
	.name = "user",
	.needs_guest = true,
	.is_named = is_named,
	.follows = follows,
	.publish = publish,
	.provide = provide,
	.is_module = vp_pid_is_module,
	.sites = vp_pid_sites,
	.fill = vp_pid_fill,
};
