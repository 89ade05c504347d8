/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subroutine calls and tuples. */
#include "dif/lang/gen/cg.h"

/* Does evaluating @n use the tuple stack itself? Then it is evaluated before anything is pushed. */
static bool uses_tuple(const struct dif_node *n)
{
	if (!n)
		return false;
	if (n->kind == DIF_N_FUNC || n->kind == DIF_N_XLATE || (n->kind == DIF_N_VAR && n->args))
		return true;
	/* storing a string in memory asks for its length */
	if (n->op == DIF_O_ASGN && n->left->kind != DIF_N_VAR)
		return true;
	/* conversions to string may copy from user space */
	if ((n->kind == DIF_N_CAST || n->op == DIF_O_STRINGOF || (n->op >= DIF_O_LT && n->op <= DIF_O_NE)) &&
	    n->left && n->left->is_userland)
		return true;
	return uses_tuple(n->left) || uses_tuple(n->right) || uses_tuple(n->third);
}

/* %r0 as the size of a string means the default one, 256 */
static void push_string(struct dif_cg *cg, int reg)
{
	int size = 0;

	if (cg->c->opts->strsize != 256) {
		size = dif_reg_alloc(cg);
		dif_emit_setx(&cg->as, cg->c->opts->strsize, size);
	}
	if (!cg->c->diag.failed)
		dif_emit(&cg->as, dif_insn(DIF_OP_pushtr, DIF_TYPE_STRING, (uint32_t)size, (uint32_t)reg));
	dif_reg_free(cg, size);
}

static void push(struct dif_cg *cg, struct dif_node *n, int reg)
{
	struct dif_rtype t = dif_type_rtype(cg->c, n->type);

	if (!(t.flags & DIF_TF_BYREF)) {
		dif_emit(&cg->as, dif_insn(DIF_OP_pushtv, DIF_TYPE_CTF, 0, (uint32_t)reg));
		return;
	}
	if (t.kind == DIF_TYPE_STRING) {
		push_string(cg, reg);
		return;
	}
	int size = dif_reg_alloc(cg);
	dif_emit_setx(&cg->as, t.size, size);
	if (!cg->c->diag.failed)
		dif_emit(&cg->as, dif_insn(DIF_OP_pushtr, t.kind, (uint32_t)size, (uint32_t)reg));
	dif_reg_free(cg, size);
}

/* Registers of the elements that were evaluated beforehand; 0: not yet. */
static bool prepare(struct dif_cg *cg, struct dif_node *list, int regs[DIF_NTUPLE])
{
	for (int i = 0; list; list = list->next, i++) {
		if (i == DIF_NTUPLE || (cg->c->opts->tregs && (uint64_t)i >= cg->c->opts->tregs)) {
			dif_fail(cg->c, DIF_D_NONE, list->line,
				 "Insufficient tuple registers to generate code");
			return false;
		}
		regs[i] = 0;
		if (uses_tuple(list) && (regs[i] = dif_cg_node(cg, list)) < 0)
			return false;
	}
	return true;
}

bool dif_cg_tuple(struct dif_cg *cg, struct dif_node *list)
{
	int regs[DIF_NTUPLE] = { 0 };

	if (!prepare(cg, list, regs))
		return false;
	dif_emit(&cg->as, dif_insn(DIF_OP_flushts, 0, 0, 0));
	for (int i = 0; list; list = list->next, i++) {
		if (!regs[i])
			regs[i] = dif_cg_node(cg, list);
		if (regs[i] < 0)
			return false;
		push(cg, list, regs[i]);
		dif_reg_free(cg, regs[i]);
	}
	return !cg->c->diag.failed;
}

int dif_cg_copyinstr(struct dif_cg *cg, int reg)
{
	dif_emit(&cg->as, dif_insn(DIF_OP_flushts, 0, 0, 0));
	dif_emit(&cg->as, dif_insn(DIF_OP_pushtv, DIF_TYPE_CTF, 0, (uint32_t)reg));
	dif_emit(&cg->as, dif_insn_index(DIF_OP_call, DIF_SUBR_copyinstr, (uint32_t)reg));
	return cg->c->diag.failed ? -1 : reg;
}

int dif_cg_strlen(struct dif_cg *cg, int reg)
{
	dif_emit(&cg->as, dif_insn(DIF_OP_flushts, 0, 0, 0));
	push_string(cg, reg);
	int len = dif_reg_alloc(cg);
	if (len > 0)
		dif_emit(&cg->as, dif_insn_index(DIF_OP_call, DIF_SUBR_strlen, (uint32_t)len));
	return len;
}

/* A user-space char * where a string is wanted is copied in. Arguments behind the parameters are our own (the
 * offsets that d_path() gets). */
static bool copy_in_strings(struct dif_cg *cg, struct dif_node *n)
{
	const struct dif_function *func = n->ident->func;
	size_t i = 0;

	for (struct dif_node **a = &n->args; *a; a = &(*a)->next, i++) {
		if (dif_function_letter(func, i) != 's' || !(*a)->is_userland ||
		    dif_is_string(cg->c, (*a)->type))
			continue;
		struct dif_node *next = (*a)->next, *cast = dif_cast_to(cg->c, *a, cg->c->types->string);
		if (!cast)
			return false;
		cast->next = next;
		*a = cast;
	}
	return true;
}

int dif_cg_call(struct dif_cg *cg, struct dif_node *n)
{
	if (n->ident->kind != DIF_ID_SUBR) {
		dif_fail(cg->c, DIF_D_CG_EXPR, n->line,
			 "%s( ) may not be called from a D expression (D program context required)", n->name);
		return -1;
	}
	if (!copy_in_strings(cg, n) || !dif_cg_tuple(cg, n->args))
		return -1;
	int reg = dif_reg_alloc(cg);
	if (reg > 0)
		dif_emit(&cg->as, dif_insn_index(DIF_OP_call, n->ident->func->id, (uint32_t)reg));
	return reg;
}
