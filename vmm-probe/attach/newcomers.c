/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds guests that start: their VMMs' processes once a second, which costs little; the whole list, with
 * engines and libvirt's domains, only if there is an unknown one. A guest that can't be attached is most
 * likely still booting, so it is tried again until it can be; if that takes long, the reason is reported.
 */
#include "vmm-probe/attach/newcomers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"

#define POLL_NS   OT_NS_PER_SEC
#define BOOT_NS   (60 * OT_NS_PER_SEC)      /* an error is reported when it has lasted that long, … */
#define LATER_NS  (10 * 60 * OT_NS_PER_SEC) /* … and then it is tried less often: */
#define SELDOM_NS (10 * OT_NS_PER_SEC)
#define REPLY_MS  3000
#define JOINS_MAX 8 /* of one VMM: a guest that reboots all the time must not use up the session's places */

/* A VMM that was seen. */
struct vmm {
	uint32_t pid;
	bool known;    /* it is in the session, was returned, or does not match */
	bool here;     /* at the last poll */
	bool reported; /* the reason why it can't be attached */
	unsigned joins;
	uint64_t failing_ns; /* time of the first attempt; 0: not tried */
	uint64_t next_ns;    /* time of the next attempt */
};

struct vp_newcomers {
	struct vp_newcomers_config config;
	struct vp_links links; /* of the guest that is being attached; its pointers stay valid */
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t stopped;
	bool stop;
	struct vmm *vmms;
	size_t nvmms, vmms_cap;
	struct vp_newcomer *found; /* oldest first */
	size_t nfound, found_cap;
};

/* --- what is known of VMMs; under the lock ------------------------------------------------------------- */

static struct vmm *find(struct vp_newcomers *n, uint32_t pid)
{
	for (size_t i = 0; i < n->nvmms; i++)
		if (n->vmms[i].pid == pid)
			return &n->vmms[i];
	return NULL;
}

/* NULL: no memory. */
static struct vmm *find_or_add(struct vp_newcomers *n, uint32_t pid)
{
	struct vmm *v = find(n, pid);

	if (v || !ot_grow(&n->vmms, &n->vmms_cap, n->nvmms + 1, sizeof(*n->vmms)))
		return v;
	v = &n->vmms[n->nvmms++];
	*v = (struct vmm){ .pid = pid };
	return v;
}

/* PIDs are reused. */
static void drop_ended(struct vp_newcomers *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->nvmms; i++)
		if (n->vmms[i].here)
			n->vmms[kept++] = n->vmms[i];
	n->nvmms = kept;
}

static void hand_out(struct vp_newcomers *n, const struct vp_newcomer *found)
{
	if (ot_grow(&n->found, &n->found_cap, n->nfound + 1, sizeof(*n->found))) {
		n->found[n->nfound++] = *found;
		return;
	}
	vp_link_destroy(found->link);
	ot_err_destroy(found->err);
}

/* --- a poll; in the thread ----------------------------------------------------------------------------- */

/* Is there a VMM to try now? */
static bool note_processes(struct vp_newcomers *n, const struct vp_qemu *qemus, size_t count, uint64_t now)
{
	bool any = false;

	for (size_t i = 0; i < n->nvmms; i++)
		n->vmms[i].here = false;
	for (size_t i = 0; i < count; i++) {
		struct vmm *v = find_or_add(n, (uint32_t)qemus[i].pid);
		if (!v)
			continue;
		v->here = true;
		any |= !v->known && now >= v->next_ns;
	}
	drop_ended(n);
	return any;
}

static bool is_due(struct vp_newcomers *n, uint32_t pid)
{
	pthread_mutex_lock(&n->lock);
	const struct vmm *v = find(n, pid);
	bool due = v && !v->known && !n->stop && ot_now_ns() >= v->next_ns;

	pthread_mutex_unlock(&n->lock);
	return due;
}

/* @err (consumed): why it is not attached; @final: it never will be. */
static void note_failure(struct vp_newcomers *n, struct vp_newcomer *found, struct ot_err *err, bool final,
			 uint64_t took)
{
	uint64_t now = ot_now_ns();

	pthread_mutex_lock(&n->lock);
	struct vmm *v = find(n, found->pid);
	if (v) {
		if (!v->failing_ns)
			v->failing_ns = now;
		uint64_t lasts = now - v->failing_ns;
		v->known = final;
		v->next_ns = now + (lasts > LATER_NS ? SELDOM_NS : took > POLL_NS ? took : POLL_NS);
		if (!v->reported && (final || lasts > BOOT_NS)) {
			v->reported = true;
			found->err = err;
			err = NULL;
			hand_out(n, found);
		}
	}
	pthread_mutex_unlock(&n->lock);
	ot_err_destroy(err);
}

static void note_success(struct vp_newcomers *n, struct vp_newcomer *found)
{
	pthread_mutex_lock(&n->lock);
	struct vmm *v = find(n, found->pid);
	if (v) {
		v->known = true;
		v->failing_ns = 0;
		v->reported = false;
		v->joins++;
	}
	hand_out(n, found);
	pthread_mutex_unlock(&n->lock);
}

