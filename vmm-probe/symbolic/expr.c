/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making expressions, which are simplified as they are made: constants are folded, extensions that change
 * nothing are left out. */
#include "vmm-probe/symbolic/expr.h"

#include <string.h>

void vp_exprs_init(struct vp_exprs *exprs)
{
	ot_arena_init(&exprs->arena);
	exprs->failed = false;
}

void vp_exprs_deinit(struct vp_exprs *exprs)
{
	ot_arena_deinit(&exprs->arena);
}

static const struct vp_expr *make(struct vp_exprs *exprs, struct vp_expr e)
{
	const struct vp_expr *const parts[] = { e.a, e.b, e.c };
	unsigned nodes = 1;

	for (size_t i = 0; i < OT_ARRAY_SIZE(parts); i++)
		nodes += parts[i] ? parts[i]->nodes : 0;
	if (nodes > VP_EXPR_NODES)
		return NULL;
	struct vp_expr *ret = ot_arena_new(&exprs->arena, struct vp_expr);
	if (!ret) {
		exprs->failed = true;
		return NULL;
	}
	*ret = e;
	ret->nodes = (uint16_t)nodes;
	return ret;
}

const struct vp_expr *vp_expr_const(struct vp_exprs *exprs, uint64_t value)
{
	return make(exprs, (struct vp_expr){ .op = VP_EXPR_CONST, .value = value });
}

const struct vp_expr *vp_expr_reg(struct vp_exprs *exprs, enum vp_reg reg)
{
	return make(exprs, (struct vp_expr){ .op = VP_EXPR_REG, .value = (uint64_t)reg });
}

const struct vp_expr *vp_expr_percpu(struct vp_exprs *exprs)
{
	return make(exprs, (struct vp_expr){ .op = VP_EXPR_PERCPU });
}

static const struct vp_expr *load(struct vp_exprs *exprs, enum vp_expr_op op, const struct vp_expr *address,
				  unsigned size)
{
	if (!address || (size != 1 && size != 2 && size != 4 && size != 8))
		return NULL;
	return make(exprs, (struct vp_expr){ .op = (uint8_t)op, .size = (uint8_t)size, .a = address });
}

const struct vp_expr *vp_expr_load(struct vp_exprs *exprs, const struct vp_expr *address, unsigned size)
{
	return load(exprs, VP_EXPR_LOAD, address, size);
}

const struct vp_expr *vp_expr_load_user(struct vp_exprs *exprs, const struct vp_expr *address, unsigned size)
{
	return load(exprs, VP_EXPR_LOAD_USER, address, size);
}

bool vp_expr_is_const(const struct vp_expr *e, uint64_t *ret)
{
	if (!e || e->op != VP_EXPR_CONST)
		return false;
	*ret = e->value;
	return true;
}

bool vp_expr_is_reg_plus(const struct vp_expr *e, enum vp_reg reg, int64_t *ret)
{
	*ret = 0;
	if (e && e->op == VP_EXPR_ADD && e->b->op == VP_EXPR_CONST) {
		*ret = (int64_t)e->b->value;
		e = e->a;
	}
	return e && e->op == VP_EXPR_REG && e->value == (uint64_t)reg;
}

bool vp_expr_equal(const struct vp_expr *a, const struct vp_expr *b)
{
	if (!a || !b)
		return false;
	if (a == b)
		return true;
	if (a->op != b->op || a->size != b->size || a->value != b->value || a->nodes != b->nodes)
		return false;
	return (!a->a || vp_expr_equal(a->a, b->a)) && (!a->b || vp_expr_equal(a->b, b->b)) &&
	       (!a->c || vp_expr_equal(a->c, b->c));
}

static uint64_t mask_of(unsigned size)
{
	return size >= 8 ? UINT64_MAX : (1ull << 8 * size) - 1;
}

static uint64_t fold_extend(enum vp_expr_op op, uint64_t v, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return op == VP_EXPR_ZX ? v & mask_of(size) : (uint64_t)((int64_t)(v << shift) >> shift);
}

