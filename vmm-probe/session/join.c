/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that joins a running session. It was attached in another thread, which may take long
 * (attach/newcomers.h). Here it gets a place among the session's guests, the clauses of its kernel, an
 * engine's session of its own, and the variables as BEGIN left them. The other guests are not affected, and
 * their data is taken while its engine is waited for.
 */
#include <stdlib.h>

#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/memory.h"

const struct vp_attach_opts *vp_session_attach_opts(const struct vp_session *s)
{
	return &s->links.opts;
}

void vp_session_await(struct vp_session *s)
{
	s->awaits = true;
}

uint32_t vp_session_nguests_max(const struct vp_session *s)
{
	return s->awaits ? VP_GUESTS_MAX : s->links.n;
}

void vp_session_may_end(struct vp_session *s, uint32_t guest)
{
	if (guest < s->links.n)
		s->links.items[guest]->may_end = true;
}

bool vp_session_has_left(const struct vp_session *s, uint32_t guest)
{
	return s->feeds && guest + 1 < s->nfeeds && s->feeds[guest + 1].left;
}

bool vp_session_may_return(const struct vp_session *s, uint32_t guest)
{
	enum vp_guest_end how = vp_session_has_left(s, guest) ? s->feeds[guest + 1].end : VP_GUEST_DETACHED;

	return how != VP_GUEST_DETACHED && how != VP_GUEST_SAVED;
}

struct ot_err *vp_session_adopt(struct vp_session *s, struct vp_guest_link *link, uint32_t *ret_guest,
				bool *ret_new_kernel)
{
	uint32_t guest = s->links.n;

	if (guest == VP_GUESTS_MAX) {
		vp_link_destroy(link);
		return ot_err_new(
		    OT_ERR_LIMIT,
		    "at most %d guests in one session, those that have left it included: a new session "
		    "traces it",
		    VP_GUESTS_MAX);
	}
	s->links.items[s->links.n++] = link;
	link->may_end = true;
	s->joining = (struct vp_session_joining){ .nclauses = s->program.prog->nclauses,
						  .nenabled = s->program.nenabled,
						  .nkernels = s->kernels.n,
						  .nfeeds = s->nfeeds };
	vp_probes_set_guest(link->probes, guest);
	vp_probes_set_say(link->probes, vp_session_say_of, s);
	vp_probes_set_target(link->probes, (uint64_t)s->config.target_pid);
	*ret_new_kernel = vp_kernels_add(s, guest);
	*ret_guest = guest;
	return NULL;
}

struct ot_err *vp_session_join(struct vp_session *s)
{
	const uint32_t guest = s->links.n - 1;
	const struct vp_guest_news news = { .guest = guest,
					    .name = vp_session_guest_name(s, guest),
					    .joined = true };

	OT_TRY(vp_enable_joining(s, s->joining.nclauses));
	if (s->sink.guest)
		s->sink.guest(s->sink.arg, &news);
	return NULL;
}

void vp_session_reject(struct vp_session *s)
{
	struct vp_guest_link *link = s->links.items[--s->links.n];

	vp_client_close(&link->client); /* its sites are removed */
	while (s->nfeeds > s->joining.nfeeds) {
		struct vp_feed *feed = &s->feeds[--s->nfeeds];
		vp_share_leave(feed);
		vp_batch_clear(feed);
		free(feed->seen);
	}
	vp_frames_deinit(&s->frames[s->links.n]);
	vp_user_symbols_deinit(&s->user_symbols[s->links.n]);
	s->frames[s->links.n] = (struct vp_frames_known){ 0 };
	s->user_symbols[s->links.n] = (struct vp_user_symbols){ 0 };
	s->program.prog->nclauses = s->joining.nclauses;
	s->program.nenabled = s->joining.nenabled;
	s->kernels.n = s->joining.nkernels;
	vp_link_destroy(link);
}
