/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clauses that engine_bench measures. */
#ifndef BENCH_ENGINE_CLAUSES_H
#define BENCH_ENGINE_CLAUSES_H

#include "dif/obj/program.h"

/* What is not to fail in a benchmark ends it with a message. */
void bench_must(struct ot_err *err);
void *bench_need(void *p);

extern const struct dif_rtype bench_u64;

/** A program with one clause without predicate and actions. */
void bench_program(struct dif_program *prog);
/** @p text with the constants @p value and 1, of the program's memory. */
struct dif_object *bench_object(struct dif_program *prog, const uint32_t *text, uint32_t len, uint64_t value,
				struct dif_rtype ret);
struct dif_action *bench_action(struct dif_clause *c, uint32_t kind, struct dif_object *o);

#define BENCH_PID 42 /* of the process that runs */

/* Predicate and actions of @p c: */
void bench_empty(struct dif_program *prog, struct dif_clause *c); /* /pid == other/ { @ = count(); } */
void bench_count_pid(struct dif_program *prog,
		     struct dif_clause *c);                          /* /pid == BENCH_PID/ { @ = count(); } */
void bench_execname(struct dif_program *prog, struct dif_clause *c); /* @[execname] = count() */
void bench_probefunc(struct dif_program *prog, struct dif_clause *c);       /* @[probefunc] = count() */
void bench_arg(struct dif_program *prog, struct dif_clause *c);             /* @[arg0] = count() */
void bench_sum(struct dif_program *prog, struct dif_clause *c);             /* @ = sum(arg0) */
void bench_printf(struct dif_program *prog, struct dif_clause *c);          /* arg0, arg1 */
void bench_printf_execname(struct dif_program *prog, struct dif_clause *c); /* execname, arg0 */

#endif
