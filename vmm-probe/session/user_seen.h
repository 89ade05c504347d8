/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User addresses in arriving data: their processes are read at once, since they may end before anything is
 * printed. */
#ifndef VP_SESSION_USER_SEEN_H
#define VP_SESSION_USER_SEEN_H

#include "vmm-probe/session/internal.h"

/** The names of guest @p guest's processes; borrowed. */
struct vp_user_symbols *vp_user_symbols_of(struct vp_session *s, uint32_t guest);

/** Data is about to be taken out of the engines. */
void vp_user_seen_round(struct vp_session *s);

/** Note the user addresses of a record, which has its header, or of an aggregation's tuple. */
void vp_user_seen_record(struct vp_session *s, const struct vp_feed *feed, const struct vp_enabled *ecb,
			 const uint8_t *record);
void vp_user_seen_tuple(struct vp_session *s, const struct vp_feed *feed, const struct vp_enabled *ecb,
			const struct dif_agg_layout *agg, const uint8_t *tuple);

#endif
