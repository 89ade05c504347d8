/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outgoing half of a link. */
#include "fleet/link/sending.h"

#include <string.h>

/* The unused front of a buffer is freed at this size. */
#define KEPT_MAX ((size_t)1 << 20)

void fl_sending_init(struct fl_sending *s, bool is_reliable)
{
	*s = (struct fl_sending){ .first = 1, .next = 1, .is_reliable = is_reliable };
	fl_round_trip_init(&s->round_trip);
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
	/* Never put a part of a message into the stream. */
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
	f->is_taken = true;
	s->under_way -= f->bytes.len;
	ot_buf_deinit(&f->bytes);
}

static bool says_taken(const struct fl_packet *p, uint64_t number)
{
	return number <= p->taken ||
	       (number - p->taken - 1 < FL_WINDOW && (p->mask >> (number - p->taken - 1) & 1));
}

/* Of several acknowledged stretches the last one is measured: others may have waited for their turn there. */
static void land_all(struct fl_sending *s, const struct fl_packet *p, uint64_t now)
{
	const struct fl_flight *last = NULL;
	bool any = false;

	for (uint64_t n = s->first; n < s->next; n++) {
		struct fl_flight *f = flight(s, n);

		if (f->is_taken || !says_taken(p, n))
			continue;
		land(s, f);
		any = true;
		if (!f->was_sent_again)
			last = f;
	}
	if (last)
		fl_round_trip_measured(&s->round_trip, now - last->sent_ns);
	if (any)
		s->late_ns = now + s->round_trip.wait;
}

struct ot_err *fl_sending_taken(struct fl_sending *s, const struct fl_packet *p, uint64_t now)
{
	if (p->taken >= s->next || p->heard > s->turn)
		return ot_err_new(OT_ERR_BAD_DATA, "the other end acknowledges data that was not sent");
	/* An older packet that arrives late acknowledges less, but is still correct. */
	land_all(s, p, now);
	while (s->first < s->next && flight(s, s->first)->is_taken)
		s->first++;
	if (p->taken > s->taken)
		s->taken = p->taken;
	if (p->heard > s->heard)
		s->heard = p->heard;
	return NULL;
}

/* When a stretch counts as lost because later ones were acknowledged: at once, but again only after a while.
 * Otherwise a peer that acknowledges nothing could make this side send a window for each of its packets.
 * UINT64_MAX: no later ones were acknowledged. */
static uint64_t overtaken_ns(const struct fl_sending *s, uint64_t number)
{
	const struct fl_flight *f = &s->flights[number % FL_WINDOW];

	if (s->is_reliable || f->is_taken || f->turn + FL_OVERTAKEN > s->heard)
		return UINT64_MAX;
	return f->was_sent_again ? f->sent_ns + FL_RESEND_MIN_NS : 0;
}

/* The next stretch to be sent again; s->next: none. */
static uint64_t find_lost(const struct fl_sending *s, uint64_t now)
{
	uint64_t n = s->first;

	while (n < s->next && overtaken_ns(s, n) > now)
		n++;
	return n == s->next && !s->is_reliable && now >= s->late_ns ? s->first : n;
}

/* Cut the next stretch off the waiting data. */
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

/* A window begins after the data in the peer's stream; held packets, although acknowledged, are in the
 * window. */
static bool is_open(const struct fl_sending *s)
{
	return s->next <= s->taken + FL_WINDOW;
}

struct ot_err *fl_sending_next(struct fl_sending *s, uint64_t now, struct fl_packet *ret, bool *ret_found)
{
	const uint64_t n = find_lost(s, now);
	const bool again = n < s->next, is_only = s->first == s->next;

	*ret_found = again || (waiting(s) && is_open(s));
	if (!*ret_found)
		return NULL;

	struct fl_flight *f = flight(s, n);

	if (again)
		s->again++;
	else
		OT_TRY(cut(s, f));
	if (again && overtaken_ns(s, n) > now)
		fl_round_trip_missed(&s->round_trip);
	if (again || is_only)
		s->late_ns = now + s->round_trip.wait;
	f->was_sent_again = again;
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
	uint64_t due = s->late_ns;

	if (waiting(s) && is_open(s))
		return 0;
	if (s->is_reliable || s->first == s->next)
		return UINT64_MAX;
	for (uint64_t n = s->first; n < s->next; n++)
		due = overtaken_ns(s, n) < due ? overtaken_ns(s, n) : due;
	return due;
}
