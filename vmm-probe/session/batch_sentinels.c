/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds the sentinels that a batch needs: for traps in the guest's text, and for following its modules and
 * what its processes map. */
#include "base/cleanup.h"
#include "vmm-probe/provider/sentinels.h"
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/internal.h"

#define SENTINELS_ID UINT32_MAX /* no probe has it */

/* Are there branches on static keys among the batch's sites? */
static bool has_branches(const struct vp_feed *feed)
{
	const struct vp_batch_site *sites = (const void *)feed->batch_sites.data;
	size_t n = feed->batch_sites.len / sizeof(*sites);

	for (size_t i = 0; i < n; i++)
		if (sites[i].target && sites[i].trap != VP_SITE_HW)
			return true;
	return false;
}

static bool changes_text(const struct vp_feed *feed)
{
	const struct vp_batch_site *sites = (const void *)feed->batch_sites.data;
	size_t n = feed->batch_sites.len / sizeof(*sites);

	for (size_t i = 0; i < n; i++)
		if (sites[i].trap != VP_SITE_HW)
			return true;
	return false;
}

/* Are there semaphores that are raised where processes map their file? */
static bool has_file_semaphores(const struct vp_feed *feed)
{
	const struct vp_batch_site *sites = (const void *)feed->batch_sites.data;
	const struct vp_batch_probe *probes = (const void *)feed->batch_probes.data;
	size_t n = feed->batch_probes.len / sizeof(*probes);

	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; probes[i].stands_in && k < probes[i].nsites; k++)
			if (sites[probes[i].first_site + k].semaphore)
				return true;
	return false;
}

/* Sentinels: entries and exits of the guest's functions that patch its text, or load and unload modules.
 * After all other sites. */
struct ot_err *vp_batch_sentinel_sites(struct vp_feed *feed, struct vp_batch_probe *bp)
{
	ot_auto_free struct vp_batch_site *sites = NULL;

	bp->first_site = (uint32_t)(feed->batch_sites.len / sizeof(*sites));
	OT_TRY(vp_sentinels_find(feed->link->probes, feed->link->client.traps, &feed->sentinels, &sites,
				 &bp->nsites));
	ot_buf_append(&feed->batch_sites, sites, bp->nsites * sizeof(*sites));
	return NULL;
}

/* A sentinel of a module is a trap in the text itself. */
static bool is_any_wanted(struct vp_feed *feed)
{
	bool follows = feed->modules.followed, traps = feed->link->client.traps & VP_TRAPS_TEXT;

	feed->sentinels = (struct vp_sentinels_wish){
		.text = !feed->planted.text && traps && (follows || changes_text(feed)),
		.keys = !feed->planted.keys && traps && has_branches(feed),
		.modules = follows,
		.maps = !feed->planted.maps && !traps && has_file_semaphores(feed),
	};
	return feed->sentinels.text || feed->sentinels.keys || follows || feed->sentinels.maps;
}

struct ot_err *vp_batch_add_sentinels(struct vp_feed *feed)
{
	struct vp_batch_probe bp = { .id = SENTINELS_ID, .kind = VP_PROBE_SENTINEL };

	if (!feed->link || !is_any_wanted(feed))
		return NULL;
	OT_TRY(vp_batch_sentinel_sites(feed, &bp));
	if (bp.nsites)
		ot_buf_append(&feed->batch_probes, &bp, sizeof(bp));
	return NULL;
}
