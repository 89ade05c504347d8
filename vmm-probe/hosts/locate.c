/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolving a name: the candidates, the one with the highest rank, and its engine. */
#include "vmm-probe/hosts/locate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/io.h"
#include "base/utf8.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/hosts/machines.h"

#define SYSTEM_UIDS 1000u /* UID_MIN of login.defs */
#define NO_LOGIN    0xffffffffu

/* --- ranks --------------------------------------------------------------------------------------------- */

/* The user who logged in: unchanged by su and sudo. */
static uid_t login_uid(void)
{
	ot_auto_free char *text = NULL;
	size_t len = 0;
	char *end;
	ot_auto_err struct ot_err *err = ot_read_file("/proc/self/loginuid", 32, &text, &len);

	if (err)
		return NO_LOGIN;
	unsigned long uid = strtoul(text, &end, 10);
	return end == text ? NO_LOGIN : (uid_t)uid;
}

enum vp_rank vp_locate_rank(const struct vp_qemu *vmm)
{
	if (!vmm->seen || !vmm->one_uid)
		return VP_RANK_PID;
	if (vmm->vouched || vmm->uid == geteuid() || !vmm->uid || vmm->uid == login_uid())
		return VP_RANK_OWN;
	return vmm->uid < SYSTEM_UIDS ? VP_RANK_SYSTEM : VP_RANK_USER;
}

const struct vp_qemu *vp_locate_domain(const struct vp_qemu *vmms, size_t n, const char *uuid)
{
	const struct vp_qemu *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (vmms[i].libvirt && !strcmp(vmms[i].uuid, uuid) &&
		    (!found || vp_locate_rank(&vmms[i]) < vp_locate_rank(found)))
			found = &vmms[i];
	return found;
}

/* --- candidates ---------------------------------------------------------------------------------------- */

/* A VMM, with an engine that listens, or without. */
struct place {
	const char *name;
	uint32_t pid;
	unsigned rank; /* enum vp_rank; of the same, those of this user's directories first */
	const struct vp_guest_info *engine; /* NULL: none was found */
	const struct vp_qemu *vmm;          /* NULL: not one that we know */
};

struct places {
	struct vp_guest_info *engines;
	struct vp_qemu *vmms;
	size_t nengines, nvmms;
	struct place *items;
	size_t count;
	size_t unseen; /* other users' VMMs, which may not be inspected */
};

static void places_deinit(struct places *p)
{
	free(p->engines);
	free(p->vmms);
	free(p->items);
}

static const struct vp_guest_info *engine_of(const struct places *p, pid_t pid)
{
	for (size_t i = 0; i < p->nengines; i++)
		if (p->engines[i].pid == (uint32_t)pid)
			return &p->engines[i];
	return NULL;
}

static unsigned rank_in(enum vp_rank rank, const struct vp_guest_info *engine)
{
	return 2 * rank + (engine && engine->far);
}

static bool has_vmm(const struct places *p, uint32_t pid)
{
	for (size_t i = 0; i < p->nvmms; i++)
		if (p->vmms[i].seen && (uint32_t)p->vmms[i].pid == pid)
			return true;
	return false;
}

static struct ot_err *places_find(struct places *p)
{
	OT_TRY(vp_guests_list(&p->engines, &p->nengines));
	OT_TRY(vp_qemu_list(&p->vmms, &p->nvmms));
	p->items = calloc(p->nengines + p->nvmms + 1, sizeof(*p->items));
	if (!p->items)
		return ot_err_nomem();
	for (size_t i = 0; i < p->nvmms; i++) {
		const struct vp_qemu *q = &p->vmms[i];
		const struct vp_guest_info *engine = q->seen ? engine_of(p, q->pid) : NULL;
		p->unseen += !q->seen;
		if (q->seen)
			p->items[p->count++] =
			    (struct place){ engine ? engine->name : q->name, (uint32_t)q->pid,
					    rank_in(vp_locate_rank(q), engine), engine, q };
	}
	for (size_t i = 0; i < p->nengines; i++) {
		const struct vp_guest_info *e = &p->engines[i];
		if (!has_vmm(p, e->pid))
			p->items[p->count++] =
			    (struct place){ e->name, e->pid, rank_in(e->rank, e), e, NULL };
	}
	return NULL;
}

