/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules that a guest loads and unloads during a session. */
#ifndef VP_SESSION_MODULES_H
#define VP_SESSION_MODULES_H

#include "vmm-probe/session/internal.h"

/** Must guest @p guest's engine report modules: can it, and may a description of @p prog match their probes?
 */
bool vp_modules_wanted(const struct vp_session *s, const struct dif_program *prog, uint32_t guest);

/** Decide whether a feed's engine is to report modules. Before the batches are made. */
void vp_modules_follow(struct vp_session *s, struct vp_feed *feed);

/** Read the modules that came since the last call, and enable their probes. Cheap if there are none. */
OT_MUST_CHECK struct ot_err *vp_modules_poll(struct vp_session *s);

/** At the end of a session, before it is stopped: modules that were not read in time are drops. */
OT_MUST_CHECK struct ot_err *vp_modules_last(struct vp_session *s);

/** Does a guest's vCPU wait for vp_modules_poll() when it loads a module? */
bool vp_modules_followed(const struct vp_session *s);

#endif
