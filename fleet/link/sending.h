/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outgoing half of a link: what waits, what is under way, and what has to be sent again. */
#ifndef FLEET_LINK_SENDING_H
#define FLEET_LINK_SENDING_H

#include "fleet/link/packet.h"
#include "fleet/link/round_trip.h"

/* A packet is lost when so many turns after its own were heard and it was not: fewer may be out of order. */
#define FL_OVERTAKEN 3

/* A stretch that was sent, kept until it is acknowledged. */
struct fl_flight {
	struct ot_buf bytes;
	uint64_t turn, sent_ns; /* when it was sent last */
	bool was_sent_again;
	bool is_taken;
};

struct fl_sending {
	struct ot_buf waiting; /* of the stream: what was not sent yet, from `at` on */
	size_t at;
	struct fl_flight flights[FL_WINDOW]; /* number n is at n % FL_WINDOW */
	uint64_t first, next;                /* numbers: the first that is under way, the next new one */
	uint64_t taken;                      /* all numbers up to it are in the stream there */
	uint64_t turn, heard;                /* the last one that was used; the highest that was heard */
	size_t under_way;                    /* bytes of the stream that are not taken */
	uint64_t again;                      /* how often a stretch was sent again */
	struct fl_round_trip round_trip;
	uint64_t late_ns; /* when the first that is under way counts as lost, if there is one */
	bool is_reliable; /* nothing is ever lost */
};

void fl_sending_init(struct fl_sending *s, bool is_reliable);
void fl_sending_deinit(struct fl_sending *s);
/** Append a message to what waits. */
OT_MUST_CHECK struct ot_err *fl_sending_put(struct fl_sending *s, enum fl_kind kind, const void *data,
					    size_t len);
/** Bytes that are not acknowledged. */
size_t fl_sending_pending(const struct fl_sending *s);
/** What @p p, which has come now, says has come there. BAD_DATA: what never was sent. */
OT_MUST_CHECK struct ot_err *fl_sending_taken(struct fl_sending *s, const struct fl_packet *p, uint64_t now);
/** The next stretch to be sent now: its number, turn and payload in @p ret. *ret_found false: none is. */
OT_MUST_CHECK struct ot_err *fl_sending_next(struct fl_sending *s, uint64_t now, struct fl_packet *ret,
					     bool *ret_found);
/** When fl_sending_next() has one, if nothing comes until then; UINT64_MAX: never. */
uint64_t fl_sending_due(const struct fl_sending *s);

#endif
