/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that a broker reaches (-x fleet=nats://…): which there are, and inviting them to a session. */
#ifndef FLEET_OPERATOR_NATS_H
#define FLEET_OPERATOR_NATS_H

#include "fleet/link/broker.h"
#include "fleet/operator/internal.h"
#include "fleet/trust/known.h"
#include "fleet/trust/sign.h"

/* A host that is asked. */
struct fl_invited {
	const struct fl_known_host *known;
	struct ot_buf guests; /* patterns, with blanks between them */
	bool by_pattern;      /* no -g has its name: it is left out if it has no such guest */
	bool present;         /* it has answered WHO, and has one */
	bool silent;
	bool accepted;
	struct fl_carrier *carrier; /* of the present attempt; then the fleet's */
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC], digest[FL_DIGEST];
	uint8_t ephemeral[FL_PUBLIC]; /* the host's */
};

struct fl_calling {
	struct fl_fleet *fleet;
	struct fl_identity identity;
	struct fl_known known;
	struct ot_arena arena;
	struct fl_broker *broker;
	struct fl_inbox *answers;
	char reply[FL_BROKER_SUBJECT];
	char name[FL_TEXT_MAX + 1]; /* of the operator, user@host */
	struct fl_invited *hosts;
	size_t nhosts;
	unsigned forged; /* answers that were not what they said */
	int wake_fd;
};

/** Invite the hosts of the fleet's -g's, and add each to the fleet. BUSY: @p wake_fd is readable. NOT_FOUND:
 * one does not answer, unless -x hostloss=ok. */
OT_MUST_CHECK struct ot_err *fl_nats_invite(struct fl_fleet *fleet, int wake_fd);

/* who.c */
/** Which of the hosts that are meant by a pattern are there and have such guests? */
OT_MUST_CHECK struct ot_err *fl_nats_ask_who(struct fl_calling *c);

/* invite.c */
/** RUN to all that are present. */
OT_MUST_CHECK struct ot_err *fl_nats_invite_all(struct fl_calling *c);

/* nats.c */
/** An operator of @p fleet, whose files are read; nobody is asked yet. */
OT_MUST_CHECK struct ot_err *fl_calling_create(struct fl_fleet *fleet, int wake_fd, struct fl_calling **ret);
void fl_calling_destroy(struct fl_calling *c);
/** The host among those that are asked; NULL: there are too many. */
struct fl_invited *fl_calling_add(struct fl_calling *c, const struct fl_known_host *known);
/** Host number @p i is asked no more; the last one takes its place. */
void fl_calling_drop(struct fl_calling *c, size_t i);
/** Connect to the broker. */
OT_MUST_CHECK struct ot_err *fl_calling_open(struct fl_calling *c);
/** A request of @p c's operator that holds for @p seconds. */
void fl_calling_request(const struct fl_calling *c, enum fl_asks asks, uint64_t seconds,
			struct fl_request *ret);
/** Wait for an answer until @p until_ns; BUSY: interrupted. *ret false: there was none. */
OT_MUST_CHECK struct ot_err *fl_calling_await(struct fl_calling *c, uint64_t until_ns,
					      struct fl_broker_message *ret_message, bool *ret);
/** The host that an answer says it is of; NULL: none that is asked. */
struct fl_invited *fl_calling_host(struct fl_calling *c, const struct fl_broker_message *m);

#endif
