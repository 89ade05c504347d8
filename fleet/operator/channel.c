/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host's own link. */
#include "fleet/operator/channel.h"

#include <stdlib.h>

struct linked {
	struct fl_channel base;
	struct fl_link *link;
};

static struct fl_link *link_of(const struct fl_channel *c)
{
	return ((const struct linked *)c)->link;
}

static struct ot_err *op_send(struct fl_channel *c, enum fl_kind kind, const void *data, size_t len)
{
	return fl_link_send(link_of(c), kind, data, len);
}

static size_t op_pending(const struct fl_channel *c)
{
	return fl_link_pending(link_of(c));
}

static struct ot_err *op_poll(struct fl_channel *c)
{
	return fl_link_poll(link_of(c));
}

static bool op_receive(struct fl_channel *c, enum fl_kind *ret_kind, const void **ret_data, size_t *ret_len)
{
	return fl_link_receive(link_of(c), ret_kind, ret_data, ret_len);
}

static int op_fd(struct fl_channel *c, short *ret_events)
{
	return fl_link_fd(link_of(c), ret_events);
}

static uint64_t op_due_ns(const struct fl_channel *c)
{
	return fl_link_due_ns(link_of(c));
}

static uint64_t op_silence_ns(const struct fl_channel *c)
{
	return fl_link_silence_ns(link_of(c));
}

static void op_destroy(struct fl_channel *c)
{
	fl_link_destroy(link_of(c));
	free(c);
}

static const struct fl_channel_ops ops = {
	.send = op_send,
	.pending = op_pending,
	.poll = op_poll,
	.receive = op_receive,
	.fd = op_fd,
	.due_ns = op_due_ns,
	.silence_ns = op_silence_ns,
	.destroy = op_destroy,
};

struct ot_err *fl_channel_open(struct fl_carrier *carrier, struct fl_seal *seal, struct fl_channel **ret)
{
	struct fl_link *link;

	OT_TRY(fl_link_create(carrier, seal, NULL, NULL, &link));
	struct linked *c = calloc(1, sizeof(*c));

	if (!c) {
		fl_link_destroy(link);
		return ot_err_nomem();
	}
	*c = (struct linked){ { &ops }, link };
	*ret = &c->base;
	return NULL;
}
