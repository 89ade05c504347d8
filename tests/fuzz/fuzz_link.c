/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link whose packets are of a hostile end: each poll ends, messages are whole, and what has failed stays
 * so. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/link/link.h"
#include "tests/fuzz/link_steps.h"
#include "tests/fuzz/seed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COMING_MAX 256

struct input {
	struct fl_carrier base;
	struct fl_link *link;
	const uint8_t *at, *end;
	struct {
		uint8_t *data; /* to the byte */
		size_t len;
	} coming[COMING_MAX];
	size_t first, count;
	uint64_t now, sent, messages;
	bool has_closed, has_failed;
};

static bool is_whole;
static volatile uint64_t read_bytes;

bool fuzz_seed_reached(void)
{
	return is_whole;
}

static struct ot_err *op_send(struct fl_carrier *c, const void *packet, size_t len)
{
	struct input *in = (struct input *)c;

	if (len > FL_PACKET_MAX || !packet)
		abort();
	in->sent++;
	return NULL;
}

static struct ot_err *op_receive(struct fl_carrier *c, const void **ret, size_t *ret_len)
{
	struct input *in = (struct input *)c;

	if (in->first == in->count && in->has_closed)
		return ot_err_os(EPIPE, "closed");
	*ret_len = 0;
	if (in->first < in->count) {
		*ret = in->coming[in->first].data;
		*ret_len = in->coming[in->first++].len;
	}
	return NULL;
}

static int op_fd(struct fl_carrier *c, bool *ret_out)
{
	(void)c;
	*ret_out = false;
	return -1;
}

static void op_destroy(struct fl_carrier *c)
{
	(void)c;
}

static uint64_t now_of(void *arg)
{
	return ((struct input *)arg)->now;
}

static void arrive(struct input *in, size_t len)
{
	size_t left = (size_t)(in->end - in->at);

	len = len < left ? len : left;
	if (len && in->count < COMING_MAX) {
		uint8_t *own = malloc(len);

		if (!own)
			abort();
		memcpy(own, in->at, len);
		in->coming[in->count].data = own;
		in->coming[in->count++].len = len;
	}
	in->at += len;
}

static void take(struct input *in)
{
	enum fl_kind kind;
	const void *data;
	size_t len;
	uint64_t sum = 0;

	while (fl_link_receive(in->link, &kind, &data, &len)) {
		if (kind < FL_HELLO || kind > FL_GONE || len > FL_MESSAGE_MAX)
			abort();
		for (size_t i = 0; i < len; i++)
			sum += ((const uint8_t *)data)[i];
		in->messages++;
	}
	read_bytes += sum;
}

static void poll_link(struct input *in)
{
	struct ot_err *err = fl_link_poll(in->link);

	if (in->has_failed && !err)
		abort();
	in->has_failed = err != NULL;
	ot_err_destroy(err);
	if (!in->has_failed && fl_link_due_ns(in->link) > in->now + FL_HEARTBEAT_NS)
		abort();
}

static void step(struct input *in, uint8_t kind, unsigned n)
{
	static const uint8_t message[UINT16_MAX];

	switch (kind) {
	case LINK_PACKET:
		arrive(in, n);
		return;
	case LINK_POLL:
		poll_link(in);
		if (n)
			take(in);
		return;
	case LINK_SEND:
		ot_err_destroy(fl_link_send(in->link, FL_SAY, message, n));
		return;
	case LINK_TIME:
		in->now += n * 1000000ull;
		return;
	case LINK_CLOSE:
		in->has_closed = true;
		return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fl_carrier_ops ops = {
		.name = "fuzz", .send = op_send, .receive = op_receive, .fd = op_fd, .destroy = op_destroy
	};
	static struct input in;

	memset(&in, 0, sizeof(in));
	in.base.ops = &ops;
	in.at = data;
	in.end = data + size;
	in.now = 1;
	if (fl_link_create(&in.base, NULL, now_of, &in, &in.link))
		abort();
	while (in.end - in.at >= 3) {
		uint8_t kind = in.at[0];
		unsigned n = in.at[1] | (unsigned)in.at[2] << 8;

		in.at += 3;
		step(&in, kind, n);
	}
	poll_link(&in);
	take(&in);
	is_whole = in.messages && !in.has_failed && !fl_link_pending(in.link);
	fl_link_destroy(in.link);
	for (size_t i = 0; i < in.count; i++)
		free(in.coming[i].data);
	return 0;
}
