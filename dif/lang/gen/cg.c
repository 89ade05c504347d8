/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code of an expression: registers, constants, symbols, casts; whole objects. */
#include "dif/lang/gen/cg.h"
#include "dif/lang/types/world.h"

int dif_reg_alloc(struct dif_cg *cg)
{
	uint64_t nregs = cg->c->opts->iregs;

	if (cg->c->diag.failed)
		return -1;
	for (unsigned r = 1; r < DIF_NREGS && (!nregs || r < nregs); r++) {
		if (!(cg->used & 1u << r)) {
			cg->used |= 1u << r;
			return (int)r;
		}
	}
	dif_fail(cg->c, DIF_D_NOREG, 0, "Insufficient registers to generate code");
	return -1;
}

void dif_reg_free(struct dif_cg *cg, int reg)
{
	if (reg > 0)
		cg->used &= ~(1u << reg);
}

void dif_cg_extend(struct dif_cg *cg, int reg, struct dif_type *type)
{
	uint64_t size = dif_sizeof(cg->c, type);

	if (!dif_is_int(cg->c, type) || size == 0 || size >= 8)
		return;
	int shift = dif_reg_alloc(cg);
	dif_emit_setx(&cg->as, 64 - size * 8, shift);
	dif_emit_r3(&cg->as, DIF_OP_sll, reg, shift, reg);
	dif_emit_r3(&cg->as, dif_is_signed(cg->c, type) ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg);
	dif_reg_free(cg, shift);
}

/* May the upper bits of this value be anything? Arithmetic makes them, and variables keep them. */
static bool is_loose(const struct dif_node *n)
{
	return (n->kind == DIF_N_VAR && n->ident->kind == DIF_ID_VAR) ||
	       (n->kind == DIF_N_OP2 && n->op != DIF_O_ASGN && n->op != DIF_O_COMMA) ||
	       n->kind == DIF_N_OP3 ||
	       (n->kind == DIF_N_OP1 &&
		(n->op == DIF_O_NEG || n->op == DIF_O_BITNOT || n->op == DIF_O_PREINC ||
		 n->op == DIF_O_PREDEC || n->op == DIF_O_POSTINC || n->op == DIF_O_POSTDEC));
}

static void to_bool(struct dif_cg *cg, int reg)
{
	uint32_t zero = dif_label(&cg->as);

	dif_emit_r2(&cg->as, DIF_OP_tst, reg, 0);
	dif_emit_branch(&cg->as, DIF_OP_be, zero);
	dif_emit_setx(&cg->as, 1, reg);
	dif_label_place(&cg->as, zero);
}

static int cg_cast(struct dif_cg *cg, struct dif_node *n)
{
	struct dif_compiler *c = cg->c;
	struct dif_type *from = n->left->type, *to = n->type;
	int reg = dif_cg_node(cg, n->left);

	if (reg < 0)
		return -1;
	if (dif_is_string(c, to)) {
		if (n->left->is_userland && !dif_is_string(c, from))
			return dif_cg_copyinstr(cg, reg);
		return reg;
	}
	if (!dif_is_int(c, to) || !(dif_is_int(c, from) || dif_is_pointer(c, from)))
		return reg;
	uint64_t ts = dif_sizeof(c, to), fs = dif_sizeof(c, from);
	if (dif_base(c, to)->is_bool) {
		to_bool(cg, reg);
		return reg;
	}
	if (is_loose(n->left) && fs < ts && n->op != DIF_O_ASGN)
		dif_cg_extend(cg, reg, from);
	if (ts < fs || (ts == fs && (is_loose(n->left) || dif_is_signed(c, to) != dif_is_signed(c, from))))
		dif_cg_extend(cg, reg, to);
	else if (ts > fs && dif_is_signed(c, from) && !dif_is_signed(c, to))
		dif_cg_extend(cg, reg, to);
	return reg;
}

static int cg_sym(struct dif_cg *cg, struct dif_node *n)
{
	if (dif_is_void(cg->c, n->type)) {
		dif_fail(cg->c, DIF_D_SYM_NOTYPES, n->line,
			 "no symbolic type information is available for %s", n->name);
		dif_hint(cg->c, "*(int *)&%s reads an int there, stringof(&%s) a string", n->name, n->name);
		return -1;
	}
	int reg = dif_cg_addr(cg, n);
	if (reg < 0 || dif_is_byref(cg->c, n->type) || dif_is_function(cg->c, n->type))
		return reg;
	return dif_cg_load(cg, n, reg);
}

