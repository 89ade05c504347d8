/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DIF assembler: instructions with forward labels, the integer and string tables with
 * nothing twice, the variable table. One per object; errors stick in the compiler.
 */
#ifndef DIF_LANG_GEN_EMIT_H
#define DIF_LANG_GEN_EMIT_H

#include "dif/lang/syntax/ast.h"

struct dif_asm {
	struct dif_compiler *c;
	uint32_t *text;
	size_t n, cap;
	uint64_t *ints;
	size_t nints, ints_cap;
	struct ot_buf strs;
	struct ot_map str_index; /* string → offset + 1 */
	struct dif_var *vars;
	const char **var_names;
	size_t nvars, vars_cap, names_cap;
	uint32_t *labels; /* label → pc, UINT32_MAX: not placed */
	size_t nlabels, labels_cap;
};

void dif_asm_init(struct dif_asm *as, struct dif_compiler *c);
void dif_asm_deinit(struct dif_asm *as);

void dif_emit(struct dif_asm *as, uint32_t insn);
void dif_emit_r3(struct dif_asm *as, enum dif_op op, int r1, int r2, int rd);
void dif_emit_r2(struct dif_asm *as, enum dif_op op, int r1, int rd);
void dif_emit_setx(struct dif_asm *as, uint64_t value, int rd);
void dif_emit_sets(struct dif_asm *as, const char *s, size_t len, int rd);
/** Load or store a variable; notes it in the variable table. */
void dif_emit_var(struct dif_asm *as, enum dif_op op, const struct dif_ident *id, struct dif_type *type,
		  int reg);
/** ldga: @p index is the register with the index. */
void dif_emit_array(struct dif_asm *as, const struct dif_ident *id, struct dif_type *type, int index, int rd);

/** A new label; dif_emit_branch() may use it before dif_label_place() puts it here. */
uint32_t dif_label(struct dif_asm *as);
void dif_label_place(struct dif_asm *as, uint32_t label);
void dif_emit_branch(struct dif_asm *as, enum dif_op op, uint32_t label);

/** Make the object, in the program's arena: branches are resolved, tables copied. */
struct dif_object *dif_asm_finish(struct dif_asm *as, const struct dif_rtype *ret);

#endif
