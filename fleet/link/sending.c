/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outgoing half of a link. */
#include "fleet/link/sending.h"

#include <string.h>

/* What is left of a buffer's front is given back when it is so much. */
#define KEPT_MAX ((size_t)1 << 20)

void fl_sending_init(struct fl_sending *s, bool is_reliable)
{
	*s = (struct fl_sending){ .first = 1, .next = 1, .is_reliable = is_reliable };
}

void fl_sending_deinit(struct fl_sending *s)
{
	ot_buf_deinit(&s->waiting);
	for (unsigned i = 0; i < FL_WINDOW; i++)
		ot_buf_deinit(&s->flights[i].bytes);
}

struct ot_err *fl_sending_put(struct fl_sending *s, enum fl_kind kind, const void *data, size_t len)
{
	size_t before = s->waiting.len;

	fl_put_u32(&s->waiting, (uint32_t)kind);
	fl_put_u32(&s->waiting, (uint32_t)len);
	ot_buf_append(&s->waiting, data, len);
	if (!s->waiting.failed)
		return NULL;
	/* A part of a message must not get into the stream. */
	s->waiting.len = before;
	s->waiting.failed = false;
	return ot_err_nomem();
}

static size_t waiting(const struct fl_sending *s)
{
	return s->waiting.len - s->at;
}

size_t fl_sending_pending(const struct fl_sending *s)
{
	return s->under_way + waiting(s);
}

static struct fl_flight *flight(struct fl_sending *s, uint64_t number)
{
	return &s->flights[number % FL_WINDOW];
}

static void land(struct fl_sending *s, struct fl_flight *f)
{
	if (f->is_taken)
		return;
	f->is_taken = true;
	s->under_way -= f->bytes.len;
	ot_buf_deinit(&f->bytes);
}

struct ot_err *fl_sending_taken(struct fl_sending *s, const struct fl_packet *p)
{
	if (p->taken >= s->next || p->heard > s->turn)
		return ot_err_new(OT_ERR_BAD_DATA, "the other end acknowledges what was not sent");
	/* An older packet that comes late says less, but nothing false. */
	for (uint64_t n = s->first; n < s->next; n++)
		if (n <= p->taken || (n - p->taken - 1 < FL_WINDOW && (p->mask >> (n - p->taken - 1) & 1)))
			land(s, flight(s, n));
	while (s->first < s->next && flight(s, s->first)->is_taken)
		s->first++;
	if (p->taken > s->taken)
		s->taken = p->taken;
	if (p->heard > s->heard)
		s->heard = p->heard;
	return NULL;
}

static bool is_lost(const struct fl_sending *s, const struct fl_flight *f, uint64_t now)
{
	if (s->is_reliable || f->is_taken)
		return false;
	return f->turn + FL_OVERTAKEN <= s->heard || now >= f->sent_ns + FL_RESEND_NS;
}

/* Cut the next stretch off what waits. */
static struct ot_err *cut(struct fl_sending *s, struct fl_flight *f)
{
	size_t len = waiting(s) < FL_PAYLOAD_MAX ? waiting(s) : FL_PAYLOAD_MAX;

	ot_buf_append(&f->bytes, s->waiting.data + s->at, len);
	if (f->bytes.failed) {
		ot_buf_deinit(&f->bytes);
		return ot_err_nomem();
	}
	f->is_taken = false;
	s->next++;
	s->under_way += len;
	s->at += len;
	if (s->at == s->waiting.len) {
		s->at = 0;
		if (s->waiting.cap > KEPT_MAX)
			ot_buf_deinit(&s->waiting);
		ot_buf_clear(&s->waiting);
	} else if (s->at >= s->waiting.len / 2) {
		s->waiting.len -= s->at;
		memmove(s->waiting.data, s->waiting.data + s->at, s->waiting.len);
		s->at = 0;
	}
	return NULL;
}

/* A window begins behind what is in the stream there: what is held for its turn, acknowledged as it is, is in
 * it. */
static bool is_open(const struct fl_sending *s)
{
	return s->next <= s->taken + FL_WINDOW;
}

struct ot_err *fl_sending_next(struct fl_sending *s, uint64_t now, struct fl_packet *ret, bool *ret_found)
{
	uint64_t n = s->first;

	while (n < s->next && !is_lost(s, flight(s, n), now))
		n++;
	*ret_found = n < s->next || (waiting(s) && is_open(s));
	if (!*ret_found)
		return NULL;

	struct fl_flight *f = flight(s, n);

	if (n < s->next)
		s->again++;
	else
		OT_TRY(cut(s, f));
	f->turn = ++s->turn;
	f->sent_ns = now;
	ret->number = n;
	ret->turn = f->turn;
	ret->payload =
	    (struct fl_bytes){ .data = (const uint8_t *)f->bytes.data, .len = (uint32_t)f->bytes.len };
	return NULL;
}

uint64_t fl_sending_due(const struct fl_sending *s)
{
	uint64_t due = UINT64_MAX;

	if (waiting(s) && is_open(s))
		return 0;
	if (s->is_reliable)
		return due;
	for (uint64_t n = s->first; n < s->next; n++) {
		const struct fl_flight *f = &s->flights[n % FL_WINDOW];

		if (is_lost(s, f, 0))
			return 0;
		if (!f->is_taken && f->sent_ns + FL_RESEND_NS < due)
			due = f->sent_ns + FL_RESEND_NS;
	}
	return due;
}
