/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that expect one variable where there are two: a global of END and ticks is the operator's, on his
 * machine, and one of guests' clauses is theirs, on this one. Neither sees what the other writes.
 */
#ifndef FLEET_HOST_APART_H
#define FLEET_HOST_APART_H

#include "base/map.h"
#include "dif/obj/program.h"

struct fl_apart {
	struct ot_map uses; /* of a global, by its name */
	struct ot_arena arena;
};

void fl_apart_init(struct fl_apart *a);
void fl_apart_deinit(struct fl_apart *a);

/** A clause of guests' probes, or, if @p of_operator, of END or a tick. BEGIN's is neither: what it writes
 * goes to all. */
OT_MUST_CHECK struct ot_err *fl_apart_see(struct fl_apart *a, const struct dif_clause *clause,
					  bool of_operator);
/** A sentence about the first variable that is written on one side and read on the other, appended to @p out;
 * nothing if there is none. */
void fl_apart_print(const struct fl_apart *a, struct ot_buf *out);

#endif
