/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network of two ends in memory. */
#include "tests/unit/fleet_net.h"

#include <errno.h>

uint64_t net_now(void *arg)
{
	return ((struct net *)arg)->now;
}

uint64_t net_random(struct net *net)
{
	net->random ^= net->random << 13;
	net->random ^= net->random >> 7;
	net->random ^= net->random << 17;
	return net->random;
}

static bool happens(struct net *net, unsigned per_cent)
{
	return net_random(net) % 100 < per_cent;
}

static struct net_end *other(struct net_end *end)
{
	return &end->net->ends[end == &end->net->ends[0]];
}

static void deliver(struct net_end *to, const void *data, size_t len)
{
	struct net *net = to->net;
	struct net_packet *p = &to->coming[to->ncoming];

	if (to->is_destroyed)
		return;
	assert_true(to->ncoming < NET_MAX);
	*p = (struct net_packet){ .at = net->now + net->delay, .data = malloc(len + 1), .len = len };
	if (!p->data)
		return;
	if (happens(net, net->late))
		p->at += net_random(net) % (50 * NET_MS);
	memcpy(p->data, data, len);
	to->ncoming++;
}

void net_inject(struct net_end *from, const void *data, size_t len)
{
	deliver(other(from), data, len);
}

static struct ot_err *op_send(struct fl_carrier *c, const void *packet, size_t len)
{
	struct net_end *end = (struct net_end *)c;

	assert_in_range(len, 1, FL_PACKET_MAX);
	if (other(end)->has_closed || other(end)->is_destroyed)
		return ot_err_os(EPIPE, "the test has closed");
	end->sent++;
	if (len > end->largest)
		end->largest = len;
	ot_buf_clear(&end->last);
	ot_buf_append(&end->last, packet, len);
	if (end->is_deaf || happens(end->net, end->net->lost) || (end->drop_only && !--end->drop_only))
		return NULL;
	deliver(other(end), packet, len);
	if (happens(end->net, end->net->doubled))
		deliver(other(end), packet, len);
	return NULL;
}

/* Those that have arrived, the earliest first. */
static struct ot_err *op_receive(struct fl_carrier *c, const void **ret, size_t *ret_len)
{
	struct net_end *end = (struct net_end *)c;
	size_t first = 0;

	free(end->lent);
	end->lent = NULL;
	for (size_t i = 1; i < end->ncoming; i++)
		if (end->coming[i].at < end->coming[first].at)
			first = i;
	if (!end->ncoming && (other(end)->has_closed || other(end)->is_destroyed))
		return ot_err_os(EPIPE, "the test has closed");
	*ret_len = 0;
	if (!end->ncoming || end->coming[first].at > end->net->now)
		return NULL;
	end->lent = end->coming[first].data;
	*ret = end->lent;
	*ret_len = end->coming[first].len;
	end->ncoming--;
	memmove(&end->coming[first], &end->coming[first + 1],
		(end->ncoming - first) * sizeof(end->coming[0]));
	return NULL;
}

static int op_fd(struct fl_carrier *c, bool *ret_out)
{
	*ret_out = ((struct net_end *)c)->is_busy;
	return -1;
}

static bool op_busy(struct fl_carrier *c)
{
	return ((struct net_end *)c)->is_busy;
}

static void op_destroy(struct fl_carrier *c)
{
	((struct net_end *)c)->is_destroyed = true;
}

void net_init(struct net *net)
{
	static const struct fl_carrier_ops ops = {
		.name = "test",
		.send = op_send,
		.receive = op_receive,
		.busy = op_busy,
		.fd = op_fd,
		.destroy = op_destroy,
	};

	memset(net, 0, sizeof(*net));
	net->now = 1000 * NET_MS;
	net->delay = NET_MS;
	net->random = 88172645463325252ull;
	for (unsigned i = 0; i < 2; i++) {
		net->ends[i].base.ops = &ops;
		net->ends[i].net = net;
	}
}

void net_deinit(struct net *net)
{
	for (unsigned i = 0; i < 2; i++) {
		assert_true(net->ends[i].is_destroyed);
		for (size_t k = 0; k < net->ends[i].ncoming; k++)
			free(net->ends[i].coming[k].data);
		free(net->ends[i].lent);
		ot_buf_deinit(&net->ends[i].last);
	}
}

void net_step(struct net *net, struct fl_link *const links[2])
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < 2; i++) {
		if (links[i] && fl_link_due_ns(links[i]) < next)
			next = fl_link_due_ns(links[i]);
		for (size_t k = 0; k < net->ends[i].ncoming; k++)
			if (net->ends[i].coming[k].at < next)
				next = net->ends[i].coming[k].at;
	}
	assert_true(next != UINT64_MAX);
	if (next > net->now)
		net->now = next;
}
