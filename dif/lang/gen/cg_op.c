/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operators: arithmetic, comparisons, logic, ?:. */
#include "dif/lang/gen/cg.h"

void dif_cg_arith(struct dif_cg *cg, enum dif_oper op, struct dif_type *type, int r1, int r2, int rd)
{
	bool is_signed = dif_is_signed(cg->c, type);
	enum dif_op insn;

	switch (op) {
	case DIF_O_ADD:
		insn = DIF_OP_add;
		break;
	case DIF_O_SUB:
		insn = DIF_OP_sub;
		break;
	case DIF_O_MUL:
		insn = DIF_OP_mul;
		break;
	case DIF_O_DIV:
		insn = is_signed ? DIF_OP_sdiv : DIF_OP_udiv;
		break;
	case DIF_O_MOD:
		insn = is_signed ? DIF_OP_srem : DIF_OP_urem;
		break;
	case DIF_O_LSH:
		insn = DIF_OP_sll;
		break;
	case DIF_O_RSH:
		insn = is_signed ? DIF_OP_sra : DIF_OP_srl;
		break;
	case DIF_O_AND:
		insn = DIF_OP_and;
		break;
	case DIF_O_OR:
		insn = DIF_OP_or;
		break;
	default:
		insn = DIF_OP_xor;
	}
	dif_emit_r3(&cg->as, insn, r1, r2, rd);
}

void dif_cg_scale(struct dif_cg *cg, int reg, struct dif_type *pointer)
{
	uint64_t size = dif_sizeof(cg->c, dif_pointee(cg->c, pointer));

	if (size <= 1)
		return;
	int by = dif_reg_alloc(cg);
	if (size & (size - 1)) {
		dif_emit_setx(&cg->as, size, by);
		dif_emit_r3(&cg->as, DIF_OP_mul, reg, by, reg);
	} else {
		dif_emit_setx(&cg->as, (uint64_t)__builtin_ctzll(size), by);
		dif_emit_r3(&cg->as, DIF_OP_sll, reg, by, reg);
	}
	dif_reg_free(cg, by);
}

/* Both operands, left first. */
static bool operands(struct dif_cg *cg, struct dif_node *n, int *left, int *right)
{
	*left = dif_cg_node(cg, n->left);
	*right = *left < 0 ? -1 : dif_cg_node(cg, n->right);
	return *right >= 0;
}

/* The address of an array's element: left + right, or 0, which no clause can use, if it is outside. */
static void cg_element(struct dif_cg *cg, struct dif_node *n, int left, int right)
{
	uint32_t outside = dif_label(&cg->as), done = dif_label(&cg->as);
	int length = dif_reg_alloc(cg);

	dif_cg_extend(cg, right, n->right->type);
	dif_emit_setx(&cg->as, n->value, length);
	dif_emit_r3(&cg->as, DIF_OP_cmp, right, length, 0);
	dif_reg_free(cg, length);
	dif_emit_branch(&cg->as, DIF_OP_bgeu, outside);
	dif_cg_scale(cg, right, n->left->type);
	dif_emit_r3(&cg->as, DIF_OP_add, left, right, left);
	dif_emit_branch(&cg->as, DIF_OP_ba, done);
	dif_label_place(&cg->as, outside);
	dif_emit_r2(&cg->as, DIF_OP_mov, 0, left);
	dif_label_place(&cg->as, done);
}

static int cg_arith(struct dif_cg *cg, struct dif_node *n)
{
	bool lp = dif_pointee(cg->c, n->left->type) && !dif_is_int(cg->c, n->left->type);
	bool rp = dif_pointee(cg->c, n->right->type) && !dif_is_int(cg->c, n->right->type);
	int l, r;

	if (!operands(cg, n, &l, &r))
		return -1;
	if (n->value) {
		cg_element(cg, n, l, r);
		dif_reg_free(cg, r);
		return l;
	}
	if (lp && !rp)
		dif_cg_scale(cg, r, n->left->type);
	dif_cg_arith(cg, n->op, n->op == DIF_O_RSH ? n->left->type : n->type, l, r, l);
	if (lp && rp) { /* the number of elements between */
		uint64_t size = dif_sizeof(cg->c, dif_pointee(cg->c, n->left->type));
		if (size > 1) {
			dif_emit_setx(&cg->as, size, r);
			dif_emit_r3(&cg->as, DIF_OP_sdiv, l, r, l);
		}
	}
	dif_reg_free(cg, r);
	return l;
}

