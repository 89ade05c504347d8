/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of machines on this host: engines, VMM processes and libvirt's domains merged, each with a way to
 * trace it. */
#include "vmm-probe/hosts/machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/hosts/children.h"
#include "vmm-probe/hosts/engine_files.h"
#include "vmm-probe/hosts/enter.h"
#include "vmm-probe/hosts/locate.h"
#include "vmm-probe/inject/inject.h"

/* How long an engine may take to report its vCPUs' registers. */
#define OWN_MS      RELEASE_MS
#define STRANGER_MS 300

#define RELEASES_AT_ONCE 8
#define RELEASE_MS       5000u

/* --- connections ------------------------------------------------------------------------------------- */

/* @unseen (NULL: not of interest): lines about daemons that refuse us. */
static struct ot_err *open_usual(const char *uri, struct vp_libvirt *ret[VP_LIBVIRT_USUAL], size_t *ret_n,
				 struct ot_buf *unseen)
{
	static const char *const usual[VP_LIBVIRT_USUAL] = { "qemu:///system", "qemu:///session" };

	*ret_n = 0;
	if (uri) {
		OT_TRY(vp_libvirt_open(uri, false, &ret[0]));
		*ret_n = 1;
		return NULL;
	}
	const char *own = getenv("LIBVIRT_DEFAULT_URI");
	for (size_t i = 0; i < (own && *own ? 1 : OT_ARRAY_SIZE(usual)); i++) {
		/* Most hosts have one of the two, many none. */
		ot_auto_err struct ot_err *err =
		    vp_libvirt_open(own && *own ? NULL : usual[i], false, &ret[*ret_n]);
		*ret_n += !err;
		if (err && unseen && ot_err_code(err) == OT_ERR_PERMISSION)
			ot_buf_printf(unseen, "libvirt's domains could not be listed: %s\n",
				      ot_err_message(err));
	}
	return NULL;
}

struct ot_err *vp_libvirt_open_usual(const char *uri, struct vp_libvirt *ret[VP_LIBVIRT_USUAL], size_t *ret_n)
{
	return open_usual(uri, ret, ret_n, NULL);
}

static struct ot_err *not_running(const struct vp_domain *d)
{
	if (d->state == VP_DOMAIN_PAUSED)
		return ot_err_new(OT_ERR_BUSY, "domain %s is paused: `virsh resume %s` lets it run", d->name,
				  d->name);
	return ot_err_new(OT_ERR_BUSY, "domain %s is %s: `virsh start %s` starts it", d->name,
			  vp_domain_state_name(d->state), d->name);
}

struct ot_err *vp_domain_not_running(const char *name)
{
	struct vp_libvirt *lv[VP_LIBVIRT_USUAL];
	struct ot_err *ret = NULL;
	size_t n = 0;

	ot_auto_err struct ot_err *none = vp_libvirt_open_usual(NULL, lv, &n);
	for (size_t i = 0; i < n; i++) {
		struct vp_domain d;
		ot_auto_err struct ot_err *err = ret ? NULL : vp_libvirt_find(lv[i], name, &d);
		if (!ret && !err && d.state != VP_DOMAIN_RUNNING)
			ret = not_running(&d);
		vp_libvirt_close(lv[i]);
	}
	return ret;
}

/* --- the list ---------------------------------------------------------------------------------------- */

struct list {
	struct vp_machine *items;
	size_t count, cap;
	struct ot_buf unseen;
};

static struct vp_machine *add(struct list *list)
{
	if (!ot_grow(&list->items, &list->cap, list->count + 1, sizeof(*list->items)))
		return NULL;
	struct vp_machine *m = &list->items[list->count++];
	memset(m, 0, sizeof(*m));
	return m;
}

static struct vp_machine *find_pid(const struct list *list, uint32_t pid)
{
	for (size_t i = 0; pid && i < list->count; i++)
		if (list->items[i].guest.pid == pid)
			return &list->items[i];
	return NULL;
}

/* Root's qemu:///session is its qemu:///system. */
static bool has_domain(const struct list *list, const struct vp_domain *d)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].domain && !strcmp(list->items[i].uuid, d->uuid))
			return true;
	return false;
}

static struct ot_err *add_engines(struct list *list)
{
	ot_auto_free struct vp_guest_info *guests = NULL;
	size_t n = 0;

	OT_TRY(vp_guests_list(&guests, &n));
	for (size_t i = 0; i < n; i++) {
		struct vp_machine *m = add(list);
		if (!m)
			return ot_err_nomem();
		m->guest = guests[i];
		m->how = *guests[i].trouble ? VP_HOW_NOT : VP_HOW_NOW;
		snprintf(m->why, sizeof(m->why), "%s", guests[i].trouble);
		m->state = guests[i].paused ? VP_DOMAIN_PAUSED : VP_DOMAIN_RUNNING;
		m->accel = !strcmp(guests[i].backend, "tcg") ? VP_ACCEL_TCG : VP_ACCEL_KVM;
	}
	return NULL;
}

