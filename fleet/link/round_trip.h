/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long to wait for an acknowledgement before a stretch counts as lost: from round trips that were
 * measured, as RFC 6298 computes it. A link between two racks waits for milliseconds, one over a slow line
 * for seconds, and each time that was not enough the next wait is twice as long.
 */
#ifndef FLEET_LINK_ROUND_TRIP_H
#define FLEET_LINK_ROUND_TRIP_H

#include <stdint.h>

struct fl_round_trip {
	uint64_t smoothed, deviation; /* ns; 0: none was measured */
	uint64_t wait;                /* FL_RESEND_MIN_NS to FL_RESEND_MAX_NS */
};

void fl_round_trip_init(struct fl_round_trip *r);
/** One took @p ns. Only what was sent once is measured: of a stretch that was sent again it is not known
 * which of the two was acknowledged. */
void fl_round_trip_measured(struct fl_round_trip *r, uint64_t ns);
/** The wait was over before an acknowledgement came. */
void fl_round_trip_missed(struct fl_round_trip *r);

#endif
