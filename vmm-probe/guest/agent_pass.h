/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass of the guest's agent over the guest's processes or modules (guest-agent/agent_abi.h, "Walks"),
 * assembled from the events that the agent emits. Events are guest data and may be lost: a pass is used only
 * if it is complete.
 */
#ifndef VP_GUEST_AGENT_PASS_H
#define VP_GUEST_AGENT_PASS_H

#include "guest-agent/agent_abi.h"
#include "vmm-probe/guest/census.h"

struct vp_agent_pass {
	enum ga_pass what;
	uint64_t number;    /* of the pass being assembled; events of older passes are ignored */
	uint64_t events;    /* received */
	uint64_t announced; /* events in the pass, from its last event; ~0: not received yet */
	uint64_t error;     /* errno of the guest's walk */
	struct vp_census items;
	char (*names)[GA_NAME_PARTS * GA_NAME_WORDS * 8]; /* of modules, by number, NUL-padded; owned */
	size_t nnames, names_cap;
};

void vp_agent_pass_init(struct vp_agent_pass *pass, enum ga_pass what);
void vp_agent_pass_deinit(struct vp_agent_pass *pass);

/** Add an event with its five words. @p end: the event is outsight_pass, otherwise outsight_task or
 * outsight_module. Malformed events are ignored; errors are those of this process. */
OT_MUST_CHECK struct ot_err *vp_agent_pass_add(struct vp_agent_pass *pass, bool end, const uint64_t words[5]);

/** If the pass is complete, set *ret_whole, move its items to *ret (not joined, their ways set to @p way) and
 * begin the next pass. *ret_error is the errno of the guest's walk; if it is not 0, *ret is unchanged. */
OT_MUST_CHECK struct ot_err *vp_agent_pass_take(struct vp_agent_pass *pass, uint32_t way,
						struct vp_census *ret, bool *ret_whole, uint64_t *ret_error);

#endif
