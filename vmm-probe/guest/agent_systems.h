/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The systems of the agent's tracepoints. */
#ifndef VP_GUEST_AGENT_SYSTEMS_H
#define VP_GUEST_AGENT_SYSTEMS_H

#include "base/err.h"

struct vp_guest;
struct vp_guest_agent;

/** Set the system ("sched") of each tracepoint from the guest's list of trace events. Systems stay "" if the
 * guest has no such list. Errors are those of this process. */
OT_MUST_CHECK struct ot_err *vp_agent_systems(struct vp_guest *guest, struct vp_guest_agent *agent);

#endif
