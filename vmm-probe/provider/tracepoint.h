/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a tracepoint of the guest: the typedef btf_trace_EVENT, which the kernel defines for each, is
 * a pointer to a function whose first parameter is the probe's own data. The agent passes on the others.
 */
#ifndef VP_PROVIDER_TRACEPOINT_H
#define VP_PROVIDER_TRACEPOINT_H

#include "vmm-probe/guest/agent.h"
#include "vmm-probe/provider/registry.h"

/* A tracepoint in an agent's catalogue, and the number of argument words that a probe wants. The own data of
 * a probe of kind AGENT begins with this. */
struct vp_tracepoint {
	const char *event;
	uint64_t address;
	uint32_t slot, nargs;
};

/** As a provider's inside(), of a probe whose own is a struct vp_tracepoint. */
bool vp_tracepoint_inside(const struct vp_probes *probes, const struct vp_probe *probe,
			  const struct vp_guest_agent *agent, struct vp_batch_event *ret);

/** The event of that name in @p agent's catalogue; NULL: none. */
const struct vp_agent_event *vp_tracepoint_find(const struct vp_guest_agent *agent, const char *name);

/** Words that the parameters of the tracepoint at @p address take, at most as many as records hold; if its
 * prototype is unknown, as many as fit in registers. */
uint32_t vp_tracepoint_words(struct vp_probes *probes, uint64_t address, const char *event);

/** Number of its parameters; -1: not known. */
int vp_tracepoint_nargs(struct vp_probes *probes, uint64_t address, const char *event);

/** Parameter @p n: its type, and the word of the record in which it begins. False: not known, or not in the
 * record. */
bool vp_tracepoint_arg(struct vp_probes *probes, uint64_t address, const char *event, unsigned n,
		       struct dif_probe_arg *ret);

#endif
