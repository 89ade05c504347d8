/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -x waitfor: $target is the next process of a guest that begins to run a program. It is found by polling
 * the guest's processes: often enough that little of the program has run, and rarely enough that it takes a
 * small part of one host CPU. The guest runs on and nothing in it is changed, so the wait may be interrupted
 * at any time.
 */
#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/execs.h"
#include "vmm-probe/session/ended.h"

#define POLL_NS    5000000u /* between two polls, or … */
#define POLL_SHARE 20u      /* … this many times the CPU time of one */
#define GIVE_UP_NS (5 * OT_NS_PER_SEC)

struct waiting {
	struct vp_session *s;
	struct vp_guest_link *link;
	struct vp_execs *execs;
	uint64_t next_watch_ns; /* when to check again that the guest is still the same */
	uint64_t failing_ns;    /* since when polls fail; 0: they don't */
	bool doubted;
	void (*waiting)(void *arg); /* called once … */
	void *arg;
};

static struct ot_err *check(const struct vp_session *s)
{
	const struct vp_guest_link *link = s->links.n == 1 ? s->links.items[0] : NULL;

	if (!link)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "-x waitfor is for a process of one guest: name one by -g%s",
				  s->links.n ? "" : " (-c starts a command on this host, with -g none)");
	if (!link->guest || !vp_link_runs(link))
		return ot_err_new(OT_ERR_UNSUPPORTED, "-x waitfor: nothing begins in %s",
				  link->client.guest_name);
	if (link->source.ops && link->source.ops->patient)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "-x waitfor: reading %s's processes would stop it for each word of them",
				  link->client.guest_name);
	return NULL;
}

/* GUEST_GONE: its VMM has ended, or two checks in a row found another kernel. */
static struct ot_err *watch(struct waiting *w, uint64_t now)
{
	if (now < w->next_watch_ns)
		return NULL;
	w->next_watch_ns = now + OT_NS_PER_SEC;
	if (!w->link->source.ops || w->link->tentative) {
		if (vp_vmm_has_ended(w->link, 0))
			return ot_err_new(OT_ERR_GUEST_GONE, "the VMM of guest %s has ended",
					  w->link->client.guest_name);
	}
	bool another = vp_kernel_is_another(w->link), sure = another && w->doubted;

	w->doubted = another;
	return sure ? ot_err_new(OT_ERR_GUEST_GONE, "guest %s has rebooted", w->link->client.guest_name)
		    : NULL;
}

static struct ot_err *poll_processes(struct waiting *w, struct vp_guest_process *ret, bool *ret_found)
{
	struct vp_budget budget;

	vp_guest_budget_begin(w->link->guest, &budget, &vp_readings[VP_READ_EXECS]);
	struct ot_err *err = vp_execs_poll(w->execs, ret, ret_found);
	vp_budget_end(&budget);
	uint64_t now = ot_now_ns();

	if (!err) {
		w->failing_ns = 0;
		return NULL;
	}
	*ret_found = false;
	if (!w->failing_ns)
		w->failing_ns = now;
	if (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE ||
	    now - w->failing_ns > GIVE_UP_NS)
		return err;
	ot_err_destroy(err);
	return NULL;
}

/* True: @wake_fd is readable. */
static bool pause_for(uint64_t ns, int wake_fd)
{
	const struct timespec ts = ot_timespec(ns);
	struct pollfd p = { .fd = wake_fd, .events = POLLIN };

	return ppoll(&p, 1, &ts, NULL) > 0;
}

static struct ot_err *wait_for(struct waiting *w, int wake_fd, int64_t *ret)
{
	struct vp_guest_process found;
	uint64_t took;
	bool is_found = false;

	do {
		uint64_t before = ot_thread_cpu_ns();

		OT_TRY(poll_processes(w, &found, &is_found));
		took = ot_thread_cpu_ns() - before;
		OT_TRY(watch(w, ot_now_ns()));
		if (w->waiting && !w->failing_ns &&
		    !is_found) { /* … once the processes that began before are known */
			w->waiting(w->arg);
			w->waiting = NULL;
		}
	} while (!is_found && !pause_for(took * POLL_SHARE > POLL_NS ? took * POLL_SHARE : POLL_NS, wake_fd));
	*ret = is_found ? (int64_t)found.pid : 0;
	return NULL;
}

struct ot_err *vp_session_wait_for(struct vp_session *s, const char *name, int wake_fd,
				   void (*waiting)(void *arg), void *arg, int64_t *ret_pid)
{
	struct waiting w = { .s = s, .waiting = waiting, .arg = arg };

	OT_TRY(check(s));
	w.link = s->links.items[0];
	OT_TRY(vp_execs_open(w.link->guest, name, &w.execs));
	struct ot_err *err = wait_for(&w, wake_fd, ret_pid);
	vp_execs_close(w.execs);
	if (err || !*ret_pid)
		return err;
	s->config.target_pid = *ret_pid;
	vp_probes_set_target(w.link->probes, (uint64_t)*ret_pid);
	return vp_session_watch_target(s, 0);
}

struct ot_err *vp_session_read_target(struct vp_session *s)
{
	bool news;

	return s->links.n && s->config.target_pid ? vp_probes_have_news(s->links.items[0]->probes, &news)
						  : NULL;
}
