/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merging half-way: one operator's session on a merger, which stands between the operator and up to
 * FL_MEMBERS_MAX hosts. It adds their aggregations up and passes everything else on, so an operator of many
 * hosts receives each key once a second from each merger, not from each host.
 *
 *   hosts' links ─► fl_fleet (fleet/operator), whose sink is fold.c: names for numbers, gather ─┐
 *              │                                                                                 ├─►
 * operator's └──────────── relay.c: what is a host's alone, as OF(…) ──────────────────────────┘    link
 *
 * A merger decides nothing. Hosts are invited by requests that the operator has signed, for the merger's
 * ephemeral key, and answer by serve.conf's rights of that operator. It reads what the hosts hand over, and
 * is trusted by the operator for the sums; it can't invite a host itself, nor change what runs there.
 */
#ifndef FLEET_MERGE_MERGE_H
#define FLEET_MERGE_MERGE_H

#include "fleet/link/broker.h"
#include "fleet/link/link.h"
#include "fleet/trust/keys.h"

struct fl_merge_config {
	const char *name;                             /* of the merger, as operators see it */
	struct fl_broker *broker;                     /* where the hosts are; borrowed */
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC]; /* the pair that this session's answer has named */
	/** A line for the log. NULL: none. */
	void (*log)(void *arg, const char *line);
	void *arg;
	uint64_t lease_ns; /* how long the operator may be silent; 0: FL_LEASE_NS */
};

/** Until the session is over; 0, or 1 if it could not begin or ended by an error, which the operator has
 * received and which is in the log. When the operator is silent for a lease, or the link breaks, every host
 * is told to stop at once. The link stays the caller's. */
int fl_merge_run(struct fl_link *link, const struct fl_merge_config *config);

#endif
