/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of the core kernel that increment an array of per-CPU counters, each by a fixed element:
 * `inc %gs:vm_event_states+8*n(%rip)`. The text is searched for their bytes; a match counts only if it begins
 * an instruction of a function. An element indexed at run time has no such instruction.
 */
#ifndef VP_PROVIDER_COUNTERS_H
#define VP_PROVIDER_COUNTERS_H

#include "vmm-probe/arch/code.h"
#include "vmm-probe/provider/registry.h"

struct vp_counter_site {
	uint64_t gva, function; /* function: its first address */
	uint32_t element;       /* of the array */
	struct vp_increment increment;
};

struct vp_counter_sites {
	struct vp_counter_site *list; /* by address */
	size_t count;
};

/** Find the increments of the @p nelements words that begin at offset @p array of the per-CPU area. *ret
 * lives as long as the registry. LIMIT: there are more than any kernel has, or it took too long; FAULT: the
 * text can't be read. */
OT_MUST_CHECK struct ot_err *vp_counter_sites_find(struct vp_probes *probes, uint64_t array,
						   uint32_t nelements, struct vp_counter_sites *ret);

/** Fill the engine's record of @p site, whose arguments are by @p program, from the text as it is now.
 * BAD_DATA: it has changed. */
OT_MUST_CHECK struct ot_err *vp_counter_batch_site(struct vp_probes *probes,
						   const struct vp_counter_site *site, uint32_t program,
						   struct vp_batch_site *ret);

#endif
