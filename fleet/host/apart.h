/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds programs that expect one variable where there are two: a global of END and ticks is the operator's,
 * on the operator's machine; a global of guests' clauses is theirs, on this host. Neither side sees what the
 * other writes.
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

/** Record the globals that a clause of guests' probes, or with @p of_operator of END or a tick, reads and
 * writes. BEGIN's clauses belong to neither side: what they write goes to all. */
OT_MUST_CHECK struct ot_err *fl_apart_see(struct fl_apart *a, const struct dif_clause *clause,
					  bool of_operator);
/** A sentence about the first variable that is written on one side and read on the other, appended to @p out;
 * nothing if there is none. */
void fl_apart_print(const struct fl_apart *a, struct ot_buf *out);

#endif
