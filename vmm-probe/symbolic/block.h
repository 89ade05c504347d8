/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code to which a branch on a tracepoint's static key leads: it tests some conditions, loads the event's
 * arguments and makes the static call that is the event (include/linux/tracepoint.h). It is evaluated
 * symbolically, from the branch on, without being run.
 *
 * All paths are followed, a bounded number of instructions. The result is exact or refused: the condition of
 * the event, and each word of its arguments, as expressions over the vCPU's state at the branch.
 */
#ifndef VP_SYMBOLIC_BLOCK_H
#define VP_SYMBOLIC_BLOCK_H

#include "vmm-probe/symbolic/execute.h"

#define VP_BLOCK_ARGS 10u

/* The properties of the instruction at an address. */
enum vp_block_mark {
	VP_MARK_NONE,
	VP_MARK_END,    /* the flow has returned to the point where it continues without the event */
	VP_MARK_EVENT,  /* a call or jump that is the event */
	VP_MARK_BRANCH, /* a branch on the same key, which is enabled here: continues at *ret_target */
};

/* What the code is part of. */
struct vp_block_env {
	void *arg;
	/* Read text at @p gva into @p ret, up to 15 bytes; returns how many there are. */
	unsigned (*text)(void *arg, uint64_t gva, uint8_t ret[15]);
	enum vp_block_mark (*mark)(void *arg, uint64_t gva, uint64_t *ret_target);
	/* May a call of the function at @p gva contain the event, so that it is followed? */
	bool (*enters)(void *arg, uint64_t gva);
	/* Is the word at @p gva known not to be 0 when the event happens, the bit known to be set? */
	bool (*is_set)(void *arg, uint64_t gva);
	/* Does the function at @p gva return true whenever the event happens, and nothing else? */
	bool (*is_true)(void *arg, uint64_t gva);
	uint64_t stable, stable_size; /* the words of is_set(), if they lie together: address, bytes */
};

struct vp_block {
	bool reached;               /* some path leads to the event */
	bool exact;                 /* it is known when; false: on conditions that can't be computed */
	const struct vp_expr *when; /* 1 or 0; NULL: always */
	const struct vp_expr *args[VP_BLOCK_ARGS]; /* words, without the probe's data; NULL: not known */
	uint64_t inner;                            /* a BRANCH that was taken on the way; 0: none */
	uint64_t entered, call; /* the function whose call was followed, and where; 0: none */
	uint64_t after;         /* the address behind the call that is the event */
	uint32_t instructions;  /* that were executed */
};

/** Evaluate the code at @p target, words 0 to @p nargs - 1. Errors are those of this process. Expressions
 * live as long as @p exprs. */
OT_MUST_CHECK struct ot_err *vp_block_evaluate(struct vp_executor *executor, struct vp_exprs *exprs,
					       const struct vp_block_env *env, uint64_t target,
					       unsigned nargs, struct vp_block *ret);

#endif
