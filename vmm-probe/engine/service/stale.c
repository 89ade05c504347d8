/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stale sites: the guest has unloaded a module, and its memory is freed. If a sentinel reports this before it
 * happens (modules.c), the sites end then; otherwise they are found here, once a second and before each plan.
 * The new contents of that address, or of the page, are unrelated, even if they are the same module: a stale
 * site is omitted from all later plans. A client that reads the guest again re-enables the place. Newer
 * kernels keep the pages of modules' text mapped for other modules (the execmem cache, mm/execmem.c): for
 * them the page of the module's own struct module is checked, which is unmapped.
 */
#include "vmm-probe/engine/hit/walk.h"
#include "vmm-probe/engine/service/parts.h"

#define PAGE_SIZE 4096ull

/* The last page of the guest that was translated: a probe's sites are neighbours. */
struct last_page {
	uint64_t gva, host;
};

/* Is @p gva no longer mapped to @p host? */
static bool has_moved(const struct vp_engine_session *es, uint64_t gva, uint64_t host, struct last_page *last)
{
	uint64_t page = gva & ~(PAGE_SIZE - 1);

	if (last->gva != page)
		*last = (struct last_page){ page, vp_kernel_host_now(es, page) };
	return last->host != (host & ~(PAGE_SIZE - 1));
}

static bool mark_stale(struct vp_engine_session *es)
{
	struct last_page text = { 0 }, owner = { 0 };
	bool some = false;

	vp_each_batch(b, es)
		for (uint32_t i = 0; i < b->nsites; i++) {
			struct vp_enabled_site *site = &b->sites[i];
			if (site->stale || vp_site_is_user(site) ||
			    (!has_moved(es, site->gva, site->host, &text) &&
			     (!site->owner || !has_moved(es, site->owner, site->owner_host, &owner))))
				continue;
			site->stale = some = true;
			es->service->lost += site->probe->first != NULL;
		}
	return some;
}

bool vp_stale_owner(struct vp_enabled_batch *b, uint64_t owner)
{
	bool some = false;

	for (uint32_t i = 0; owner && i < b->nsites; i++) {
		some |= b->sites[i].owner == owner && !b->sites[i].stale;
		b->sites[i].stale |= b->sites[i].owner == owner;
	}
	return some;
}

bool vp_stale_can_check(const struct vp_engine *engine)
{
	return !engine->host && !engine->ops->load;
}

bool vp_stale_check(struct vp_engine *engine)
{
	bool some = vp_modules_end(engine); /* these are not lost */

	for (uint32_t i = 0; vp_stale_can_check(engine) && i < engine->service->nsessions; i++)
		if (engine->service->sessions[i]->service->planned)
			some |= mark_stale(engine->service->sessions[i]);
	return some;
}
