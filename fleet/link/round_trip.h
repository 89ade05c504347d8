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
	uint64_t smoothed, deviation; /* ns; 0: not measured yet */
	uint64_t wait;                /* FL_RESEND_MIN_NS to FL_RESEND_MAX_NS */
};

void fl_round_trip_init(struct fl_round_trip *r);
/** A round trip took @p ns. Stretches that were sent twice are not measured, because the acknowledgement may
 * be for either. */
void fl_round_trip_measured(struct fl_round_trip *r, uint64_t ns);
/** The wait ended without an acknowledgement. */
void fl_round_trip_missed(struct fl_round_trip *r);

#endif
