/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outgoing half of a link: what waits, what is under way, and what has to be sent again. */
#ifndef FLEET_LINK_SENDING_H
#define FLEET_LINK_SENDING_H

#include "fleet/link/packet.h"
#include "fleet/link/round_trip.h"

/* A packet is lost if so many later turns were received and it was not; fewer may be out of order. */
#define FL_OVERTAKEN 3

/* A stretch that was sent, kept until it is acknowledged. */
struct fl_flight {
	struct ot_buf bytes;
	uint64_t turn, sent_ns; /* time of the last transmission */
	bool was_sent_again;
	bool is_taken;
};

struct fl_sending {
	struct ot_buf waiting; /* the part of the stream that was not sent yet, from `at` on */
	size_t at;
	struct fl_flight flights[FL_WINDOW]; /* number n is at n % FL_WINDOW */
	uint64_t first, next;                /* numbers: the first unacknowledged one, the next new one */
	uint64_t taken;                      /* all numbers up to it are in the peer's stream */
	uint64_t turn, heard;                /* the last turn used; the highest one that the peer received */
	size_t under_way;                    /* bytes of the stream that are not acknowledged */
	uint64_t again;                      /* number of retransmissions */
	struct fl_round_trip round_trip;
	uint64_t late_ns; /* when the first unacknowledged stretch counts as lost, if there is one */
	bool is_reliable; /* the carrier loses nothing */
};

void fl_sending_init(struct fl_sending *s, bool is_reliable);
void fl_sending_deinit(struct fl_sending *s);
/** Append a message to the waiting data. */
OT_MUST_CHECK struct ot_err *fl_sending_put(struct fl_sending *s, enum fl_kind kind, const void *data,
					    size_t len);
/** Bytes that are not acknowledged. */
size_t fl_sending_pending(const struct fl_sending *s);
/** Apply the acknowledgement in @p p. BAD_DATA: it is for data that was never sent. */
OT_MUST_CHECK struct ot_err *fl_sending_taken(struct fl_sending *s, const struct fl_packet *p, uint64_t now);
/** The next stretch to be sent now: its number, turn and payload in @p ret. *ret_found false: none is. */
OT_MUST_CHECK struct ot_err *fl_sending_next(struct fl_sending *s, uint64_t now, struct fl_packet *ret,
					     bool *ret_found);
/** When fl_sending_next() will return one, if nothing is received before; UINT64_MAX: never. */
uint64_t fl_sending_due(const struct fl_sending *s);

#endif
