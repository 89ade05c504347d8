/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of a comparison: how well the clocks agree, and the vCPUs' stolen time.
 */
#ifndef CLI_WINDOW_H
#define CLI_WINDOW_H

#include "vmm-probe/session/session.h"

/* Of one guest, while the session ran. */
struct cli_window_guest {
	const char *name; /* the session's */
	struct vp_clock_mark clock;
	struct vp_stolen stolen;
};

struct cli_window {
	struct vp_stolen *before;        /* of each guest; owned */
	struct cli_window_guest *guests; /* owned; NULL before cli_window_end() */
	uint32_t nguests;
};

/** As tracing begins. */
OT_MUST_CHECK struct ot_err *cli_window_begin(struct cli_window *w, struct vp_session *s);

/** At its end: fills in the guests, after an error those before the one that could not be read. */
OT_MUST_CHECK struct ot_err *cli_window_end(struct cli_window *w, struct vp_session *s);

void cli_window_deinit(struct cli_window *w);

#endif
