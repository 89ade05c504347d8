/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages from a confined child. */
#ifndef VP_CONFINED_RECEIVE_H
#define VP_CONFINED_RECEIVE_H

#include "vmm-probe/confined/child.h"

struct vp_confined_incoming {
	struct vp_confined_frame frame;
	size_t have;        /* bytes of the frame that have arrived */
	uint64_t follows;   /* bytes, once the frame is whole */
	struct ot_buf body; /* those of them that have arrived; owned */
	bool is_late, is_too_large, is_broken;
	bool is_deaf; /* it takes no answers any more: only its end can follow */
};

/** Read from @p in until its end, a limit, or something that no honest child sends; answer questions to
 * @p answers. An error is one of this process; @p ret, which the caller has zeroed and whose body it frees,
 * has the child's error. */
OT_MUST_CHECK struct ot_err *vp_confined_receive(const struct vp_confined_job *job, int in, int answers,
						 struct vp_confined_incoming *ret);

/** Has a whole frame arrived? */
static inline bool vp_confined_is_whole(const struct vp_confined_incoming *i)
{
	return i->have == sizeof(i->frame) && i->body.len == i->follows;
}

#endif
