/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assignments, and the compatibility of values and types. */
#include <string.h>

#include "dif/lang/check/cook.h"

bool dif_assignable(struct dif_compiler *c, struct dif_type *type, const struct dif_node *n)
{
	struct dif_type *from = n->type;

	if (dif_is_kind(c, from, DIF_C_DYNAMIC) || dif_is_void(c, from))
		return false;
	if (dif_is_int(c, type))
		return dif_is_int(c, from) || dif_is_kind(c, from, DIF_C_SYMADDR);
	if (dif_is_string(c, type))
		return dif_is_stringlike(c, from) || dif_node_is_null(c, n);
	if (dif_is_stringlike(c, type) && dif_is_stringlike(c, from))
		return true;
	if (dif_type_same(c, type, from))
		return true;
	if (dif_is_pointer(c, type)) {
		if (dif_node_is_null(c, n))
			return true;
		if (dif_is_function(c, from))
			return dif_is_void(c, dif_pointee(c, type)) ||
			       dif_type_same(c, dif_pointee(c, type), from);
		return dif_pointer_compatible(c, type, from);
	}
	return false;
}

/* --- what every assignment needs ------------------------------------------------------------- */

static const char *oper_text(const struct dif_node *n)
{
	return n->arith ? dif_oper_text(n->arith) : "";
}

static bool check_modifiable(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *l = n->left;

	if (!l->is_lvalue)
		return dif_fail(c, DIF_D_OP_LVAL, n->line,
				"operator %s= requires modifiable lvalue as an operand", oper_text(n));
	if (!l->is_writable) {
		dif_fail(c, DIF_D_OP_WRITE, n->line,
			 "operator %s= can only be applied to a writable variable", oper_text(n));
		if (!n->arith)
			dif_hint(c, "== compares");
		return false;
	}
	return true;
}

static bool check_sides(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *sides[] = { n->left, n->right };

	for (int i = 0; i < 2; i++)
		if (sides[i]->kind == DIF_N_AGG)
			return dif_fail_agg(c, sides[i], n->line, "=");
	return true;
}

static struct dif_node *incompatible(struct dif_compiler *c, struct dif_node *n)
{
	return dif_fail(c, DIF_D_OP_INCOMPAT, n->line, "operands have incompatible types: \"%s\" %s= \"%s\"",
			dif_type_text(c, n->left->type), oper_text(n), dif_type_text(c, n->right->type));
}

/* --- x = e ------------------------------------------------------------------------------------ */

/* The type of an assigned value; a translated struct is assigned member by member. */
static struct dif_type *value_type(const struct dif_node *r)
{
	return r->kind == DIF_N_XLATE && r->op == DIF_O_DOT ? r->right->type : r->type;
}

/* 0 frees an element or thread-local variable, also where it holds a struct. */
static bool frees_struct(struct dif_compiler *c, const struct dif_node *n)
{
	const struct dif_node *l = n->left;

	return l->kind == DIF_N_VAR && dif_is_sou(c, l->type) && dif_node_is_null(c, n->right) &&
	       (l->ident->is_array || l->ident->var_scope == DIF_SCOPE_THREAD);
}

static bool fits(struct dif_compiler *c, struct dif_node *n, struct dif_type *value)
{
	if (n->right->kind == DIF_N_XLATE)
		return dif_type_same(c, n->left->type, value);
	return dif_assignable(c, n->left->type, n->right) || frees_struct(c, n);
}

static bool is_unknown(struct dif_compiler *c, const struct dif_node *n)
{
	return n->kind == DIF_N_IDENT && !strchr(n->name, '`') && !dif_ident_find(c, n->scope, n->name);
}

/* The value to assign to x: an undeclared x is not in scope in its own first value. */
static struct dif_node *cook_value(struct dif_compiler *c, const struct dif_node *target,
				   struct dif_node *value)
{
	const char *keep = c->clause->fresh;

	if (target->scope == DIF_NAME_GLOBAL && is_unknown(c, target))
		c->clause->fresh = target->name;
	value = dif_cook(c, value);
	c->clause->fresh = keep;
	return value;
}

/* Stacks and symbols are values, but only for actions that record them. */
static bool is_recorded_only(const struct dif_node *n)
{
	return dif_node_is_action(n) && strcmp(n->ident->func->result, "void") != 0;
}

/* Assigning narrows, and does not widen: the result of arithmetic is stored unchanged (`wide = 1 << 31` is
 * 2^31).
 */
static struct dif_node *to_target(struct dif_compiler *c, struct dif_node *value, struct dif_type *type)
{
	struct dif_node *cast = dif_cast_to(c, value, type);

	if (cast && cast->kind == DIF_N_CAST && cast != value)
		cast->op = DIF_O_ASGN;
	return cast;
}

