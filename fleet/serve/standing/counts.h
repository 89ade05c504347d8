/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the daemon counts of operators' sessions, in memory that the process of the metrics sees as well. That
 * one never writes there, and what it serves is not the daemon's to wait for. */
#ifndef FLEET_SERVE_STANDING_COUNTS_H
#define FLEET_SERVE_STANDING_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"

#define FL_COUNTS_FD 3 /* where the process of the metrics finds it */

struct fl_counts {
	_Atomic uint64_t requests; /* that came by the broker */
	_Atomic uint64_t refused;  /* of these, before anything ran */
	_Atomic uint64_t begun;    /* sessions */
	_Atomic uint64_t failed;   /* of these, those whose process ended otherwise than as it should */
	_Atomic uint64_t running;  /* now */
};

/** Memory for them, all 0, and its descriptor. */
OT_MUST_CHECK struct ot_err *fl_counts_create(struct fl_counts **ret, int *ret_fd);
/** The same memory by its descriptor, to be read. */
OT_MUST_CHECK struct ot_err *fl_counts_map(int fd, const struct fl_counts **ret);

#endif
