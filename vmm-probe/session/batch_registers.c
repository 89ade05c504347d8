/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug registers: a CPU has VP_HW_SITES of them, for the places of all of a session's batches together. Each
 * place in a process of a guest on KVM takes one, and with -x trap=hw each place in its kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/session/batch.h"

struct ot_err *vp_check_debug_registers(size_t places, bool users)
{
	if (places <= VP_HW_SITES)
		return NULL;
	if (users)
		return ot_err_new(OT_ERR_LIMIT,
				  "in a guest on KVM each place in a process takes a debug register (and "
				  "with -x trap=hw each "
				  "place in the kernel): there are %d, and the program has probes in %zu "
				  "places. Name fewer "
				  "functions; a guest under TCG has no such limit",
				  VP_HW_SITES, places);
	return ot_err_new(
	    OT_ERR_LIMIT,
	    "-x trap=hw: there are %d debug registers, and the program has probes in %zu places", VP_HW_SITES,
	    places);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The addresses of the batch's sites with a register, and those of earlier batches; *ret is the caller's. */
static struct ot_err *list_addresses(const struct vp_feed *feed, uint64_t **ret, size_t *ret_n, bool *users)
{
	const struct vp_batch_site *sites = (const void *)feed->batch_sites.data;
	size_t nsites = feed->batch_sites.len / sizeof(*sites), n = 0;
	uint64_t *list = malloc((nsites + VP_HW_SITES) * sizeof(*list));

	if (!list)
		return ot_err_nomem();
	for (unsigned i = 0; i < VP_HW_SITES; i++)
		if (feed->registers_before[i])
			list[n++] = feed->registers_before[i];
	for (size_t i = 0; i < nsites; i++)
		if (sites[i].trap == VP_SITE_HW) {
			*users |= vp_batch_site_is_user(&sites[i]);
			list[n++] = sites[i].gva;
		}
	*ret = list;
	*ret_n = n;
	return NULL;
}

/* Any number of probes at a place take one register. */
struct ot_err *vp_batch_check_registers(struct vp_feed *feed)
{
	ot_auto_free uint64_t *list = NULL;
	size_t n, places = 0;
	bool users = false;

	OT_TRY(list_addresses(feed, &list, &n, &users));
	qsort(list, n, sizeof(*list), by_value);
	memset(feed->registers, 0, sizeof(feed->registers));
	for (size_t i = 0; i < n; i++) {
		if (i && list[i] == list[i - 1])
			continue;
		if (places < VP_HW_SITES)
			feed->registers[places] = list[i];
		places++;
	}
	return vp_check_debug_registers(places, users);
}

/* -x trap=hw itself reports that the guest's own registers do not work. */
void vp_batch_say_registers(struct vp_session *s, const struct vp_feed *feed)
{
	bool any = false, users = false;
	char text[256];

	for (unsigned i = 0; i < VP_HW_SITES; i++) {
		any |= feed->registers[i] != 0;
		users |= feed->registers[i] && !(feed->registers[i] >> 63);
	}
	if (!any)
		return; /* the host engine's feed has no link */
	const struct vp_client *client = &feed->link->client;
	if (users && s->links.opts.trap != VP_WISH_HW) {
		snprintf(text, sizeof(text),
			 "guest %s: probes in its processes take debug registers; its own don't work during "
			 "the session",
			 client->guest_name);
		vp_session_say(s, text);
	}
	if (client->traps & VP_TRAPS_HW_MISSES) {
		snprintf(
		    text, sizeof(text),
		    "guest %s: this host's KVM misses a debug register where an interrupt comes just before: "
		    "counts of probes that take one may be short (hw_misses=yes of `outsight doctor -v')",
		    client->guest_name);
		vp_session_say(s, text);
	}
}