/* %rd = 1 when the branch is taken, else 0 */
static int boolean(struct dif_cg *cg, enum dif_op branch, int rd)
{
	uint32_t yes = dif_label(&cg->as), done = dif_label(&cg->as);

	dif_emit_branch(&cg->as, branch, yes);
	dif_emit_r2(&cg->as, DIF_OP_mov, 0, rd);
	dif_emit_branch(&cg->as, DIF_OP_ba, done);
	dif_label_place(&cg->as, yes);
	dif_emit_setx(&cg->as, 1, rd);
	dif_label_place(&cg->as, done);
	return rd;
}

static enum dif_op compare_branch(enum dif_oper op, bool is_signed)
{
	switch (op) {
	case DIF_O_EQ:
		return DIF_OP_be;
	case DIF_O_NE:
		return DIF_OP_bne;
	case DIF_O_LT:
		return is_signed ? DIF_OP_bl : DIF_OP_blu;
	case DIF_O_LE:
		return is_signed ? DIF_OP_ble : DIF_OP_bleu;
	case DIF_O_GT:
		return is_signed ? DIF_OP_bg : DIF_OP_bgu;
	default:
		return is_signed ? DIF_OP_bge : DIF_OP_bgeu;
	}
}

static int string_operand(struct dif_cg *cg, struct dif_node *n, int reg)
{
	if (reg >= 0 && n->is_userland && !dif_is_string(cg->c, n->type) && !dif_node_is_null(cg->c, n))
		return dif_cg_copyinstr(cg, reg);
	return reg;
}

static int cg_compare(struct dif_cg *cg, struct dif_node *n)
{
	struct dif_compiler *c = cg->c;
	bool strings = dif_is_string(c, n->left->type) || dif_is_string(c, n->right->type), is_signed = true;
	int l, r;

	l = dif_cg_node(cg, n->left);
	if (strings)
		l = string_operand(cg, n->left, l);
	r = l < 0 ? -1 : dif_cg_node(cg, n->right);
	if (strings)
		r = string_operand(cg, n->right, r);
	if (r < 0)
		return -1;
	if (!strings) {
		is_signed = dif_is_int(c, n->left->type) && dif_is_int(c, n->right->type) &&
			    dif_is_signed(c, dif_type_promote(c, n->left->type, n->right->type));
	}
	dif_emit_r3(&cg->as, strings ? DIF_OP_scmp : DIF_OP_cmp, l, r, 0);
	dif_reg_free(cg, r);
	return boolean(cg, compare_branch(n->op, is_signed), l);
}

/* a && b, a || b: the right side runs only when it decides */
static int cg_shortcut(struct dif_cg *cg, struct dif_node *n)
{
	bool is_and = n->op == DIF_O_LAND;
	uint32_t out = dif_label(&cg->as), done = dif_label(&cg->as);
	int reg = dif_cg_node(cg, n->left);

	if (reg < 0)
		return -1;
	dif_emit_r2(&cg->as, DIF_OP_tst, reg, 0);
	dif_reg_free(cg, reg);
	dif_emit_branch(&cg->as, is_and ? DIF_OP_be : DIF_OP_bne, out);
	reg = dif_cg_node(cg, n->right);
	if (reg < 0)
		return -1;
	dif_emit_r2(&cg->as, DIF_OP_tst, reg, 0);
	dif_emit_branch(&cg->as, is_and ? DIF_OP_be : DIF_OP_bne, out);
	if (is_and)
		dif_emit_setx(&cg->as, 1, reg);
	else
		dif_emit_r2(&cg->as, DIF_OP_mov, 0, reg);
	dif_emit_branch(&cg->as, DIF_OP_ba, done);
	dif_label_place(&cg->as, out);
	if (is_and)
		dif_emit_r2(&cg->as, DIF_OP_mov, 0, reg);
	else
		dif_emit_setx(&cg->as, 1, reg);
	dif_label_place(&cg->as, done);
	return reg;
}

