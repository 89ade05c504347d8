/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checking an expression: the way to each kind of node, casts, offsetof. */
#include "dif/lang/check/cook.h"

#include <string.h>

#include "dif/lang/types/suggest.h"

void *dif_fail_agg(struct dif_compiler *c, const struct dif_node *agg, uint32_t line, const char *op)
{
	if (!agg->args && !dif_agg_find(c, agg->name)) {
		dif_fail(c, DIF_D_IDENT_UNDEF, line, "undefined aggregation: @%s", agg->name);
		dif_suggest_aggregation(c, agg->name);
	} else {
		dif_fail(c, DIF_D_AGG_NULL, line, "operator %s cannot be applied to aggregation @%s", op,
			 agg->name);
	}
	dif_hint(c, DIF_HINT_AGG_READ);
	return NULL;
}

/* `(char *)` of a string that is not a constant. */
static bool is_text(struct dif_compiler *c, struct dif_type *to, const struct dif_node *n)
{
	struct dif_type *element = dif_pointee(c, to);

	return element && dif_is_string(c, n->type) && n->kind != DIF_N_STRING &&
	       dif_type_same(c, element, c->types->char_);
}

/* A string with a place in the program, where it may be NULL. */
static bool is_stored_string(struct dif_compiler *c, const struct dif_node *n)
{
	return dif_is_string(c, n->type) && n->kind == DIF_N_VAR && n->is_writable;
}

/* Between scalars, from arrays to pointers, from anything that leads to characters to strings, and from
 * everything to void. A string is no pointer; but a member that is an array of characters elsewhere, such as
 * pr_psargs, is one here: programs cast it to char *, and compare a kept value with 0. */
static bool cast_allowed(struct dif_compiler *c, struct dif_type *to, const struct dif_node *n)
{
	struct dif_type *from = n->type;

	if (n->kind == DIF_N_AGG || dif_node_is_action(n))
		return false;
	if (dif_is_void(c, to) || dif_type_same(c, to, from))
		return true;
	if (dif_is_scalar(c, to) &&
	    (dif_is_scalar(c, from) || dif_is_function(c, from) || dif_is_kind(c, from, DIF_C_SYMADDR)))
		return true;
	if (dif_is_pointer(c, to))
		return dif_is_array(c, from) || is_text(c, to, n);
	if (dif_is_int(c, to))
		return is_stored_string(c, n);
	if (dif_is_string(c, to))
		return dif_is_scalar(c, from) || dif_is_array(c, from);
	return false;
}

static struct dif_node *cook_cast(struct dif_compiler *c, struct dif_node *n)
{
	n->left = dif_cook(c, n->left);
	if (!n->left)
		return NULL;
	if (!cast_allowed(c, n->type, n->left)) {
		dif_fail(c, DIF_D_CAST_INVAL, n->line, "invalid cast expression: \"%s\" to \"%s\"",
			 dif_type_text(c, n->left->type), dif_type_text(c, n->type));
		if (n->left->kind == DIF_N_SYM && dif_is_void(c, n->left->type))
			dif_suggest_reading(c, n->left->name, n->type);
		return NULL;
	}
	if (is_text(c, n->type, n->left))
		return n->left;
	if (n->left->kind == DIF_N_INT && dif_is_scalar(c, n->type))
		return dif_cast_to(c, n->left, n->type);
	struct dif_type *base = dif_base(c, n->type);
	n->is_userland = base->kind == DIF_C_POINTER ? base->is_userland : false;
	if (dif_is_string(c, n->type))
		n->is_userland = false;
	return n;
}

static struct dif_node *cook_offsetof(struct dif_compiler *c, struct dif_node *n)
{
	uint64_t bits;

