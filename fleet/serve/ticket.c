/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's ticket, from the daemon to the session's process. */
#include "fleet/serve/ticket.h"

#include "fleet/trust/envelope.h"

void fl_ticket_put(struct ot_buf *out, const struct fl_ticket *ticket)
{
	fl_put_bytes(out, ticket->operator, FL_PUBLIC);
	fl_put_text(out, ticket->as);
	fl_put_text(out, ticket->session);
	fl_put_u8(out, ticket->merges);
	fl_put_bytes(out, ticket->run, FL_DIGEST);
	fl_put_bytes(out, ticket->public, FL_PUBLIC);
	fl_put_bytes(out, ticket->secret, FL_PUBLIC);
	fl_put_bytes(out, ticket->other, FL_PUBLIC);
	fl_put_text(out, ticket->reply);
	fl_put_bytes(out, ticket->answer.data, ticket->answer.len);
}

struct ot_err *fl_ticket_get(const void *data, size_t len, struct ot_arena *arena, struct fl_ticket *ret)
{
	struct fl_reader r = fl_reader_of(data, len);

	fl_get_fixed(&r, ret->operator, FL_PUBLIC);
	ret->as = fl_get_text(&r, FL_TEXT_MAX, arena);
	ret->session = fl_get_text(&r, FL_SESSION_TEXT, arena);
	ret->merges = fl_get_u8(&r);
	fl_get_fixed(&r, ret->run, FL_DIGEST);
	fl_get_fixed(&r, ret->public, FL_PUBLIC);
	fl_get_fixed(&r, ret->secret, FL_PUBLIC);
	fl_get_fixed(&r, ret->other, FL_PUBLIC);
	ret->reply = fl_get_text(&r, FL_TEXT_MAX, arena);
	ret->answer = fl_get_bytes(&r);
	return fl_whole(&r, "a ticket");
}
