/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a tracepoint's events happen in the guest's text, whether it is enabled or not, and what their
 * arguments are there. A tracepoint that nobody has enabled is a nop, which the kernel replaces by a jump to
 * code that loads the arguments and calls whoever has enabled it. A probe at that nop needs nothing enabled.
 *
 * Everything comes from the guest's own tables and text: a site is the exact nop, or the jump to the entry's
 * target, at an instruction boundary of a function. What is anything else refuses the tracepoint.
 */
#ifndef VP_PROVIDER_TRACEPOINT_SITES_H
#define VP_PROVIDER_TRACEPOINT_SITES_H

#include "vmm-probe/guest/tracepoints.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/symbolic/block.h"

/* A place where an event happens. */
struct vp_event_site {
	uint64_t gva, function;     /* function: its first address */
	uint8_t length;             /* 2 or 5 bytes */
	uint8_t bytes[5];           /* as they were seen */
	const struct vp_expr *when; /* NULL: always */
	const struct vp_expr *args[VP_BLOCK_ARGS];
};

/* The events of one tracepoint. */
struct vp_event_sites {
	struct vp_event_site *list;
	size_t count;
	const char *refused; /* why they can't be probed; NULL: they can */
	uint32_t known_args; /* bit n: argument word n is known at each site */
};

struct vp_tracepoint_finder;

/** Read the guest's tables of static keys and calls. @p probes is borrowed. LIMIT: they are too large. */
OT_MUST_CHECK struct ot_err *vp_tracepoint_finder_create(struct vp_probes *probes,
							 struct vp_tracepoint_finder **ret);
void vp_tracepoint_finder_destroy(struct vp_tracepoint_finder *finder);

/** Find the events of a tracepoint with @p nargs words of arguments; @p size: of a struct tracepoint. *ret is
 * the finder's. */
OT_MUST_CHECK struct ot_err *vp_tracepoint_find_sites(struct vp_tracepoint_finder *finder,
						      const struct vp_guest_tracepoint *tp, uint64_t size,
						      unsigned nargs, struct vp_event_sites *ret);

#endif
