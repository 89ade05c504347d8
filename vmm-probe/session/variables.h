/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owner of a program's variables. In a session of one guest they are the program's, as in dtrace(1):
 * BEGIN, END and ticks see what the guest's clauses write, and the other way round. In a session of several
 * guests, and in one that guests may join, they are the operator's in BEGIN, END and ticks, and each guest's
 * own in the clauses of its probes, where they begin with BEGIN's values.
 */
#ifndef VP_SESSION_VARIABLES_H
#define VP_SESSION_VARIABLES_H

#include "vmm-probe/session/internal.h"

/** BEGIN has fired: keep its values, if guests have variables of their own. */
OT_MUST_CHECK struct ot_err *vp_variables_keep(struct vp_session *s);
/** Give these to a guest, before its first probe can fire. Values without room there are counted as its
 * drops. Nothing if it shares its variables with the host engine. */
void vp_variables_give(struct vp_session *s, struct vp_feed *feed);
void vp_variables_free(struct vp_session *s);

/** Report a variable that is written in clauses of guests and read in END or a tick, or the other way round,
 * if each side has its own. Once enabled. */
OT_MUST_CHECK struct ot_err *vp_variables_say_mixed(struct vp_session *s);

#endif
