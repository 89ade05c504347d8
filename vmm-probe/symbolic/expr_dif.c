/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions as DIF. Code is generated for a stack of registers: an operand that needs more of them is
 * evaluated first, so that the number needed is least.
 */
#include <string.h>

#include "vmm-probe/symbolic/expr.h"

#define TEXT_MAX  (VP_EXPR_NODES * 12u)
#define FIRST_REG 1u /* %r0 is always 0 */

struct gen {
	uint32_t text[TEXT_MAX];
	uint64_t ints[TEXT_MAX];
	uint32_t n, nints;
};

static void emit(struct gen *g, uint32_t insn)
{
	g->text[g->n++] = insn;
}

static void emit_const(struct gen *g, uint64_t value, unsigned r)
{
	uint32_t i = 0;

	if (!value) {
		emit(g, dif_insn(DIF_OP_mov, 0, 0, r));
		return;
	}
	while (i < g->nints && g->ints[i] != value)
		i++;
	if (i == g->nints)
		g->ints[g->nints++] = value;
	emit(g, dif_insn_index(DIF_OP_setx, i, r));
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Registers that evaluating @e takes. */
static unsigned need(const struct vp_expr *e)
{
	unsigned a, b;

	switch ((enum vp_expr_op)e->op) {
	case VP_EXPR_CONST:
	case VP_EXPR_REG:
	case VP_EXPR_PERCPU:
		return 1;
	case VP_EXPR_LOAD:
	case VP_EXPR_LOAD_USER:
		return need(e->a);
	case VP_EXPR_ZX:
	case VP_EXPR_SX:
		return larger(need(e->a), 2); /* a mask or a distance */
	case VP_EXPR_IF:
		return larger(need(e->a), larger(need(e->b), need(e->c)));
	default:
		a = need(e->a);
		b = need(e->b);
		return larger(a == b ? a + 1 : larger(a, b), e->op == VP_EXPR_LTS ? 3 : 0);
	}
}

static void eval(struct gen *g, const struct vp_expr *e, unsigned r);

static bool is_load(const struct vp_expr *e)
{
	return e->op == VP_EXPR_LOAD || e->op == VP_EXPR_LOAD_USER;
}

static void eval_load(struct gen *g, const struct vp_expr *e, bool is_signed, unsigned r)
{
	static const uint8_t ops[2][2][4] = {
		{ { DIF_OP_ldub, DIF_OP_lduh, DIF_OP_lduw, DIF_OP_ldx },
		  { DIF_OP_ldsb, DIF_OP_ldsh, DIF_OP_ldsw, DIF_OP_ldx } },
		{ { DIF_OP_uldub, DIF_OP_ulduh, DIF_OP_ulduw, DIF_OP_uldx },
		  { DIF_OP_uldsb, DIF_OP_uldsh, DIF_OP_uldsw, DIF_OP_uldx } },
	};
	unsigned log = e->size == 8 ? 3 : e->size / 2;

	eval(g, e->a, r);
	emit(g, dif_insn(ops[e->op == VP_EXPR_LOAD_USER][is_signed][log], r, 0, r));
}

static void eval_extend(struct gen *g, const struct vp_expr *e, unsigned r)
{
	if (e->op == VP_EXPR_SX && is_load(e->a) && e->a->size == e->size) {
		eval_load(g, e->a, true, r);
		return;
	}
	eval(g, e->a, r);
	if (e->op == VP_EXPR_ZX) {
		emit_const(g, (1ull << 8 * e->size) - 1, r + 1);
		emit(g, dif_insn(DIF_OP_and, r, r + 1, r));
		return;
	}
	emit_const(g, 64 - 8u * e->size, r + 1);
	emit(g, dif_insn(DIF_OP_sll, r, r + 1, r));
	emit(g, dif_insn(DIF_OP_sra, r, r + 1, r));
}

static void eval_if(struct gen *g, const struct vp_expr *e, unsigned r)
{
	eval(g, e->a, r);
	emit(g, dif_insn(DIF_OP_tst, r, 0, 0));
	uint32_t to_else = g->n++;
	eval(g, e->b, r);
	uint32_t to_end = g->n++;
	g->text[to_else] = dif_insn_branch(DIF_OP_be, g->n);
	eval(g, e->c, r);
	g->text[to_end] = dif_insn_branch(DIF_OP_ba, g->n);
	/* A branch must have something to go to. */
	emit(g, dif_insn(DIF_OP_nop, 0, 0, 0));
}

static void emit_compare(struct gen *g, enum vp_expr_op op, unsigned a, unsigned b, unsigned r)
{
	/* DIF's signed branches go by the sign of a difference that may overflow. */
	for (unsigned i = 0; op == VP_EXPR_LTS && i < 2; i++) {
		emit_const(g, 1ull << 63, r + 2);
		emit(g, dif_insn(DIF_OP_xor, r + i, r + 2, r + i));
	}
	emit(g, dif_insn(DIF_OP_cmp, a, b, 0));
	emit(g, dif_insn_branch(op == VP_EXPR_EQ ? DIF_OP_be : DIF_OP_blu, g->n + 3));
	emit_const(g, 0, r);
	emit(g, dif_insn_branch(DIF_OP_ba, g->n + 2));
	emit_const(g, 1, r);
	emit(g, dif_insn(DIF_OP_nop, 0, 0, 0));
}

static void eval_binary(struct gen *g, const struct vp_expr *e, unsigned r)
{
	static const uint8_t ops[] = {
		[VP_EXPR_ADD] = DIF_OP_add, [VP_EXPR_SUB] = DIF_OP_sub, [VP_EXPR_AND] = DIF_OP_and,
		[VP_EXPR_OR] = DIF_OP_or,   [VP_EXPR_XOR] = DIF_OP_xor, [VP_EXPR_MUL] = DIF_OP_mul,
		[VP_EXPR_SHL] = DIF_OP_sll, [VP_EXPR_SHR] = DIF_OP_srl, [VP_EXPR_SAR] = DIF_OP_sra,
	};
	bool swapped = need(e->a) < need(e->b);
	unsigned a = swapped ? r + 1 : r, b = swapped ? r : r + 1;

	eval(g, swapped ? e->b : e->a, r);
	eval(g, swapped ? e->a : e->b, r + 1);
	if (e->op >= VP_EXPR_EQ)
		emit_compare(g, (enum vp_expr_op)e->op, a, b, r);
	else
		emit(g, dif_insn(ops[e->op], a, b, r));
}

static void eval(struct gen *g, const struct vp_expr *e, unsigned r)
{
	switch ((enum vp_expr_op)e->op) {
	case VP_EXPR_CONST:
		emit_const(g, e->value, r);
		return;
	case VP_EXPR_REG:
		emit_const(g, e->value, r);
		emit(g, dif_insn(DIF_OP_ldga, DIF_VAR_regs, r, r));
		return;
	case VP_EXPR_PERCPU:
		emit(g, dif_insn_index(DIF_OP_ldgs, DIF_VAR_percpubase, r));
		return;
	case VP_EXPR_LOAD:
	case VP_EXPR_LOAD_USER:
		eval_load(g, e, false, r);
		return;
	case VP_EXPR_ZX:
	case VP_EXPR_SX:
		eval_extend(g, e, r);
		return;
	case VP_EXPR_IF:
		eval_if(g, e, r);
		return;
	default:
		eval_binary(g, e, r);
	}
}

static void *copy(struct ot_arena *arena, const void *from, size_t size)
{
	void *to = ot_arena_alloc(arena, size ? size : 1);

	if (to && size)
		memcpy(to, from, size);
	return to;
}

struct ot_err *vp_expr_dif(const struct vp_expr *e, struct ot_arena *arena, struct dif_object *ret)
{
	struct gen g = { .n = 0 };

	if (!e)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the value is not known");
	if (FIRST_REG + need(e) > DIF_NREGS)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the value needs more than %u registers",
				  DIF_NREGS - FIRST_REG);
	eval(&g, e, FIRST_REG);
	emit(&g, dif_insn(DIF_OP_ret, 0, 0, FIRST_REG));
	*ret = (struct dif_object){
		.text = copy(arena, g.text, g.n * sizeof(*g.text)),
		.ints = copy(arena, g.ints, g.nints * sizeof(*g.ints)),
		.strs = copy(arena, "", 1),
		.text_len = g.n,
		.int_len = g.nints,
		.str_len = 1,
		.ret = { .kind = DIF_TYPE_CTF, .ckind = DIF_CTF_INTEGER, .size = 8 },
	};
	return ret->text && ret->ints && ret->strs ? NULL : ot_err_nomem();
}