/* An unknown x gets the type of e. */
static struct dif_node *cook_plain(struct dif_compiler *c, struct dif_node *n)
{
	n->right = cook_value(c, n->left, n->right);
	if (!n->right)
		return NULL;
	struct dif_type *value = value_type(n->right);
	if (n->right->kind == DIF_N_AGG)
		return dif_fail_agg(c, n->right, n->line, "=");
	if (is_recorded_only(n->right))
		return dif_fail(c, DIF_D_CG_EXPR, n->line,
				"%s( ) may not be called from a D expression (D program context required)",
				n->right->name);
	/* results of other actions, and types that exist in parts only */
	if (dif_is_void(c, value) || dif_is_kind(c, value, DIF_C_DYNAMIC))
		return dif_fail(c, DIF_D_OP_INCOMPAT, n->line, "a value of type \"%s\" cannot be assigned",
				dif_type_text(c, value));
	n->left = dif_cook_target(c, n->left, value);
	if (!n->left || !check_sides(c, n))
		return NULL;
	struct dif_type *lt = n->left->type;
	if (dif_is_array(c, lt) || dif_is_function(c, lt))
		return dif_fail(c, DIF_D_OP_ARRFUN, n->line,
				"operator = may not be applied to operand of type \"%s\"",
				dif_type_text(c, lt));
	if (!fits(c, n, value))
		return incompatible(c, n);
	if (!check_modifiable(c, n) || (n->right->kind == DIF_N_XLATE && !dif_xlate_whole(c, n->right)))
		return NULL;
	/* a variable keeps all 64 bits of an integer that is no constant, for any first value; a _Bool is 0
	 * or 1 */
	bool cut = dif_is_int(c, lt) &&
		   (n->left->kind != DIF_N_VAR || n->right->kind == DIF_N_INT || dif_base(c, lt)->is_bool);
	if (!dif_type_same(c, lt, value) && (cut || dif_is_string(c, lt)))
		n->right = to_target(c, n->right, lt);
	n->type = lt;
	return n->right ? n : NULL;
}

/* --- x op= e ----------------------------------------------------------------------------------- */

static bool check_sum(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *lt = n->left->type, *rt = n->right->type;

	if (dif_is_int(c, lt) && dif_is_int(c, rt))
		return true;
	if (dif_is_string(c, lt) || dif_is_string(c, rt))
		return incompatible(c, n);
	struct dif_type *to = dif_pointee(c, lt);
	if (!to || dif_is_void(c, to) || dif_is_function(c, to))
		return dif_fail(c, DIF_D_OP_VFPTR, n->line,
				"operator %s= requires left-hand scalar operand of known size", oper_text(n));
	if (!dif_is_int(c, rt))
		return incompatible(c, n);
	return true;
}

static bool check_arith(struct dif_compiler *c, struct dif_node *n)
{
	bool arith = n->arith == DIF_O_MUL || n->arith == DIF_O_DIV;

	if (n->arith == DIF_O_ADD || n->arith == DIF_O_SUB)
		return check_sum(c, n);
	if (dif_is_int(c, n->left->type) && dif_is_int(c, n->right->type))
		return true;
	return dif_fail(c, arith ? DIF_D_OP_ARITH : DIF_D_OP_INT, n->line,
			"operator %s= requires operands of %s type", oper_text(n),
			arith ? "arithmetic" : "integral");
}

/* An unknown x is an int64_t. */
static struct dif_node *cook_compound(struct dif_compiler *c, struct dif_node *n)
{
	n->right = dif_cook(c, n->right);
	if (!n->right)
		return NULL;
	if (dif_is_void(c, n->right->type) && is_unknown(c, n->left))
		return dif_fail(c, DIF_D_VAR_UNDEF, n->line, "%s has not yet been declared or assigned",
				n->left->name);
	n->left = dif_cook_target(c, n->left, c->types->int64);
	if (!n->left || !check_sides(c, n))
		return NULL;
	if ((n->arith == DIF_O_DIV || n->arith == DIF_O_MOD) && n->right->kind == DIF_N_INT &&
	    !n->right->value)
		return dif_fail(c, DIF_D_DIV_ZERO, n->line, "expression contains division by zero");
	if (!check_arith(c, n) || !check_modifiable(c, n))
		return NULL;
	n->type = n->left->type;
	return n;
}

struct dif_node *dif_cook_asgn(struct dif_compiler *c, struct dif_node *n)
{
	if (n->left->kind == DIF_N_AGG)
		return dif_fail(c, DIF_D_AGG_NULL, n->line,
				"improper use of aggregation @%s in an expression", n->left->name);
	return n->arith ? cook_compound(c, n) : cook_plain(c, n);
}