/* It can be traced, as far as this is known without changing it. */
static bool is_traceable(const struct place *at)
{
	return at->engine || (at->vmm && at->vmm->accel != VP_ACCEL_TCG && !at->vmm->monitor);
}

/* --- messages ------------------------------------------------------------------------------------------ */

/* A message is one line, for any name of a VMM. */
static void name_one(const struct place *at, struct ot_buf *out)
{
	size_t start = out->len;

	ot_buf_printf(out, "%s%s%sPID %u%s", out->len ? ", " : "", at->name, *at->name ? " (" : "", at->pid,
		      *at->name ? ")" : "");
	if (!out->failed) {
		out->len = start + ot_utf8_tame(out->data + start, out->len - start);
		out->data[out->len] = '\0';
	}
}

static void say_unseen(const struct places *p, struct ot_buf *out)
{
	if (p->unseen)
		ot_buf_printf(out, "; %zu more VMM%s of other users: root may trace %s", p->unseen,
			      p->unseen == 1 ? " is" : "s are", p->unseen == 1 ? "it" : "them");
}

static struct ot_err *error_with(struct ot_buf *names, const char *text)
{
	struct ot_err *err = ot_err_new(OT_ERR_NOT_FOUND, "%s%s", text, ot_buf_str(names));

	ot_buf_deinit(names);
	return err;
}

static struct ot_err *none_of_that_name(const struct places *p, const char *spec)
{
	struct ot_buf names;
	char text[400];

	ot_buf_init(&names);
	for (size_t i = 0; i < p->count; i++)
		if (is_traceable(&p->items[i]))
			name_one(&p->items[i], &names);
	snprintf(text, sizeof(text), "no guest %.250s is running here%s", spec,
		 names.len ? "; there are: " : "; see `outsight guests`");
	say_unseen(p, &names);
	return error_with(&names, text);
}

static struct ot_err *several(const struct place *a, const struct place *b, const char *spec)
{
	return ot_err_new(OT_ERR_NOT_FOUND, "two guests are called %s: pick one by PID, %u or %u", spec,
			  a->pid, b->pid);
}

void vp_locate_places(const struct vp_qemu *vmm, struct ot_buf *out)
{
	char own[PATH_MAX] = "", environment[PATH_MAX];
	const char *dirs[] = { own, VP_SOCKET_SYSTEM_DIR, environment };

	if (*vmm->socket) {
		ot_buf_puts(out, vmm->socket);
		return;
	}
	ot_err_destroy(vp_socket_dir(own, sizeof(own)));
	snprintf(environment, sizeof(environment), "%s/outsight", vmm->rundir);
	for (size_t i = 0; i < OT_ARRAY_SIZE(dirs); i++) {
		bool again = !*dirs[i] || (dirs[i] == environment && !*vmm->rundir);
		for (size_t k = 0; k < i; k++)
			again |= !strcmp(dirs[i], dirs[k]);
		if (!again)
			ot_buf_printf(out, "%s%s/%d.sock", out->len ? ", " : "", dirs[i], (int)vmm->inner);
	}
}

/* It was started with an engine, which was not found. */
static struct ot_err *engine_elsewhere(const struct place *at)
{
	struct ot_buf places;

	ot_buf_init(&places);
	vp_locate_places(at->vmm, &places);
	struct ot_err *err = ot_err_new(OT_ERR_UNSUPPORTED,
					"guest %s (PID %u) was started with an engine, which does not answer "
					"at %s. If it "
					"listens elsewhere, -g takes the socket's path",
					at->name, at->pid, ot_buf_str(&places));
	ot_buf_deinit(&places);
	return err;
}

