/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary operators: arithmetic, comparisons, logic, the comma. */
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/types/suggest.h"

static struct dif_node *incompatible(struct dif_compiler *c, struct dif_node *n)
{
	const struct dif_node *sides[] = { n->left, n->right };

	dif_fail(c, DIF_D_OP_INCOMPAT, n->line, "operands have incompatible types: \"%s\" %s \"%s\"",
		 dif_type_text(c, n->left->type), dif_oper_text(n->op), dif_type_text(c, n->right->type));
	for (int i = 0; i < 2; i++)
		if (sides[i]->kind == DIF_N_SYM && dif_is_void(c, sides[i]->type))
			dif_suggest_reading(c, sides[i]->name, sides[!i]->type);
	return NULL;
}

static bool check_operands(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *sides[] = { n->left, n->right };

	for (int i = 0; i < 2; i++) {
		if (n->op == DIF_O_COMMA && dif_node_is_action(sides[i]))
			return dif_fail(c, DIF_D_OP_ACT, n->line, "operator , operands cannot be actions");
		if (sides[i]->kind == DIF_N_AGG)
			return dif_fail_agg(c, sides[i], n->line, dif_oper_text(n->op));
		if (n->op == DIF_O_COMMA && dif_is_kind(c, sides[i]->type, DIF_C_DYNAMIC))
			return dif_fail(c, DIF_D_OP_DYN, n->line,
					"operator %s operands cannot be of dynamic type",
					dif_oper_text(n->op));
	}
	return true;
}

/* --- folding ------------------------------------------------------------------------------ */

static bool fold_compare(enum dif_oper op, uint64_t a, uint64_t b, bool is_signed)
{
	bool lt = is_signed ? (int64_t)a < (int64_t)b : a < b;

	switch (op) {
	case DIF_O_EQ:
		return a == b;
	case DIF_O_NE:
		return a != b;
	case DIF_O_LT:
		return lt;
	case DIF_O_GE:
		return !lt;
	case DIF_O_GT:
		return !lt && a != b;
	default:
		return lt || a == b;
	}
}

static uint64_t fold_divide(enum dif_oper op, uint64_t a, uint64_t b, bool is_signed)
{
	if (!is_signed)
		return op == DIF_O_DIV ? a / b : a % b;
	if (b == UINT64_MAX) /* -1: the one overflow that division has */
		return op == DIF_O_DIV ? -a : 0;
	return op == DIF_O_DIV ? (uint64_t)((int64_t)a / (int64_t)b) : (uint64_t)((int64_t)a % (int64_t)b);
}

static uint64_t fold_shift(enum dif_oper op, uint64_t a, uint64_t b, bool is_signed)
{
	b &= 63;
	if (op == DIF_O_LSH)
		return a << b;
	return is_signed ? (uint64_t)((int64_t)a >> b) : a >> b;
}

static uint64_t fold(enum dif_oper op, uint64_t a, uint64_t b, bool is_signed)
{
	switch (op) {
	case DIF_O_ADD:
		return a + b;
	case DIF_O_SUB:
		return a - b;
	case DIF_O_MUL:
		return a * b;
	case DIF_O_DIV:
	case DIF_O_MOD:
		return fold_divide(op, a, b, is_signed);
	case DIF_O_LSH:
	case DIF_O_RSH:
		return fold_shift(op, a, b, is_signed);
	case DIF_O_AND:
		return a & b;
	case DIF_O_OR:
		return a | b;
	case DIF_O_XOR:
		return a ^ b;
	case DIF_O_LAND:
		return a && b;
	case DIF_O_LOR:
		return a || b;
	case DIF_O_LXOR:
		return !a != !b;
	default:
		return fold_compare(op, a, b, is_signed);
	}
}

/* Both sides are constant, and so is the result. @operands is the type of the calculation; as at run time all
 * 64 bits of the result are kept, for any type, until a cast or a record narrows it. */
static struct dif_node *try_fold(struct dif_compiler *c, struct dif_node *n, struct dif_type *operands)
{
	if (n->left->kind != DIF_N_INT || n->right->kind != DIF_N_INT)
		return n;
	uint64_t v = fold(n->op, n->left->value, n->right->value, dif_is_signed(c, operands));
	return dif_node_int(c, v, n->type);
}

