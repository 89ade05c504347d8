/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest's agent tells of processes and modules: events, put together to passes
 * (guest-agent/agent_abi.h, "Walks"). They come from a guest: a pass counts only when it is whole.
 */
#ifndef VP_GUEST_AGENT_TOLD_H
#define VP_GUEST_AGENT_TOLD_H

#include "guest-agent/agent_abi.h"
#include "vmm-probe/guest/census.h"

struct vp_told {
	enum ga_pass what;
	uint64_t pass;      /* being told; older ones are forgotten */
	uint64_t events;    /* of it that have come */
	uint64_t announced; /* that it had, by its last one; ~0: that has not come */
	uint64_t error;     /* errno with which the guest's walk ended */
	struct vp_census items;
	char (*names)[GA_NAME_PARTS * GA_NAME_WORDS * 8]; /* modules': by number, NUL-padded; owned */
	size_t nnames, names_cap;
};

void vp_told_init(struct vp_told *told, enum ga_pass what);
void vp_told_deinit(struct vp_told *told);

/** A record of the event's five words. @p end: of outsight_pass, else of the other. */
OT_MUST_CHECK struct ot_err *vp_told_event(struct vp_told *told, bool end, const uint64_t words[5]);

/** True when a whole pass is there: it is moved to *ret, under @p way (to be joined). *ret_error is
 * the errno with which the guest's own walk failed, then *ret is empty. */
OT_MUST_CHECK struct ot_err *vp_told_take(struct vp_told *told, uint32_t way, struct vp_census *ret,
					  bool *ret_whole, uint64_t *ret_error);

#endif
