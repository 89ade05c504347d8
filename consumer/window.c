/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks and the stolen time of a comparison's guests, read before and after. */
#include "consumer/window.h"

#include <stdlib.h>
#include <string.h>

struct ot_err *con_window_begin(struct con_window *w, struct vp_session *s)
{
	uint32_t n = vp_session_nguests(s);

	w->before = calloc(n + 1, sizeof(*w->before));
	if (!w->before)
		return ot_err_nomem();
	for (uint32_t i = 0; i < n; i++)
		OT_TRY(vp_session_stolen(s, i, &w->before[i]));
	return NULL;
}

void con_window_deinit(struct con_window *w)
{
	free(w->before);
	free(w->guests);
	*w = (struct con_window){ 0 };
}

/* The increase. The guest reports it, so it may have decreased. */
static uint64_t since(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

/* The window alone: both are known before and after. */
static struct ot_err *stolen(const struct con_window *w, struct vp_session *s, uint32_t guest,
			     struct vp_stolen *ret)
{
	const struct vp_stolen *before = &w->before[guest];

	OT_TRY(vp_session_stolen(s, guest, ret));
	ret->at_ns = since(before->at_ns, ret->at_ns);
	ret->by_guest &= before->by_guest;
	ret->by_host &= before->by_host;
	ret->host_ns = since(before->host_ns, ret->host_ns);
	for (uint32_t i = 0; i < ret->nvcpus; i++)
		ret->vcpu_ns[i] = since(before->vcpu_ns[i], ret->vcpu_ns[i]);
	return NULL;
}

struct ot_err *con_window_end(struct con_window *w, struct vp_session *s)
{
	uint32_t n = vp_session_nguests(s);

	w->guests = calloc(n + 1, sizeof(*w->guests));
	if (!w->guests)
		return ot_err_nomem();
	for (; w->nguests < n; w->nguests++) {
		struct con_window_guest *guest = &w->guests[w->nguests];

		guest->name = vp_session_guest_name(s, w->nguests);
		guest->clock = vp_session_agent_clock(s, w->nguests);
		OT_TRY(stolen(w, s, w->nguests, &guest->stolen));
	}
	return NULL;
}
