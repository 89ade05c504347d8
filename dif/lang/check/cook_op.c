/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unary and ternary operators, members. Binary ones: cook_binary.c. */
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/types/suggest.h"

static struct dif_node *op_error(struct dif_compiler *c, struct dif_node *n, enum dif_errtag tag,
				 const char *need)
{
	return dif_fail(c, tag, n->line, "operator %s requires an operand of %s type", dif_oper_text(n->op),
			need);
}

/* A thread- or clause-local variable without an assignment yet becomes an int64_t, as does an array's element
 * of any scope. */
static struct dif_node *cook_operand(struct dif_compiler *c, struct dif_node *n)
{
	bool is_local = n->kind == DIF_N_IDENT && n->scope != DIF_NAME_GLOBAL;
	bool is_element = n->kind == DIF_N_OP2 && n->op == DIF_O_INDEX && n->left->kind == DIF_N_IDENT;

	if (is_local || is_element)
		return dif_cook_target(c, n, c->types->int64);
	return dif_cook(c, n);
}

static bool check_operand(struct dif_compiler *c, struct dif_node *n, struct dif_node *operand)
{
	if (operand->kind == DIF_N_AGG)
		return dif_fail_agg(c, operand, n->line, dif_oper_text(n->op));
	return true;
}

/* D writes through its own variables, and through values cast to a pointer, such as alloca()'s result; *(p +
 * i) is how a subscript is written. The machine checks where the pointer leads. */
static bool leads_to_writable(const struct dif_node *p)
{
	if (p->kind == DIF_N_OP2 && (p->op == DIF_O_ADD || p->op == DIF_O_SUB))
		p = p->left;
	return p->is_writable || p->kind == DIF_N_CAST || p->kind == DIF_N_INT;
}

static struct dif_node *cook_deref(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *from = dif_base(c, n->left->type), *to = dif_pointee(c, from);

	if (!to)
		return dif_fail(c, DIF_D_DEREF_NONPTR, n->line, "cannot dereference non-pointer type");
	if (dif_is_void(c, to))
		return dif_fail(c, DIF_D_DEREF_VOID, n->line, "cannot dereference pointer to void");
	if (dif_is_function(c, to))
		return dif_fail(c, DIF_D_DEREF_FUNC, n->line, "cannot dereference pointer to function");
	if (dif_is_incomplete(c, to))
		return dif_fail(c, DIF_D_OP_INCOMPLETE, n->line,
				"operator * cannot be applied to an incomplete type");
	n->type = to;
	n->is_lvalue = true;
	n->is_userland = n->left->is_userland || (from->kind == DIF_C_POINTER && from->is_userland);
	n->is_writable = leads_to_writable(n->left);
	return n;
}

static struct dif_node *cook_addrof(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *l = n->left;

	if (l->kind == DIF_N_VAR)
		return dif_fail(c, DIF_D_ADDROF_VAR, n->line, "cannot take address of dynamic variable");
	if (l->kind == DIF_N_MEMBER && l->member && l->member->bit_size)
		return dif_fail(c, DIF_D_ADDROF_BITFIELD, n->line, "cannot take address of bit-field");
	if (!l->is_lvalue)
		return dif_fail(c, DIF_D_ADDROF_LVAL, n->line, "unacceptable operand for unary & operator");
	n->type = dif_type_pointer(c, l->type);
	if (n->type)
		n->type->is_userland = l->is_userland;
	n->is_userland = l->is_userland;
	return n->type ? n : NULL;
}

/* *p of a type that is declared only: nothing can be read there, and its size is not known. */
static bool is_incomplete_deref(struct dif_compiler *c, struct dif_node *l)
{
	if (l->kind != DIF_N_OP1 || l->op != DIF_O_DEREF || !(l->left = dif_cook(c, l->left)))
		return false;
	struct dif_type *to = dif_pointee(c, l->left->type);
	return to && dif_is_incomplete(c, to);
}

static struct dif_node *cook_sizeof(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *l = n->left;

	if (l->kind != DIF_N_TYPE) {
		if (is_incomplete_deref(c, l))
			return dif_fail(c, DIF_D_SIZEOF_TYPE, n->line,
					"cannot apply sizeof to an operand of unknown size");
		l = cook_operand(c, l);
		if (!l)
			return NULL;
		if (l->kind == DIF_N_AGG)
			return dif_fail(c, DIF_D_SIZEOF_TYPE, n->line,
					"cannot apply sizeof to an aggregation");
		if (l->kind == DIF_N_MEMBER && l->member && l->member->bit_size)
			return dif_fail(c, DIF_D_SIZEOF_BITFIELD, n->line,
					"cannot apply sizeof to a bit-field");
	}
	struct dif_type *t = dif_base(c, l->type);
	uint64_t size = l->kind == DIF_N_STRING ? l->len + 1 : dif_sizeof(c, t);
	if (!size || dif_is_incomplete(c, t) || t->kind == DIF_C_DYNAMIC)
		return dif_fail(c, DIF_D_SIZEOF_TYPE, n->line,
				"cannot apply sizeof to an operand of unknown size");
	return dif_node_int(c, size, c->types->size);
}

