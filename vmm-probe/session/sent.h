/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a session's program that an engine is sent. */
#ifndef VP_SESSION_SENT_H
#define VP_SESSION_SENT_H

#include "base/buf.h"
#include "vmm-probe/session/internal.h"

/** The program of feed number @p nth, appended to @p dof: each clause has its number, and those for other
 * kernels and for other guests' probes are empty. They hold addresses in other guests, which this guest's VMM
 * must not learn. */
OT_MUST_CHECK struct ot_err *vp_sent_write(struct vp_session *s, uint32_t nth, struct ot_buf *dof);

#endif