/* --- arithmetic ---------------------------------------------------------------------------- */

static struct dif_node *cook_integer_op(struct dif_compiler *c, struct dif_node *n)
{
	bool shift = n->op == DIF_O_LSH || n->op == DIF_O_RSH;

	if (!dif_is_int(c, n->left->type) || !dif_is_int(c, n->right->type)) {
		enum dif_errtag tag =
		    n->op == DIF_O_MUL || n->op == DIF_O_DIV ? DIF_D_OP_ARITH : DIF_D_OP_INT;
		return dif_fail(c, tag, n->line, "operator %s requires operands of %s type",
				dif_oper_text(n->op), tag == DIF_D_OP_INT ? "integral" : "arithmetic");
	}
	if ((n->op == DIF_O_DIV || n->op == DIF_O_MOD) && n->right->kind == DIF_N_INT && !n->right->value)
		return dif_fail(c, DIF_D_DIV_ZERO, n->line, "expression contains division by zero");
	n->type = shift ? dif_type_promote(c, n->left->type, n->left->type)
			: dif_type_promote(c, n->left->type, n->right->type);
	return try_fold(c, n, n->type);
}

/* A string, or a pointer or array whose elements have a size to count in. */
static bool counts(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_type *to = dif_pointee(c, type);

	return to && !dif_is_void(c, to) && !dif_is_function(c, to);
}

/* pointer ± integer: scaled; the code generator multiplies. A string stays one. */
static struct dif_node *pointer_sum(struct dif_compiler *c, struct dif_node *n, struct dif_node *p)
{
	struct dif_type *base = dif_base(c, p->type);

	if (dif_is_incomplete(c, dif_pointee(c, base)))
		return dif_fail(c, DIF_D_OP_INCOMPLETE, n->line,
				"operator %s cannot be applied to a pointer to an incomplete type",
				dif_oper_text(n->op));
	n->type = base->kind == DIF_C_ARRAY ? dif_type_pointer(c, dif_pointee(c, base)) : p->type;
	n->is_userland = p->is_userland || base->is_userland;
	return n->type ? n : NULL;
}

static struct dif_node *cook_add(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *lt = n->left->type, *rt = n->right->type;
	bool lp = counts(c, lt), rp = counts(c, rt);

	if (dif_is_int(c, lt) && dif_is_int(c, rt)) {
		n->type = dif_type_promote(c, lt, rt);
		return try_fold(c, n, n->type);
	}
	if (lp && dif_is_int(c, rt))
		return pointer_sum(c, n, n->left);
	if (rp && dif_is_int(c, lt) && n->op == DIF_O_ADD) {
		struct dif_node *tmp = n->left;
		n->left = n->right;
		n->right = tmp;
		return pointer_sum(c, n, n->left);
	}
	if (lp && rp && n->op == DIF_O_SUB && dif_pointer_compatible(c, lt, rt)) {
		n->type = c->types->ptrdiff;
		return n;
	}
	return incompatible(c, n);
}

/* --- comparisons ----------------------------------------------------------------------------- */

static bool comparable(struct dif_compiler *c, struct dif_node *l, struct dif_node *r)
{
	struct dif_type *lt = l->type, *rt = r->type;

	if (dif_is_int(c, lt) && dif_is_int(c, rt))
		return true;
	if (dif_is_string(c, lt) || dif_is_string(c, rt))
		return (dif_is_stringlike(c, lt) || dif_node_is_null(c, l)) &&
		       (dif_is_stringlike(c, rt) || dif_node_is_null(c, r));
	if (dif_is_kind(c, lt, DIF_C_SYMADDR) || dif_is_kind(c, rt, DIF_C_SYMADDR))
		return (dif_is_scalar(c, lt) || dif_is_kind(c, lt, DIF_C_SYMADDR)) &&
		       (dif_is_scalar(c, rt) || dif_is_kind(c, rt, DIF_C_SYMADDR));
	if ((dif_node_is_null(c, l) && dif_pointee(c, rt)) || (dif_node_is_null(c, r) && dif_pointee(c, lt)))
		return true;
	if (dif_is_pointer(c, lt) && dif_is_pointer(c, rt) && dif_is_function(c, dif_pointee(c, lt)))
		return dif_type_same(c, lt, rt);
	return dif_pointer_compatible(c, lt, rt);
}