static struct dif_node *cook_stringof(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *t = n->left->type;

	if (!dif_is_scalar(c, t) && !dif_is_string(c, t) && !dif_is_array(c, t))
		return dif_fail(c, DIF_D_STRINGOF_TYPE, n->line,
				"cannot apply stringof to a value of type %s", dif_type_text(c, t));
	n->type = c->types->string;
	return n;
}

static struct dif_node *cook_incdec(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *l = dif_cook_target(c, n->left, c->types->int64);

	if (!l || !check_operand(c, n, l))
		return NULL;
	n->left = l;
	if (!dif_is_scalar(c, l->type))
		return dif_fail(c, DIF_D_OP_SCALAR, n->line, "operator %s requires operand of scalar type",
				dif_oper_text(n->op));
	struct dif_type *to = dif_pointee(c, l->type);
	if (to && (dif_is_void(c, to) || dif_is_function(c, to)))
		return dif_fail(c, DIF_D_OP_VFPTR, n->line, "operator %s requires an operand of known size",
				dif_oper_text(n->op));
	if (!l->is_lvalue)
		return dif_fail(c, DIF_D_OP_LVAL, n->line,
				"operator %s requires modifiable lvalue as an operand", dif_oper_text(n->op));
	if (!l->is_writable)
		return dif_fail(c, DIF_D_OP_WRITE, n->line,
				"operator %s can only be applied to a writable variable",
				dif_oper_text(n->op));
	n->type = l->type;
	return n;
}

static struct dif_node *fold_op1(struct dif_compiler *c, struct dif_node *n)
{
	uint64_t v = n->left->value;

	switch (n->op) {
	case DIF_O_NEG:
		v = -v;
		break;
	case DIF_O_BITNOT:
		v = ~v;
		break;
	case DIF_O_NOT:
		v = !v;
		break;
	default:
		break;
	}
	return dif_node_int(c, v, n->type);
}

static struct dif_node *cook_arith1(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *t = n->left->type;

	if (n->op == DIF_O_NOT) {
		if (!dif_is_scalar(c, t))
			return op_error(c, n, DIF_D_OP_SCALAR, "scalar");
		n->type = c->types->int_;
	} else if (n->op == DIF_O_BITNOT) {
		if (!dif_is_int(c, t))
			return op_error(c, n, DIF_D_OP_INT, "integral");
		n->type = t;
	} else {
		if (!dif_is_int(c, t))
			return op_error(c, n, DIF_D_OP_ARITH, "arithmetic");
		n->type = t;
	}
	return n->left->kind == DIF_N_INT ? fold_op1(c, n) : n;
}

struct dif_node *dif_cook_op1(struct dif_compiler *c, struct dif_node *n)
{
	switch (n->op) {
	case DIF_O_SIZEOF:
		return cook_sizeof(c, n);
	case DIF_O_PREINC:
	case DIF_O_PREDEC:
	case DIF_O_POSTINC:
	case DIF_O_POSTDEC:
		return cook_incdec(c, n);
	default:
		break;
	}
	n->left = cook_operand(c, n->left);
	if (!n->left)
		return NULL;
	if (n->op == DIF_O_ADDROF &&
	    (n->left->kind == DIF_N_AGG || dif_is_kind(c, n->left->type, DIF_C_DYNAMIC)))
		return dif_fail(c, DIF_D_ADDROF_VAR, n->line, "cannot take address of dynamic object");
	if (n->op == DIF_O_NOT && !(n->left = dif_xlate_tested(c, n->left)))
		return NULL;
	if (n->op == DIF_O_DEREF && n->left->kind == DIF_N_XLATE && n->left->op == DIF_O_ARROW) {
		n->left->op = DIF_O_DOT; /* the target of a translated pointer is the translated struct */
		return n->left;
	}
	if (!check_operand(c, n, n->left))
		return NULL;
	switch (n->op) {
	case DIF_O_DEREF:
		return cook_deref(c, n);
	case DIF_O_ADDROF:
		return cook_addrof(c, n);
	case DIF_O_STRINGOF:
		return cook_stringof(c, n);
	default:
		return cook_arith1(c, n);
	}
}

/* The type of a ?: with these arms; NULL: they are incompatible. */
static struct dif_type *arms_type(struct dif_compiler *c, struct dif_node *a, struct dif_node *b)
{
	if (dif_is_int(c, a->type) && dif_is_int(c, b->type))
		return dif_type_promote(c, a->type, b->type);
	if (dif_type_same(c, a->type, b->type))
		return a->type;
	if (dif_is_string(c, a->type) || dif_is_string(c, b->type)) {
		bool ok = (dif_is_stringlike(c, a->type) || dif_node_is_null(c, a)) &&
			  (dif_is_stringlike(c, b->type) || dif_node_is_null(c, b));
		return ok ? c->types->string : NULL;
	}
	if (dif_node_is_null(c, b) && dif_pointee(c, a->type))
		return a->type;
	if (dif_node_is_null(c, a) && dif_pointee(c, b->type))
		return b->type;
	return dif_pointer_compatible(c, a->type, b->type) ? a->type : NULL;
}

