/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that another compilation of the same texts has: a program records of a variable, and of an
 * aggregation's key, whether it is a string and its size in bytes, which suffices for a clause that only
 * reads them.
 */
#include <string.h>

#include "dif/lang/types/ident.h"

/* The sign of an integer is not recorded: as D's own numbers, it has one. */
static struct dif_type *type_of(struct dif_compiler *c, const struct dif_rtype *type)
{
	const struct dif_typetab *t = c->types;

	if (type->kind == DIF_TYPE_STRING)
		return t->string;
	if (type->flags & DIF_TF_BYREF)
		return dif_type_array(c, t->char_, type->size);
	switch (type->size) {
	case 1:
		return t->int8;
	case 2:
		return t->int16;
	case 4:
		return t->int32;
	default:
		return t->int64;
	}
}

static struct dif_type *key_type(struct dif_compiler *c, const struct dif_action *key)
{
	switch ((unsigned)key->kind) {
	case DIF_ACT_stack:
	case DIF_ACT_ustack:
	case DIF_ACT_jstack:
		return c->types->stack;
	case DIF_ACT_sym:
	case DIF_ACT_mod:
		return c->types->symaddr;
	case DIF_ACT_usym:
	case DIF_ACT_umod:
	case DIF_ACT_uaddr:
		return c->types->usymaddr;
	default:
		return key->object ? type_of(c, &key->object->ret) : c->types->int64;
	}
}

/* --- aggregations --------------------------------------------------------------------------------------- */

/* The statement that aggregates into @id, and the clause that it is in. */
static const struct dif_action *find_use(const struct dif_program *prog, uint32_t id,
					 const struct dif_clause **ret)
{
	for (uint32_t i = 0; i < prog->nclauses; i++) {
		*ret = &prog->clauses[i];
		for (uint32_t k = 0; k < (*ret)->nactions; k++) {
			const struct dif_action *a = &(*ret)->actions[k];
			if (a->aggid == id && DIF_ACT_IS_AGG(a->kind))
				return a;
		}
	}
	return NULL;
}

static bool guess_keys(struct dif_compiler *c, struct dif_ident *id, const struct dif_program *other,
		       const struct dif_aggvar *agg)
{
	const struct dif_clause *clause = NULL;
	const struct dif_action *use = find_use(other, agg->id, &clause);
	const struct dif_action *key = use ? use - (use->ntuple ? use->ntuple - 1 : 0) : NULL;

	id->keys = dif_alloc(c, &c->arena, (agg->nkeys + 1) * sizeof(*id->keys));
	for (uint32_t i = 0; id->keys && i < agg->nkeys; i++) {
		id->keys[i] = key ? key_type(c, &key[i]) : c->types->int64;
		if (!id->keys[i])
			return false;
	}
	id->nkeys = agg->nkeys;
	return id->keys != NULL;
}

static bool expect_aggregation(struct dif_compiler *c, const struct dif_program *other,
			       const struct dif_aggvar *agg)
{
	struct dif_ident *id = agg->kind ? dif_agg_find(c, agg->name) : NULL;

	if (!agg->kind || id)
		return true;
	id = dif_agg_add(c, agg->name);
	if (!id)
		return false;
	id->agg_kind = agg->kind;
	id->agg_arg = agg->arg;
	return guess_keys(c, id, other, agg);
}

/* --- variables ------------------------------------------------------------------------------------------ */

static bool expect_variables(struct dif_compiler *c, const struct dif_object *obj)
{
	static const uint8_t scopes[] = {
		[DIF_SCOPE_GLOBAL] = DIF_NAME_GLOBAL,
		[DIF_SCOPE_THREAD] = DIF_NAME_SELF,
		[DIF_SCOPE_LOCAL] = DIF_NAME_THIS,
	};

	for (uint32_t i = 0; obj && i < obj->var_len; i++) {
		const struct dif_var *v = &obj->vars[i];
		struct ot_map *map;

		if (v->id < DIF_VAR_USER_MIN || v->id >= DIF_VAR_PROVIDER_MIN || v->scope >= sizeof(scopes))
			continue;
		map = &c->idents->expected[scopes[v->scope]];
		if (ot_map_gets(map, obj->strs + v->name))
			continue;
		struct dif_var *copy = dif_new(c, &c->arena, struct dif_var);
		if (!copy)
			return false;
		*copy = *v;
		if (!ot_map_puts(map, obj->strs + v->name, copy))
			return dif_fail_memory(c) != NULL;
	}
	return true;
}

struct dif_ident *dif_expected_variable(struct dif_compiler *c, enum dif_name_scope scope, const char *name)
{
	const struct dif_var *v = ot_map_gets(&c->idents->expected[scope], name);
	struct dif_ident *id = v ? dif_ident_add(c, scope, name, DIF_ID_VAR) : NULL;

	if (!id)
		return NULL;
	id->is_array = v->kind == DIF_VARKIND_ARRAY;
	id->is_assigned = true;
	id->type = type_of(c, &v->type);
	return id->type && dif_ident_number(c, id) ? id : NULL;
}

/* --- a program ------------------------------------------------------------------------------------------ */

bool dif_expected_from(struct dif_compiler *c, const struct dif_program *other)
{
	for (uint32_t i = 0; i < other->naggs; i++)
		if (!expect_aggregation(c, other, &other->aggs[i]))
			return false;
	for (uint32_t i = 0; i < other->nclauses; i++) {
		const struct dif_clause *clause = &other->clauses[i];
		if (!expect_variables(c, clause->predicate))
			return false;
		for (uint32_t k = 0; k < clause->nactions; k++)
			if (!expect_variables(c, clause->actions[k].object))
				return false;
	}
	return true;
}
