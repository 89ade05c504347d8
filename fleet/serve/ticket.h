/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the daemon hands to the process of a session: who its operator is, the session's keys, and the answer
 * that it sends once it listens. The host's own key is not among it. */
#ifndef FLEET_SERVE_TICKET_H
#define FLEET_SERVE_TICKET_H

#include "base/buf.h"
#include "fleet/trust/sign.h"

#define FL_TICKET_FD  3 /* where the session's process finds it */
#define FL_TICKET_MAX (FL_ANSWER_MAX + (64u << 10))

struct fl_ticket {
	uint8_t operator[FL_PUBLIC]; /* who serve.conf knows by this key */
	const char *as;              /* what the operator calls itself */
	const char *session;         /* fl_session_text() */
	bool merges;                 /* it is a merger's session: there is no `run` */
	uint8_t run[FL_DIGEST];
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC], other[FL_PUBLIC]; /* of X25519; other: the operator's */
	const char *reply;                                              /* the subject for the answer */
	struct fl_bytes answer;
};

void fl_ticket_put(struct ot_buf *out, const struct fl_ticket *ticket);
/** Texts go to @p arena, the answer stays borrowed. */
OT_MUST_CHECK struct ot_err *fl_ticket_get(const void *data, size_t len, struct ot_arena *arena,
					   struct fl_ticket *ret);

#endif
