/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that are written here and read there: apart.h. */
#include "fleet/host/apart.h"

/* Where a global is used. */
enum {
	IN_GUEST_READ = 1,
	IN_GUEST_WRITTEN = 2,
	BY_OPERATOR_READ = 4,
	BY_OPERATOR_WRITTEN = 8,
};

struct use {
	unsigned how;
};

void fl_apart_init(struct fl_apart *a)
{
	ot_map_init(&a->uses);
	ot_arena_init(&a->arena);
}

void fl_apart_deinit(struct fl_apart *a)
{
	ot_map_deinit(&a->uses);
	ot_arena_deinit(&a->arena);
}

static struct ot_err *use_of(struct fl_apart *a, const char *name, struct use **ret)
{
	*ret = ot_map_gets(&a->uses, name);
	if (*ret)
		return NULL;
	*ret = ot_arena_new(&a->arena, struct use);
	return *ret && ot_map_puts(&a->uses, name, *ret) ? NULL : ot_err_nomem();
}

static struct ot_err *see_object(struct fl_apart *a, const struct dif_object *obj, bool of_operator)
{
	for (uint32_t i = 0; obj && i < obj->var_len; i++) {
		const struct dif_var *v = &obj->vars[i];
		const bool read = v->flags & DIF_VARF_REF, written = v->flags & DIF_VARF_MOD;
		struct use *u;

		if (v->scope != DIF_SCOPE_GLOBAL || v->id < DIF_VAR_USER_MIN || v->id >= DIF_VAR_PROVIDER_MIN)
			continue;
		OT_TRY(use_of(a, obj->strs + v->name, &u));
		if (of_operator)
			u->how |= (read ? BY_OPERATOR_READ : 0u) | (written ? BY_OPERATOR_WRITTEN : 0u);
		else
			u->how |= (read ? IN_GUEST_READ : 0u) | (written ? IN_GUEST_WRITTEN : 0u);
	}
	return NULL;
}

struct ot_err *fl_apart_see(struct fl_apart *a, const struct dif_clause *clause, bool of_operator)
{
	OT_TRY(see_object(a, clause->predicate, of_operator));
	for (uint32_t i = 0; i < clause->nactions; i++)
		OT_TRY(see_object(a, clause->actions[i].object, of_operator));
	return NULL;
}

static bool is_mixed(const struct use *u)
{
	return (u->how & IN_GUEST_WRITTEN && u->how & BY_OPERATOR_READ) ||
	       (u->how & BY_OPERATOR_WRITTEN && u->how & IN_GUEST_READ);
}

void fl_apart_print(const struct fl_apart *a, struct ot_buf *out)
{
	const char *first = NULL;
	bool more = false;

	for (size_t i = 0; i < a->uses.count; i++) {
		if (!is_mixed(a->uses.entries[i]->value))
			continue;
		more |= first != NULL;
		if (!first)
			first = a->uses.entries[i]->key;
	}
	if (first)
		ot_buf_printf(
		    out,
		    "%s%s: each guest has its own in clauses of its probes, the operator another in END and "
		    "ticks: neither sees what the other writes (aggregations are common to all)",
		    first, more ? " and others" : "");
}
