/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owning the guest's agent, for agent.c's files only. Any thread but a vCPU's, one at a time. */
#ifndef VP_ENGINE_SERVICE_AGENT_OWNER_H
#define VP_ENGINE_SERVICE_AGENT_OWNER_H

#include "vmm-probe/engine/service/agent.h"

/** Find header, control block and rings in guest RAM. BAD_DATA: they are not in it. */
OT_MUST_CHECK struct ot_err *vp_agent_use_memory(struct vp_agent_owner *owner,
						 const struct vp_batch_agent *place);

/** Is the agent's memory where it was, and may it be accessed? */
bool vp_agent_is_usable(const struct vp_agent_owner *owner);

/** The VMM has changed the guest's memory map. True: the agent's part has not moved, and stays usable. */
bool vp_agent_check_again(struct vp_agent_owner *owner);

/** Become its owner. BUSY: it has just been unloaded, or another host owns it. */
OT_MUST_CHECK struct ot_err *vp_agent_own(struct vp_agent_owner *owner);

/** Drop what the last owner left in a ring: it is older than any of our sessions. Once we own the agent. */
void vp_agent_forget_records(struct vp_agent_ring *ring);

/** Release it. From here on this process does not access the guest's memory. */
void vp_agent_let_go(struct vp_agent_owner *owner);

/** Sleep between two checks of the guest's writes. */
void vp_agent_nap(void);

#endif
