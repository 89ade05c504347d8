/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": the nearest name to one that does not exist. */
#include "dif/lang/types/suggest.h"

#include "base/near.h"

#define NESTING_MAX 8

static const char *const prefixes[] = {
	[DIF_NAME_GLOBAL] = "",
	[DIF_NAME_SELF] = "self->",
	[DIF_NAME_THIS] = "this->",
};

static const struct ot_map *names_of(const struct dif_compiler *c, enum dif_name_scope scope)
{
	return scope == DIF_NAME_SELF   ? &c->idents->thread
	       : scope == DIF_NAME_THIS ? &c->idents->local
					: &c->idents->globals;
}

/* Names that programs can't write (those of if/else) are not suggested. */
static bool is_variable(const struct dif_ident *id)
{
	return !id->func && id->name[0] != '%';
}

void dif_suggest_variable(struct dif_compiler *c, enum dif_name_scope scope, const char *name)
{
	const struct ot_map *names = names_of(c, scope);
	struct ot_near near;

	for (enum dif_name_scope other = DIF_NAME_GLOBAL; other <= DIF_NAME_THIS; other++) {
		const struct dif_ident *id = other == scope ? NULL : ot_map_gets(names_of(c, other), name);
		if (!id || !is_variable(id))
			continue;
		dif_hint(c, "did you mean %s%s?", prefixes[other], name);
		return;
	}
	ot_near_init(&near, name);
	for (size_t i = 0; i < names->count; i++) {
		const struct dif_ident *id = names->entries[i]->value;
		if (id && is_variable(id))
			ot_near_offer(&near, id->name);
	}
	if (ot_near_best(&near))
		dif_hint(c, "did you mean %s%s?", prefixes[scope], ot_near_best(&near));
}

void dif_suggest_function(struct dif_compiler *c, const char *name)
{
	struct ot_near near;

	ot_near_init(&near, name);
	for (size_t i = 0; i < c->idents->globals.count; i++) {
		const struct dif_ident *id = c->idents->globals.entries[i]->value;
		if (id && id->func)
			ot_near_offer(&near, id->name);
	}
	if (ot_near_best(&near))
		dif_hint(c, "did you mean %s( )?", ot_near_best(&near));
}

static void offer_members(struct dif_compiler *c, struct ot_near *near, struct dif_type *type, int depth)
{
	struct dif_type *sou = dif_base(c, type);

	if (depth > NESTING_MAX || !dif_is_sou(c, sou))
		return;
	ot_err_destroy(dif_type_complete(sou));
	for (uint32_t i = 0; sou->members && i < sou->nmembers; i++) {
		const struct dif_member *m = &sou->members[i];
		if (m->name && *m->name)
			ot_near_offer(near, m->name);
		else
			offer_members(c, near, m->type, depth + 1);
	}
}

void dif_suggest_member(struct dif_compiler *c, struct dif_type *sou, const char *name)
{
	struct ot_near near;

	ot_near_init(&near, name);
	offer_members(c, &near, sou, 0);
	if (ot_near_best(&near))
		dif_hint(c, "did you mean %s?", ot_near_best(&near));
}

void dif_suggest_type(struct dif_compiler *c, const char *name)
{
	if (!dif_ident_find(c, DIF_NAME_GLOBAL, name) && !dif_type_find(c, name))
		dif_hint(c, "%s is no type: neither D nor the kernel that is traced has it", name);
}

void dif_suggest_reading(struct dif_compiler *c, const char *name)
{
	dif_hint(c, "%s has no type: *(int *)&%s reads an int there", name, name);
}

void dif_suggest_aggregation(struct dif_compiler *c, const char *name)
{
	struct ot_near near;

	ot_near_init(&near, name);
	for (size_t i = 0; i < c->idents->aggs.count; i++) {
		const struct dif_ident *id = c->idents->aggs.entries[i]->value;
		if (id)
			ot_near_offer(&near, id->name);
	}
	if (ot_near_best(&near))
		dif_hint(c, "did you mean @%s?", ot_near_best(&near));
}
