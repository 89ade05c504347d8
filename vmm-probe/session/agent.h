/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's agent in a session, and the views that probes are enabled on. */
#ifndef VP_SESSION_AGENT_H
#define VP_SESSION_AGENT_H

#include "vmm-probe/session/internal.h"

/* The views on which a probe is enabled, by -x view and by availability: at least one. */
enum { VP_VIEW_OUTSIDE = 1, VP_VIEW_INSIDE = 2 };
unsigned vp_views_of(const struct vp_session *s, uint32_t guest, const struct vp_probe *probe);
/** Add the engine's record of the guest's agent, if a probe of it is enabled. */
OT_MUST_CHECK struct ot_err *vp_batch_add_agent(struct vp_feed *feed);
/** Report how many probes the guest's agent did not enable; and, at the end, how many hits the agents'
 * kprobes missed. */
OT_MUST_CHECK struct ot_err *vp_agent_started(struct vp_session *s, struct vp_feed *feed);
OT_MUST_CHECK struct ot_err *vp_agents_stopped(struct vp_session *s);
/** The guest has unloaded its agent: if another is loaded now, continue with that one. */
OT_MUST_CHECK struct ot_err *vp_agents_poll(struct vp_session *s);
/** The sites of the agent's calls, appended to the batch. */
OT_MUST_CHECK struct ot_err *vp_batch_agent_sites(struct vp_feed *feed, struct vp_batch_probe *bp);

#endif
