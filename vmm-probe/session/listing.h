/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes of a session's guests, for -l. One thread, the session's. */
#ifndef VP_SESSION_LISTING_H
#define VP_SESSION_LISTING_H

#include "vmm-probe/session/session.h"

/* A probe for -l. Each guest is queried for its four names; its properties and id are those of the first
 * guest that has it. */
struct vp_listed {
	const struct vp_probe *probe;
	uint32_t guest;   /* that guest, index */
	uint32_t missing; /* guests that match the description and lack the probe: 1 << index */
	const struct vp_probe *const *of; /* by guest; NULL: it lacks the probe, or does not match */
};

/** Call @p each for every probe that the guests have, which is valid during the call, until it returns false:
 * in order of the first guest's ids, then the probes that only others have. */
OT_MUST_CHECK struct ot_err *vp_session_match(struct vp_session *s, const struct dif_probedesc *desc,
					      bool with_refused,
					      bool (*each)(void *arg, const struct vp_listed *listed),
					      void *arg, uint64_t *ret_count);

/** The further lines of -lv about a probe that was matched, appended. */
void vp_session_describe(struct vp_session *s, const struct vp_listed *listed, struct ot_buf *out);
/** Its args[n], as struct dif_world's probe_arg documents it. */
bool vp_session_probe_arg(struct vp_session *s, const struct vp_listed *listed, unsigned n,
			  struct dif_probe_arg *ret);

#endif
