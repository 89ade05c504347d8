/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that begin in a guest during a session. */
#ifndef VP_SESSION_ARRIVALS_H
#define VP_SESSION_ARRIVALS_H

#include "vmm-probe/session/internal.h"

/** Decide whether a feed's guest is followed: whether a description matches every process. Before the batches
 * are made. */
void vp_arrivals_follow(struct vp_session *s, struct vp_feed *feed);

/** Enable the probes of programs that have begun since the last call. Once a second. */
OT_MUST_CHECK struct ot_err *vp_arrivals_poll(struct vp_session *s);

#endif
