/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A link: messages in order, each once, over a carrier that may lose, repeat and reorder packets.
 *
 * Messages are cut into packets of at most FL_PACKET_MAX, each with a number, kept until it is acknowledged
 * and sent again unchanged as soon as several later packets were heard. If nothing is heard for as long as
 * acknowledgements take here (round_trip.h), the earliest packet alone is sent again: its acknowledgement
 * says what else is missing. The receiver takes each number once. A side that has sent nothing for
 * FL_HEARTBEAT_NS sends a packet without a message, which acknowledges too. At most FL_WINDOW packets are
 * under way; the rest waits, so the memory of a link is what its user has put into it, and what waits is sent
 * in packets as large as may be.
 *
 * Never waits, has no thread and no signal handler: its user polls fl_link_fd() until fl_link_due_ns().
 */
#ifndef FLEET_LINK_LINK_H
#define FLEET_LINK_LINK_H

#include "fleet/link/carrier.h"
#include "fleet/wire/message.h"

#define FL_WINDOW          16
#define FL_RESEND_MIN_NS   50000000ull
#define FL_RESEND_FIRST_NS 1000000000ull /* before a round trip was measured */
#define FL_RESEND_MAX_NS   2000000000ull
#define FL_HEARTBEAT_NS    1000000000ull
#define FL_LEASE_NS        10000000000ull

struct fl_link;
struct fl_seal; /* seal.h; NULL: packets are plain */

/** @p carrier and @p seal (NULL) become the link's, also after an error. @p now: a clock in ns, for tests;
 * NULL: CLOCK_MONOTONIC. */
OT_MUST_CHECK struct ot_err *fl_link_create(struct fl_carrier *carrier, struct fl_seal *seal,
					    uint64_t (*now)(void *arg), void *now_arg, struct fl_link **ret);
void fl_link_destroy(struct fl_link *link);

/** Queue a message (copied). The next fl_link_poll(), due at once, sends it. LIMIT: over FL_MESSAGE_MAX. */
OT_MUST_CHECK struct ot_err *fl_link_send(struct fl_link *link, enum fl_kind kind, const void *data,
					  size_t len);
/** Bytes of unacknowledged messages, with eight more for each. */
size_t fl_link_pending(const struct fl_link *link);

/** Receive packets, acknowledge them, send what is due. OS: the other end closed the connection (messages
 * that it sent before can still be received); BAD_DATA: it violates the protocol. After a failure, always the
 * same error. */
OT_MUST_CHECK struct ot_err *fl_link_poll(struct fl_link *link);
/** The next message, borrowed until the next call of fl_link_receive() or fl_link_poll(). False: there is
 * none now. */
bool fl_link_receive(struct fl_link *link, enum fl_kind *ret_kind, const void **ret_data, size_t *ret_len);

/** The descriptor for poll(2), and the events to wait for. */
int fl_link_fd(struct fl_link *link, short *ret_events);
/** The latest time, by the link's clock, at which something is due: to poll, or to receive a message of an
 * earlier poll. */
uint64_t fl_link_due_ns(const struct fl_link *link);
/** Time since the last packet, ns. Over FL_LEASE_NS: the other side is lost. */
uint64_t fl_link_silence_ns(const struct fl_link *link);
/** Number of packets that were sent again, and that arrived twice. */
void fl_link_counts(const struct fl_link *link, uint64_t *ret_again, uint64_t *ret_twice);

#endif