/* --- choosing ------------------------------------------------------------------------------------------ */

static pid_t pid_of(const char *spec)
{
	char *end;
	unsigned long pid = strtoul(spec, &end, 10);

	return *spec >= '0' && *spec <= '9' && !*end && pid && pid <= INT_MAX ? (pid_t)pid : 0;
}

static const struct place *with_pid(const struct places *p, pid_t pid)
{
	for (size_t i = 0; pid && i < p->count; i++)
		if (p->items[i].pid == (uint32_t)pid)
			return &p->items[i];
	return NULL;
}

/* The candidate of that name with the highest rank; an error if two have it. *ret NULL: no candidate has the
 * name. */
static struct ot_err *with_name(const struct places *p, const char *name, const struct place **ret)
{
	const struct place *found = NULL, *other = NULL;

	for (size_t i = 0; i < p->count; i++) {
		const struct place *at = &p->items[i];
		if (at->rank >= 2 * VP_RANK_PID || !at->name || strcmp(at->name, name) != 0 ||
		    (found && at->rank > found->rank))
			continue;
		other = found && at->rank == found->rank ? found : NULL;
		found = at;
	}
	*ret = found;
	return other ? several(other, found, name) : NULL;
}

static struct ot_err *choose(const struct places *p, const char *spec, const struct place **ret)
{
	*ret = with_pid(p, pid_of(spec));
	return *ret ? NULL : with_name(p, spec, ret);
}

/* Without a name: choose among the engines in this user's directories only, so that other users' engines
 * don't make the choice ambiguous. */
static struct ot_err *only_one(const struct places *p, char *path, size_t size)
{
	const struct place *one = NULL;
	struct ot_buf names;
	size_t n = 0;

	ot_buf_init(&names);
	for (unsigned below = VP_RANK_USER; !n && below <= VP_RANK_PID; below++)
		for (size_t i = 0; i < p->count; i++) {
			const struct place *at = &p->items[i];
			if (!at->engine || at->engine->far || at->rank >= 2 * below)
				continue;
			one = at;
			name_one(one, &names);
			n++;
		}
	if (n > 1)
		return error_with(&names, "several guests are running: pick one with -g: ");
	ot_buf_deinit(&names);
	if (n) {
		snprintf(path, size, "%s", one->engine->socket);
		return NULL;
	}
	return ot_err_new(OT_ERR_NOT_FOUND,
			  "no guest is running here that can be traced: start one with `outsight run`, or "
			  "QEMU with the plugin liboutsight-tcg.so, or use -g none");
}

static struct ot_err *by_spec(const struct places *p, const char *spec, char *path, size_t size)
{
	const struct place *at;

	OT_TRY(choose(p, spec, &at));
	if (at ? at->vmm && at->vmm->libvirt : !pid_of(spec))
		OT_TRY(vp_domain_not_running(at && *at->name ? at->name : spec));
	if (at && at->engine) {
		snprintf(path, size, "%s", at->engine->socket);
		return NULL;
	}
	if (at && at->vmm && at->vmm->plugin)
		return engine_elsewhere(at);
	return none_of_that_name(p, spec);
}

struct ot_err *vp_locate(const char *spec, char *path, size_t size)
{
	ot_auto(places_deinit) struct places places = { 0 };

	if (spec && strchr(spec, '/')) {
		snprintf(path, size, "%s", spec);
		return NULL;
	}
	OT_TRY(places_find(&places));
	return spec ? by_spec(&places, spec, path, size) : only_one(&places, path, size);
}

struct ot_err *vp_locate_process(const char *spec, pid_t *ret)
{
	ot_auto(places_deinit) struct places places = { 0 };
	const struct place *at;

	*ret = pid_of(spec);
	if (*ret)
		return NULL;
	OT_TRY(places_find(&places));
	OT_TRY(choose(&places, spec, &at));
	if (!at)
		return none_of_that_name(&places, spec);
	*ret = (pid_t)at->pid;
	return NULL;
}