static bool check_arms(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_node *arms[] = { n->right, n->third };

	for (int i = 0; i < 2; i++) {
		if (arms[i]->kind == DIF_N_AGG)
			return dif_fail_agg(c, arms[i], n->line, "?:");
		if (dif_is_kind(c, arms[i]->type, DIF_C_DYNAMIC))
			return dif_fail(c, DIF_D_OP_DYN, n->line,
					"operator ?: operands cannot be of dynamic type");
	}
	n->type = arms_type(c, n->right, n->third);
	if (!n->type)
		return dif_fail(c, DIF_D_OP_INCOMPAT, n->line,
				"operator ?: operands must have compatible types");
	if (dif_node_is_action(n->right) || dif_node_is_action(n->third))
		return dif_fail(c, DIF_D_OP_ACT, n->line, "action cannot be used in a conditional context");
	return true;
}

struct dif_node *dif_cook_op3(struct dif_compiler *c, struct dif_node *n)
{
	/* the other arm is for kernels with other members: it need not be valid here */
	if (n->left->kind == DIF_N_HAS)
		return dif_cook(c, dif_has(c, n->left) ? n->right : n->third);
	n->left = dif_cook(c, n->left);
	if (!n->left)
		return NULL;
	n->right = dif_cook(c, n->right);
	n->third = dif_cook(c, n->third);
	if (!n->right || !n->third)
		return NULL;
	n->left = dif_xlate_tested(c, n->left);
	if (!n->left)
		return NULL;
	if (!dif_is_scalar(c, n->left->type))
		return dif_fail(c, DIF_D_OP_SCALAR, n->line, "operator ?: expression must be of scalar type");
	if (!check_arms(c, n))
		return NULL;
	if (n->left->kind == DIF_N_INT) {
		struct dif_node *arm = n->left->value ? n->right : n->third;
		return dif_type_same(c, arm->type, n->type) ? arm : dif_cast_to(c, arm, n->type);
	}
	n->is_userland = n->right->is_userland || n->third->is_userland;
	return n;
}

static struct dif_node *member_error(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *t = n->left->type, *to = dif_pointee(c, t);

	if (n->op == DIF_O_ARROW && !dif_is_pointer(c, t))
		return dif_fail(c, DIF_D_OP_PTR, n->line, "operator -> must be applied to a pointer");
	if (dif_is_incomplete(c, n->op == DIF_O_ARROW ? to : t))
		return dif_fail(
		    c, DIF_D_OP_INCOMPLETE, n->line,
		    "operator %s cannot be applied to a forward declaration: no %s definition is available",
		    dif_oper_text(n->op), dif_type_text(c, n->op == DIF_O_ARROW ? to : t));
	if (n->op == DIF_O_ARROW)
		return dif_fail(c, DIF_D_OP_SOU, n->line,
				"operator -> cannot be applied to pointer to type \"%s\"; must be applied to "
				"a struct or union pointer",
				dif_type_text(c, to));
	return dif_fail(c, DIF_D_OP_SOU, n->line,
			"operator . cannot be applied to type \"%s\"; must be applied to a struct or union",
			dif_type_text(c, t));
}

struct dif_node *dif_cook_member(struct dif_compiler *c, struct dif_node *n)
{
	n->left = dif_cook(c, n->left);
	if (!n->left)
		return NULL;
	if (n->left->kind == DIF_N_XLATE)
		return dif_xlate_member(c, n, n->left);
	if (!check_operand(c, n, n->left))
		return NULL;
	struct dif_type *t = dif_base(c, n->left->type);
	struct dif_type *sou = n->op == DIF_O_DOT ? t : t->kind == DIF_C_POINTER ? t->ref : NULL;
	if (!sou || !dif_is_sou(c, sou))
		return member_error(c, n);
	n->member = dif_member_find(c, sou, n->name, &n->member_bits);
	if (!n->member) {
		dif_fail(c, DIF_D_TYPE_MEMBER, n->line, "%s is not a member of %s", n->name,
			 dif_type_text(c, sou));
		dif_suggest_member(c, sou, n->name);
		if (n->left->kind == DIF_N_VAR && n->left->ident->id == DIF_VAR_curthread)
			dif_hint(c, "curthread is the traced kernel's own; curlwpsinfo, curpsinfo and curcpu "
				    "have the members that DTrace defines");
		dif_suggest_behind_prefix(c, sou, n->name);
		return NULL;
	}
	n->type = n->member->type;
	n->is_lvalue = true;
	n->is_writable = n->op == DIF_O_ARROW ? leads_to_writable(n->left) : n->left->is_writable;
	n->is_userland =
	    n->left->is_userland || (n->op == DIF_O_ARROW && t->kind == DIF_C_POINTER && t->is_userland);
	return n;
}
