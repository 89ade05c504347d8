/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of $target, a process of a guest: tracing ends with it, as it does with a process that dtrace(1)
 * has grabbed. */
#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/session/internal.h"

#define AGAIN_NS 100000000u

/* If this guest's processes can't be read, its end is not detected. */
static struct ot_err *open_processes(struct vp_session_target *t, struct vp_guest *guest)
{
	struct ot_err *err = vp_processes_open(guest, &t->ps);

	if (!err || ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *vp_session_watch_target(struct vp_session *s, uint32_t guest)
{
	struct vp_session_target *t = &s->target;
	struct vp_budget budget;
	struct ot_err *err;

	if (guest >= s->links.n || !s->links.items[guest]->guest || s->config.target_pid <= 0)
		return NULL;
	t->guest = s->links.items[guest]->guest;
	OT_TRY(open_processes(t, t->guest));
	if (!t->ps)
		return NULL;
	vp_guest_budget_begin(t->guest, &budget, &vp_readings[VP_READ_WATCH]);
	err = vp_guest_process_find(t->ps, (uint64_t)s->config.target_pid, &t->process);
	vp_budget_end(&budget);
	if (!err || ot_err_code(err) != OT_ERR_NOT_FOUND) {
		t->is_watched = !err;
		ot_err_destroy(err);
		return NULL;
	}
	return err;
}

/* exec() is another program in the same process. What can't be read now may be later. */
static bool has_ended(struct vp_session_target *t)
{
	struct vp_guest_process now;
	struct vp_budget budget;

	vp_guest_budget_begin(t->guest, &budget, &vp_readings[VP_READ_WATCH]);
	struct ot_err *err = vp_guest_process_find(t->ps, t->process.pid, &now);
	vp_budget_end(&budget);
	bool gone = err && ot_err_code(err) == OT_ERR_NOT_FOUND;

	ot_err_destroy(err);
	return gone || (!err && (now.is_over || now.since_ns != t->process.since_ns));
}

bool vp_session_target_ended(struct vp_session *s)
{
	struct vp_session_target *t = &s->target;
	uint64_t now = ot_now_ns();

	if (!t->is_watched || now < t->next_ns)
		return false;
	/* A positive result ends the session, and the guest changes the structures meanwhile: one check is
	 * not enough. */
	bool ended = has_ended(t), sure = ended && t->is_doubted;
	t->is_doubted = ended;
	t->next_ns = now + (ended ? AGAIN_NS : OT_NS_PER_SEC);
	return sure;
}
