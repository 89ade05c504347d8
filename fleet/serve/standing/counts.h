/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's counts of operators' sessions, in memory that is shared with the process of the metrics. That
 * process never writes there, and the daemon does not wait for it. */
#ifndef FLEET_SERVE_STANDING_COUNTS_H
#define FLEET_SERVE_STANDING_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"

#define FL_COUNTS_FD 3 /* its descriptor in the process of the metrics */

struct fl_counts {
	_Atomic uint64_t requests; /* received from the broker */
	_Atomic uint64_t refused;  /* of these, before anything ran */
	_Atomic uint64_t begun;    /* sessions */
	_Atomic uint64_t failed;   /* of these, those whose process ended abnormally */
	_Atomic uint64_t running;  /* now */
};

/** Create memory for them, all 0; returns its descriptor. */
OT_MUST_CHECK struct ot_err *fl_counts_create(struct fl_counts **ret, int *ret_fd);
/** Map the same memory by its descriptor, read-only. */
OT_MUST_CHECK struct ot_err *fl_counts_map(int fd, const struct fl_counts **ret);

#endif