static void attach(struct vp_newcomers *n, struct vp_newcomer *found)
{
	uint64_t before = ot_now_ns();
	char pid[16];

	snprintf(pid, sizeof(pid), "%u", found->pid);
	struct ot_err *err = vp_links_attach(&n->links, pid);
	if (err) {
		note_failure(n, found, err, false, ot_now_ns() - before);
		return;
	}
	found->link = n->links.items[0];
	n->links.n = 0;
	note_success(n, found);
}

static void consider(struct vp_newcomers *n, const struct vp_machine *m)
{
	struct vp_newcomer found = { .pid = m->guest.pid };
	bool wanted = false;

	if (!found.pid || !is_due(n, found.pid))
		return;
	memcpy(found.name, m->guest.name, sizeof(found.name));
	struct ot_err *why = n->config.wants(n->config.arg, m, &wanted);
	if (why)
		note_failure(n, &found, why, true, 0);
	else if (wanted)
		attach(n, &found);
}

static void poll_host(struct vp_newcomers *n)
{
	ot_auto_free struct vp_qemu *qemus = NULL;
	struct vp_machines machines;
	size_t count = 0;
	struct ot_err *err = vp_qemu_list(&qemus, &count);

	pthread_mutex_lock(&n->lock);
	bool any = !err && note_processes(n, qemus, count, ot_now_ns());
	pthread_mutex_unlock(&n->lock);
	if (any) {
		err = vp_machines_poll(&machines);
		for (size_t i = 0; !err && i < machines.count; i++)
			consider(n, &machines.items[i]);
		if (!err)
			vp_machines_deinit(&machines);
	}
	ot_err_destroy(err); /* listing may succeed in a second */
}

static void *run(void *arg)
{
	struct vp_newcomers *n = arg;

	pthread_mutex_lock(&n->lock);
	while (!n->stop) {
		pthread_mutex_unlock(&n->lock);
		poll_host(n);
		const struct timespec until = ot_timespec(ot_now_ns() + POLL_NS);
		pthread_mutex_lock(&n->lock);
		if (!n->stop)
			pthread_cond_timedwait(&n->stopped, &n->lock, &until);
	}
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

/* --- the session's thread ------------------------------------------------------------------------------- */

struct ot_err *vp_newcomers_create(const struct vp_newcomers_config *config, struct vp_newcomers **ret)
{
	struct vp_newcomers *n = calloc(1, sizeof(*n));
	pthread_condattr_t attr;

	if (!n)
		return ot_err_nomem();
	n->config = *config;
	n->links.opts = config->opts;
	n->links.opts.progress = NULL;
	n->links.opts.reply_ms = REPLY_MS;
	n->links.opts.entry = VP_ENTRY_UNNEEDED; /* the session injects an engine if it needs one */
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->stopped, &attr);
	pthread_condattr_destroy(&attr);
	*ret = n;
	return NULL;
}

struct ot_err *vp_newcomers_start(struct vp_newcomers *n)
{
	struct ot_err *err = ot_thread_start(&n->thread, NULL, run, n, "looking for guests that start");

	n->runs = !err;
	return err;
}

void vp_newcomers_stop(struct vp_newcomers *n)
{
	if (!n->runs)
		return;
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_signal(&n->stopped);
	pthread_mutex_unlock(&n->lock);
	pthread_join(n->thread, NULL);
	n->runs = false;
}

void vp_newcomers_destroy(struct vp_newcomers *n)
{
	if (!n)
		return;
	vp_newcomers_stop(n);
	for (size_t i = 0; i < n->nfound; i++) {
		vp_link_destroy(n->found[i].link);
		ot_err_destroy(n->found[i].err);
	}
	pthread_cond_destroy(&n->stopped);
	pthread_mutex_destroy(&n->lock);
	free(n->found);
	free(n->vmms);
	free(n);
}

void vp_newcomers_know(struct vp_newcomers *n, uint32_t pid)
{
	pthread_mutex_lock(&n->lock);
	struct vmm *v = find_or_add(n, pid);
	if (v)
		v->known = true;
	pthread_mutex_unlock(&n->lock);
}

void vp_newcomers_forget(struct vp_newcomers *n, uint32_t pid)
{
	pthread_mutex_lock(&n->lock);
	struct vmm *v = find(n, pid);
	if (v && v->joins < JOINS_MAX) {
		v->known = false;
		v->next_ns = 0;
	} else if (v && !v->reported) {
		struct vp_newcomer found = { .pid = pid };
		v->reported = true;
		snprintf(found.name, sizeof(found.name), "PID %u", pid);
		found.err = ot_err_new(OT_ERR_LIMIT, "it has joined this session %d times", JOINS_MAX);
		hand_out(n, &found);
	}
	pthread_mutex_unlock(&n->lock);
}

bool vp_newcomers_take(struct vp_newcomers *n, struct vp_newcomer *ret)
{
	pthread_mutex_lock(&n->lock);
	bool any = n->nfound > 0;
	if (any) {
		*ret = n->found[0];
		memmove(n->found, n->found + 1, --n->nfound * sizeof(*n->found));
	}
	pthread_mutex_unlock(&n->lock);
	return any;
}