/* Is every bit of @e above its low @size bytes 0? */
static bool fits(const struct vp_expr *e, unsigned size)
{
	switch (e->op) {
	case VP_EXPR_LOAD:
	case VP_EXPR_LOAD_USER:
	case VP_EXPR_ZX:
		return e->size <= size;
	case VP_EXPR_CONST:
		return e->value <= mask_of(size);
	case VP_EXPR_EQ:
	case VP_EXPR_LTU:
	case VP_EXPR_LTS:
		return true;
	case VP_EXPR_AND:
		return fits(e->a, size) || fits(e->b, size);
	case VP_EXPR_OR:
	case VP_EXPR_XOR:
		return fits(e->a, size) && fits(e->b, size);
	case VP_EXPR_IF:
		return fits(e->b, size) && fits(e->c, size);
	default:
		return false;
	}
}

/* The part of @e that determines its low @size bytes: without extensions, and without the rest of a partly
 * written register. */
static const struct vp_expr *low_part(const struct vp_expr *e, unsigned size)
{
	uint64_t kept;

	while ((e->op == VP_EXPR_ZX || e->op == VP_EXPR_SX) && e->size >= size)
		e = e->a;
	if (e->op == VP_EXPR_OR && e->a->op == VP_EXPR_AND && vp_expr_is_const(e->a->b, &kept) &&
	    !(kept & mask_of(size)))
		return low_part(e->b, size);
	return e;
}

const struct vp_expr *vp_expr_extend(struct vp_exprs *exprs, enum vp_expr_op op, const struct vp_expr *a,
				     unsigned size)
{
	uint64_t v;

	if (!a)
		return NULL;
	if (size >= 8)
		return a;
	a = low_part(a, size);
	if (vp_expr_is_const(a, &v))
		return vp_expr_const(exprs, fold_extend(op, v, size));
	if (op == VP_EXPR_ZX && fits(a, size))
		return a;
	return make(exprs, (struct vp_expr){ .op = (uint8_t)op, .size = (uint8_t)size, .a = a });
}

static uint64_t fold(enum vp_expr_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case VP_EXPR_ADD:
		return a + b;
	case VP_EXPR_SUB:
		return a - b;
	case VP_EXPR_AND:
		return a & b;
	case VP_EXPR_OR:
		return a | b;
	case VP_EXPR_XOR:
		return a ^ b;
	case VP_EXPR_MUL:
		return a * b;
	case VP_EXPR_SHL:
		return a << (b & 63);
	case VP_EXPR_SHR:
		return a >> (b & 63);
	case VP_EXPR_SAR:
		return (uint64_t)((int64_t)a >> (b & 63));
	case VP_EXPR_EQ:
		return a == b;
	case VP_EXPR_LTU:
		return a < b;
	default:
		return (int64_t)a < (int64_t)b;
	}
}

/* The operand that is the result, as the other one changes nothing; NULL: none. */
static const struct vp_expr *neutral(enum vp_expr_op op, const struct vp_expr *a, const struct vp_expr *b)
{
	uint64_t v;

	if (!vp_expr_is_const(b, &v))
		return NULL;
	switch (op) {
	case VP_EXPR_ADD:
	case VP_EXPR_SUB:
	case VP_EXPR_OR:
	case VP_EXPR_XOR:
	case VP_EXPR_SHL:
	case VP_EXPR_SHR:
	case VP_EXPR_SAR:
		return v ? NULL : a;
	case VP_EXPR_AND:
		return v == UINT64_MAX ? a : NULL;
	case VP_EXPR_MUL:
		return v == 1 ? a : NULL;
	default:
		return NULL;
	}
}

static bool commutes(enum vp_expr_op op)
{
	return op == VP_EXPR_ADD || op == VP_EXPR_AND || op == VP_EXPR_OR || op == VP_EXPR_XOR ||
	       op == VP_EXPR_MUL || op == VP_EXPR_EQ;
}

const struct vp_expr *vp_expr_binary(struct vp_exprs *exprs, enum vp_expr_op op, const struct vp_expr *a,
				     const struct vp_expr *b)
{
	uint64_t x, y;

	if (!a || !b)
		return NULL;
	if (vp_expr_is_const(a, &x)) {
		if (vp_expr_is_const(b, &y))
			return vp_expr_const(exprs, fold(op, x, y));
		if (commutes(op))
			return vp_expr_binary(exprs, op, b, a);
	}
	if (op == VP_EXPR_SUB && vp_expr_is_const(b, &y))
		return vp_expr_add(exprs, a, 0 - y);
	if ((op == VP_EXPR_SUB || op == VP_EXPR_XOR) && vp_expr_equal(a, b))
		return vp_expr_const(exprs, 0);
	if ((op == VP_EXPR_AND || op == VP_EXPR_OR) && vp_expr_equal(a, b))
		return a;
	if (op == VP_EXPR_ADD && vp_expr_is_const(b, &y) && a->op == VP_EXPR_ADD &&
	    vp_expr_is_const(a->b, &x))
		return vp_expr_add(exprs, a->a, x + y);
	const struct vp_expr *same = neutral(op, a, b);
	return same ? same : make(exprs, (struct vp_expr){ .op = (uint8_t)op, .a = a, .b = b });
}

