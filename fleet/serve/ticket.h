/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's data for the process of a session: the operator, the session's keys, and the answer to send
 * once it listens. The host's own key is not included. */
#ifndef FLEET_SERVE_TICKET_H
#define FLEET_SERVE_TICKET_H

#include "base/buf.h"
#include "fleet/trust/sign.h"

#define FL_TICKET_FD  3 /* its descriptor in the session's process */
#define FL_TICKET_MAX (FL_ANSWER_MAX + (64u << 10))

struct fl_ticket {
	uint8_t operator[FL_PUBLIC]; /* the operator of this key in serve.conf */
	const char *as;              /* the operator's name for itself */
	const char *session;         /* fl_session_text() */
	bool merges;                 /* a merger's session, without `run` */
	uint8_t run[FL_DIGEST];
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC], other[FL_PUBLIC]; /* of X25519; other: the operator's */
	const char *reply;                                              /* the subject for the answer */
	struct fl_bytes answer;
};

void fl_ticket_put(struct ot_buf *out, const struct fl_ticket *ticket);
/** Texts are copied to @p arena, the answer stays borrowed. */
OT_MUST_CHECK struct ot_err *fl_ticket_get(const void *data, size_t len, struct ot_arena *arena,
					   struct fl_ticket *ret);

#endif
