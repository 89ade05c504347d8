/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x[…]: associative arrays, built-in arrays, inline arrays, and C's *(x + …). */
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/types/suggest.h"

static bool key_type_ok(struct dif_compiler *c, const struct dif_node *k, uint32_t number)
{
	if (k->kind == DIF_N_AGG || dif_node_is_action(k) || dif_is_void(c, k->type) ||
	    dif_is_kind(c, k->type, DIF_C_DYNAMIC))
		return dif_fail(c, DIF_D_KEY_TYPE, k->line,
				"%s expression may not be used as associative array index: key #%u",
				dif_type_text(c, k->type), number);
	return true;
}

static bool fix_signature(struct dif_compiler *c, struct dif_ident *id, struct dif_node *keys)
{
	uint32_t i = 0;

	id->has_keys = true;
	id->nkeys = dif_node_count(keys);
	id->keys = dif_alloc(c, &c->arena, (id->nkeys + 1) * sizeof(*id->keys));
	for (struct dif_node *k = keys; id->keys && k; k = k->next)
		id->keys[i++] = k->type;
	return id->keys != NULL;
}

/* Check keys against the array's signature, and convert them to it. */
static bool match_keys(struct dif_compiler *c, struct dif_ident *id, struct dif_node **keys)
{
	uint32_t n = dif_node_count(*keys), i = 0;

	for (struct dif_node *k = *keys; k; k = k->next)
		if (!key_type_ok(c, k, ++i))
			return false;
	i = 0;
	if (!id->has_keys)
		return fix_signature(c, id, *keys);
	if (n != id->nkeys)
		return dif_fail(c, DIF_D_PROTO_LEN, *keys ? (*keys)->line : 0,
				"%s[ ] prototype mismatch: %u key%s passed, %u expected", id->name, n,
				n == 1 ? "" : "s", id->nkeys);
	for (struct dif_node **k = keys; *k; k = &(*k)->next, i++) {
		if (!dif_assignable(c, id->keys[i], *k))
			return dif_fail(
			    c, DIF_D_PROTO_ARG, (*k)->line,
			    "%s[ ] key #%u is incompatible with prototype:\n\tprototype: %s\n\t      key: %s",
			    id->name, i + 1, dif_type_text(c, id->keys[i]), dif_type_text(c, (*k)->type));
		if (dif_type_same(c, id->keys[i], (*k)->type))
			continue;
		struct dif_node *next = (*k)->next, *cast = dif_cast_to(c, *k, id->keys[i]);
		if (!cast)
			return false;
		cast->next = next;
		*k = cast;
	}
	return true;
}

static struct dif_node *cook_assoc(struct dif_compiler *c, struct dif_node *n, struct dif_ident *id)
{
	if (!match_keys(c, id, &n->args))
		return NULL;
	n->kind = DIF_N_VAR;
	n->ident = id;
	n->type = id->type;
	n->is_lvalue = n->is_writable = true;
	return n;
}

static struct dif_node *new_assoc(struct dif_compiler *c, struct dif_node *n, struct dif_type *target)
{
	struct dif_node *name = n->left;

	if (name->scope == DIF_NAME_THIS)
		return dif_fail(c, DIF_D_ARR_LOCAL, n->line,
				"local associative arrays are not permitted: this->%s", name->name);
	struct dif_ident *id = dif_ident_add(c, name->scope, name->name, DIF_ID_VAR);
	if (!id || !dif_ident_number(c, id))
		return NULL;
	id->is_array = id->is_assigned = true;
	id->type = dif_is_array(c, target) && dif_is_stringlike(c, target) ? c->types->string : target;
	id->line = n->line;
	return cook_assoc(c, n, id);
}

static struct dif_node *cook_builtin_array(struct dif_compiler *c, struct dif_node *n, struct dif_ident *id)
{
	if (n->args->next)
		return dif_fail(c, DIF_D_PROTO_LEN, n->line,
				"%s[ ] prototype mismatch: %u args passed, 1 expected", id->name,
				dif_node_count(n->args));
	if (n->args->kind != DIF_N_INT)
		return dif_fail(c, DIF_D_PROTO_ARG, n->line,
				"%s[ ] argument #1 is incompatible with prototype:\n\tprototype: integer "
				"constant\n\t argument: %s",
				id->name, dif_type_text(c, n->args->type));
	if (id->id == DIF_VAR_args)
		return dif_cook_args(c, n);
	/* the fields of a VMCS have the biggest numbers */
	if (n->args->value > 0xffff)
		return dif_fail(c, DIF_D_REGS_IDX, n->line, "index %lld is out of range for array %s",
				(long long)n->args->value, id->name);
	n->kind = DIF_N_VAR;
	n->ident = id;
	n->type = dif_builtin_type(c, id->id);
	return n;
}

