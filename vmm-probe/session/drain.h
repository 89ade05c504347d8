/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session receives from its engines, and the probes that this process fires by time. */
#ifndef VP_SESSION_DRAIN_H
#define VP_SESSION_DRAIN_H

#include "vmm-probe/session/internal.h"

/* --- drain.c ------------------------------------------------------------------------------------ */

enum {
	VP_DRAIN_STATUS = 1, /* report drops, poll engines */
	VP_DRAIN_TAKE = 2,   /* exchange halves: pass aggregations to the sink, queue records */
	VP_DRAIN_GIVE = 4,   /* pass records of the time that all engines have covered to the sink */
	VP_DRAIN_ALL = 8,    /* with GIVE: all records */
};
/** Carry out the actions in @p what, in that order. */
OT_MUST_CHECK struct ot_err *vp_drain(struct vp_session *s, unsigned what);
/** Has a clause called exit() in one of the engines? */
bool vp_exit_called(struct vp_session *s);
void vp_pending_free(struct vp_session *s);

/* --- tick.c ------------------------------------------------------------------------------------- */

/** When the next tick fires, on the clock of vp_now(); UINT64_MAX: there is none. */
uint64_t vp_ticks_next(const struct vp_session *s);
/** Fire those that are due at @p now. */
void vp_ticks_fire(struct vp_session *s, uint64_t now);
/** False: out of memory. */
OT_MUST_CHECK bool vp_tick_add(struct vp_session *s, uint32_t probe_id, uint64_t interval_ns);

#endif
