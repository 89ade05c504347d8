/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a session: how much, whose, and where. */
#ifndef VP_SESSION_MEMORY_H
#define VP_SESSION_MEMORY_H

#include "vmm-probe/session/internal.h"

/* --- sizes.c ------------------------------------------------------------------------------------ */

/** Adjust run-time sizes and rates to the limits, and write them back to the options. Needs layouts and
 * feeds. */
OT_MUST_CHECK struct ot_err *vp_sizes_fit(struct vp_session *s);

/* --- memory.c ----------------------------------------------------------------------------------- */

/** Compute the memory taken of each VMM, and check that the VMM has room for it; @p parts: those common to
 * all engines. LIMIT with the figures. Needs batches, and each feed's OPEN, whose scratch_max it sets. */
OT_MUST_CHECK struct ot_err *vp_memory_fit(struct vp_session *s, const struct vp_private_parts *parts);
/** Have the pages that engines in other processes will write charged to this one. */
OT_MUST_CHECK struct ot_err *vp_memory_make_pages(const struct vp_session *s);

/* --- share.c ------------------------------------------------------------------------------------ */

/** Make one memfd for globals, dynamic variables and every engine's buffers. */
OT_MUST_CHECK struct ot_err *vp_share_create(struct vp_session *s);
void vp_share_destroy(struct vp_session *s);

#endif
