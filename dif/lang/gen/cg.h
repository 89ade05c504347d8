/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code generation. Every function returns the register with the value, taken from the set
 * (the caller gives it back with dif_reg_free()), or -1 after an error.
 *
 * Registers hold 64 bits; a value of a smaller integer type is sign- or zero-extended in its register when it
 * comes from memory or a cast. Arithmetic doesn't extend again, and a variable gives back the 64 bits that
 * were stored: dif_cg_extend() extends where the difference is visible.
 */
#ifndef DIF_LANG_GEN_CG_H
#define DIF_LANG_GEN_CG_H

#include "dif/lang/gen/emit.h"

struct dif_cg {
	struct dif_asm as;
	struct dif_compiler *c;
	uint32_t used; /* bit n: %rn is taken; %r0 always is */
};

int dif_reg_alloc(struct dif_cg *cg);
void dif_reg_free(struct dif_cg *cg, int reg);

/** Any expression. */
int dif_cg_node(struct dif_cg *cg, struct dif_node *n);
/** Its address, of an lvalue in memory. */
int dif_cg_addr(struct dif_cg *cg, struct dif_node *n);
/** Sign- or zero-extend the integer in @p reg to 64 bits as a value of @p type. */
void dif_cg_extend(struct dif_cg *cg, int reg, struct dif_type *type);

/* cg_op.c */
int dif_cg_op1(struct dif_cg *cg, struct dif_node *n);
int dif_cg_op2(struct dif_cg *cg, struct dif_node *n);
int dif_cg_op3(struct dif_cg *cg, struct dif_node *n);
/** rd = r1 op r2 for arithmetic on @p type. */
void dif_cg_arith(struct dif_cg *cg, enum dif_oper op, struct dif_type *type, int r1, int r2, int rd);
/** Multiply @p reg by the size of what @p pointer points to. */
void dif_cg_scale(struct dif_cg *cg, int reg, struct dif_type *pointer);

/* cg_mem.c: variables, memory, assignments */
int dif_cg_var(struct dif_cg *cg, struct dif_node *n);
int dif_cg_load(struct dif_cg *cg, struct dif_node *n, int addr);
int dif_cg_member(struct dif_cg *cg, struct dif_node *n);
int dif_cg_asgn(struct dif_cg *cg, struct dif_node *n);
int dif_cg_incdec(struct dif_cg *cg, struct dif_node *n);

/* cg_call.c */
int dif_cg_call(struct dif_cg *cg, struct dif_node *n);
/** Push a list as a tuple; the stack is flushed first. */
bool dif_cg_tuple(struct dif_cg *cg, struct dif_node *list);
/** Replace a user-space address in @p reg by a copy of the string there. */
int dif_cg_copyinstr(struct dif_cg *cg, int reg);
/** The length of the string at the address in @p reg, which stays, in a register of its own. */
int dif_cg_strlen(struct dif_cg *cg, int reg);

/**
 * One expression to an object that returns its value as @p ret. NULL after an error.
 */
struct dif_object *dif_cg_object(struct dif_compiler *c, struct dif_node *n, const struct dif_rtype *ret);

/** printm(): @p n gives memref()'s pair; the record is its size, 8 bytes, and at most @p max bytes. */
struct dif_object *dif_cg_memory_object(struct dif_compiler *c, struct dif_node *n, uint32_t max);

#endif