/*
 * The number of elements that a subscript of @array may name; 0: any. A kernel's array with one element is
 * often the first of many, and so is one in a struct of the program's. An index that is known only when the
 * clause fires is checked for D's memory, because the next variable follows it.
 */
static uint64_t length_to_check(struct dif_compiler *c, const struct dif_node *array, bool is_constant)
{
	const struct dif_type *t = dif_base(c, array->type);

	if (t->kind != DIF_C_ARRAY || (t->nelems == 1 && array->kind != DIF_N_VAR))
		return 0;
	return is_constant || array->is_writable ? t->nelems : 0;
}

/* a[i] is *(a + i) */
static struct dif_node *cook_subscript(struct dif_compiler *c, struct dif_node *n)
{
	bool several = n->args->next != NULL, is_constant = n->args->kind == DIF_N_INT;

	n->left = dif_cook(c, n->left);
	if (!n->left)
		return NULL;
	uint64_t length = length_to_check(c, n->left, is_constant), index = n->args->value;
	struct dif_node *sum = dif_cook(c, dif_node_op2(c, DIF_O_ADD, n->left, n->args));
	if (!sum)
		return NULL;
	if (length && is_constant && index >= length)
		return dif_fail(c, DIF_D_ARR_BOUNDS, n->line, "index outside array bounds: %lld, max is %llu",
				(long long)index, (unsigned long long)length);
	if (sum->kind == DIF_N_OP2 && !is_constant)
		sum->value = length;
	if (several)
		return dif_fail(c, DIF_D_ARR_BADREF, n->line, "cannot access %s as an associative array",
				dif_type_text(c, n->left->type));
	return dif_cook(c, dif_node_op1(c, DIF_O_DEREF, sum));
}

/* A name without an assignment yet, read by [ ]: it would have been an associative array. */
static struct dif_node *undefined_array(struct dif_compiler *c, struct dif_node *name)
{
	static const char *const scopes[] = { "", "self->", "this->" };

	if (name->scope == DIF_NAME_THIS)
		return dif_fail(c, DIF_D_ARR_LOCAL, name->line,
				"local variables may not be used as associative arrays: %s", name->name);
	dif_fail(c, DIF_D_VAR_UNDEF, name->line, "%s%s has not yet been declared or assigned",
		 scopes[name->scope], name->name);
	dif_suggest_variable(c, name->scope, name->name);
	return NULL;
}

struct dif_node *dif_cook_index(struct dif_compiler *c, struct dif_node *n, struct dif_type *target)
{
	struct dif_node *name = n->left;
	struct dif_ident *id = NULL;

	if (name->kind == DIF_N_AGG)
		return dif_fail(c, DIF_D_AGG_MDIM, n->line,
				"improper attempt to reference @%s as a multi-dimensional array", name->name);
	if (name->kind == DIF_N_IDENT && !(name->scope == DIF_NAME_GLOBAL && strchr(name->name, '`'))) {
		id = dif_ident_find(c, name->scope, name->name);
		if (!id && !target)
			id = dif_expected_variable(c, name->scope, name->name);
		if (!id && !target)
			return undefined_array(c, name);
	}
	if (!dif_cook_list(c, &n->args))
		return NULL;
	/* a key may have been the array's own first use */
	if (name->kind == DIF_N_IDENT && !strchr(name->name, '`'))
		id = dif_ident_find(c, name->scope, name->name);
	if (!id && target && name->kind == DIF_N_IDENT && !strchr(name->name, '`'))
		return new_assoc(c, n, target);
	if (id && id->is_array && !dif_use_ident(c, id, n->line))
		return NULL;
	if (id && id->is_array && id->kind == DIF_ID_VAR)
		return cook_assoc(c, n, id);
	if (id && id->is_array && id->kind == DIF_ID_BUILTIN)
		return cook_builtin_array(c, n, id);
	if (id && id->is_array && id->kind == DIF_ID_INLINE)
		return dif_cook_inline(c, n, id, n->args);
	return cook_subscript(c, n);
}
