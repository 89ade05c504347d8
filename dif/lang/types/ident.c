/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of names, and the numbers of variables and aggregations. */
#include "dif/lang/types/ident.h"

#include <string.h>

#include "dif/lang/types/pending.h"
#include "dif/lang/types/provider_priv.h"

void dif_idents_init(struct dif_idents *ids)
{
	ot_map_init(&ids->globals);
	ot_map_init(&ids->thread);
	ot_map_init(&ids->local);
	ot_map_init(&ids->aggs);
	ot_map_init(&ids->pending);
	ot_map_init(&ids->providers);
	for (unsigned i = 0; i < DIF_NUMBER_SCOPES; i++)
		ot_map_init(&ids->expected[i]);
	dif_numbers_init(&ids->own, DIF_VAR_USER_MIN, DIF_VAR_PROVIDER_MIN - 1);
	ids->numbers = &ids->own;
}

void dif_idents_deinit(struct dif_idents *ids)
{
	ot_map_deinit(&ids->globals);
	ot_map_deinit(&ids->thread);
	ot_map_deinit(&ids->local);
	ot_map_deinit(&ids->aggs);
	ot_map_deinit(&ids->pending);
	for (unsigned i = 0; i < DIF_NUMBER_SCOPES; i++)
		ot_map_deinit(&ids->expected[i]);
	dif_numbers_deinit(&ids->own);
	for (size_t i = 0; i < ids->providers.count; i++) {
		struct dif_provider *p = ids->providers.entries[i]->value;
		ot_map_deinit(&p->probes);
	}
	ot_map_deinit(&ids->providers);
}

void dif_idents_begin(struct dif_idents *ids)
{
	ot_map_deinit(&ids->pending);
	ot_map_init(&ids->pending);
	ids->npending = 0;
	ids->params = NULL;
	ids->gen++;
}

static struct ot_map *scope_map(struct dif_compiler *c, enum dif_name_scope scope)
{
	return scope == DIF_NAME_SELF   ? &c->idents->thread
	       : scope == DIF_NAME_THIS ? &c->idents->local
					: &c->idents->globals;
}

struct dif_ident *dif_ident_find(struct dif_compiler *c, enum dif_name_scope scope, const char *name)
{
	if (scope == DIF_NAME_GLOBAL)
		for (struct dif_ident *p = c->idents->params; p; p = p->outer)
			if (!strcmp(p->name, name))
				return p;
	struct dif_ident *id = ot_map_gets(scope_map(c, scope), name);
	/* under -x version a name that is newer is free for the program */
	if (id && c->opts->version && id->version > c->opts->version)
		return NULL;
	return id;
}

bool dif_ident_is_own(const struct dif_ident *id)
{
	return id->kind == DIF_ID_BUILTIN && id->id >= DIF_VAR_FIRST_OWN;
}

struct dif_ident *dif_ident_add(struct dif_compiler *c, enum dif_name_scope scope, const char *name,
				enum dif_ident_kind kind)
{
	static const uint8_t scopes[] = {
		[DIF_NAME_GLOBAL] = DIF_SCOPE_GLOBAL,
		[DIF_NAME_SELF] = DIF_SCOPE_THREAD,
		[DIF_NAME_THIS] = DIF_SCOPE_LOCAL,
	};
	struct dif_ident *id = dif_new(c, &c->arena, struct dif_ident);

	if (!id)
		return NULL;
	id->name = dif_strdup(c, &c->arena, name);
	id->kind = kind;
	id->var_scope = scopes[scope];
	id->attr = DIF_ATTRIBUTE_DEFAULT;
	id->gen = c->idents->gen;
	if (!id->name || !ot_map_puts(scope_map(c, scope), name, id))
		return dif_fail_memory(c);
	if (scope == DIF_NAME_GLOBAL)
		dif_pragma_apply(c, id);
	return id;
}

struct dif_ident *dif_agg_find(struct dif_compiler *c, const char *name)
{
	return ot_map_gets(&c->idents->aggs, name);
}

struct dif_ident *dif_agg_add(struct dif_compiler *c, const char *name)
{
	struct dif_ident *id = dif_new(c, &c->arena, struct dif_ident);

	if (!id)
		return NULL;
	id->name = dif_strdup(c, &c->arena, name);
	id->kind = DIF_ID_AGG;
	if (!id->name || !ot_map_puts(&c->idents->aggs, name, id) ||
	    !dif_numbers_aggregation(c->idents->numbers, name, &id->id))
		return dif_fail_memory(c);
	return id;
}

bool dif_ident_number(struct dif_compiler *c, struct dif_ident *id)
{
	enum dif_name_scope scope = id->var_scope == DIF_SCOPE_THREAD  ? DIF_NAME_SELF
				    : id->var_scope == DIF_SCOPE_LOCAL ? DIF_NAME_THIS
								       : DIF_NAME_GLOBAL;

	if (!dif_numbers_variable(c->idents->numbers, scope, id->name, &id->id))
		return dif_fail_memory(c);
	return id->id || dif_fail(c, DIF_D_ID_OFLOW, 0,
				  "cannot create %s: limit on number of variables exceeded", id->name);
}
