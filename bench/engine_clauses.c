/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clauses that engine_bench measures, assembled by hand: it links no compiler. */
#include "bench/engine_clauses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct dif_rtype bench_u64 = { .ckind = DIF_CTF_INTEGER, .size = 8 };
static const struct dif_rtype string_type = { .kind = DIF_TYPE_STRING, .flags = DIF_TF_BYREF };

void bench_must(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "engine_bench: %s\n", ot_err_message(err));
	exit(1);
}

void *bench_need(void *p)
{
	if (!p)
		bench_must(ot_err_nomem());
	return p;
}

struct dif_object *bench_object(struct dif_program *prog, const uint32_t *text, uint32_t len, uint64_t value,
				struct dif_rtype ret)
{
	struct dif_object *o = bench_need(ot_arena_new(&prog->arena, struct dif_object));

	o->text = bench_need(ot_arena_alloc(&prog->arena, len * sizeof(*text)));
	memcpy(o->text, text, len * sizeof(*text));
	o->text_len = len;
	o->ints = bench_need(ot_arena_alloc(&prog->arena, 2 * sizeof(*o->ints)));
	o->ints[0] = value;
	o->ints[1] = 1;
	o->int_len = 2;
	o->strs = bench_need(ot_arena_strdup(&prog->arena, ""));
	o->str_len = 1;
	o->ret = ret;
	return o;
}

static struct dif_object *variable(struct dif_program *prog, uint32_t var, struct dif_rtype type)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_ldgs, var, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };

	return bench_object(prog, text, 2, 0, type);
}

static struct dif_object *pid_is(struct dif_program *prog, uint64_t pid)
{
	const uint32_t text[] = {
		dif_insn_index(DIF_OP_ldgs, DIF_VAR_pid, 1),
		dif_insn_index(DIF_OP_setx, 0, 2),
		dif_insn(DIF_OP_cmp, 1, 2, 0),
		dif_insn_branch(DIF_OP_be, 6),
		dif_insn(DIF_OP_mov, 0, 0, 1),
		dif_insn(DIF_OP_ret, 0, 0, 1),
		dif_insn_index(DIF_OP_setx, 1, 1),
		dif_insn(DIF_OP_ret, 0, 0, 1),
	};

	return bench_object(prog, text, 8, pid, bench_u64);
}

struct dif_action *bench_action(struct dif_clause *c, uint32_t kind, struct dif_object *o)
{
	struct dif_action *a = &c->actions[c->nactions++];

	*a = (struct dif_action){ .kind = (enum dif_action_kind)kind, .object = o };
	return a;
}

static void count(struct dif_program *prog, struct dif_clause *c, struct dif_object *key)
{
	if (key)
		bench_action(c, DIF_ACT_difexpr, key)->is_key = true;
	struct dif_action *a = bench_action(c, DIF_AGG_count, NULL);
	a->ntuple = key ? 2 : 1;
	a->aggid = 1;
	prog->naggs = 1;
	prog->aggs[0] =
	    (struct dif_aggvar){ .name = "_", .id = 1, .kind = DIF_AGG_count, .nkeys = key != NULL };
}

void bench_program(struct dif_program *prog)
{
	dif_program_init(prog);
	prog->clauses = bench_need(ot_arena_alloc(&prog->arena, sizeof(*prog->clauses)));
	prog->aggs = bench_need(ot_arena_alloc(&prog->arena, sizeof(*prog->aggs)));
	prog->nclauses = 1;
	prog->clauses[0] = (struct dif_clause){
		.probe = { "", "", "", "", "", 0 },
		.actions = bench_need(ot_arena_alloc(&prog->arena, 8 * sizeof(struct dif_action))),
	};
}

/* --- clauses ------------------------------------------------------------------------------------ */

void bench_empty(struct dif_program *prog, struct dif_clause *c)
{
	c->predicate = pid_is(prog, BENCH_PID + 1);
	count(prog, c, NULL);
}

void bench_count_pid(struct dif_program *prog, struct dif_clause *c)
{
	c->predicate = pid_is(prog, BENCH_PID);
	count(prog, c, NULL);
}

void bench_execname(struct dif_program *prog, struct dif_clause *c)
{
	count(prog, c, variable(prog, DIF_VAR_execname, string_type));
}

void bench_probefunc(struct dif_program *prog, struct dif_clause *c)
{
	count(prog, c, variable(prog, DIF_VAR_probefunc, string_type));
}

void bench_arg(struct dif_program *prog, struct dif_clause *c)
{
	count(prog, c, variable(prog, DIF_VAR_arg0, bench_u64));
}

void bench_printf(struct dif_program *prog, struct dif_clause *c)
{
	bench_action(c, DIF_ACT_difexpr, variable(prog, DIF_VAR_arg0, bench_u64));
	bench_action(c, DIF_ACT_difexpr, variable(prog, DIF_VAR_arg1, bench_u64));
}

void bench_printf_execname(struct dif_program *prog, struct dif_clause *c)
{
	bench_action(c, DIF_ACT_difexpr, variable(prog, DIF_VAR_execname, string_type));
	bench_action(c, DIF_ACT_difexpr, variable(prog, DIF_VAR_arg0, bench_u64));
}

void bench_sum(struct dif_program *prog, struct dif_clause *c)
{
	count(prog, c, NULL);
	c->actions[0].kind = (enum dif_action_kind)DIF_AGG_sum;
	c->actions[0].object = variable(prog, DIF_VAR_arg0, bench_u64);
	prog->aggs[0].kind = DIF_AGG_sum;
}
