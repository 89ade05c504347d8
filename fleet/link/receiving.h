/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The incoming half of a link: stretches of the stream in any order, and the messages that they make up. */
#ifndef FLEET_LINK_RECEIVING_H
#define FLEET_LINK_RECEIVING_H

#include "fleet/link/packet.h"

struct fl_receiving {
	struct ot_buf stream;          /* data received in order, from `at` on */
	size_t at, whole;              /* where the first message begins, and where the last whole one ends */
	size_t lent;                   /* bytes of the message at `at` that the user has */
	struct ot_buf held[FL_WINDOW]; /* packets out of order: number n is at n % FL_WINDOW; or empty */
	uint64_t taken;                /* the last number that is in the stream */
	uint64_t heard;                /* the highest turn */
	uint64_t twice;                /* packets received twice */
};

void fl_receiving_deinit(struct fl_receiving *r);
/** Take a packet. BAD_DATA: the stream does not consist of messages. */
OT_MUST_CHECK struct ot_err *fl_receiving_put(struct fl_receiving *r, const struct fl_packet *p);
/** Move held packets into the stream, as far as there is room. */
OT_MUST_CHECK struct ot_err *fl_receiving_advance(struct fl_receiving *r);
/** Set the acknowledgement in the header of a packet to the other side. */
void fl_receiving_tell(const struct fl_receiving *r, struct fl_packet *ret);
/** The next message, borrowed until fl_receiving_release(). False: there is none. */
bool fl_receiving_next(struct fl_receiving *r, enum fl_kind *ret_kind, const void **ret_data,
		       size_t *ret_len);
/** Is there a message after the borrowed one? */
bool fl_receiving_waits(const struct fl_receiving *r);
/** The user no longer needs the last message. */
void fl_receiving_release(struct fl_receiving *r);

#endif
