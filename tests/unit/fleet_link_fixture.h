/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two ends of a link over a network of the test's own, and messages that are known by their bytes. */
#ifndef TESTS_UNIT_FLEET_LINK_FIXTURE_H
#define TESTS_UNIT_FLEET_LINK_FIXTURE_H

#include <stdlib.h>

#include "fleet/link/sending.h"
#include "tests/unit/fleet_net.h"

struct pair {
	struct net net;
	struct fl_link *links[2];
};

static inline void pair_init(struct pair *p)
{
	net_init(&p->net);
	for (unsigned i = 0; i < 2; i++)
		assert_null(fl_link_create(&p->net.ends[i].base, NULL, net_now, &p->net, &p->links[i]));
}

static inline void pair_deinit(struct pair *p)
{
	fl_link_destroy(p->links[0]);
	fl_link_destroy(p->links[1]);
	net_deinit(&p->net);
}

/* Message n of a side: its bytes tell which it is. */
static inline size_t length_of(unsigned side, unsigned n)
{
	static const size_t lengths[] = {
		0, 1, 3, 8, 100, 5000, 70000, FL_PAYLOAD_MAX - 8, FL_PAYLOAD_MAX, 600000
	};

	return lengths[(n * 7 + side) % OT_ARRAY_SIZE(lengths)];
}

static inline uint8_t byte_of(unsigned side, unsigned n, size_t at)
{
	return (uint8_t)(at * 31 + n * 7 + side + (at >> 8));
}

static inline void send_message(struct pair *p, unsigned side, unsigned n, size_t len)
{
	uint8_t *data = malloc(len + 1);

	assert_non_null(data);
	for (size_t i = 0; i < len; i++)
		data[i] = byte_of(side, n, i);
	assert_null(fl_link_send(p->links[side], (enum fl_kind)(FL_HELLO + n % 18), data, len));
	free(data);
}

/* Take what the other side has sent to this one: message *n and those that follow it. */
static inline void take_messages(struct pair *p, unsigned side, unsigned *n, size_t len)
{
	enum fl_kind kind;
	const void *data;
	size_t got;

	while (fl_link_receive(p->links[side], &kind, &data, &got)) {
		size_t expected = len ? len : length_of(!side, *n);

		assert_int_equal(kind, FL_HELLO + *n % 18);
		assert_int_equal(got, expected);
		for (size_t i = 0; i < got; i++)
			if (((const uint8_t *)data)[i] != byte_of(!side, *n, i))
				fail_msg("byte %zu of message %u is wrong", i, *n);
		++*n;
	}
}

static inline void poll_both(struct pair *p)
{
	for (unsigned i = 0; i < 2; i++)
		assert_null(fl_link_poll(p->links[i]));
}

#endif