static struct dif_node *cook_compare(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *lt = n->left->type, *rt = n->right->type;

	if (!comparable(c, n->left, n->right))
		return incompatible(c, n);
	n->type = c->types->int_;
	if (!dif_is_int(c, lt) || !dif_is_int(c, rt))
		return n;
	return try_fold(c, n, dif_type_promote(c, lt, rt));
}

static struct dif_node *cook_logic(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *sides[] = { n->left, n->right };

	for (int i = 0; i < 2; i++)
		if (!dif_is_scalar(c, sides[i]->type))
			return dif_fail(c, DIF_D_OP_SCALAR, n->line,
					"operator %s requires operands of scalar type", dif_oper_text(n->op));
	n->type = c->types->int_;
	return try_fold(c, n, c->types->int_);
}

/* A bare tag on the right is resolved in the enum of the left. False after an error. */
static bool enum_tag(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *r = n->right;

	if (r->kind != DIF_N_IDENT || r->scope != DIF_NAME_GLOBAL || r->is_cooked || strchr(r->name, '`'))
		return true;
	struct dif_type *t = dif_base(c, n->left->type);
	if (t->kind != DIF_C_ENUM)
		return true;
	for (uint32_t i = 0; i < t->nenumerators; i++) {
		if (strcmp(t->enumerators[i].name, r->name) != 0)
			continue;
		struct dif_ident *id = dif_ident_find(c, DIF_NAME_GLOBAL, r->name);
		if (id && !(id->kind == DIF_ID_CONST && dif_type_same(c, id->type, t)))
			return dif_fail(c, DIF_D_IDENT_AMBIG, n->line,
					"ambiguous use of operator %s: %s is both a %s enum tag and a global "
					"%s",
					dif_oper_text(n->op), r->name, dif_type_text(c, n->left->type),
					id->is_array ? "associative array" : "scalar");
		n->right = dif_node_int(c, (uint64_t)t->enumerators[i].value, n->left->type);
		return n->right != NULL;
	}
	return true;
}

static struct dif_node *cook_comma(struct dif_node *n)
{
	n->type = n->right->type;
	n->is_userland = n->right->is_userland;
	return n;
}

/* Operators whose result depends only on whether an operand is 0, or is the other one. */
static bool only_tests(enum dif_oper op)
{
	return op == DIF_O_EQ || op == DIF_O_NE || op == DIF_O_LAND || op == DIF_O_LOR || op == DIF_O_LXOR;
}

static bool test_sides(struct dif_compiler *c, struct dif_node *n)
{
	n->left = dif_xlate_tested(c, n->left);
	n->right = dif_xlate_tested(c, n->right);
	return n->left && n->right;
}

struct dif_node *dif_cook_op2(struct dif_compiler *c, struct dif_node *n)
{
	if (n->op == DIF_O_ASGN)
		return dif_cook_asgn(c, n);
	if (n->op == DIF_O_INDEX)
		return dif_cook_index(c, n, NULL);
	n->left = dif_cook(c, n->left);
	if (!n->left || (n->op >= DIF_O_LT && n->op <= DIF_O_NE && !enum_tag(c, n)))
		return NULL;
	n->right = dif_cook(c, n->right);
	if (!n->right || !check_operands(c, n) || (only_tests(n->op) && !test_sides(c, n)))
		return NULL;
	switch (n->op) {
	case DIF_O_ADD:
	case DIF_O_SUB:
		return cook_add(c, n);
	case DIF_O_LT:
	case DIF_O_LE:
	case DIF_O_GT:
	case DIF_O_GE:
	case DIF_O_EQ:
	case DIF_O_NE:
		return cook_compare(c, n);
	case DIF_O_LAND:
	case DIF_O_LOR:
	case DIF_O_LXOR:
		return cook_logic(c, n);
	case DIF_O_COMMA:
		return cook_comma(n);
	default:
		return cook_integer_op(c, n);
	}
}
