/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that has ended leaves the session: its last data is taken, and its resources are released (buffers,
 * its VMM's memory), because a session may outlive many guests. Data for printing names stays.
 */
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/drain.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/memory.h"

/* Names of its programs are read from its memory when they are printed. */
static bool needs_memory(const struct vp_session *s)
{
	const struct dif_program *prog = s->program.prog;

	for (uint32_t i = 0; i < prog->nclauses; i++)
		for (uint32_t k = 0; k < prog->clauses[i].nactions; k++)
			if (DIF_ACT_CLASS(prog->clauses[i].actions[k].kind) == DIF_ACT_CLASS(DIF_ACT_ustack))
				return true;
	return false;
}

/* Received data is in the sink or pending by now. */
static void give_back(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_guest_link *link = feed->link;

	vp_client_close(&link->client); /* an engine that is left removes its sites */
	feed->gone = feed->read_out = true;
	feed->opened = feed->modules.followed = false;
	vp_share_leave(feed);
	vp_batch_clear(feed);
	if (link->phys && !needs_memory(s))
		vp_phys_leave(link->phys);
}

static struct ot_err *leave(struct vp_session *s, struct vp_feed *feed)
{
	if (!feed->gone && feed->started)
		OT_TRY(vp_note_gone(s, feed, vp_client_stop(&feed->link->client)));
	OT_TRY(vp_drain_ended(s, feed));
	OT_TRY(vp_feed_report(s, feed));
	if (!feed->gone)
		vp_feed_release(s, feed);
	give_back(s, feed);
	return NULL;
}

struct ot_err *vp_ended_leave(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds && !s->end.gone_reason; i++) {
		struct vp_feed *feed = &s->feeds[i];
		bool owes = feed->asked.waiting && !feed->gone;

		if (!feed->ended || feed->left || feed->asked.busy)
			continue;
		if (owes && !feed->asked.silent)
			continue;
		if (owes)
			vp_feed_gone(s, feed);
		feed->left = true;
		OT_TRY(leave(s, feed));
	}
	return NULL;
}
