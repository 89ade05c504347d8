/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tick-n (and, where there is no guest, profile-n): timers of this process, on the host engine. */
#include "base/buf.h"
#include "vmm-probe/session/drain.h"
#include "vmm-probe/session/internal.h"

/* A timer that fell behind this far (a suspended process) skips the missed ticks. */
#define LATE_MAX 1000

bool vp_tick_add(struct vp_session *s, uint32_t probe_id, uint64_t interval_ns)
{
	for (size_t i = 0; i < s->ticks.n; i++)
		if (s->ticks.items[i].probe_id == probe_id)
			return true;
	if (!ot_grow(&s->ticks.items, &s->ticks.cap, s->ticks.n + 1, sizeof(*s->ticks.items)))
		return false;
	s->ticks.items[s->ticks.n++] = (struct vp_tick){
		.probe_id = probe_id,
		.interval_ns = interval_ns,
	};
	return true;
}

uint64_t vp_ticks_next(const struct vp_session *s)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < s->ticks.n; i++)
		if (s->ticks.items[i].next_ns < next)
			next = s->ticks.items[i].next_ns;
	return next;
}

/* The tick that is most overdue; NULL: none is due. */
static struct vp_tick *most_due(struct vp_session *s, uint64_t now)
{
	struct vp_tick *due = NULL;

	for (size_t i = 0; i < s->ticks.n; i++) {
		struct vp_tick *t = &s->ticks.items[i];
		if (t->next_ns <= now && (!due || t->next_ns < due->next_ns))
			due = t;
	}
	return due;
}

/* Ticks that are due fire in order of their times, as they would have on a timer each. */
void vp_ticks_fire(struct vp_session *s, uint64_t now)
{
	struct vp_tick *t;

	while (!vp_exit_called(s) && (t = most_due(s, now))) {
		uint64_t late = now - t->next_ns;
		uint64_t args[10] = { 0, 1, late };

		vp_engine_session_fire(s->host.es, t->probe_id, args);
		t->next_ns += t->interval_ns;
		if (late / t->interval_ns > LATE_MAX)
			t->next_ns = now + t->interval_ns;
	}
}
