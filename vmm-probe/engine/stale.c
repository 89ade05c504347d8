/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites whose memory the guest has taken away: a module was unloaded. What comes to lie at such an address,
 * or in the page that was there, is something else, even if it is the same module: such a site is in no plan
 * any more. Who looks at the guest anew names the place anew.
 */
#include "vmm-probe/engine/internal.h"

#define PAGE_SIZE 4096ull

/* Where a page of the guest's was found last: a probe's sites are neighbours. */
struct last_page {
	uint64_t gva, host;
};

static bool is_stale(const struct vp_es *es, const struct vp_site_rt *site, struct last_page *last)
{
	uint64_t page = site->gva & ~(PAGE_SIZE - 1);

	if (last->gva != page)
		*last = (struct last_page){ page, vp_kernel_host_now(es, page) };
	return last->host != (site->host & ~(PAGE_SIZE - 1));
}

static bool look_at(struct vp_es *es)
{
	struct last_page last = { 0 };
	bool some = false;

	for (struct vp_batch_rt *b = es->batches; b; b = b->next)
		for (uint32_t i = 0; i < b->nsites; i++) {
			struct vp_site_rt *site = &b->sites[i];
			if (site->stale || !is_stale(es, site, &last))
				continue;
			site->stale = some = true;
			es->lost += site->probe->first != NULL;
		}
	return some;
}

bool vp_stale_can_look(const struct vp_engine *engine)
{
	return !engine->host && !engine->ops->load;
}

bool vp_stale_look(struct vp_engine *engine)
{
	bool some = false;

	for (uint32_t i = 0; vp_stale_can_look(engine) && i < engine->nsessions; i++)
		if (engine->sessions[i]->planned)
			some |= look_at(engine->sessions[i]);
	return some;
}
