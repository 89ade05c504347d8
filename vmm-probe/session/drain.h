/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receiving data from a session's engines, and the probes that this process fires by time. */
#ifndef VP_SESSION_DRAIN_H
#define VP_SESSION_DRAIN_H

#include "vmm-probe/session/internal.h"

/* --- exchange.c --------------------------------------------------------------------------------- */

enum {
	VP_DRAIN_STATUS = 1, /* report drops, poll engines */
	VP_DRAIN_TAKE = 2,   /* exchange halves: pass aggregations to the sink, queue records */
	VP_DRAIN_GIVE = 4,   /* pass records of the time that all engines have covered to the sink */
	VP_DRAIN_ALL = 8,    /* with GIVE: all records */
	VP_DRAIN_WAIT =
	    16, /* wait for each engine's answer; one that gives none within half a minute leaves */
};
/** Carry out the actions in @p what, in that order. All engines are asked at once. Without WAIT an engine
 * that does not answer soon is not asked again until it has answered, and does not delay the others' data:
 * vp_exchange_late(). */
OT_MUST_CHECK struct ot_err *vp_drain(struct vp_session *s, unsigned what);
/** Wait for the pending answers of engines, half a minute at most, except for engines that were reported as
 * not answering. An engine that gives none leaves. Afterwards other requests can be made. */
OT_MUST_CHECK struct ot_err *vp_exchange_settle(struct vp_session *s);
/** Take the answers that have come since. Reports engines that have not answered for seconds, and those that
 * answer again.
 */
OT_MUST_CHECK struct ot_err *vp_exchange_late(struct vp_session *s);
/** Exchange the halves of a guest that has ended once more, and take their contents. */
OT_MUST_CHECK struct ot_err *vp_drain_ended(struct vp_session *s, struct vp_feed *feed);

/* --- drain.c ------------------------------------------------------------------------------------ */

/** Read the half that each vCPU has handed over, and also the other one once its engine is gone. */
OT_MUST_CHECK struct ot_err *vp_feed_read(struct vp_session *s, struct vp_feed *feed);
/** Report drops since the last call. */
OT_MUST_CHECK struct ot_err *vp_feed_report(struct vp_session *s, struct vp_feed *feed);
/** This feed's buffer has contents that no engine of ours writes: report it, once. */
void vp_feed_damaged(struct vp_session *s, struct vp_feed *feed);
/** Has a clause called exit() in one of the engines? */
bool vp_exit_called(struct vp_session *s);
/** The ECB with this number in data of @p feed's engine. NULL: this session has enabled none there, even if
 * another guest has it, whose name would be on the row. */
const struct vp_enabled *vp_enabled_of(const struct vp_session *s, const struct vp_feed *feed, uint32_t epid);

/* --- pending.c ---------------------------------------------------------------------------------- */

/** Keep a copy of @p data as *@p what, whose feed, cpu, ecb, fault and size are set. Its ECB is not looked up
 * again, because a VMM may still write to the source. */
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
