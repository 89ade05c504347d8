/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of a standing program: NAME.conf, beside NAME.d. outsight-serve.conf(5) describes the format. */
#ifndef FLEET_SERVE_STANDING_LIMITS_H
#define FLEET_SERVE_STANDING_LIMITS_H

#include "fleet/serve/conf.h"

#define FL_SERIES_MAX   10000u /* the output's maximum */
#define FL_METRICS_MAX  (16u << 20)
#define FL_GUESTS_MAX   16u /* patterns of one program */
#define FL_COST_DEFAULT 5u  /* per cent: less than an operator's session, because it is unattended */

struct fl_limits {
	struct fl_patterns guests;
	uint32_t maxcost; /* per cent of the vCPUs' time */
	uint32_t ttl_s;   /* the program is stopped if the metrics were not read for that long */
	uint32_t series;  /* rows of its metrics */
	uint64_t bytes;   /* of their text */
};

/** Read @p path; if there is no such file, the limits are the defaults. Everything is in @p arena. */
OT_MUST_CHECK struct ot_err *fl_limits_read(const char *path, struct ot_arena *arena, struct fl_limits *ret);

#endif