/* Make the value in @p reg 0 or 1. */
static void normalize_bool(struct dif_cg *cg, int reg)
{
	dif_emit_r2(&cg->as, DIF_OP_tst, reg, 0);
	boolean(cg, DIF_OP_bne, reg);
}

static int cg_xor(struct dif_cg *cg, struct dif_node *n)
{
	int l = dif_cg_node(cg, n->left), r;

	if (l < 0)
		return -1;
	normalize_bool(cg, l);
	r = dif_cg_node(cg, n->right);
	if (r < 0)
		return -1;
	normalize_bool(cg, r);
	dif_emit_r3(&cg->as, DIF_OP_xor, l, r, l);
	dif_reg_free(cg, r);
	return l;
}

int dif_cg_op2(struct dif_cg *cg, struct dif_node *n)
{
	switch (n->op) {
	case DIF_O_ASGN:
		return dif_cg_asgn(cg, n);
	case DIF_O_LAND:
	case DIF_O_LOR:
		return cg_shortcut(cg, n);
	case DIF_O_LXOR:
		return cg_xor(cg, n);
	case DIF_O_LT:
	case DIF_O_LE:
	case DIF_O_GT:
	case DIF_O_GE:
	case DIF_O_EQ:
	case DIF_O_NE:
		return cg_compare(cg, n);
	case DIF_O_COMMA:
		dif_reg_free(cg, dif_cg_node(cg, n->left));
		return dif_cg_node(cg, n->right);
	default:
		return cg_arith(cg, n);
	}
}

static int cg_not(struct dif_cg *cg, struct dif_node *n)
{
	int reg = dif_cg_node(cg, n->left);

	if (reg < 0)
		return -1;
	dif_emit_r2(&cg->as, DIF_OP_tst, reg, 0);
	return boolean(cg, DIF_OP_be, reg);
}

int dif_cg_op1(struct dif_cg *cg, struct dif_node *n)
{
	int reg;

	switch (n->op) {
	case DIF_O_NOT:
		return cg_not(cg, n);
	case DIF_O_ADDROF:
		return dif_cg_addr(cg, n->left);
	case DIF_O_DEREF:
		reg = dif_cg_node(cg, n->left);
		if (reg < 0 || dif_is_byref(cg->c, n->type))
			return reg;
		return dif_cg_load(cg, n, reg);
	case DIF_O_PREINC:
	case DIF_O_PREDEC:
	case DIF_O_POSTINC:
	case DIF_O_POSTDEC:
		return dif_cg_incdec(cg, n);
	default:
		break;
	}
	reg = dif_cg_node(cg, n->left);
	if (reg < 0)
		return -1;
	if (n->op == DIF_O_NEG)
		dif_emit_r3(&cg->as, DIF_OP_sub, 0, reg, reg);
	else if (n->op == DIF_O_BITNOT)
		dif_emit_r2(&cg->as, DIF_OP_not, reg, reg);
	else if (n->op == DIF_O_STRINGOF && n->left->is_userland && !dif_is_string(cg->c, n->left->type))
		return dif_cg_copyinstr(cg, reg);
	return reg;
}

/* Both arms end in one register. After the first arm its register is given back, so that
 * the second may use it: only one of the arms runs. */
int dif_cg_op3(struct dif_cg *cg, struct dif_node *n)
{
	uint32_t no = dif_label(&cg->as), done = dif_label(&cg->as);
	int reg = dif_cg_node(cg, n->left);

	if (reg < 0)
		return -1;
	dif_emit_r2(&cg->as, DIF_OP_tst, reg, 0);
	dif_reg_free(cg, reg);
	dif_emit_branch(&cg->as, DIF_OP_be, no);
	reg = dif_cg_node(cg, n->right);
	if (reg < 0)
		return -1;
	dif_emit_branch(&cg->as, DIF_OP_ba, done);
	dif_label_place(&cg->as, no);
	dif_reg_free(cg, reg);
	int other = dif_cg_node(cg, n->third);
	if (other < 0)
		return -1;
	if (other != reg) {
		dif_emit_r2(&cg->as, DIF_OP_mov, other, reg);
		dif_reg_free(cg, other);
		cg->used |= 1u << reg;
	}
	dif_label_place(&cg->as, done);
	return reg;
}
