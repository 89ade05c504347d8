/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The known values of DIF's registers and condition codes at an instruction, for all ways that lead there.
 * All branches go forward, so one pass over an object finds it.
 */
#ifndef VP_TRAMPOLINE_FLOW_H
#define VP_TRAMPOLINE_FLOW_H

#include "dif/obj/object.h"
#include "vmm-probe/arch/trampoline.h"

/* A register's value. The first three are numbers, which a register of the trampoline has; the others are
 * known by name only. */
enum vp_flow_kind {
	VP_FLOW_ANY,
	VP_FLOW_CONST,    /* n */
	VP_FLOW_TASK,     /* the running task's address + n */
	VP_FLOW_PERCPU,   /* the base of this CPU's per-CPU area + n */
	VP_FLOW_STRING,   /* the object's string at offset n */
	VP_FLOW_EXECNAME, /* the running task's name */
	VP_FLOW_NOTHING,  /* not set, or not the same on all ways */
};

struct vp_flow_value {
	enum vp_flow_kind kind;
	uint64_t n;
};

/* The condition codes. The trampoline's are those of its last comparison; they are lost when it calculates.
 */
enum vp_flow_codes {
	VP_FLOW_LOST,
	VP_FLOW_KNOWN, /* negative, zero, carry are */
	VP_FLOW_COMPARED,
	VP_FLOW_TESTED,  /* only `zero` means something: the others are false */
	VP_FLOW_EQUALED, /* of strings: `zero` only, and the order is not known */
};

struct vp_flow {
	bool reached;
	struct vp_flow_value regs[DIF_NREGS];
	enum vp_flow_codes codes;
	bool negative, zero, carry;
};

static inline bool vp_flow_is_number(const struct vp_flow_value *v)
{
	return v->kind <= VP_FLOW_TASK;
}

/** Where an object begins: %r0 is 0, the other registers hold nothing that could be used. */
struct vp_flow vp_flow_begin(void);

/** Another way leads to @p at. */
void vp_flow_join(struct vp_flow *at, const struct vp_flow *from);

/** The result of arithmetic on constants, as the interpreter has it. False: none of these operations. */
bool vp_flow_fold(uint32_t op, uint64_t a, uint64_t b, uint64_t *ret);

/* When a branch is taken. */
enum vp_flow_taken { VP_FLOW_NEVER, VP_FLOW_ALWAYS, VP_FLOW_IF, VP_FLOW_UNKNOWN };

/** Whether branch @p op is taken there; IF: on condition *ret_cond of the trampoline's last comparison;
 * UNKNOWN: that can't be determined any more. */
enum vp_flow_taken vp_flow_branch(const struct vp_flow *flow, uint32_t op, enum vp_tramp_cond *ret_cond);

#endif
