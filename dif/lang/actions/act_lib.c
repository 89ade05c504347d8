/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions of the consumer: clear, trunc, normalize, denormalize, ftruncate, setopt. */
#include "dif/lang/actions/clause.h"
#include "dif/lang/check/cook.h"
#include "dif/lang/types/suggest.h"

/* From 1 on. */
static uint32_t position(const struct dif_node *call, const struct dif_node *arg)
{
	uint32_t n = 1;

	for (const struct dif_node *a = call->args; a && a != arg; a = a->next)
		n++;
	return n;
}

struct dif_ident *dif_act_agg_arg(struct dif_compiler *c, const struct dif_node *call, struct dif_node *arg,
				  enum dif_errtag not_agg, enum dif_errtag undefined)
{
	if (arg->kind != DIF_N_AGG)
		return dif_fail(c, not_agg, call->line,
				"%s( ) argument #%u is incompatible with prototype:\n\tprototype: "
				"aggregation\n\t argument: %s",
				call->name, position(call, arg), dif_type_text(c, arg->type));
	struct dif_ident *id = dif_agg_find(c, arg->name);
	if (!id || !id->agg_kind) {
		dif_fail(c, undefined, call->line, "undefined aggregation: @%s", arg->name);
		dif_suggest_aggregation(c, arg->name);
		return NULL;
	}
	return id;
}

struct tags {
	enum dif_errtag proto, aggarg, aggbad, scalar;
};

static const struct tags *tags_of(uint32_t which)
{
	static const struct tags clear = { DIF_D_CLEAR_PROTO, DIF_D_CLEAR_AGGARG, DIF_D_CLEAR_AGGBAD,
					   DIF_D_NONE };
	static const struct tags trunc = { DIF_D_TRUNC_PROTO, DIF_D_TRUNC_AGGARG, DIF_D_TRUNC_AGGBAD,
					   DIF_D_TRUNC_SCALAR };
	static const struct tags norm = { DIF_D_NORMALIZE_PROTO, DIF_D_NORMALIZE_AGGARG,
					  DIF_D_NORMALIZE_AGGBAD, DIF_D_NORMALIZE_SCALAR };

	return which == DIF_LIBACT_CLEAR ? &clear : which == DIF_LIBACT_TRUNC ? &trunc : &norm;
}

static struct dif_object *value_object(struct dif_compiler *c, struct dif_node *arg)
{
	if (!dif_type_same(c, arg->type, c->types->int64) && dif_is_int(c, arg->type))
		arg = dif_cast_to(c, arg, c->types->int64);
	return arg ? dif_act_object(c, arg) : NULL;
}

static bool aggregation_action(struct dif_compiler *c, struct dif_node *call, uint32_t which,
			       struct dif_actions *out)
{
	const struct tags *t = tags_of(which);
	unsigned min = which == DIF_LIBACT_NORMALIZE ? 2 : 1;
	unsigned max = which == DIF_LIBACT_NORMALIZE || which == DIF_LIBACT_TRUNC ? 2 : 1;
	struct dif_object *obj = NULL;

	if (!dif_act_nargs(c, call, min, max, t->proto) || !dif_cook_list(c, &call->args))
		return false;
	struct dif_ident *id = dif_act_agg_arg(c, call, call->args, t->aggarg, t->aggbad);
	if (!id)
		return false;
	if (call->args->next) {
		if (call->args->next->kind == DIF_N_AGG || !dif_is_scalar(c, call->args->next->type))
			return dif_fail(c, t->scalar, call->line, "%s( ) argument #2 must be of scalar type",
					call->name);
		obj = value_object(c, call->args->next);
		if (!obj)
			return false;
	}
	struct dif_action *a = dif_action_add(c, out, DIF_ACT_libact, obj);
	if (!a)
		return false;
	a->arg = which;
	a->aggid = id->id;
	return true;
}

/* setopt(name[, value]): one record each */
static bool setopt(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	if (!dif_act_nargs(c, call, 1, 2, DIF_D_PROTO_LEN) || !dif_cook_list(c, &call->args))
		return false;
	for (struct dif_node *arg = call->args, *next; arg; arg = next) {
		next = arg->next;
		if (arg->kind == DIF_N_AGG || dif_node_is_action(arg) || !dif_is_stringlike(c, arg->type))
			return dif_fail(c, DIF_D_PROTO_ARG, call->line,
					"setopt( ) argument is incompatible with prototype:\n\tprototype: "
					"string\n\t argument: %s",
					dif_type_text(c, arg->type));
		if (!dif_is_string(c, arg->type))
			arg = dif_cast_to(c, arg, c->types->string);
		struct dif_object *obj = arg ? dif_act_object(c, arg) : NULL;
		struct dif_action *a = obj ? dif_action_add(c, out, DIF_ACT_libact, obj) : NULL;
		if (!a)
			return false;
		a->arg = DIF_LIBACT_SETOPT;
	}
	return true;
}

bool dif_act_library(struct dif_compiler *c, struct dif_node *call, struct dif_actions *out)
{
	uint32_t which = call->ident->func->variant;

	if (!dif_act_record(c, call->line))
		return false;
	if (which == DIF_LIBACT_SETOPT)
		return setopt(c, call, out);
	if (which != DIF_LIBACT_FTRUNCATE)
		return aggregation_action(c, call, which, out);
	if (!dif_act_nargs(c, call, 0, 0, DIF_D_PROTO_LEN))
		return false;
	struct dif_action *a = dif_action_add(c, out, DIF_ACT_libact, NULL);
	if (a)
		a->arg = which;
	return a != NULL;
}
