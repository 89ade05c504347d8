/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host's clocks at one moment, by which the other side converts that host's times to its own. */
#include <sys/timex.h>

#include "base/clock.h"
#include "fleet/wire/message.h"

static uint64_t ns_of(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* The clock is not synchronized, or the system call is forbidden here: its error is unbounded. */
static uint64_t realtime_error(void)
{
	struct timex t = { .modes = 0 };
	int state = adjtimex(&t);

	if (state < 0 || state == TIME_ERROR || (t.status & STA_UNSYNC) || t.maxerror < 0)
		return UINT64_MAX;
	return (uint64_t)t.maxerror * 1000u;
}

void fl_clock_now(struct fl_clock *ret)
{
	ret->maxerror = realtime_error();
	/* Read one after the other: the time between is less than any error of a clock. */
	ret->record = ot_now_ns();
	ret->realtime = ns_of(CLOCK_REALTIME);
	ret->boottime = ns_of(CLOCK_BOOTTIME);
}

void fl_put_clock(struct ot_buf *out, const struct fl_clock *clock)
{
	fl_put_u64(out, clock->realtime);
	fl_put_u64(out, clock->boottime);
	fl_put_u64(out, clock->record);
	fl_put_u64(out, clock->maxerror);
}

void fl_get_clock(struct fl_reader *r, struct fl_clock *ret)
{
	ret->realtime = fl_get_u64(r);
	ret->boottime = fl_get_u64(r);
	ret->record = fl_get_u64(r);
	ret->maxerror = fl_get_u64(r);
}
