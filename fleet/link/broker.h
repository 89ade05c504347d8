/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to a NATS server, by libnats, which is loaded when the first one is made: who has no broker
 * needs no such library. A connection that breaks is retried for ever; what was sent meanwhile is
 * lost, which a link repairs.
 *
 * libnats has threads of its own, without signals. They hand messages over through queues with a bound, and
 * what finds no room there is dropped: nothing here waits for anybody, and no server decides how much memory
 * is used.
 */
#ifndef FLEET_LINK_BROKER_H
#define FLEET_LINK_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/link/carrier.h"

#define FL_BROKER_SUBJECT 128u         /* bytes of a subject, with the NUL; more: dropped */
#define FL_BROKER_QUEUED  (16u << 20)  /* maximum bytes in a queue, in either direction */
#define FL_BROKER_MESSAGE (512u << 10) /* bytes of one message; more: dropped */

struct fl_broker;
struct fl_inbox;

struct fl_broker_config {
	const char *url; /* nats://[USER:PASSWORD@]HOST:PORT, tls://…; several separated by commas */
	const char *credentials; /* a file with a JWT and a seed, as NATS has them; NULL */
	const char *name;        /* the client's name on the server */
	bool patient;            /* keep connecting in the background to a server that is not up yet */
};

struct fl_broker_message {
	const char *subject;
	const char *reply; /* NULL: no reply is expected */
	const void *data;
	size_t len;
};

/** UNSUPPORTED: libnats is not installed. OS, PERMISSION: no server, or it refuses this client. */
OT_MUST_CHECK struct ot_err *fl_broker_connect(const struct fl_broker_config *config, struct fl_broker **ret);
/** Add a reference to @p broker, for another user; inboxes and carriers hold one. */
struct fl_broker *fl_broker_ref(struct fl_broker *broker);
/** The last one closes it. Published messages are sent before, unless that takes longer than a second. */
void fl_broker_unref(struct fl_broker *broker);

/** Never waits. LIMIT: it was dropped. */
OT_MUST_CHECK struct ot_err *fl_broker_publish(struct fl_broker *broker, const char *subject,
					       const char *reply, const void *data, size_t len);
/** Has the server received all publications and subscriptions so far? Waits at most @p ms. */
bool fl_broker_flush(struct fl_broker *broker, int ms);
/** A unique subject for answers. */
void fl_broker_own_subject(char ret[FL_BROKER_SUBJECT]);

/** Messages for @p subject, which may have NATS's wildcards. */
OT_MUST_CHECK struct ot_err *fl_inbox_open(struct fl_broker *broker, const char *subject,
					   struct fl_inbox **ret);
void fl_inbox_close(struct fl_inbox *inbox);
/** The next message, borrowed until the next call; false: there is none now. */
bool fl_inbox_next(struct fl_inbox *inbox, struct fl_broker_message *ret);
/** Readable while a message waits. */
int fl_inbox_fd(const struct fl_inbox *inbox);
/** Number of messages dropped for lack of room. */
uint64_t fl_inbox_dropped(struct fl_inbox *inbox);

/** A carrier of packets: those for the other side go to @p out, those for this side come from @p in. A broker
 * may do anything with them, so a link over it has a seal. */
OT_MUST_CHECK struct ot_err *fl_nats_create(struct fl_broker *broker, const char *out, const char *in,
					    struct fl_carrier **ret);

#endif
