/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noticing that a guest, its kernel or its VMM has ended. */
#ifndef VP_SESSION_ENDED_H
#define VP_SESSION_ENDED_H

#include "vmm-probe/session/internal.h"

/** A guest's connection broke, or, in a session of several, its engine gives an invalid answer or none:
 * continue without it; vp_ends_poll() reports the reason. Other errors are returned. */
OT_MUST_CHECK struct ot_err *vp_note_gone(struct vp_session *s, struct vp_feed *feed, struct ot_err *err);
/** Free a guest's vCPUs' parts of the memory that it shares with the host engine. */
void vp_feed_release(struct vp_session *s, struct vp_feed *feed);
/** Send no more requests to its engine. */
void vp_feed_gone(struct vp_session *s, struct vp_feed *feed);
/** Continue without a guest, because of its engine's behaviour. */
void vp_note_broken(struct vp_session *s, struct vp_feed *feed, const char *why);
/** Has its guest rebooted, or continued from a saved state? Then the traced kernel has gone with all its
 * text.
 */
bool vp_kernel_replaced(const struct vp_feed *feed);
/** Is another kernel in the memory of the attached one, by its banner? The guest changes its page tables
 * meanwhile: one check is not enough. */
bool vp_kernel_is_another(const struct vp_guest_link *link);
/** Record the guests whose connections broke, or whose engines have reported their ends. The last guest's
 * end is stored in s->end.gone_reason, each other one is reported to the sink. A guest whose reason is not
 * known yet is checked again at the next call. */
void vp_ends_poll(struct vp_session *s, uint64_t now);
/** Wait for the reasons why connections broke: 20 s at most. */
void vp_ends_settle(struct vp_session *s);
/* --- leaving.c ---------------------------------------------------------------------------------- */

/** Take the remaining data of guests that have ended, unless the session ends with them, and close their
 * connections. */
OT_MUST_CHECK struct ot_err *vp_ended_leave(struct vp_session *s);
/** Are the guests' kernels still the attached ones? Reads their memory: once a second is enough. False: one
 * seems to have been replaced, and must be checked again soon; the second such check in a row counts. */
bool vp_kernels_check(struct vp_session *s, uint64_t now);

#endif
