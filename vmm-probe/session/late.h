/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Enabling probes that come while a session runs. */
#ifndef VP_SESSION_LATE_H
#define VP_SESSION_LATE_H

#include "vmm-probe/session/internal.h"

/** Can a clause be enabled on a probe that came after the clause was compiled? Not if its args[] differ from
 * those that the clause was compiled for, which is reported once. */
bool vp_late_fits(struct vp_session *s, uint32_t clause, uint32_t guest, const struct vp_probe *probe);

/** The same of a probe of a guest that joins: by its args[] alone. */
bool vp_late_args_fit(struct vp_session *s, uint32_t clause, uint32_t guest, const struct vp_probe *probe);

/** Match the session's clauses against the probes of a guest with ids above @p after, which may come by that,
 * and enable those that match. */
OT_MUST_CHECK struct ot_err *vp_late_enable(struct vp_session *s, struct vp_feed *feed, uint32_t after);

#endif