/* Whether an engine can be injected into a QEMU without one. */
static void judge(struct vp_machine *m, const struct vp_qemu *q)
{
	char library[PATH_MAX];

	if (!q->seen) {
		m->how = VP_HOW_NOT;
		ot_auto_err struct ot_err *err = vp_vmm_forbidden(q->pid);
		snprintf(m->why, sizeof(m->why), "%s", ot_err_message(err));
		return;
	}
	if (q->plugin) {
		struct ot_buf places;
		m->how = VP_HOW_NOT;
		ot_buf_init(&places);
		vp_locate_places(q, &places);
		snprintf(m->why, sizeof(m->why), "the engine in it does not answer at %s",
			 ot_buf_str(&places));
		ot_buf_deinit(&places);
		return;
	}
	if (m->accel == VP_ACCEL_TCG) {
		m->how = VP_HOW_PREPARE;
		return;
	}
	ot_auto_err struct ot_err *no_library = vp_hook_file(library, sizeof(library));
	FILE *nowhere = fopen("/dev/null", "we");
	ot_auto_err struct ot_err *err =
	    no_library || !nowhere ? NULL : vp_inject_plan((pid_t)m->guest.pid, library, nowhere);
	if (nowhere)
		fclose(nowhere);
	const struct ot_err *why = no_library ? no_library : err;
	bool unsupported = why && ot_err_code(why) == OT_ERR_UNSUPPORTED && m->accel == VP_ACCEL_KVM;
	m->how = unsupported ? VP_HOW_PEEK : why ? VP_HOW_NOT : VP_HOW_ATTACH;
	if (why)
		snprintf(m->why, sizeof(m->why), "%s", ot_err_message(why));
}

/* Facts that only the command line has, also of a VMM with an engine. */
static void take_start(struct vp_machine *m, const struct vp_qemu *q)
{
	memcpy(m->uuid, q->uuid, sizeof(m->uuid));
	m->incoming = q->incoming;
}

static struct ot_err *add_processes(struct list *list, const struct vp_qemu *qemus, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct vp_qemu *q = &qemus[i];
		struct vp_machine *m = find_pid(list, (uint32_t)q->pid);
		if (m)
			take_start(m, q);
		/* A monitor without an engine was started with tracing disabled. */
		if (m || (q->monitor && q->seen))
			continue;
		m = add(list);
		if (!m)
			return ot_err_nomem();
		take_start(m, q);
		memcpy(m->guest.name, q->name, sizeof(m->guest.name));
		m->guest.pid = (uint32_t)q->pid;
		m->guest.uid = (uint32_t)q->uid;
		m->guest.rank = vp_locate_rank(q);
		m->guest.nvcpus = q->nvcpus;
		m->accel = q->accel;
		judge(m, q);
	}
	return NULL;
}

/* The way in which a domain can be traced, by libvirt's description of its present or next start. */
static void judge_domain(struct vp_libvirt *lv, const struct vp_domain *d, struct vp_machine *m)
{
	ot_auto_free char *text = NULL;
	struct vp_domain_xml xml = { .accel = VP_ACCEL_UNKNOWN };
	ot_auto_err struct ot_err *err = vp_libvirt_xml(lv, d, true, &text);
	ot_auto_err struct ot_err *bad = err ? NULL : vp_domain_xml_read(text, &xml);

	m->accel = bad ? VP_ACCEL_UNKNOWN : xml.accel;
	if (vp_libvirt_is_remote(lv)) {
		m->how = VP_HOW_NOT;
		snprintf(m->why, sizeof(m->why), "it is on another host: run outsight there");
	} else if (m->accel == VP_ACCEL_UNKNOWN) {
		m->how = VP_HOW_NOT;
		snprintf(m->why, sizeof(m->why), "not a QEMU guest");
	} else if (d->state == VP_DOMAIN_RUNNING) {
		m->how = VP_HOW_NOT;
		snprintf(m->why, sizeof(m->why),
			 "its QEMU can't be seen from here (another container or user?)");
	} else {
		m->how = m->accel == VP_ACCEL_TCG && !xml.ready ? VP_HOW_PREPARE : VP_HOW_START;
	}
}

