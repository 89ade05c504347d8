/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tracepoint of the guest by its types: the typedef btf_trace_EVENT, which the kernel makes for each, is a
 * pointer to a function whose first parameter is the probe's own data. The others are what the agent passes
 * on.
 */
#ifndef VP_PROVIDER_TRACEPOINT_H
#define VP_PROVIDER_TRACEPOINT_H

#include "vmm-probe/provider/registry.h"

/** What provider @p name does when its probes are asked for: by its name, it says why there are none if the
 * guest has an agent that can't be used. */
OT_MUST_CHECK struct ot_err *vp_tracepoint_provide(struct vp_probes *probes, const char *name,
						   const struct dif_probedesc *desc);

/** Words that the parameters of the tracepoint at @p address take, as far as records have them; where nobody
 * knows, as many as are in registers. */
uint32_t vp_tracepoint_words(struct vp_probes *probes, uint64_t address, const char *event);

/** How many parameters it has; -1: not known. */
int vp_tracepoint_nargs(struct vp_probes *probes, uint64_t address, const char *event);

/** Parameter @p n: its type, and the word of the record in which it begins. False: not known, or not there.
 */
bool vp_tracepoint_arg(struct vp_probes *probes, uint64_t address, const char *event, unsigned n,
		       struct dif_type **ret_type, unsigned *ret_word);

#endif
