/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pid: functions of process N of the guest: pidN:OBJECT:FUNCTION:entry, :return, and single instructions by
 * their offset. As DTrace does, its probes are made when a description names the process; a guest's processes
 * have millions.
 *
 * OBJECT is a file that the process has mapped as code, FUNCTION one of its symbols. The site of an entry is
 * the function's first instruction behind a mark of targets of indirect calls (endbr64); pid_exits.h finds
 * those of a return. As in DTrace, an empty name and a pattern mean the instructions too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/pid_function.h"
#include "vmm-probe/provider/providers.h"

/* --- making probes --------------------------------------------------------------------------------------- */

/* Names that could not be read may be the requested ones. */
static struct ot_err *explain_none(struct vp_pid_making *m)
{
	struct ot_err *why = m->why;

	m->why = NULL;
	for (size_t i = 0; !why && i < m->process->nobjects; i++) {
		const struct vp_pid_object *o = &m->process->objects[i];

		if (vp_pid_object_is(o->name, o->is_program, m->desc->module))
			why = vp_pid_explain_none(o);
	}
	return why;
}

/* Files mapped since the description's probes were made. @done: 1 + its reading then, 0: not made yet. */
static struct ot_err *make_all(struct vp_pid_making *m, uintptr_t done)
{
	for (size_t i = 0; i < m->process->nobjects; i++) {
		struct vp_pid_object *o = &m->process->objects[i];

		m->nth = o->nth;
		if (o->reading >= done && vp_pid_object_is(o->name, o->is_program, m->desc->module))
			OT_TRY(vp_pid_object_make(m, o));
	}
	return m->made || done ? NULL : explain_none(m);
}

static struct ot_err *find_process(struct vp_pid_making *m)
{
	const char *number = m->desc->provider + strlen(vp_provider_pid.name);
	uint64_t pid = strlen(number) > 10 ? 0 : strtoull(number, NULL, 10);

	if (!pid || pid > INT32_MAX)
		return ot_err_new(OT_ERR_NOT_FOUND, "D_PROC_BADPID: %s contains an invalid pid",
				  m->desc->provider);
	OT_TRY(vp_pid_process_find(m->probes, pid, &m->processes, &m->process));
	if (!m->process->provider)
		m->process->provider = vp_probes_strdup(m->probes, m->desc->provider);
	m->provider = m->process->provider;
	return m->provider ? NULL : ot_err_nomem();
}

/* --- the provider ------------------------------------------------------------------------------------- */

/* A description matches the process's present and later mappings: each reading of the process once.
 */
static struct ot_err *make(struct vp_pid_making *m)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };
	const struct dif_probedesc *d = m->desc;

	OT_TRY(find_process(m));
	ot_buf_printf(&text, "%s:%s:%s:%s", d->provider, d->module ? d->module : "",
		      d->function ? d->function : "", d->name ? d->name : "");
	if (text.failed)
		return ot_err_nomem();
	uintptr_t done = (uintptr_t)ot_map_gets(&m->processes->done, ot_buf_str(&text));
	uintptr_t now = m->process->reading + 1;

	if (done == now)
		return NULL;
	OT_TRY(make_all(m, done));
	return ot_map_puts(&m->processes->done, ot_buf_str(&text), (void *)now) ? NULL : ot_err_nomem();
}

static struct ot_err *provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	struct vp_pid_making m = { .probes = probes, .of = self, .desc = desc };
	const char *refused = vp_probes_no_processes(probes);
	struct vp_budget budget;

	if (refused)
		return ot_err_new(OT_ERR_UNSUPPORTED, "D_PROC_NODEV: %s", refused);
	OT_TRY(vp_pid_check_fields(&m));
	OT_TRY(vp_arch_code(&vp_arch_native, &m.code.ops));
	vp_guest_budget_begin(vp_probes_guest(probes), &budget, &vp_readings[VP_READ_FUNCTIONS]);
	struct ot_err *err = make(&m);
	vp_budget_end(&budget);
	vp_pid_piece_deinit(&m.piece);
	ot_err_destroy(m.why);
	return err;
}

/* Probes are made for a description with the number only. */
static bool is_named(const struct vp_probes *probes, const char *pattern)
{
	size_t n = strlen(vp_provider_pid.name);

	(void)probes;
	return !strncmp(pattern, vp_provider_pid.name, n) && pattern[n] &&
	       pattern[n + strspn(pattern + n, "0123456789")] == '\0';
}

/* Files that the process maps later get probes too. */
static bool follows(const struct vp_probes *probes, const char *pattern)
{
	return is_named(probes, pattern) && !vp_probes_no_processes(probes);
}

static struct ot_err *has_news(struct vp_probes *probes, bool *ret)
{
	struct vp_budget budget;

	vp_guest_budget_begin(vp_probes_guest(probes), &budget, &vp_readings[VP_READ_WATCH]);
	*ret = vp_pid_named_news(probes);
	vp_budget_end(&budget);
	return NULL;
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	(void)probes;
	(void)self;
	return NULL;
}

const struct vp_provider vp_provider_pid = {
	.name = "pid",
	.needs_guest = true,
	.is_named = is_named,
	.follows = follows,
	.has_news = has_news,
	.publish = publish,
	.provide = provide,
	.is_module = vp_pid_is_module,
	.sites = vp_pid_sites,
	.fill = vp_pid_fill,
};
