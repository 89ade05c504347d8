/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link: its two halves over a carrier, heartbeats, and what went wrong. */
#include "fleet/link/link.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/link/receiving.h"
#include "fleet/link/sending.h"
#include "fleet/link/zeros.h"

/* Packets that one poll takes, so that the other side can't keep its user there. */
#define TAKEN_AT_ONCE (4 * FL_WINDOW)

struct fl_link {
	struct fl_carrier *carrier;
	struct fl_seal *seal;
	uint64_t (*now)(void *arg);
	void *now_arg;
	struct fl_sending sending;
	struct fl_receiving receiving;
	uint64_t sent_ns, heard_ns; /* time of the last packet */
	bool owes;                  /* received data is not acknowledged yet */
	bool has_more;              /* packets may be waiting that poll did not take */
	struct ot_buf packet, sealed, opened, packed, unpacked;
	/* The error that ended it: each further poll returns it again. */
	enum ot_err_code failure; /* 0: it has not ended */
	int failure_errno;
	char why[256];
};

static uint64_t monotonic(void *arg)
{
	(void)arg;
	return ot_now_ns();
}

struct ot_err *fl_link_create(struct fl_carrier *carrier, struct fl_seal *seal, uint64_t (*now)(void *arg),
			      void *now_arg, struct fl_link **ret)
{
	struct fl_link *link = calloc(1, sizeof(*link));

	if (!link) {
		fl_carrier_destroy(carrier);
		fl_seal_destroy(seal);
		return ot_err_nomem();
	}
	link->carrier = carrier;
	link->seal = seal;
	link->now = now ? now : monotonic;
	link->now_arg = now_arg;
	fl_sending_init(&link->sending, carrier->ops->is_reliable);
	/* The first heartbeat is sent at once, so that the other side learns that this end is alive. */
	link->owes = true;
	link->sent_ns = link->heard_ns = link->now(now_arg);
	*ret = link;
	return NULL;
}

void fl_link_destroy(struct fl_link *link)
{
	if (!link)
		return;
	fl_carrier_destroy(link->carrier);
	fl_seal_destroy(link->seal);
	fl_sending_deinit(&link->sending);
	fl_receiving_deinit(&link->receiving);
	ot_buf_deinit(&link->packet);
	ot_buf_deinit(&link->sealed);
	ot_buf_deinit(&link->opened);
	ot_buf_deinit(&link->packed);
	ot_buf_deinit(&link->unpacked);
	free(link);
}

struct ot_err *fl_link_send(struct fl_link *link, enum fl_kind kind, const void *data, size_t len)
{
	if (len > FL_MESSAGE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "a message %s has %zu bytes, and %u at most can be sent",
				  fl_kind_name(kind), len, FL_MESSAGE_MAX);
	return fl_sending_put(&link->sending, kind, data, len);
}

size_t fl_link_pending(const struct fl_link *link)
{
	return fl_sending_pending(&link->sending);
}

static bool is_busy(const struct fl_link *link)
{
	return link->carrier->ops->busy && link->carrier->ops->busy(link->carrier);
}

static struct ot_err *unpack(struct fl_link *link, struct fl_packet *p)
{
	struct ot_buf *out = &link->unpacked;

	if (!fl_zeros_unpack(p->payload.data, p->payload.len, FL_PAYLOAD_MAX, out) || !out->len) {
		if (out->failed)
			return ot_err_nomem();
		return ot_err_new(OT_ERR_BAD_DATA, "the other end sent a packet that can't be unpacked");
	}
	p->payload = (struct fl_bytes){ (const uint8_t *)out->data, (uint32_t)out->len };
	return NULL;
}

/* Take one packet from the carrier. */
static struct ot_err *take(struct fl_link *link, const void *data, size_t len)
{
	struct fl_packet p;

	if (link->seal) {
		if (!fl_seal_open(link->seal, data, len, &link->opened))
			return NULL;
		data = link->opened.data;
		len = link->opened.len;
	}
	if (!fl_packet_get(data, len, &p))
		return ot_err_new(OT_ERR_BAD_DATA, "the other end sent %zu bytes that are not a packet", len);
	if (p.is_packed)
		OT_TRY(unpack(link, &p));
	link->heard_ns = link->now(link->now_arg);
	OT_TRY(fl_sending_taken(&link->sending, &p, link->heard_ns));
	if (p.number)
		link->owes = true;
	return fl_receiving_put(&link->receiving, &p);
}

static struct ot_err *take_all(struct fl_link *link)
{
	const void *data;
	size_t len;

	for (unsigned i = 0; i < TAKEN_AT_ONCE; i++) {
		OT_TRY(link->carrier->ops->receive(link->carrier, &data, &len));
		link->has_more = len != 0;
		if (!len)
			return NULL;
		OT_TRY(take(link, data, len));
	}
	return NULL;
}

