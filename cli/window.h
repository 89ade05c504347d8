/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What surrounds the figures of a comparison: how well the clocks agree, and what the vCPUs were kept from.
 */
#ifndef CLI_WINDOW_H
#define CLI_WINDOW_H

#include <stdio.h>

#include "base/json.h"
#include "vmm-probe/session/session.h"

struct cli_window {
	struct vp_stolen *before; /* of each guest; owned */
};

/** As tracing begins. */
OT_MUST_CHECK struct ot_err *cli_window_begin(struct cli_window *w, struct vp_session *s);

void cli_window_deinit(struct cli_window *w);

/** At its end: a few lines for each guest. */
OT_MUST_CHECK struct ot_err *cli_window_print(const struct cli_window *w, struct vp_session *s, FILE *fp);
/** The same as a JSON array, an object for each guest. */
OT_MUST_CHECK struct ot_err *cli_window_json(const struct cli_window *w, struct vp_session *s,
					     struct ot_json *j);

#endif
