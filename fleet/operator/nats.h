/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts behind a broker (-x fleet=nats://…): finding them, and inviting them to a session. */
#ifndef FLEET_OPERATOR_NATS_H
#define FLEET_OPERATOR_NATS_H

#include "fleet/link/broker.h"
#include "fleet/operator/merger.h"
#include "fleet/trust/known.h"
#include "fleet/trust/sign.h"

/* A host to be asked, or a merger. */
struct fl_invited {
	const struct fl_known_host *known;
	enum fl_asks asks;    /* RUN or MERGE */
	struct ot_buf guests; /* patterns, with blanks between them */
	size_t question;      /* number of the WHO that names it */
	bool by_pattern;      /* no -g has its exact name: it is omitted if it has no such guest */
	bool present;         /* it answered WHO, and has a matching guest */
	bool is_done;         /* it is not asked any more */
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
	struct fl_invited *hosts, *mergers;
	size_t nhosts, nmergers;
	size_t nwaiting;       /* of hosts that are being asked */
	struct ot_map by_name; /* → struct fl_invited, of either kind */
	unsigned forged;       /* forged or replayed answers */
	int wake_fd;
};

/** Invite the hosts of the fleet's -g's, and add each to the fleet. BUSY: @p wake_fd is readable. NOT_FOUND:
 * one does not answer, unless -x hostloss=ok. */
OT_MUST_CHECK struct ot_err *fl_nats_invite(struct fl_fleet *fleet, int wake_fd);

/* who.c */
/** Find the hosts of a pattern that answer and have such guests. */
OT_MUST_CHECK struct ot_err *fl_nats_ask_who(struct fl_calling *c);

/* invite.c */
/** Send RUN or MERGE to those of @p all that are present; `silent` marks those that do not answer. */
OT_MUST_CHECK struct ot_err *fl_nats_invite_all(struct fl_calling *c, struct fl_invited *all, size_t n);
/** Subscribe for @p h, and publish an invitation. */
OT_MUST_CHECK struct ot_err *fl_nats_invite_one(struct fl_calling *c, struct fl_invited *h);
/** An answer to an invitation. *ret: its host; NULL: of none that waits for one. PERMISSION: it refuses. */
OT_MUST_CHECK struct ot_err *fl_nats_take_answer(struct fl_calling *c, const struct fl_broker_message *m,
						 struct fl_invited **ret);
/** The channel to a host that has accepted. */
OT_MUST_CHECK struct ot_err *fl_nats_open(struct fl_invited *h, struct fl_channel **ret);
/** Append MEMBER for @p h, with invitations for the merger's key @p ephemeral. */
OT_MUST_CHECK struct ot_err *fl_calling_member(struct fl_calling *c, struct fl_invited *h, uint32_t number,
					       const uint8_t ephemeral[FL_PUBLIC], struct ot_buf *out);

/* mergers.c */
/** Find the mergers, before hosts are chosen. */
OT_MUST_CHECK struct ot_err *fl_mergers_choose(struct fl_calling *c, const char *patterns);
/** Invite them, and assign each its share of the present hosts; all are added to the fleet. */
OT_MUST_CHECK struct ot_err *fl_mergers_invite(struct fl_calling *c);

/* nats.c */
/** Connect @p h with its entry @p invited. */
OT_MUST_CHECK struct ot_err *fl_host_of(struct fl_host *h, struct fl_invited *invited);
/** Read the files of an operator of @p fleet; no host is asked yet. */
OT_MUST_CHECK struct ot_err *fl_calling_create(struct fl_fleet *fleet, int wake_fd, struct fl_calling **ret);
void fl_calling_destroy(struct fl_calling *c);
/** The host among those to be asked; a merger remains a merger. */
OT_MUST_CHECK struct ot_err *fl_calling_add(struct fl_calling *c, const struct fl_known_host *known,
					    struct fl_invited **ret);
/** Connect to the broker. */
OT_MUST_CHECK struct ot_err *fl_calling_open(struct fl_calling *c);
/** A request of @p c's operator that is valid for @p seconds. */
void fl_calling_request(const struct fl_calling *c, enum fl_asks asks, uint64_t seconds,
			struct fl_request *ret);
/** Wait for an answer until @p until_ns; BUSY: interrupted. *ret false: there was none. */
OT_MUST_CHECK struct ot_err *fl_calling_await(struct fl_calling *c, uint64_t until_ns,
					      struct fl_broker_message *ret_message, bool *ret);
/** The host that an answer names; NULL: none that was asked. */
struct fl_invited *fl_calling_host(struct fl_calling *c, const struct fl_broker_message *m);

#endif