/* A per-CPU symbol names the instance of the vCPU that fires. */
static int cg_sym_addr(struct dif_cg *cg, const struct dif_node *n)
{
	const struct dif_ident *id = n->is_percpu ? ot_map_gets(&cg->c->idents->globals, "percpubase") : NULL;
	int reg = dif_reg_alloc(cg);

	if (reg > 0)
		dif_emit_setx(&cg->as, n->value, reg);
	if (!n->is_percpu && cg->c->world->address_used)
		cg->c->world->address_used(cg->c->world->env);
	if (reg < 0 || !n->is_percpu)
		return reg;
	int base = dif_reg_alloc(cg);
	if (base < 0 || !id)
		return -1;
	dif_emit_var(&cg->as, DIF_OP_ldgs, id, cg->c->types->uint64, base);
	dif_emit_r3(&cg->as, DIF_OP_add, reg, base, reg);
	dif_reg_free(cg, base);
	return reg;
}

int dif_cg_addr(struct dif_cg *cg, struct dif_node *n)
{
	int reg;

	if (n->kind == DIF_N_SYM)
		return cg_sym_addr(cg, n);
	if (n->kind == DIF_N_OP1 && n->op == DIF_O_DEREF)
		return dif_cg_node(cg, n->left);
	if (n->kind == DIF_N_MEMBER) {
		reg = dif_cg_node(cg, n->left);
		uint64_t offset = n->member_bits / 8;
		if (reg > 0 && offset) {
			int add = dif_reg_alloc(cg);
			dif_emit_setx(&cg->as, offset, add);
			dif_emit_r3(&cg->as, DIF_OP_add, reg, add, reg);
			dif_reg_free(cg, add);
		}
		return cg->c->diag.failed ? -1 : reg;
	}
	return dif_cg_node(cg, n); /* by-reference values are their address */
}

static int cg_constant(struct dif_cg *cg, struct dif_node *n)
{
	int reg = dif_reg_alloc(cg);

	if (reg < 0)
		return -1;
	if (n->kind == DIF_N_INT)
		dif_emit_setx(&cg->as, n->value, reg);
	else
		dif_emit_sets(&cg->as, n->name, n->len, reg);
	return reg;
}

/* A translated struct in scratch memory, which is zeros where the translator defines nothing. */
static int cg_translated(struct dif_cg *cg, struct dif_node *n)
{
	int at = dif_reg_alloc(cg);

	if (at < 0)
		return -1;
	dif_emit_setx(&cg->as, dif_sizeof(cg->c, n->type), at);
	dif_emit_r2(&cg->as, DIF_OP_allocs, at, at);
	for (struct dif_node *a = n->args; a; a = a->next) {
		a->left->left->value = (uint64_t)at;
		dif_reg_free(cg, dif_cg_asgn(cg, a));
	}
	return at;
}

/* The caller frees the register that it gets: return a copy. */
static int cg_place(struct dif_cg *cg, const struct dif_node *n)
{
	int reg = dif_reg_alloc(cg);

	if (reg > 0)
		dif_emit_r2(&cg->as, DIF_OP_mov, (int)n->value, reg);
	return reg;
}

static int cg_other(struct dif_cg *cg, struct dif_node *n)
{
	if (n->kind == DIF_N_XLATE)
		dif_fail(cg->c, DIF_D_CG_DYN, n->line, "expression evaluates to result of dynamic type");
	else if (n->kind == DIF_N_AGG)
		dif_fail(cg->c, DIF_D_AGG_NULL, n->line, "aggregation @%s has no value in an expression",
			 n->name);
	else
		dif_fail(cg->c, DIF_D_CG_EXPR, n->line, "no code can be generated for this expression");
	return -1;
}

