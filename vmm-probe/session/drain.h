/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session receives from its engines, and the probes that this process fires by time. */
#ifndef VP_SESSION_DRAIN_H
#define VP_SESSION_DRAIN_H

#include "vmm-probe/session/internal.h"

/* --- exchange.c --------------------------------------------------------------------------------- */

enum {
	VP_DRAIN_STATUS = 1, /* report drops, poll engines */
	VP_DRAIN_TAKE = 2,   /* exchange halves: pass aggregations to the sink, queue records */
	VP_DRAIN_GIVE = 4,   /* pass records of the time that all engines have covered to the sink */
	VP_DRAIN_ALL = 8,    /* with GIVE: all records */
	VP_DRAIN_WAIT = 16,  /* for each engine's answer; one that gives none within half a minute is left */
};
/** Carry out the actions in @p what, in that order. All engines are asked at once; without WAIT one that does
 * not answer soon is asked no more until it has, and the others' data is not held up: vp_exchange_late(). */
OT_MUST_CHECK struct ot_err *vp_drain(struct vp_session *s, unsigned what);
/** Wait for the answers that engines owe, half a minute at most, but for those of which it was said that they
 * don't answer: whoever gives none is left. From then on other requests can be made. */
OT_MUST_CHECK struct ot_err *vp_exchange_settle(struct vp_session *s);
/** Take the answers that have come since. Says which engines have not answered for seconds, and when they do.
 */
OT_MUST_CHECK struct ot_err *vp_exchange_late(struct vp_session *s);
/** Exchange the halves of a guest that has ended once more, and take what is in them. */
OT_MUST_CHECK struct ot_err *vp_drain_ended(struct vp_session *s, struct vp_feed *feed);

/* --- drain.c ------------------------------------------------------------------------------------ */

/** Read the half that each vCPU has handed over, and once its engine is gone the other one too. */
OT_MUST_CHECK struct ot_err *vp_feed_read(struct vp_session *s, struct vp_feed *feed);
/** Report what was dropped since the last time. */
OT_MUST_CHECK struct ot_err *vp_feed_report(struct vp_session *s, struct vp_feed *feed);
/** No engine of ours writes what was found in this feed's buffer: say so, once. */
void vp_feed_damaged(struct vp_session *s, struct vp_feed *feed);
/** Has a clause called exit() in one of the engines? */
bool vp_exit_called(struct vp_session *s);
/** The ECB that has this number in what @p feed's engine wrote. NULL: none that this session has enabled
 * there, whatever it is in another guest, whose name would be on the row. */
const struct vp_enabled *vp_enabled_of(const struct vp_session *s, const struct vp_feed *feed, uint32_t epid);

/* --- pending.c ---------------------------------------------------------------------------------- */

/** Keep a copy of @p data as *@p what, whose feed, cpu, ecb, fault and size are set. Its ECB is not looked up
 * again: a VMM may still write what it was read from. */
OT_MUST_CHECK struct ot_err *vp_pending_keep(struct vp_session *s, const struct vp_pending *what,
					     const uint8_t *data);
/** Pass those up to the time @p covered to the sink; after an error the rest stays. */
OT_MUST_CHECK struct ot_err *vp_pending_give(struct vp_session *s, uint64_t covered);
void vp_pending_free(struct vp_session *s);

/* --- tick.c ------------------------------------------------------------------------------------- */

/** When the next tick fires, on the clock of vp_now(); UINT64_MAX: there is none. */
uint64_t vp_ticks_next(const struct vp_session *s);
/** Fire those that are due at @p now. */
void vp_ticks_fire(struct vp_session *s, uint64_t now);
/** False: out of memory. */
OT_MUST_CHECK bool vp_tick_add(struct vp_session *s, uint32_t probe_id, uint64_t interval_ns);

#endif
