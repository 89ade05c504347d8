/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests that start while a session runs. A separate thread finds and attaches them, which takes about a
 * second for each, so that it does not delay the session's own thread, which takes the other guests' data.
 * Nothing in a guest changes before the session takes it.
 */
#ifndef VP_ATTACH_NEWCOMERS_H
#define VP_ATTACH_NEWCOMERS_H

#include "vmm-probe/attach/link.h"
#include "vmm-probe/hosts/machines.h"

struct vp_newcomers;

struct vp_newcomers_config {
	struct vp_attach_opts opts; /* progress is not called; their pointers are borrowed */
	/* Must this guest be attached? An error: it can't be for this reason, which take() reports once.
	 * Called in the thread. */
	struct ot_err *(*wants)(void *arg, const struct vp_machine *machine, bool *ret_wanted);
	void *arg;
};

/* A guest that is attached, or the reason why it is not. */
struct vp_newcomer {
	char name[VP_GUEST_NAME];
	uint32_t pid;
	struct vp_guest_link *link; /* the caller's; NULL: … */
	struct ot_err *err;         /* … for this reason, the caller's. It is tried again, silently */
};

OT_MUST_CHECK struct ot_err *vp_newcomers_create(const struct vp_newcomers_config *config,
						 struct vp_newcomers **ret);
/** Start the thread: it polls once a second, at first immediately for guests that run already (see
 * vp_newcomers_know()).
 */
OT_MUST_CHECK struct ot_err *vp_newcomers_start(struct vp_newcomers *newcomers);
/** End the thread; an attempt that is under way is waited for. */
void vp_newcomers_stop(struct vp_newcomers *newcomers);
/** End the thread, if it runs, and free. Links that were taken must be destroyed before. NULL is fine. */
void vp_newcomers_destroy(struct vp_newcomers *newcomers);

/** The VMM @p pid runs a guest of the session: it is not a newcomer. */
void vp_newcomers_know(struct vp_newcomers *newcomers, uint32_t pid);
/** The guest has left the session: when it can be attached again, as after a reboot, it is a newcomer, for a
 * limited number of times. */
void vp_newcomers_forget(struct vp_newcomers *newcomers, uint32_t pid);

/** The next one, without waiting. False: there is none. One that is taken is known. */
bool vp_newcomers_take(struct vp_newcomers *newcomers, struct vp_newcomer *ret);

#endif