int dif_cg_node(struct dif_cg *cg, struct dif_node *n)
{
	int reg = -1;

	if (cg->c->diag.failed || !n)
		return -1;
	switch (n->kind) {
	case DIF_N_INT:
	case DIF_N_STRING:
		reg = cg_constant(cg, n);
		break;
	case DIF_N_VAR:
		reg = dif_cg_var(cg, n);
		break;
	case DIF_N_SYM:
		reg = cg_sym(cg, n);
		break;
	case DIF_N_OP1:
		reg = dif_cg_op1(cg, n);
		break;
	case DIF_N_OP2:
		reg = dif_cg_op2(cg, n);
		break;
	case DIF_N_OP3:
		reg = dif_cg_op3(cg, n);
		break;
	case DIF_N_FUNC:
		reg = dif_cg_call(cg, n);
		break;
	case DIF_N_CAST:
		reg = cg_cast(cg, n);
		break;
	case DIF_N_MEMBER:
		reg = dif_cg_member(cg, n);
		break;
	case DIF_N_PLACE:
		reg = cg_place(cg, n);
		break;
	case DIF_N_XLATE:
		reg = dif_is_kind(cg->c, n->type, DIF_C_DYNAMIC) ? cg_other(cg, n) : cg_translated(cg, n);
		break;
	default:
		reg = cg_other(cg, n);
	}
	return cg->c->diag.failed ? -1 : reg;
}

struct dif_object *dif_cg_object(struct dif_compiler *c, struct dif_node *n, const struct dif_rtype *ret)
{
	struct dif_cg cg = { .c = c, .used = 1 };
	struct dif_object *obj = NULL;

	dif_asm_init(&cg.as, c);
	int reg = dif_cg_node(&cg, n);
	if (reg >= 0) {
		dif_emit(&cg.as, dif_insn(DIF_OP_ret, 0, 0, (uint32_t)reg));
		obj = dif_asm_finish(&cg.as, ret);
	}
	dif_asm_deinit(&cg.as);
	return obj;
}

/*
 * printm(): from memref()'s pair {address, size} make the record's contents, the size (at most @max) and
 * behind it the bytes, in scratch memory.
 */
static int cg_memory(struct dif_cg *cg, struct dif_node *n, uint64_t max)
{
	uint32_t fits = dif_label(&cg->as);
	int ref = dif_cg_node(cg, n), size = dif_reg_alloc(cg), tmp = dif_reg_alloc(cg),
	    buf = dif_reg_alloc(cg);

	if (cg->c->diag.failed)
		return -1;
	dif_emit_setx(&cg->as, 8, tmp);
	dif_emit_r3(&cg->as, DIF_OP_add, ref, tmp, tmp);
	dif_emit_r2(&cg->as, DIF_OP_ldx, tmp, size);
	dif_emit_setx(&cg->as, max, tmp);
	dif_emit_r3(&cg->as, DIF_OP_cmp, size, tmp, 0);
	dif_emit_branch(&cg->as, DIF_OP_bleu, fits);
	dif_emit_r2(&cg->as, DIF_OP_mov, tmp, size);
	dif_label_place(&cg->as, fits);
	dif_emit_setx(&cg->as, max + 8, tmp);
	dif_emit_r2(&cg->as, DIF_OP_allocs, tmp, buf);
	dif_emit_r2(&cg->as, DIF_OP_stx, size, buf);
	dif_emit_r2(&cg->as, DIF_OP_ldx, ref, ref);
	dif_emit_setx(&cg->as, 8, tmp);
	dif_emit_r3(&cg->as, DIF_OP_add, buf, tmp, tmp);
	dif_emit_r3(&cg->as, DIF_OP_copys, ref, size, tmp);
	return buf;
}

struct dif_object *dif_cg_memory_object(struct dif_compiler *c, struct dif_node *n, uint32_t max)
{
	struct dif_rtype ret = {
		.kind = DIF_TYPE_CTF, .ckind = DIF_CTF_ARRAY, .flags = DIF_TF_BYREF, .size = max + 8
	};
	struct dif_cg cg = { .c = c, .used = 1 };
	struct dif_object *obj = NULL;

	dif_asm_init(&cg.as, c);
	int reg = cg_memory(&cg, n, max);
	if (reg >= 0) {
		dif_emit(&cg.as, dif_insn(DIF_OP_ret, 0, 0, (uint32_t)reg));
		obj = dif_asm_finish(&cg.as, &ret);
	}
	dif_asm_deinit(&cg.as);
	return obj;
}