static struct ot_err *add_domains(struct list *list, struct vp_libvirt *lv, const struct vp_qemu *qemus,
				  size_t n)
{
	ot_auto_free struct vp_domain *domains = NULL;
	size_t count = 0;

	OT_TRY(vp_libvirt_list(lv, &domains, &count));
	for (size_t i = 0; i < count; i++) {
		const struct vp_domain *d = &domains[i];
		bool here = d->state != VP_DOMAIN_SHUT_OFF && !vp_libvirt_is_remote(lv);
		const struct vp_qemu *q = here ? vp_locate_domain(qemus, n, d->uuid) : NULL;
		struct vp_machine *m = q ? find_pid(list, (uint32_t)q->pid) : NULL;
		bool known = m != NULL;

		if (has_domain(list, d))
			continue;
		if (!m && !(m = add(list)))
			return ot_err_nomem();
		m->domain = true;
		m->state = d->state;
		memcpy(m->domain_name, d->name, sizeof(m->domain_name));
		memcpy(m->uuid, d->uuid, sizeof(m->uuid));
		m->guest.nvcpus = d->nvcpus;
		if (!known) {
			snprintf(m->guest.name, sizeof(m->guest.name), "%.*s", VP_GUEST_NAME - 1, d->name);
			judge_domain(lv, d, m);
		}
	}
	return NULL;
}

/* Mark guests with the name of a guest of higher rank, which -g selects. */
static void mark_taken(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; k < list->count; k++) {
			const struct vp_guest_info *a = &list->items[i].guest, *b = &list->items[k].guest;
			if (a->pid && b->pid && b->rank < a->rank && !strcmp(a->name, b->name))
				list->items[i].name_is_taken = true;
		}
}

/* proc(5): hidepid= hides other users' processes. */
static void note_hidden_processes(struct list *list)
{
	if (access("/proc/1/cmdline", R_OK))
		ot_buf_puts(&list->unseen,
			    "other users' processes are hidden here (/proc with hidepid=): root sees "
			    "their VMMs\n");
}

static struct ot_err *collect(const char *uri, struct list *list)
{
	ot_auto_free struct vp_qemu *qemus = NULL;
	struct vp_libvirt *lv[VP_LIBVIRT_USUAL];
	size_t n = 0, nlv = 0;

	OT_TRY(add_engines(list));
	OT_TRY(vp_qemu_list(&qemus, &n));
	OT_TRY(add_processes(list, qemus, n));
	note_hidden_processes(list);
	OT_TRY(open_usual(uri, lv, &nlv, &list->unseen));
	struct ot_err *err = NULL;
	for (size_t i = 0; i < nlv; i++) {
		if (!err)
			err = add_domains(list, lv[i], qemus, n);
		vp_libvirt_close(lv[i]);
	}
	mark_taken(list);
	return err;
}

/* Of running guests only: a paused one's vCPUs do not answer. No release if the kernel is not found. Other
 * users' engines, which may delay their answers, have a shorter time-out. */
static void ask_release(void *arg, size_t i, char ret[VP_CHILDREN_ANSWER])
{
	const struct list *list = arg;
	const struct vp_machine *m = &list->items[i];

	if (m->how == VP_HOW_NOW && m->state == VP_DOMAIN_RUNNING)
		ot_err_destroy(vp_guest_release(m->guest.socket,
						m->guest.rank > VP_RANK_SYSTEM ? STRANGER_MS : OWN_MS, ret,
						VP_CHILDREN_ANSWER));
}

/* All at once, and each in a process of its own: no guest's bytes keep the others from the list. */
static struct ot_err *read_releases(struct list *list)
{
	ot_auto_free char(*answers)[VP_CHILDREN_ANSWER] = calloc(list->count + 1, sizeof(*answers));

	if (!answers)
		return ot_err_nomem();
	vp_children_ask(list->count, RELEASES_AT_ONCE, RELEASE_MS, ask_release, list, answers);
	for (size_t i = 0; i < list->count; i++) {
		struct vp_guest_info *guest = &list->items[i].guest;

		if (*answers[i])
			snprintf(guest->release, sizeof(guest->release), "%.*s",
				 (int)sizeof(guest->release) - 1, answers[i]);
	}
	return NULL;
}

static struct ot_err *list(const char *uri, bool releases, struct vp_machines *ret)
{
	struct list list = { 0 };
	struct ot_err *err = collect(uri, &list);

	if (!err && releases)
		err = read_releases(&list);
	if (err) {
		free(list.items);
		ot_buf_deinit(&list.unseen);
		return err;
	}
	*ret = (struct vp_machines){ list.items, list.count, list.unseen };
	return NULL;
}

struct ot_err *vp_machines_list(const char *uri, struct vp_machines *ret)
{
	return list(uri, true, ret);
}

struct ot_err *vp_machines_poll(struct vp_machines *ret)
{
	return list(NULL, false, ret);
}

void vp_machines_deinit(struct vp_machines *machines)
{
	free(machines->items);
	ot_buf_deinit(&machines->unseen);
	*machines = (struct vp_machines){ 0 };
}
