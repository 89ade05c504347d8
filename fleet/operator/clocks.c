/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts hosts' clocks. Records carry a clock that starts at the host's boot. The real-time clocks of both
 * hosts join the two, within the sum of the errors that adjtimex(2) reports (docs/limits.md).
 */
#include "fleet/operator/internal.h"

/* Two clocks can't be read at the same moment: smaller changes are ignored, so that a host's records keep
 * their order. */
#define JITTER_NS 1000000

void fl_host_take_clock(struct fl_host *h, const struct fl_clock *there)
{
	struct fl_clock here;

	fl_clock_now(&here);
	/* unsigned, because a host may send any number */
	uint64_t offset = (there->realtime - there->record) - (here.realtime - here.record);
	uint64_t change = offset - (uint64_t)h->clock_offset;
	if (!h->has_clock || change + JITTER_NS > 2ull * JITTER_NS)
		h->clock_offset = (int64_t)offset;
	h->has_clock = true;
	if (h->follows && h->state < FL_HOST_STARTING) /* it may wait long for a guest */
		return;
	uint64_t upto = fl_host_time(h, there->record);
	h->fleet->upto[h->index] = upto < here.record ? upto : here.record;
}

uint64_t fl_host_time(const struct fl_host *h, uint64_t there)
{
	return there + (uint64_t)h->clock_offset;
}
