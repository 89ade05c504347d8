/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for a guest that migrates to this host. Its VMM exists before it arrives, and receives its memory
 * piece by piece, so it is read only once its vCPUs run. The operator does not know when that will be; this
 * host polls for it.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "fleet/host/internal.h"
#include "vmm-probe/hosts/machines.h"

#define SOON_NS   (OT_NS_PER_SEC / 10)  /* between two lists of processes, at first */
#define LATER_NS  OT_NS_PER_SEC         /* later */
#define ABSENT_NS (10 * OT_NS_PER_SEC)  /* without a VMM that could receive it */
#define FAILS_NS  (10 * OT_NS_PER_SEC)  /* it runs, and can't be attached */
#define WAIT_NS   (600 * OT_NS_PER_SEC) /* a large, busy guest takes long to migrate */

struct arrival {
	const char *name, *uuid; /* uuid "": not known */
	uint64_t seen_ns;        /* its VMM, last */
	uint64_t failing_ns;     /* since when; 0: it is not */
};

static const char *name_of(const struct vp_machine *m)
{
	return *m->domain_name ? m->domain_name : m->guest.name;
}

/* A guest that was here before matches by name only: its VMM was not started to receive a migration. */
static bool is_it(const struct arrival *a, const struct vp_machine *m)
{
	bool traceable = m->how == VP_HOW_NOW || m->how == VP_HOW_ATTACH;

	return m->guest.pid && m->incoming && traceable && !m->name_is_taken &&
	       !strcmp(name_of(m), a->name) && (!*a->uuid || !*m->uuid || !strcasecmp(m->uuid, a->uuid));
}

static struct ot_err *find(const struct arrival *a, uint32_t *ret_pid)
{
	struct vp_machines machines;

	*ret_pid = 0;
	OT_TRY(vp_machines_poll(&machines));
	for (size_t i = 0; i < machines.count && !*ret_pid; i++)
		if (is_it(a, &machines.items[i]))
			*ret_pid = machines.items[i].guest.pid;
	vp_machines_deinit(&machines);
	return NULL;
}

/* NULL and *ret_done false: it may arrive later. */
static struct ot_err *try(struct fl_worker *w, struct arrival *a, bool *ret_done)
{
	const uint64_t now = ot_now_ns();
	uint32_t pid;
	char spec[16];

	*ret_done = false;
	OT_TRY(find(a, &pid));
	if (pid)
		a->seen_ns = now;
	else
		return now - a->seen_ns < ABSENT_NS
			   ? NULL
			   : ot_err_new(OT_ERR_NOT_FOUND, "guest %s has not arrived at this host", a->name);
	snprintf(spec, sizeof(spec), "%u", pid);
	struct ot_err *err = vp_session_attach(w->session, spec);
	*ret_done = !err;
	/* BUSY: its vCPUs do not run yet */
	if (!err || ot_err_code(err) == OT_ERR_BUSY)
		a->failing_ns = 0;
	else if (!a->failing_ns)
		a->failing_ns = now;
	else if (now - a->failing_ns > FAILS_NS)
		return err;
	ot_err_destroy(err);
	return NULL;
}

/* An engine reports its own guest. */
static struct ot_err *check(struct fl_worker *w, const struct arrival *a)
{
	const uint32_t n = vp_session_nguests(w->session);

	if (n && !strcmp(vp_session_guest_name(w->session, n - 1), a->name))
		return NULL;
	return ot_err_new(OT_ERR_PERMISSION, "guest %s: its VMM has another name for it", a->name);
}

static struct ot_err *await(struct fl_worker *w, struct arrival *a)
{
	const uint64_t start = ot_now_ns();
	bool done = false;

	for (uint64_t waited = 0; waited < WAIT_NS; waited = ot_now_ns() - start) {
		const uint64_t pause = waited / 10 < SOON_NS    ? SOON_NS
				       : waited / 10 > LATER_NS ? LATER_NS
								: waited / 10;
		OT_TRY(try(w, a, &done));
		if (done)
			return check(w, a);
		if (!fl_worker_rest(w, ot_now_ns() + pause))
			return ot_err_new(OT_ERR_BUSY, "guest %s is no longer waited for", a->name);
	}
	return ot_err_new(OT_ERR_NOT_FOUND, "guest %s has not arrived for ten minutes", a->name);
}

bool fl_is_arriving(const char *spec)
{
	return !strncmp(spec, FL_ARRIVING, strlen(FL_ARRIVING));
}

struct ot_err *fl_arriving_attach(struct fl_worker *w, const char *spec)
{
	char *name = ot_arena_strdup(&w->arena, spec + strlen(FL_ARRIVING));

	if (!name)
		return ot_err_nomem();
	char *colon = strchr(name, ':');
	if (colon)
		*colon++ = '\0';
	w->reason = FL_REASON_POLICY;
	if (!fl_guest_may(w, name)) /* whether it arrives here is not revealed */
		return ot_err_new(OT_ERR_PERMISSION, "guest %s: this host does not allow it", name);
	w->reason = FL_REASON_GUEST;
	w->arrives = true;
	struct arrival a = { .name = name, .uuid = colon ? colon : "", .seen_ns = ot_now_ns() };
	return await(w, &a);
}

/* --- who they are ------------------------------------------------------------------------------------------- */

/* No engine is asked, because this may run between two polls of a session. If processes can't be listed, a
 * guest is recognized at another host by its name alone. */
void fl_guests_identify(struct fl_worker *w)
{
	ot_auto_free struct vp_qemu *vmms = NULL;
	size_t count = 0;
	struct ot_err *err = vp_qemu_list(&vmms, &count);

	for (; w->identified < vp_session_nguests(w->session); w->identified++) {
		const uint32_t pid = vp_session_guest_pid(w->session, w->identified);

		for (size_t k = 0; k < count; k++)
			if ((uint32_t)vmms[k].pid == pid)
				memcpy(w->uuids[w->identified], vmms[k].uuid, sizeof(vmms[k].uuid));
	}
	ot_err_destroy(err);
}
