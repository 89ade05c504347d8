/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites of a tracepoint's events in the guest's text, whether it is enabled or not, and the arguments
 * there. A disabled tracepoint is a nop; enabling replaces it by a jump to code that loads the arguments and
 * calls the tracepoint's callbacks. A probe at that nop needs no enabled tracepoint.
 *
 * Everything comes from the guest's own tables and text: a site is the exact nop, or the jump to the entry's
 * target, at an instruction boundary of a function. Otherwise the tracepoint is refused.
 */
#ifndef VP_PROVIDER_TRACEPOINT_SITES_H
#define VP_PROVIDER_TRACEPOINT_SITES_H

#include "vmm-probe/guest/tracepoints.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/symbolic/block.h"

/* A place where an event happens. */
struct vp_event_site {
	uint64_t gva, function;     /* function: its first address */
	uint64_t target;            /* of the jump that is there while the tracepoint is enabled */
	uint8_t length;             /* 2 or 5 bytes */
	const struct vp_expr *when; /* NULL: always */
	const struct vp_expr *args[VP_BLOCK_ARGS];
};

/* The events of one tracepoint. */
struct vp_event_sites {
	struct vp_event_site *list;
	size_t count;
	uint32_t known_args; /* bit n: argument word n is known at each site */
};

struct vp_tracepoint_finder;

/** Read the guest's tracepoints; the tables of its static keys are read when they are first needed. @p probes
 * is borrowed. */
OT_MUST_CHECK struct ot_err *vp_tracepoint_finder_create(struct vp_probes *probes,
							 struct vp_tracepoint_finder **ret);
void vp_tracepoint_finder_destroy(struct vp_tracepoint_finder *finder);

/** The guest's tracepoints, and the arena of expressions over them; both live as long as the finder. */
const struct vp_guest_tracepoints *vp_tracepoint_list(const struct vp_tracepoint_finder *finder);
struct vp_exprs *vp_tracepoint_exprs(struct vp_tracepoint_finder *finder);

struct vp_module;
/** A module has come: read its tracepoints, which vp_tracepoint_latest() then lists, and forget the tables of
 * static keys. One that can't be read has none. */
OT_MUST_CHECK struct ot_err *vp_tracepoint_finder_add(struct vp_tracepoint_finder *finder,
						      const struct vp_module *module);
const struct vp_guest_tracepoints *vp_tracepoint_latest(const struct vp_tracepoint_finder *finder);
/** Call @p each for the other tracepoints that the code of that module has, the kernel's own and those of
 * modules before it, until it fails. */
OT_MUST_CHECK struct ot_err *
vp_tracepoint_each_used(struct vp_tracepoint_finder *finder, const struct vp_module *module,
			struct ot_err *(*each)(void *arg, const struct vp_guest_tracepoint *tp), void *arg);

/** Find the events of a tracepoint of a list with @p nargs words of arguments. *ret lives as long as the
 * registry. UNSUPPORTED, BAD_DATA, LIMIT: they can't be probed, with the reason. */
OT_MUST_CHECK struct ot_err *vp_tracepoint_find_sites(struct vp_tracepoint_finder *finder,
						      const struct vp_guest_tracepoint *tp, unsigned nargs,
						      struct vp_event_sites *ret);

#endif
