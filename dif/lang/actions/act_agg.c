/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregating: @name[keys] = func(args). Parameters of lquantize and llquantize: agg_params.c. */
#include "dif/lang/actions/agg_params.h"
#include "dif/lang/actions/clause.h"
#include "dif/lang/check/cook.h"
#include "dif/lang/gen/cg.h"

/* A key's type in the aggregation's signature; stacks and symbols have types of their own. */
static struct dif_type *key_type(struct dif_compiler *c, struct dif_node *k)
{
	if (dif_node_is_action(k))
		return dif_act_stack_type(c, k);
	if (k->kind == DIF_N_AGG || dif_is_void(c, k->type) || dif_is_kind(c, k->type, DIF_C_DYNAMIC))
		return NULL;
	return k->type;
}

static bool set_signature(struct dif_compiler *c, struct dif_ident *id, struct dif_node *keys)
{
	uint32_t i = 0;

	id->has_keys = true;
	id->nkeys = dif_node_count(keys);
	id->keys = dif_alloc(c, &c->arena, (id->nkeys + 1) * sizeof(*id->keys));
	for (; id->keys && keys; keys = keys->next)
		id->keys[i++] = key_type(c, keys);
	return id->keys != NULL;
}

static bool key_fits(struct dif_compiler *c, struct dif_type *want, struct dif_node *k)
{
	struct dif_type *have = key_type(c, k);

	if (dif_type_same(c, want, have))
		return true;
	return !dif_node_is_action(k) && want->kind != DIF_C_STACK && want->kind != DIF_C_SYMADDR &&
	       want->kind != DIF_C_USYMADDR && dif_assignable(c, want, k);
}

static bool check_keys(struct dif_compiler *c, struct dif_ident *id, struct dif_node *agg)
{
	uint32_t n = dif_node_count(agg->args), i = 0;

	for (struct dif_node *k = agg->args; k; k = k->next, i++)
		if (!key_type(c, k))
			return dif_fail(c, DIF_D_KEY_TYPE, k->line,
					"%s expression may not be used as aggregation index: key #%u",
					dif_type_text(c, k->type), i + 1);
	i = 0;
	if (!id->has_keys)
		return set_signature(c, id, agg->args);
	if (n != id->nkeys)
		return dif_fail(c, DIF_D_PROTO_LEN, agg->line,
				"@%s[ ] prototype mismatch: %u key%s passed, %u expected", agg->name, n,
				n == 1 ? "" : "s", id->nkeys);
	/* Compatible is enough: each statement's keys keep their own size, and so are other keys. */
	for (struct dif_node *k = agg->args; k; k = k->next, i++)
		if (!key_fits(c, id->keys[i], k))
			return dif_fail(c, DIF_D_PROTO_ARG, agg->line,
					"@%s[ ] key #%u is incompatible with prototype:\n\tprototype: %s\n\t "
					"     key: %s",
					agg->name, i + 1, dif_type_text(c, id->keys[i]),
					dif_type_text(c, k->type));
	return true;
}

static bool add_key(struct dif_compiler *c, struct dif_node *k, struct dif_actions *out)
{
	if (dif_node_is_action(k)) {
		bool stack = key_type(c, k) == c->types->stack;
		if (!(stack ? dif_act_stack(c, k, out) : dif_act_sym(c, k, out)))
			return false;
	} else {
		struct dif_object *obj = dif_act_object(c, k);
		if (!obj || !dif_action_add(c, out, DIF_ACT_difexpr, obj))
			return false;
	}
	out->list[out->n - 1].is_key = true;
	return true;
}

static bool add_increment(struct dif_compiler *c, struct dif_node *incr, struct dif_actions *out)
{
	struct dif_rtype none = { .kind = DIF_TYPE_CTF };
	struct dif_object *obj = dif_cg_object(c, incr, &none);
	struct dif_action *a = obj ? dif_action_add(c, out, DIF_ACT_difexpr, obj) : NULL;

	if (a) {
		a->is_key = true;
		a->is_increment = true;
	}
	return a != NULL;
}

static bool check_order(struct dif_compiler *c, struct dif_node *n)
{
	if (c->clause->has_commit)
		return dif_fail(c, DIF_D_AGG_COMM, n->line, "aggregating actions may not follow commit( )");
	if (c->clause->has_speculate)
		return dif_fail(c, DIF_D_AGG_SPEC, n->line,
				"aggregating actions may not follow speculate( )");
	return true;
}

static const struct dif_function *agg_function(struct dif_compiler *c, struct dif_node *asgn)
{
	struct dif_node *call = asgn->right;

	if (asgn->arith || call->kind != DIF_N_FUNC) {
		dif_fail(c, DIF_D_AGG_FUNC, asgn->line,
			 "@%s must be assigned the result of an aggregating function", asgn->left->name);
		dif_hint(
		    c, "only count( ), sum( ) and others of their kind fill an aggregation; a value that is "
		       "read again is kept in self->x, or in x[key]");
		return NULL;
	}
	struct dif_ident *id = dif_called(c, call);
	if (!id)
		return NULL;
	if (id->kind != DIF_ID_AGGFUNC)
		return dif_fail(c, DIF_D_AGG_FUNC, asgn->line, "%s( ) is not an aggregating function",
				call->name);
	if (!dif_use_ident(c, id, call->line))
		return NULL;
	call->ident = id;
	return id->func;
}

static bool define(struct dif_compiler *c, struct dif_ident *id, struct dif_node *asgn,
		   const struct dif_function *func, const struct dif_agg_params *p)
{
	if (!id->agg_kind) {
		id->agg_kind = func->id;
		id->agg_arg = p->arg;
		id->line = asgn->line;
		return true;
	}
	if (id->agg_kind != func->id)
		return dif_fail(
		    c, DIF_D_AGG_REDEF, asgn->line,
		    "aggregation redefined: @%s\n\t current: @%s = %s( )\n\tprevious: @%s = %s( ) "
		    ": line %u",
		    id->name, id->name, func->name, id->name, dif_action_name(id->agg_kind), id->line);
	return dif_agg_params_match(c, id, asgn, p);
}

bool dif_act_aggregate(struct dif_compiler *c, struct dif_node *asgn, struct dif_actions *out)
{
	struct dif_node *agg = asgn->left, *call = asgn->right;
	const struct dif_function *func = agg_function(c, asgn);
	struct dif_agg_params params;

	if (!func || !check_order(c, asgn) || !dif_cook_list(c, &agg->args) ||
	    !dif_cook_list(c, &call->args) || !dif_agg_params(c, call, &params))
		return false;
	struct dif_ident *id = dif_agg_find(c, agg->name);
	if (!id && !(id = dif_agg_add(c, agg->name)))
		return false;
	if (!check_keys(c, id, agg) || !define(c, id, asgn, func, &params))
		return false;
	for (struct dif_node *k = agg->args; k; k = k->next)
		if (!add_key(c, k, out))
			return false;
	if (params.increment && !add_increment(c, params.increment, out))
		return false;
	struct dif_object *obj = NULL;
	if (params.value && !(obj = dif_act_object(c, params.value)))
		return false;
	struct dif_action *a = dif_action_add(c, out, func->id, obj);
	if (!a)
		return false;
	a->ntuple = id->nkeys + (params.increment ? 1 : 0) + 1;
	a->arg = params.arg;
	a->aggid = id->id;
	return true;
}
