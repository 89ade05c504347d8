/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a session: its size, its owner, its mapping. */
#ifndef VP_SESSION_MEMORY_H
#define VP_SESSION_MEMORY_H

#include "vmm-probe/session/internal.h"

/* --- sizes.c ------------------------------------------------------------------------------------ */

/** Adjust run-time sizes and rates to the limits, and write them back to the options. Needs layouts and
 * feeds. */
OT_MUST_CHECK struct ot_err *vp_sizes_fit(struct vp_session *s);
/** Is there room for the buffers of a guest that joins, at these sizes? LIMIT. */
OT_MUST_CHECK struct ot_err *vp_sizes_check(const struct vp_session *s, const struct vp_feed *feed);

/* --- memory.c ----------------------------------------------------------------------------------- */

/** Compute the memory taken of a feed's VMM, and check that the VMM has room for it; @p parts: those common
 * to all engines. LIMIT with the figures. Needs its batch, and its OPEN, whose scratch_max it sets. */
OT_MUST_CHECK struct ot_err *vp_memory_fit(const struct vp_session *s, struct vp_feed *feed,
					   const struct vp_private_parts *parts);
/** Have the pages that an engine in another process will write charged to this one. */
OT_MUST_CHECK struct ot_err *vp_memory_make_pages(const struct vp_feed *feed);

/* --- share.c ------------------------------------------------------------------------------------ */

/** Make the memory that each engine shares with this process; s->apart says whether each guest has variables
 * of its own. */
OT_MUST_CHECK struct ot_err *vp_share_create(struct vp_session *s);
/** The same for a guest that joins. After an error it must leave too. */
OT_MUST_CHECK struct ot_err *vp_share_add(struct vp_session *s, struct vp_feed *feed);
/** A feed has none yet. */
void vp_share_init(struct vp_feed *feed);
/** Give up a feed's. */
void vp_share_leave(struct vp_feed *feed);
void vp_share_destroy(struct vp_session *s);

#endif
