/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The incoming half of a link. */
#include "fleet/link/receiving.h"

#include <string.h>

#define MESSAGE_HEADER 8
/* Above this size, memory is freed when the stream is empty. */
#define KEPT_MAX       ((size_t)1 << 20)

void fl_receiving_deinit(struct fl_receiving *r)
{
	ot_buf_deinit(&r->stream);
	for (unsigned i = 0; i < FL_WINDOW; i++)
		ot_buf_deinit(&r->held[i]);
}

/* The header of the message at `offset`. */
static void header_at(const struct fl_receiving *r, size_t offset, uint32_t *kind, uint32_t *len)
{
	struct fl_reader reader = fl_reader_of(r->stream.data + offset, MESSAGE_HEADER);

	*kind = fl_get_u32(&reader);
	*len = fl_get_u32(&reader);
}

/* Find where the last whole message ends. */
static struct ot_err *find_whole(struct fl_receiving *r)
{
	uint32_t kind, len;

	while (r->stream.len - r->whole >= MESSAGE_HEADER) {
		header_at(r, r->whole, &kind, &len);
		if (kind < FL_HELLO || kind > FL_GONE)
			return ot_err_new(OT_ERR_BAD_DATA, "the other end sent a message of unknown kind %u",
					  kind);
		if (len > FL_MESSAGE_MAX)
			return ot_err_new(OT_ERR_BAD_DATA, "the other end announced a message of %u bytes",
					  len);
		if (r->stream.len - r->whole - MESSAGE_HEADER < len)
			break;
		r->whole += MESSAGE_HEADER + len;
	}
	return NULL;
}

/* While messages wait for a slow user, at most one of the largest size is added. */
static bool has_room(const struct fl_receiving *r)
{
	return r->whole == r->at || r->stream.len - r->at < FL_MESSAGE_MAX;
}

struct ot_err *fl_receiving_advance(struct fl_receiving *r)
{
	for (;;) {
		struct ot_buf *next = &r->held[(r->taken + 1) % FL_WINDOW];

		if (!next->len || !has_room(r))
			return NULL;
		ot_buf_append(&r->stream, next->data, next->len);
		if (r->stream.failed) {
			r->stream.failed = false;
			return ot_err_nomem();
		}
		ot_buf_deinit(next);
		r->taken++;
		OT_TRY(find_whole(r));
	}
}

struct ot_err *fl_receiving_put(struct fl_receiving *r, const struct fl_packet *p)
{
	struct ot_buf *held = &r->held[p->number % FL_WINDOW];

	if (p->turn > r->heard)
		r->heard = p->turn;
	if (!p->number)
		return NULL;
	/* An honest peer has at most a window of unacknowledged packets, all of them after those it knows to
	 * be received. */
	if (p->number > r->taken + FL_WINDOW)
		return ot_err_new(OT_ERR_BAD_DATA, "the other end sent more than its window");
	if (p->number <= r->taken || held->len) {
		r->twice++;
		return NULL;
	}
	ot_buf_append(held, p->payload.data, p->payload.len);
	if (held->failed) {
		ot_buf_deinit(held);
		return ot_err_nomem();
	}
	return fl_receiving_advance(r);
}

void fl_receiving_tell(const struct fl_receiving *r, struct fl_packet *ret)
{
	ret->taken = r->taken;
	ret->heard = r->heard;
	ret->mask = 0;
	for (unsigned i = 0; i < FL_WINDOW; i++)
		if (r->held[(r->taken + 1 + i) % FL_WINDOW].len)
			ret->mask |= 1u << i;
}

bool fl_receiving_next(struct fl_receiving *r, enum fl_kind *ret_kind, const void **ret_data, size_t *ret_len)
{
	uint32_t kind, len;

	if (r->whole == r->at)
		return false;
	header_at(r, r->at, &kind, &len);
	*ret_kind = (enum fl_kind)kind;
	*ret_data = r->stream.data + r->at + MESSAGE_HEADER;
	*ret_len = len;
	r->lent = MESSAGE_HEADER + (size_t)len;
	return true;
}

bool fl_receiving_waits(const struct fl_receiving *r)
{
	return r->whole != r->at + r->lent;
}

void fl_receiving_release(struct fl_receiving *r)
{
	r->at += r->lent;
	r->lent = 0;
	if (r->at == r->stream.len) {
		if (r->stream.cap > KEPT_MAX)
			ot_buf_deinit(&r->stream);
		ot_buf_clear(&r->stream);
	} else if (r->at >= r->stream.len / 2) {
		r->stream.len -= r->at;
		memmove(r->stream.data, r->stream.data + r->at, r->stream.len);
	} else {
		return;
	}
	r->whole -= r->at;
	r->at = 0;
}
