/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clauses: parsed ones to struct dif_clause. One description gives one clause; if/else gives
 * more (check/sugar.c). Actions are made by act_*.c through struct dif_actions.
 */
#ifndef DIF_LANG_ACTIONS_CLAUSE_H
#define DIF_LANG_ACTIONS_CLAUSE_H

#include "dif/lang/check/sugar.h"
#include "dif/lang/syntax/parse.h"

/** Cook, check and generate; the clauses are added to c->out.clauses. */
bool dif_clause_compile(struct dif_compiler *c, const struct dif_parsed_clause *pc);

/* The actions of the clause being made. */
struct dif_actions {
	struct dif_action *list;
	size_t n, cap;
};

/** Add an action to the clause; uarg is the current statement's. Returned pointer is valid until
 * the next call. NULL without memory. */
struct dif_action *dif_action_add(struct dif_compiler *c, struct dif_actions *out, uint32_t kind,
				  struct dif_object *object);

/* act.c: an action's call as a statement. */
bool dif_act_call(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out);
/* act_agg.c: @name[keys] = func(args) */
bool dif_act_aggregate(struct dif_compiler *c, struct dif_node *asgn, struct dif_actions *out);
/** Look an aggregation argument up: D_…_AGGARG, D_…_AGGBAD. */
struct dif_ident *dif_act_agg_arg(struct dif_compiler *c, const struct dif_node *call, struct dif_node *arg,
				  enum dif_errtag not_agg, enum dif_errtag undefined);
/* act_lib.c: clear, trunc, normalize, denormalize, ftruncate, setopt */
bool dif_act_library(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out);
/* act_printf.c: printf, printa, system, freopen */
bool dif_act_printf(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out);
bool dif_act_printa(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out);
/* act_print.c: print's layout of a type, as text */
const char *dif_print_layout(struct dif_compiler *c, struct dif_type *type);
/* act_stack.c: stack, ustack, jstack, sym and their like, also as keys */
bool dif_act_stack(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out);
/** The type of a stack or symbol action as a key or as an argument of printf(): stack, _symaddr, _usymaddr;
 * NULL for other actions. */
struct dif_type *dif_act_stack_type(struct dif_compiler *c, const struct dif_node *call);
bool dif_act_sym(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out);

/** Cook and generate an expression for an action: its value is the record. NULL after an error. */
struct dif_object *dif_act_object(struct dif_compiler *c, struct dif_node *node);
/** Data is recorded: D_DREC_COMM. */
bool dif_act_record(struct dif_compiler *c, uint32_t line);
/** The call has @p min..@p max arguments, else @p tag. */
bool dif_act_nargs(struct dif_compiler *c, const struct dif_node *call, unsigned min, unsigned max,
		   enum dif_errtag tag);
/** An integer constant argument (cooked); false: it is none. */
bool dif_act_const(const struct dif_node *node, int64_t *ret);

#endif
