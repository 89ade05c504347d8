/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules that a guest loads and unloads during a session. */
#ifndef VP_SESSION_MODULES_H
#define VP_SESSION_MODULES_H

#include "vmm-probe/session/internal.h"

/** Is guest @p guest's engine to report modules: can it, and may a description of @p prog mean their probes?
 */
bool vp_modules_wanted(const struct vp_session *s, const struct dif_program *prog, uint32_t guest);

/** Decide whether a feed's engine is to report modules. Before the batches are made. */
void vp_modules_follow(struct vp_session *s, struct vp_feed *feed);

/** Read the modules that came since the last time, and enable their probes. Cheap if none has. */
OT_MUST_CHECK struct ot_err *vp_modules_poll(struct vp_session *s);

/** At the end of a session, before it is stopped: what has come and was not read in time is a drop. */
OT_MUST_CHECK struct ot_err *vp_modules_last(struct vp_session *s);

/** Does a vCPU of a guest wait for vp_modules_poll() when it loads one? */
bool vp_modules_followed(const struct vp_session *s);

#endif
