/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The known state of a vCPU behind some instructions, as expressions over its state before them: general
 * registers, the stack words that were written, and the flags' origin. Copied by assignment.
 *
 * Memory other than these stack words is taken to be as it was at the beginning until the code may have
 * changed it; after that its contents are unknown. So a value is either exact or unknown.
 */
#ifndef VP_SYMBOLIC_STATE_H
#define VP_SYMBOLIC_STATE_H

#include "vmm-probe/symbolic/expr.h"

#define VP_STATE_SLOTS 32u

/* What the flags say. */
enum vp_flags_kind {
	VP_FLAGS_UNKNOWN,
	VP_FLAGS_COMPARE, /* of a - b */
	VP_FLAGS_RESULT,  /* of the result a; carry and overflow are clear */
	VP_FLAGS_SIGN,    /* of the result a; carry and overflow are unknown */
	VP_FLAGS_CARRY,   /* carry is a; the rest is unknown */
	VP_FLAGS_BITS,    /* carry is a, one of the bits at the constant address `bits` */
};

struct vp_flags {
	enum vp_flags_kind kind;
	unsigned size; /* of the operands, bytes */
	const struct vp_expr *a, *b;
	uint64_t bits;
};

/* A word on the stack, by its distance from the stack pointer at the beginning. */
struct vp_stack_slot {
	int64_t at;
	unsigned size;
	const struct vp_expr *value;
};

struct vp_state {
	const struct vp_expr *regs[VP_NREGS_GENERAL];
	struct vp_stack_slot slots[VP_STATE_SLOTS];
	unsigned nslots;
	struct vp_flags flags;
	uint64_t stable, stable_size; /* memory that nothing on the way writes to: address, bytes */
	bool memory_unknown;          /* the rest may have been written to */
	bool stack_unknown;           /* a write to the stack that no slot has */
};

/** The state before the first instruction: each register is itself. */
void vp_state_init(struct vp_state *state, struct vp_exprs *exprs);

/** What a load of @p size bytes at @p address gives. */
const struct vp_expr *vp_state_load(const struct vp_state *state, struct vp_exprs *exprs,
				    const struct vp_expr *address, unsigned size);
void vp_state_store(struct vp_state *state, const struct vp_expr *address, unsigned size,
		    const struct vp_expr *value);

/** A function was called and returned: registers that the calling convention lets it change are unknown. */
void vp_state_call(struct vp_state *state);

#endif