	if (!dif_is_sou(c, n->type)) {
		if (dif_is_incomplete(c, n->type))
			return dif_fail(c, DIF_D_OFFSETOF_TYPE, n->line,
					"offsetof operand is of an incomplete type");
		return dif_fail(c, DIF_D_OFFSETOF_TYPE, n->line,
				"offsetof operand must be a struct or union type: \"%s\"",
				dif_type_text(c, n->type));
	}
	struct dif_member *m = dif_member_find(c, n->type, n->name, &bits);
	if (!m) {
		dif_fail(c, DIF_D_UNKNOWN, n->line,
			 "failed to determine offset of %s: it is not a member of %s", n->name,
			 dif_type_text(c, n->type));
		dif_suggest_member(c, n->type, n->name);
		return NULL;
	}
	if (m->bit_size)
		return dif_fail(c, DIF_D_OFFSETOF_BITFIELD, n->line, "cannot take offset of a bit-field: %s",
				n->name);
	return dif_node_int(c, bits / 8, c->types->size);
}

static struct dif_node *cook_has(struct dif_compiler *c, struct dif_node *n)
{
	return dif_node_int(c, dif_has(c, n), c->types->int_);
}

static struct dif_node *cook_agg(struct dif_compiler *c, struct dif_node *n)
{
	n->ident = dif_agg_find(c, n->name);
	if (n->args && !dif_cook_list(c, &n->args))
		return NULL;
	n->type = c->types->dynamic;
	return n;
}

static struct dif_node *cook(struct dif_compiler *c, struct dif_node *n)
{
	switch (n->kind) {
	case DIF_N_INT:
		return n;
	case DIF_N_STRING:
		n->type = c->types->string;
		return n;
	case DIF_N_IDENT:
		return dif_cook_ident(c, n, NULL);
	case DIF_N_AGG:
		return cook_agg(c, n);
	case DIF_N_OP1:
		return dif_cook_op1(c, n);
	case DIF_N_OP2:
		return dif_cook_op2(c, n);
	case DIF_N_OP3:
		return dif_cook_op3(c, n);
	case DIF_N_FUNC:
		return dif_cook_call(c, n);
	case DIF_N_CAST:
		return cook_cast(c, n);
	case DIF_N_MEMBER:
		return dif_cook_member(c, n);
	case DIF_N_XLATE:
		return dif_cook_xlate(c, n);
	case DIF_N_OFFSETOF:
		return cook_offsetof(c, n);
	case DIF_N_HAS:
		return cook_has(c, n);
	case DIF_N_VAR:
	case DIF_N_SYM:
	case DIF_N_TYPE:
	case DIF_N_PLACE:
	case DIF_N_EXPR:
	case DIF_N_IF:
		break;
	}
	return n;
}

/* A variable that has an address of user space, by its type. For other nodes the mark may describe the place
 * from which their value is loaded: each sets it itself. */
static void mark_userland(struct dif_compiler *c, struct dif_node *n)
{
	if (n->kind == DIF_N_VAR && dif_is_pointer(c, n->type) && dif_base(c, n->type)->is_userland)
		n->is_userland = true;
}

/* Recursion goes down the tree, whose depth is bounded. */
struct dif_node *dif_cook(struct dif_compiler *c, struct dif_node *n)
{
	if (!n || c->diag.failed)
		return NULL;
	if (n->is_cooked)
		return n;
	bool parens = n->is_parens;
	uint32_t line = n->line;
	c->diag.check_depth++;
	n = cook(c, n);
	c->diag.check_depth--;
	if (!n || c->diag.failed)
		return NULL;
	n->is_cooked = true;
	n->is_parens |= parens;
	mark_userland(c, n);
	if (!n->line)
		n->line = line;
	return n;
}

bool dif_cook_list(struct dif_compiler *c, struct dif_node **list)
{
	for (; *list; list = &(*list)->next) {
		struct dif_node *next = (*list)->next, *n = dif_cook(c, *list);
		if (!n)
			return false;
		n->next = next;
		*list = n;
	}
	return true;
}

struct dif_node *dif_cook_target(struct dif_compiler *c, struct dif_node *n, struct dif_type *type)
{
	if (n->is_cooked)
		return n;
	if (n->kind == DIF_N_IDENT)
		n = dif_cook_ident(c, n, type);
	else if (n->kind == DIF_N_OP2 && n->op == DIF_O_INDEX)
		n = dif_cook_index(c, n, type);
	else
		n = dif_cook(c, n);
	if (!n || c->diag.failed)
		return NULL;
	n->is_cooked = true;
	mark_userland(c, n);
	return n;
}
