/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data for comparing a guest's two views, besides its events. */
#include <string.h>

#include "vmm-probe/guest/agent.h"
#include "vmm-probe/guest/census.h"
#include "vmm-probe/session/internal.h"

static struct vp_guest_link *link_of(const struct vp_session *s, uint32_t guest)
{
	return guest < s->links.n ? s->links.items[guest] : NULL;
}

static struct ot_err *no_guest(void)
{
	return ot_err_new(OT_ERR_NOT_FOUND, "there is no guest whose views could be compared");
}

static struct ot_err *no_agent(const struct vp_session *s, uint32_t guest, const char *why)
{
	if (why)
		return ot_err_new(OT_ERR_UNSUPPORTED, "guest %s: %s", vp_session_guest_name(s, guest), why);
	return ot_err_new(
	    OT_ERR_NOT_FOUND,
	    "guest %s has no agent: load its module (`insmod %s.ko` in the guest) and run this again",
	    vp_session_guest_name(s, guest), GA_MODULE);
}

struct ot_err *vp_session_need_agent(const struct vp_session *s, uint32_t guest, const char *tracepoint)
{
	const struct vp_guest_link *link = link_of(s, guest);
	const struct vp_guest_agent *agent;
	const char *why = NULL;

	if (!link)
		return no_guest();
	agent = vp_probes_agent(link->probes, &why);
	if (!agent)
		return no_agent(s, guest, why);
	for (size_t i = 0; tracepoint && i < agent->nevents; i++)
		if (!strcmp(agent->events[i].name, tracepoint))
			return NULL;
	if (!tracepoint)
		return NULL;
	return ot_err_new(
	    OT_ERR_UNSUPPORTED,
	    "guest %s: its agent is older than this outsight and lacks that: build the module from "
	    "the sources of this outsight",
	    vp_session_guest_name(s, guest));
}

struct ot_err *vp_session_census(struct vp_session *s, uint32_t guest,
				 struct ot_err *(*take)(struct vp_guest *guest, struct vp_census *ret),
				 struct vp_census *ret)
{
	struct vp_guest_link *link = link_of(s, guest);

	memset(ret, 0, sizeof(*ret));
	return link ? take(link->guest, ret) : no_guest();
}

struct ot_err *vp_session_census_of(struct vp_session *s, uint32_t guest, uint64_t pid,
				    struct ot_err *(*take)(struct vp_guest *guest, uint64_t pid,
							   struct vp_census *ret),
				    struct vp_census *ret)
{
	struct vp_guest_link *link = link_of(s, guest);

	memset(ret, 0, sizeof(*ret));
	return link ? take(link->guest, pid, ret) : no_guest();
}

struct vp_clock_mark vp_session_agent_clock(const struct vp_session *s, uint32_t guest)
{
	for (uint32_t i = 1; i < s->nfeeds; i++)
		if (s->feeds[i].guest == guest)
			return s->feeds[i].agent.clock;
	return (struct vp_clock_mark){ 0 };
}