const struct vp_expr *vp_expr_add(struct vp_exprs *exprs, const struct vp_expr *a, uint64_t value)
{
	return vp_expr_binary(exprs, VP_EXPR_ADD, a, vp_expr_const(exprs, value));
}

const struct vp_expr *vp_expr_not(struct vp_exprs *exprs, const struct vp_expr *a)
{
	uint64_t v;

	/* Not twice: of a truth value that is the value itself. */
	if (a && a->op == VP_EXPR_EQ && vp_expr_is_const(a->b, &v) && !v && fits(a->a, 1) &&
	    a->a->op >= VP_EXPR_EQ && a->a->op <= VP_EXPR_LTS)
		return a->a;
	return vp_expr_binary(exprs, VP_EXPR_EQ, a, vp_expr_const(exprs, 0));
}

const struct vp_expr *vp_expr_if(struct vp_exprs *exprs, const struct vp_expr *when, const struct vp_expr *a,
				 const struct vp_expr *b)
{
	uint64_t v;

	if (!a || !b)
		return NULL;
	if (vp_expr_equal(a, b))
		return a;
	if (vp_expr_is_const(when, &v))
		return v ? a : b;
	return when ? make(exprs, (struct vp_expr){ .op = VP_EXPR_IF, .a = when, .b = a, .c = b }) : NULL;
}

/* --- as text ------------------------------------------------------------------------------------------ */

static const char *operator_of(enum vp_expr_op op)
{
	static const char *const names[] = {
		[VP_EXPR_ADD] = "+",   [VP_EXPR_SUB] = "-", [VP_EXPR_AND] = "&",  [VP_EXPR_OR] = "|",
		[VP_EXPR_XOR] = "^",   [VP_EXPR_MUL] = "*", [VP_EXPR_SHL] = "<<", [VP_EXPR_SHR] = ">>",
		[VP_EXPR_SAR] = ">>s", [VP_EXPR_EQ] = "==", [VP_EXPR_LTU] = "<",  [VP_EXPR_LTS] = "<s",
	};

	return names[op];
}

static void print_const(uint64_t v, struct ot_buf *out)
{
	if (v < 10)
		ot_buf_printf(out, "%u", (unsigned)v);
	else
		ot_buf_printf(out, "0x%llx", (unsigned long long)v);
}

void vp_expr_print(const struct vp_expr *e, struct ot_buf *out)
{
	if (!e) {
		ot_buf_puts(out, "?");
		return;
	}
	switch ((enum vp_expr_op)e->op) {
	case VP_EXPR_CONST:
		print_const(e->value, out);
		return;
	case VP_EXPR_REG:
		ot_buf_puts(out, vp_reg_names[e->value]);
		return;
	case VP_EXPR_PERCPU:
		ot_buf_puts(out, "percpu");
		return;
	case VP_EXPR_LOAD:
	case VP_EXPR_LOAD_USER:
		ot_buf_printf(out, "%s%u[", e->op == VP_EXPR_LOAD ? "u" : "user", 8u * e->size);
		vp_expr_print(e->a, out);
		ot_buf_puts(out, "]");
		return;
	case VP_EXPR_ZX:
	case VP_EXPR_SX:
		ot_buf_printf(out, "%s%u(", e->op == VP_EXPR_ZX ? "u" : "s", 8u * e->size);
		vp_expr_print(e->a, out);
		ot_buf_puts(out, ")");
		return;
	default:
		break;
	}
	ot_buf_puts(out, "(");
	vp_expr_print(e->a, out);
	ot_buf_printf(out, " %s ", e->op == VP_EXPR_IF ? "?" : operator_of((enum vp_expr_op)e->op));
	vp_expr_print(e->b, out);
	if (e->op == VP_EXPR_IF) {
		ot_buf_puts(out, " : ");
		vp_expr_print(e->c, out);
	}
	ot_buf_puts(out, ")");
}
