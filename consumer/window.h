/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of a comparison: how well the clocks agree, and the vCPUs' stolen time.
 */
#ifndef CONSUMER_WINDOW_H
#define CONSUMER_WINDOW_H

#include "vmm-probe/session/session.h"

/* Of one guest, while the session ran. */
struct con_window_guest {
	const char *name; /* the session's */
	struct vp_clock_mark clock;
	struct vp_stolen stolen;
};

struct con_window {
	struct vp_stolen *before;        /* of each guest; owned */
	struct con_window_guest *guests; /* owned; NULL before con_window_end() */
	uint32_t nguests;
};

/** As tracing begins. */
OT_MUST_CHECK struct ot_err *con_window_begin(struct con_window *w, struct vp_session *s);

/** At its end: fills in the guests, after an error those before the one that could not be read. */
OT_MUST_CHECK struct ot_err *con_window_end(struct con_window *w, struct vp_session *s);

void con_window_deinit(struct con_window *w);

#endif
