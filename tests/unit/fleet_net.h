/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network of two ends in memory, with a clock that only runs when a test lets it: packets get lost, come
 * twice and overtake each other as often as it says, the same in each run.
 */
#ifndef TESTS_UNIT_FLEET_NET_H
#define TESTS_UNIT_FLEET_NET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "fleet/link/link.h"
#include "fleet/link/packet.h"

#define NET_MS  1000000ull
#define NET_MAX 4096

/* On its way to one end. */
struct net_packet {
	uint64_t at; /* when it arrives */
	uint8_t *data;
	size_t len;
};

struct net_end {
	struct fl_carrier base;
	struct net *net;
	struct net_packet coming[NET_MAX];
	size_t ncoming;
	uint8_t *lent;      /* what was received last */
	uint64_t sent;      /* packets, by this end */
	uint64_t largest;   /* of them */
	struct ot_buf last; /* that was sent */
	bool is_deaf;       /* what this end sends is lost */
	bool has_closed;    /* this end has: the other one reads what is coming, and then EPIPE */
	bool is_destroyed;
	bool is_busy;
	unsigned
	    drop_only; /* of the packets of this end, the one that is so many from now is lost; 0: none */
};

struct net {
	uint64_t now, random;
	uint64_t delay;               /* how long a packet takes; net_init(): 1 ms */
	unsigned lost, doubled, late; /* of 100 packets; a late one takes up to 50 ms more */
	struct net_end ends[2];
};

/** A network without a fault; destroyed by net_deinit(), ends by the links that have them. */
void net_init(struct net *net);
void net_deinit(struct net *net);
uint64_t net_now(void *arg);
uint64_t net_random(struct net *net);
/** A packet from @p from as if it had sent it. */
void net_inject(struct net_end *from, const void *data, size_t len);
/** Let the clock run to the next arrival, or to when one of the links is due. */
void net_step(struct net *net, struct fl_link *const links[2]);

#endif
