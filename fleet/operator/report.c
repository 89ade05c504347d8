/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outcome for all hosts, in one line. */
#include "base/clock.h"
#include "fleet/operator/follow.h"

#define NAMED_MAX 8 /* maximum number of hosts named in the line */

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* The wait for the rest of its data. */
static uint64_t lateness(const struct fl_host *h)
{
	return h->state == FL_HOST_ENDED && h->stopped_ns && h->ended_ns > h->stopped_ns
		   ? h->ended_ns - h->stopped_ns
		   : 0;
}

/* Mergers are counted by themselves. */
static bool is_counted(const struct fl_host *h)
{
	return !h->merger && h->state != FL_HOST_LEFT_OUT;
}

static bool is_lost(const struct fl_host *h)
{
	return is_counted(h) && h->state != FL_HOST_ENDED;
}

static void put_lost(const struct fl_fleet *fleet, uint32_t lost, struct ot_buf *out)
{
	const uint64_t now = ot_now_ns();
	uint32_t named = 0;

	ot_buf_printf(out, ", %u lost", lost);
	for (uint32_t i = 0; i < fleet->nhosts; i++) {
		const struct fl_host *h = fleet->hosts[i];

		if (!is_lost(h) || ++named > NAMED_MAX)
			continue;
		ot_buf_printf(out, "%s %s, last heard %.0f s ago", named == 1 ? ":" : ";", h->name,
			      seconds(now - h->heard_ns));
	}
	if (named > NAMED_MAX)
		ot_buf_printf(out, " and %u more", named - NAMED_MAX);
}

bool fl_fleet_report(const struct fl_fleet *fleet, struct ot_buf *out)
{
	uint32_t all = 0, whole = 0, late = 0, lost = 0, failed = 0;
	uint64_t latest = 0;

	if (!fleet->is_started)
		return true;
	for (uint32_t i = 0; i < fleet->nhosts; i++) {
		const struct fl_host *h = fleet->hosts[i];
		const uint64_t ns = lateness(h);

		const bool has_failed = h->failed || (h->has_moved && fl_follow_lost(h));

		/* a further session with a host is not another host, and is reported only if it failed */
		if (!is_counted(h) || (h->follows && h->state == FL_HOST_ENDED && !has_failed))
			continue;
		all++;
		lost += is_lost(h);
		late += ns > FL_LATE_NS;
		failed += has_failed;
		whole += h->state == FL_HOST_ENDED && ns <= FL_LATE_NS && !has_failed;
		latest = ns > latest ? ns : latest;
	}
	if (whole == all && !fleet->restarts.nuncertain)
		return true;
	ot_buf_printf(out, "hosts: %u whole", whole);
	if (late)
		ot_buf_printf(out, ", %u late (%.1f s)", late, seconds(latest));
	if (failed)
		ot_buf_printf(out, ", %u failed", failed);
	if (lost)
		put_lost(fleet, lost, out);
	if (fleet->restarts.nuncertain)
		ot_buf_printf(out, "; %u merger%s lost", fleet->restarts.nuncertain,
			      fleet->restarts.nuncertain == 1 ? "" : "s");
	return !lost && !failed && !fleet->restarts.nuncertain;
}
