/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that every D program starts with: built-in variables (dif/obj/names.h), functions
 * (dif/obj/functions.h), NULL. */
#include <stddef.h>
#include <string.h>

#include "dif/lang/types/ident.h"

/* Built-in variables. */
static const struct {
	const char *name;
	uint32_t id;
	const char *type;
	uint32_t since;
	enum dif_name_stability stability;
} vars[] = {
#define X(num, name, type, since, stability) { #name, num, type, since, DIF_NAME_##stability },
	DIF_VARS(X)
#undef X
};

static void set_stability(struct dif_ident *id, uint32_t since, enum dif_name_stability stability)
{
	id->version = DIF_VERSION(1, since, 0);
	switch (stability) {
	case DIF_NAME_stable:
		break;
	case DIF_NAME_evolving:
		id->attr.name = id->attr.data = DIF_STABILITY_EVOLVING;
		break;
	case DIF_NAME_kernel:
		id->attr.data = DIF_STABILITY_PRIVATE;
		break;
	}
}

/* curthread's type is resolved when a program first needs its members: most never do. Without a definition it
 * stays a forward declaration. */
static struct ot_err *find_task(struct dif_type_source *src, struct dif_type *type)
{
	struct dif_typetab *tab =
	    (struct dif_typetab *)((char *)src - offsetof(struct dif_typetab, task_source));
	struct dif_compiler *c = tab->owner;
	struct dif_type *task = dif_tag_find(c, DIF_C_STRUCT, "task_struct");

	if (!task)
		task = dif_type_new(c, DIF_C_FORWARD, "task_struct", 0);
	if (!task)
		return ot_err_nomem();
	type->ref = task;
	type->complete = true;
	return NULL;
}

/* kthread_t, as other systems call it: what curthread points to. */
static bool add_task_type(struct dif_compiler *c)
{
	struct dif_type *task = dif_type_new(c, DIF_C_TYPEDEF, "struct task_struct", 0);

	if (!task)
		return false;
	c->types->task_source.complete = find_task;
	task->source = &c->types->task_source;
	task->complete = false;
	return ot_map_puts(&c->types->typedefs, "kthread_t", task) || dif_fail_memory(c);
}

struct dif_type *dif_builtin_type(struct dif_compiler *c, uint32_t id)
{
	if (id == DIF_VAR_curthread)
		return dif_type_pointer(c, ot_map_gets(&c->types->typedefs, "kthread_t"));
	for (size_t i = 0; i < OT_ARRAY_SIZE(vars); i++) {
		if (vars[i].id != id)
			continue;
		if (strstr(vars[i].type, "[]"))
			return c->types->uint64;
		return *vars[i].type ? ot_map_gets(&c->types->typedefs, vars[i].type) : c->types->dynamic;
	}
	return c->types->int64;
}

static bool add_variables(struct dif_compiler *c)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(vars); i++) {
		struct dif_ident *id = dif_ident_add(c, DIF_NAME_GLOBAL, vars[i].name, DIF_ID_BUILTIN);
		if (!id)
			return false;
		id->id = vars[i].id;
		id->is_array = vars[i].id <= DIF_VAR_ARRAY_MAX;
		id->is_assigned = true;
		set_stability(id, vars[i].since, vars[i].stability);
	}
	return true;
}

static bool add_functions(struct dif_compiler *c, enum dif_ident_kind kind, const struct dif_function *list,
			  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dif_ident *id = dif_ident_add(c, DIF_NAME_GLOBAL, list[i].name, kind);
		if (!id)
			return false;
		id->func = &list[i];
		set_stability(id, list[i].since, list[i].stability);
	}
	return true;
}

bool dif_builtins_init(struct dif_compiler *c)
{
	if (!add_task_type(c) || !add_variables(c))
		return false;
	struct dif_ident *null = dif_ident_add(c, DIF_NAME_GLOBAL, "NULL", DIF_ID_CONST);
	if (!null)
		return false;
	null->type = c->types->int_;
	return add_functions(c, DIF_ID_SUBR, dif_subrs, dif_nsubrs) &&
	       add_functions(c, DIF_ID_ACTION, dif_action_names, dif_naction_names) &&
	       add_functions(c, DIF_ID_AGGFUNC, dif_aggs, dif_naggs);
}
