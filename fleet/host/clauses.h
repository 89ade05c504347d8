/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the clauses of a program that a host enables, and their form. The operator runs BEGIN, END and
 * ticks, and prints their output. Guests' variables start as BEGIN leaves them, so the host evaluates BEGIN
 * too, for that alone.
 */
#ifndef FLEET_HOST_CLAUSES_H
#define FLEET_HOST_CLAUSES_H

#include "consumer/compile.h"
#include "fleet/host/apart.h"

/* The kind of probes that a description matches. */
struct fl_matched {
	uint64_t begin, others; /* BEGIN; END, ticks: fired by the operator's process */
	uint64_t errors;        /* ERROR, which also exists in each guest */
	uint64_t guests;        /* of guests */
};

/** Change the clauses from number @p first on to those of a host, before they are enabled. @p apart records
 * them as they were. *ret_operators: the number of probes that they matched and that are the operator's. */
OT_MUST_CHECK struct ot_err *fl_clauses_take(struct con_compilation *c, struct vp_session *s, uint32_t first,
					     struct fl_apart *apart, uint64_t *ret_operators);

/** Keep of BEGIN's actions those that change variables: everything is evaluated, nothing acts. @p arena is
 * the program's. */
OT_MUST_CHECK struct ot_err *fl_clauses_quiet(const struct dif_clause *clause, struct ot_arena *arena,
					      struct dif_clause *ret);

/** The clauses into which @p clause is split, at most three, in *ret; none for END and ticks. */
OT_MUST_CHECK struct ot_err *fl_clauses_parts(const struct dif_clause *clause, const struct fl_matched *m,
					      struct ot_arena *arena, struct dif_clause ret[3],
					      uint32_t *ret_n);

/** A message about @p clause, where a compiler's error would be: "failed to compile script x.d: line 3: …".
 */
OT_MUST_CHECK OT_NONNULL_RESULT struct ot_err *fl_clause_error(enum ot_err_code code,
							       const struct con_texts *texts,
							       const struct dif_clause *clause,
							       const char *fmt, ...) OT_PRINTF(4, 5);

#endif
