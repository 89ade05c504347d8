/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Round trips of a link, smoothed. */
#include "fleet/link/round_trip.h"

#include "fleet/link/link.h"

static uint64_t within(uint64_t ns)
{
	if (ns < FL_RESEND_MIN_NS)
		return FL_RESEND_MIN_NS;
	return ns < FL_RESEND_MAX_NS ? ns : FL_RESEND_MAX_NS;
}

void fl_round_trip_init(struct fl_round_trip *r)
{
	*r = (struct fl_round_trip){ .wait = FL_RESEND_FIRST_NS };
}

void fl_round_trip_measured(struct fl_round_trip *r, uint64_t ns)
{
	/* more would change nothing, and below its sum can't wrap */
	ns = ns < FL_LEASE_NS ? ns : FL_LEASE_NS;
	if (!r->smoothed) {
		r->smoothed = ns ? ns : 1;
		r->deviation = ns / 2;
	} else {
		const uint64_t off = ns > r->smoothed ? ns - r->smoothed : r->smoothed - ns;

		r->deviation = (3 * r->deviation + off) / 4;
		r->smoothed = (7 * r->smoothed + ns) / 8;
	}
	r->wait = within(r->smoothed + 4 * r->deviation);
}

void fl_round_trip_missed(struct fl_round_trip *r)
{
	r->wait = within(2 * r->wait);
}
