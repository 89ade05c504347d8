/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noticing that a guest, its kernel or its VMM has ended. */
#ifndef VP_SESSION_ENDED_H
#define VP_SESSION_ENDED_H

#include "vmm-probe/session/internal.h"

/** A guest's VMM ended: record it, continue without the guest. Other errors are returned. */
OT_MUST_CHECK struct ot_err *vp_note_gone(struct vp_session *s, struct vp_feed *feed, struct ot_err *err);
/** Has its guest rebooted, or continued from a saved state? Then the traced kernel has gone with all its
 * text.
 */
bool vp_kernel_replaced(const struct vp_feed *feed);
/** Has an engine reported its guest's end? */
void vp_ends_look(struct vp_session *s);
/** Are the guests' kernels still the attached ones? Reads their memory: once a second is enough. False: one
 * seems to have been replaced, and must be checked again soon; the second such check in a row counts. */
bool vp_kernels_look(struct vp_session *s, uint64_t now);

#endif
