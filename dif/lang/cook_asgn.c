/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assignments, and which values go into which types. */
#include <string.h>

#include "dif/lang/cook.h"

bool dif_assignable(struct dif_compiler *c, struct dif_type *type, const struct dif_node *n)
{
	struct dif_type *from = n->type;

	if (dif_is_kind(c, from, DIF_C_DYNAMIC) || dif_is_void(c, from))
		return false;
	if (dif_is_int(c, type))
		return dif_is_int(c, from) || dif_is_kind(c, from, DIF_C_SYMADDR);
	if (dif_is_string(c, type))
		return dif_is_stringlike(c, from) || dif_node_is_null(c, n);
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

static struct dif_node *check_target(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *l = n->left;

	if (l->kind == DIF_N_AGG)
		return dif_fail(c, DIF_D_AGG_NULL, n->line,
				"improper use of aggregation @%s in an expression", l->name);
	if (dif_is_kind(c, l->type, DIF_C_DYNAMIC))
		return dif_fail(c, DIF_D_OP_DYN, n->line, "operator = operands cannot be of dynamic type");
	if (!l->is_lvalue)
		return dif_fail(c, DIF_D_OP_LVAL, n->line,
				"operator = requires modifiable lvalue as an operand");
	if (!l->is_writable)
		return dif_fail(c, DIF_D_OP_WRITE, n->line,
				"operator = can only be applied to a writable variable");
	return l;
}

static struct dif_node *check_value(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *r = n->right;

	if (dif_node_is_action(r))
		return dif_fail(c, DIF_D_OP_ACT, n->line, "operator = operands may not be actions");
	if (r->kind == DIF_N_AGG)
		return dif_fail(c, DIF_D_AGG_NULL, n->line, "aggregation @%s has no value", r->name);
	if (dif_is_kind(c, r->type, DIF_C_DYNAMIC))
		return dif_fail(c, DIF_D_OP_DYN, n->line, "operator = operands cannot be of dynamic type");
	return r;
}

static struct dif_node *incompatible(struct dif_compiler *c, struct dif_node *n)
{
	return dif_fail(c, DIF_D_OP_INCOMPAT, n->line, "operands have incompatible types: \"%s\" %s= \"%s\"",
			dif_type_text(c, n->left->type), n->arith ? dif_oper_text(n->arith) : "",
			dif_type_text(c, n->right->type));
}

/* x = e: the type of an unknown x is e's */
static struct dif_node *cook_plain(struct dif_compiler *c, struct dif_node *n)
{
	n->right = dif_cook(c, n->right);
	if (!n->right || !check_value(c, n))
		return NULL;
	if (dif_is_void(c, n->right->type))
		return dif_fail(c, DIF_D_OP_INCOMPAT, n->line, "a void value cannot be assigned");
	n->left = dif_cook_target(c, n->left, n->right->type);
	if (!n->left || !check_target(c, n))
		return NULL;
	if (!dif_assignable(c, n->left->type, n->right))
		return incompatible(c, n);
	if (!dif_type_same(c, n->left->type, n->right->type) &&
	    (dif_is_int(c, n->left->type) || dif_is_string(c, n->left->type)))
		n->right = dif_cast_to(c, n->right, n->left->type);
	n->type = n->left->type;
	return n->right ? n : NULL;
}

static bool is_unknown(struct dif_compiler *c, const struct dif_node *n)
{
	return n->kind == DIF_N_IDENT && !strchr(n->name, '`') && !dif_ident_find(c, n->scope, n->name);
}

/* x op= e: an unknown x is int64_t */
static struct dif_node *cook_compound(struct dif_compiler *c, struct dif_node *n)
{
	n->right = dif_cook(c, n->right);
	if (!n->right)
		return NULL;
	bool sum = n->arith == DIF_O_ADD || n->arith == DIF_O_SUB;
	if (dif_is_void(c, n->right->type) && is_unknown(c, n->left))
		return dif_fail(c, DIF_D_VAR_UNDEF, n->line, "%s has not yet been declared or assigned",
				n->left->name);
	n->left = dif_cook_target(c, n->left, c->types.int64);
	if (!n->left || !check_target(c, n) || !check_value(c, n))
		return NULL;
	struct dif_type *rt = n->right->type;
	if (sum && dif_is_pointer(c, rt) &&
	    (dif_is_void(c, dif_pointee(c, rt)) || dif_is_function(c, dif_pointee(c, rt))))
		return dif_fail(c, DIF_D_OP_VFPTR, n->line,
				"operator %s= requires a pointer to an object of known size",
				dif_oper_text(n->arith));
	if (sum && dif_is_int(c, n->left->type) && !dif_is_int(c, rt) && !dif_is_void(c, rt))
		return incompatible(c, n);
	bool pointer = dif_is_pointer(c, n->left->type) && sum;
	if (pointer) {
		struct dif_type *to = dif_pointee(c, n->left->type);
		if (dif_is_void(c, to) || dif_is_function(c, to))
			return dif_fail(c, DIF_D_OP_VFPTR, n->line,
					"operator %s= requires a pointer to an object of known size",
					dif_oper_text(n->arith));
	} else if (!dif_is_int(c, n->left->type)) {
		bool arith = n->arith >= DIF_O_MUL && n->arith <= DIF_O_SUB && n->arith != DIF_O_MOD;
		return dif_fail(c, arith ? DIF_D_OP_ARITH : DIF_D_OP_INT, n->line,
				"operator %s= requires operands of %s type", dif_oper_text(n->arith),
				arith ? "arithmetic" : "integral");
	}
	if (!dif_is_int(c, n->right->type))
		return dif_fail(c,
				n->arith == DIF_O_ADD || n->arith == DIF_O_SUB || n->arith == DIF_O_MUL ||
					n->arith == DIF_O_DIV
				    ? DIF_D_OP_ARITH
				    : DIF_D_OP_INT,
				n->line, "operator %s= requires operands of integral type",
				dif_oper_text(n->arith));
	if ((n->arith == DIF_O_DIV || n->arith == DIF_O_MOD) && n->right->kind == DIF_N_INT &&
	    !n->right->value)
		return dif_fail(c, DIF_D_DIV_ZERO, n->line, "expression contains division by zero");
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
