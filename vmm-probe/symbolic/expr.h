/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions over a vCPU's registers and memory at one instruction: the results of a stretch of code that
 * begins there. Values are of 64 bits. Immutable, in an arena, and bounded: an expression that would become
 * larger than VP_EXPR_NODES is unknown.
 *
 * NULL stands for an unknown value, and every constructor returns NULL for unknown operands. One sets
 * *failed instead when memory runs out.
 */
#ifndef VP_SYMBOLIC_EXPR_H
#define VP_SYMBOLIC_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "dif/obj/object.h"
#include "vmm-probe/arch/regs.h"

#define VP_EXPR_NODES 96u

enum vp_expr_op {
	VP_EXPR_CONST,     /* value */
	VP_EXPR_REG,       /* value is an enum vp_reg */
	VP_EXPR_PERCPU,    /* the base of the vCPU's per-CPU area */
	VP_EXPR_LOAD,      /* `size` bytes of kernel memory at a, zero-extended */
	VP_EXPR_LOAD_USER, /* … of the running process's memory */
	VP_EXPR_ADD,
	VP_EXPR_SUB,
	VP_EXPR_AND,
	VP_EXPR_OR,
	VP_EXPR_XOR,
	VP_EXPR_MUL,
	VP_EXPR_SHL, /* by b modulo 64 */
	VP_EXPR_SHR,
	VP_EXPR_SAR,
	VP_EXPR_ZX,  /* the low `size` bytes of a, zero-extended */
	VP_EXPR_SX,  /* … sign-extended */
	VP_EXPR_EQ,  /* 1 or 0 */
	VP_EXPR_LTU, /* a < b, unsigned */
	VP_EXPR_LTS, /* … signed */
	VP_EXPR_IF,  /* a ? b : c */
};

struct vp_expr {
	uint8_t op;   /* enum vp_expr_op */
	uint8_t size; /* LOAD, LOAD_USER, ZX, SX: 1, 2, 4 or 8 bytes */
	uint16_t nodes;
	uint64_t value;
	const struct vp_expr *a, *b, *c;
};

/* Where expressions are made. */
struct vp_exprs {
	struct ot_arena arena;
	bool failed; /* out of memory */
};

void vp_exprs_init(struct vp_exprs *exprs);
void vp_exprs_deinit(struct vp_exprs *exprs);

const struct vp_expr *vp_expr_const(struct vp_exprs *exprs, uint64_t value);
const struct vp_expr *vp_expr_reg(struct vp_exprs *exprs, enum vp_reg reg);
const struct vp_expr *vp_expr_percpu(struct vp_exprs *exprs);
const struct vp_expr *vp_expr_load(struct vp_exprs *exprs, const struct vp_expr *address, unsigned size);
const struct vp_expr *vp_expr_load_user(struct vp_exprs *exprs, const struct vp_expr *address, unsigned size);

/** ZX or SX of the low @p size bytes. */
const struct vp_expr *vp_expr_extend(struct vp_exprs *exprs, enum vp_expr_op op, const struct vp_expr *a,
				     unsigned size);

/** An operation of two operands: ADD to SAR, EQ to LTS. */
const struct vp_expr *vp_expr_binary(struct vp_exprs *exprs, enum vp_expr_op op, const struct vp_expr *a,
				     const struct vp_expr *b);
const struct vp_expr *vp_expr_add(struct vp_exprs *exprs, const struct vp_expr *a, uint64_t value);

/** 1 if @p a is 0, else 0. */
const struct vp_expr *vp_expr_not(struct vp_exprs *exprs, const struct vp_expr *a);
const struct vp_expr *vp_expr_if(struct vp_exprs *exprs, const struct vp_expr *when, const struct vp_expr *a,
				 const struct vp_expr *b);

bool vp_expr_is_const(const struct vp_expr *e, uint64_t *ret);

/** Is @p e register @p reg plus a constant? */
bool vp_expr_is_reg_plus(const struct vp_expr *e, enum vp_reg reg, int64_t *ret);

/** The same expression? Two unknown values are not the same. */
bool vp_expr_equal(const struct vp_expr *a, const struct vp_expr *b);

/** Make the DIF object that evaluates @p e where the registers can be read: regs[] and percpubase. Its tables
 * are in @p arena. UNSUPPORTED: it needs more than DIF's registers. */
OT_MUST_CHECK struct ot_err *vp_expr_dif(const struct vp_expr *e, struct ot_arena *arena,
					 struct dif_object *ret);

/** Append it as text, for listings and tests: "rdi + 0x10", "u32[rbx + 8]", "user32[rsp]". */
void vp_expr_print(const struct vp_expr *e, struct ot_buf *out);

#endif