/* Send a packet with a given number, turn and payload. */
static struct ot_err *send_packet(struct fl_link *link, struct fl_packet *p, uint64_t now)
{
	struct ot_buf *out = &link->packet;

	fl_receiving_tell(&link->receiving, p);
	p->is_packed = fl_zeros_pack(p->payload.data, p->payload.len, &link->packed);
	if (p->is_packed)
		p->payload =
		    (struct fl_bytes){ (const uint8_t *)link->packed.data, (uint32_t)link->packed.len };
	ot_buf_clear(out);
	fl_packet_put(out, p);
	if (link->seal && !out->failed) {
		out = &link->sealed;
		ot_buf_clear(out);
		fl_seal_close(link->seal, link->packet.data, link->packet.len, out);
	}
	if (out->failed)
		return ot_err_nomem();
	link->sent_ns = now;
	link->owes = false;
	return link->carrier->ops->send(link->carrier, out->data, out->len);
}

static struct ot_err *send_due(struct fl_link *link)
{
	uint64_t now = link->now(link->now_arg);

	while (!is_busy(link)) {
		struct fl_packet p = { 0 };
		bool found;

		OT_TRY(fl_sending_next(&link->sending, now, &p, &found));
		if (!found)
			break;
		OT_TRY(send_packet(link, &p, now));
	}
	if (!is_busy(link) && (link->owes || now >= link->sent_ns + FL_HEARTBEAT_NS)) {
		struct fl_packet p = { .turn = ++link->sending.turn };

		OT_TRY(send_packet(link, &p, now));
	}
	return NULL;
}

/* Keep err, without the text that ot_err_os() appends. */
static void keep_failure(struct fl_link *link, const struct ot_err *err)
{
	const char *message = ot_err_message(err);
	size_t len = strlen(message);

	link->failure = ot_err_code(err);
	link->failure_errno = ot_err_errno(err);
	if (link->failure_errno) {
		const char *colon = strrchr(message, ':');

		len = colon ? (size_t)(colon - message) : len;
	}
	snprintf(link->why, sizeof(link->why), "%.*s", (int)len, message);
}

static struct ot_err *failure_again(const struct fl_link *link)
{
	if (link->failure_errno)
		return ot_err_os(link->failure_errno, "%s", link->why);
	return ot_err_new(link->failure, "%s", link->why);
}

struct ot_err *fl_link_poll(struct fl_link *link)
{
	if (link->failure)
		return failure_again(link);
	fl_receiving_release(&link->receiving);

	struct ot_err *err = fl_receiving_advance(&link->receiving);

	if (!err)
		err = take_all(link);
	if (!err) {
		err = send_due(link);
		/* It has closed: everything that it sent before has been received. */
		if (err)
			ot_err_destroy(take_all(link));
	}
	if (err)
		keep_failure(link, err);
	return err;
}

bool fl_link_receive(struct fl_link *link, enum fl_kind *ret_kind, const void **ret_data, size_t *ret_len)
{
	uint64_t taken = link->receiving.taken;

	fl_receiving_release(&link->receiving);
	/* Errors of the stream are returned by fl_link_poll(). */
	ot_err_destroy(fl_receiving_advance(&link->receiving));
	if (link->receiving.taken != taken)
		link->owes = true;
	return fl_receiving_next(&link->receiving, ret_kind, ret_data, ret_len);
}

int fl_link_fd(struct fl_link *link, short *ret_events)
{
	bool out = false;
	int fd = link->carrier->ops->fd(link->carrier, &out);

	*ret_events = (short)(POLLIN | (out ? POLLOUT : 0));
	return fd;
}

uint64_t fl_link_due_ns(const struct fl_link *link)
{
	uint64_t now = link->now(link->now_arg), due;

	if (link->failure || link->has_more || fl_receiving_waits(&link->receiving))
		return now;
	/* Nothing is due until something can be sent, and that event wakes the user. */
	if (is_busy(link))
		return now + FL_HEARTBEAT_NS;
	due = link->owes ? 0 : link->sent_ns + FL_HEARTBEAT_NS;
	if (fl_sending_due(&link->sending) < due)
		due = fl_sending_due(&link->sending);
	return due > now ? due : now;
}

uint64_t fl_link_silence_ns(const struct fl_link *link)
{
	uint64_t now = link->now(link->now_arg);

	return now > link->heard_ns ? now - link->heard_ns : 0;
}

void fl_link_counts(const struct fl_link *link, uint64_t *ret_again, uint64_t *ret_twice)
{
	*ret_again = link->sending.again;
	*ret_twice = link->receiving.twice;
}
