/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that begin in a guest during a session whose descriptions select every process (python*:::). Once
 * a second the guest's processes are compared with the last list; the probes of new ones are enabled as an
 * additional batch.
 */
#include "vmm-probe/session/arrivals.h"

#include <stdio.h>

#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/late.h"

void vp_arrivals_follow(struct vp_session *s, struct vp_feed *feed)
{
	const struct dif_program *prog = s->program.prog;

	for (uint32_t i = 0; feed->link && !feed->follows_programs && i < prog->nclauses; i++)
		feed->follows_programs = vp_clause_wants_guest(s, &prog->clauses[i], feed->guest) &&
					 vp_probes_follow(feed->link->probes, &prog->clauses[i].probe);
	feed->has_work |= feed->follows_programs;
}

/* The guest's bytes may be anything, and are read again after a second. An error of this process or of the
 * connection is returned; a limit ends the search for this session. */
static struct ot_err *pass_over(struct vp_session *s, struct vp_feed *feed, struct ot_err *err)
{
	char text[512];

	switch (err ? ot_err_code(err) : OT_ERR_GUEST_GONE) {
	case OT_ERR_NO_MEMORY:
	case OT_ERR_GUEST_GONE:
	case OT_ERR_OS:
		return err;
	case OT_ERR_LIMIT:
		snprintf(text, sizeof(text), "%s: programs that begin from now on are not traced: %s",
			 feed->link->client.guest_name, ot_err_message(err));
		vp_session_say(s, text);
		feed->follows_programs = false;
		break;
	default:
		break;
	}
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *poll_feed(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_probes *probes = feed->link->probes;
	bool news;

	OT_TRY(vp_probes_have_news(probes, &news));
	return news ? vp_late_enable(s, feed, vp_probes_count(probes)) : NULL;
}

struct ot_err *vp_arrivals_poll(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];

		if (!feed->follows_programs || !vp_feed_can_ask(feed))
			continue;
		OT_TRY(vp_note_gone(s, feed, pass_over(s, feed, poll_feed(s, feed))));
	}
	return NULL;
}
