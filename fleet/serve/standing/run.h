/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of standing programs and metrics. It has no key of this host's, so an attack by HTTP reaches
 * only a process that can run these programs. */
#ifndef FLEET_SERVE_STANDING_RUN_H
#define FLEET_SERVE_STANDING_RUN_H

#include "fleet/serve/standing/standing.h"

struct fl_conf;

/** Until SIGTERM or SIGINT; SIGHUP reads the folder again. @p counts NULL: there are no sessions. */
OT_MUST_CHECK struct ot_err *fl_standing_run(const struct fl_conf *conf, const struct fl_counts *counts,
					     void (*log)(const char *line));

#endif
