/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of a link over a broker. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fleet/link/broker.h"

struct carrier {
	struct fl_carrier base;
	struct fl_broker *broker;
	struct fl_inbox *inbox;
	char out[FL_BROKER_SUBJECT];
};

/* A packet that is not accepted is lost, and sent again: a slow or lost broker is not an error. */
static struct ot_err *send(struct fl_carrier *base, const void *packet, size_t len)
{
	struct carrier *c = (struct carrier *)base;

	ot_err_destroy(fl_broker_publish(c->broker, c->out, NULL, packet, len));
	return NULL;
}

static struct ot_err *receive(struct fl_carrier *base, const void **ret, size_t *ret_len)
{
	struct carrier *c = (struct carrier *)base;
	struct fl_broker_message m;

	*ret_len = 0;
	while (fl_inbox_next(c->inbox, &m)) {
		if (!m.len)
			continue; /* a length of 0 would mean that there is none */
		*ret = m.data;
		*ret_len = m.len;
		break;
	}
	return NULL;
}

static int fd(struct fl_carrier *base, bool *ret_out)
{
	*ret_out = false;
	return fl_inbox_fd(((struct carrier *)base)->inbox);
}

static void destroy(struct fl_carrier *base)
{
	struct carrier *c = (struct carrier *)base;

	fl_inbox_close(c->inbox);
	fl_broker_unref(c->broker);
	free(c);
}

static const struct fl_carrier_ops ops = {
	.name = "nats",
	.send = send,
	.receive = receive,
	.fd = fd,
	.destroy = destroy,
};

struct ot_err *fl_nats_create(struct fl_broker *broker, const char *out, const char *in,
			      struct fl_carrier **ret)
{
	struct carrier *c = calloc(1, sizeof(*c));

	if (!c)
		return ot_err_nomem();
	c->base.ops = &ops;
	strncpy(c->out, out, sizeof(c->out) - 1);
	struct ot_err *err = fl_inbox_open(broker, in, &c->inbox);

	if (err) {
		free(c);
		return err;
	}
	c->broker = fl_broker_ref(broker);
	*ret = &c->base;
	return NULL;
}
