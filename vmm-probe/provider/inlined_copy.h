/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One inlined copy of a function in the guest's text. */
#ifndef VP_PROVIDER_INLINED_COPY_H
#define VP_PROVIDER_INLINED_COPY_H

#include "vmm-probe/dwarf/copies.h"
#include "vmm-probe/provider/registry.h"

/* A copy that has a site. */
struct vp_inlined_copy {
	const struct vp_copies_copy *copy;
	uint64_t gva;      /* its first instruction */
	uint64_t function; /* address of the function that it is in, and its name */
	const char *name;
	uint32_t program; /* site program with its arguments */
};

/** Find the copy in the guest's text, all but `program`. UNSUPPORTED: its first instruction runs more often
 * than the copy is entered, or is unknown. */
OT_MUST_CHECK struct ot_err *vp_inlined_copy_find(struct vp_probes *probes, const struct vp_copies *all,
						  const struct vp_copies_copy *copy,
						  struct vp_inlined_copy *ret);

/** The engine's record, from the text as it is now. BAD_DATA: the text has changed. */
OT_MUST_CHECK struct ot_err *
vp_inlined_copy_site(struct vp_probes *probes, const struct vp_inlined_copy *copy, struct vp_batch_site *ret);

/** Make the site program of a copy of @p f. A parameter that it lacks is 0 or, with a bit set in @p known
 * (other copies have it), a fault: a load from address 0. */
OT_MUST_CHECK struct ot_err *vp_inlined_copy_program(struct vp_probes *probes, const struct vp_copies *all,
						     const struct vp_copies_function *f,
						     const struct vp_copies_copy *copy, uint32_t known,
						     uint32_t *ret);

#endif
