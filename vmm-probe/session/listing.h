/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes of a session's guests, for -l. One thread, the session's. */
#ifndef VP_SESSION_LISTING_H
#define VP_SESSION_LISTING_H

#include "vmm-probe/session/session.h"

/* A probe for -l. Several guests are asked for each of its four names; what it is, is what the first guest
 * that has it makes of it, and its id is that one's. */
struct vp_listed {
	const struct vp_probe *probe;
	uint32_t guest;   /* that guest, index */
	uint32_t missing; /* guests that the description means, and that lack it: 1 << index */
	const struct vp_probe *const *of; /* by guest; NULL: it lacks it, or is not meant */
};

/** Call @p each for every probe that the guests have, which is valid during the call, until it returns false:
 * in order of the first guest's ids, then what others have besides. */
OT_MUST_CHECK struct ot_err *vp_session_match(struct vp_session *s, const struct dif_probedesc *desc,
					      bool with_refused,
					      bool (*each)(void *arg, const struct vp_listed *listed),
					      void *arg, uint64_t *ret_count);

/** What else -lv says of a probe that was matched: appended as lines. */
void vp_session_describe(struct vp_session *s, const struct vp_listed *listed, struct ot_buf *out);
/** Its args[n], as struct dif_world's probe_arg documents it. */
bool vp_session_probe_arg(struct vp_session *s, const struct vp_listed *listed, unsigned n,
			  struct dif_probe_arg *ret);

#endif
