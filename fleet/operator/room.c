/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits what hosts can make this side keep. Definitions (programs, probes, names) can't be dropped: a host
 * without room for them is lost. A new key of an aggregation can: its data is dropped and counted.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "fleet/operator/internal.h"
#include "vmm-probe/machines/memory_room.h"

#define LEAST   (64ull << 20)
#define UNKNOWN (1ull << 30)

/* A quarter of free memory: several hosts fill less than twice that, which leaves the other half. */
static uint64_t quarter(void)
{
	uint64_t free = vp_memory_available("");
	struct vp_memory_room room;

	if (!free)
		free = UNKNOWN;
	if (vp_memory_room("", getpid(), &room) && room.room < free)
		free = room.room;
	return free / 4 > LEAST ? free / 4 : LEAST;
}

void fl_room_find(struct fl_fleet *fleet)
{
	fleet->keys.most = quarter();
	fleet->meanings.most = fleet->keys.most / 2;
}

struct ot_err *fl_room_take(struct fl_host *h, uint64_t bytes)
{
	if (ot_account_take(&h->meanings, bytes))
		return NULL;
	return ot_err_new(OT_ERR_BAD_DATA, "it has sent programs, probes and names of more than %llu MiB",
			  (unsigned long long)(h->meanings.bytes >> 20));
}

struct ot_err *fl_room_tell(struct fl_host *h, uint64_t now_ns)
{
	const struct vp_sink *sink = &h->fleet->sink;
	const uint64_t count = h->keys.refused - h->drops_told;
	char text[160];

	if (!count || (now_ns < h->drops_due && !fl_host_is_over(h)))
		return NULL;
	snprintf(text, sizeof(text), "%llu aggregation drops: the keys here may take %llu MiB",
		 (unsigned long long)count, (unsigned long long)(h->keys.bytes >> 20));
	if (!h->drops_told || fl_host_is_over(h))
		fl_host_say(h, text);
	h->drops_told = h->keys.refused;
	h->drops_due = now_ns + OT_NS_PER_SEC;
	return sink->drop(sink->arg, VP_DROP_AGGREGATION, 0, count);
}
