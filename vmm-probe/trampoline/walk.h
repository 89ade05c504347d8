/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A DIF object on its way to operations: shared by those who translate its instructions. */
#ifndef VP_TRAMPOLINE_WALK_H
#define VP_TRAMPOLINE_WALK_H

#include "vmm-probe/trampoline/flow.h"
#include "vmm-probe/trampoline/maker.h"

#define VP_TRAMP_REFUSED(...) ot_err_new(OT_ERR_UNSUPPORTED, __VA_ARGS__)

struct vp_tramp_walk {
	struct vp_tramp_maker *m;
	const struct dif_object *obj;
	uint32_t pc, insn;
	struct vp_flow now;
	struct vp_flow at[VP_TRAMP_OBJECT_MAX]; /* the states that branches bring to each instruction */
	uint16_t start[VP_TRAMP_OBJECT_MAX];    /* the first operation of each instruction */
};

static inline struct vp_flow_value *vp_tramp_value(struct vp_tramp_walk *w, uint32_t reg)
{
	return &w->now.regs[reg];
}

static inline struct vp_flow_value *vp_tramp_r1(struct vp_tramp_walk *w)
{
	return vp_tramp_value(w, dif_insn_r1(w->insn));
}

static inline struct vp_flow_value *vp_tramp_r2(struct vp_tramp_walk *w)
{
	return vp_tramp_value(w, dif_insn_r2(w->insn));
}

static inline void vp_tramp_set(struct vp_tramp_walk *w, enum vp_flow_kind kind, uint64_t n)
{
	*vp_tramp_value(w, dif_insn_rd(w->insn)) = (struct vp_flow_value){ kind, n };
}

/* An operation whose result is rd. */
static inline struct vp_tramp_op *vp_tramp_add_rd(struct vp_tramp_walk *w, enum vp_tramp_kind kind)
{
	struct vp_tramp_op *op = vp_tramp_add(w->m, kind);

	op->dst = (uint8_t)dif_insn_rd(w->insn);
	return op;
}

static inline void vp_tramp_set_const(struct vp_tramp_walk *w, uint64_t n)
{
	vp_tramp_add_rd(w, VP_TRAMP_CONST)->value = n;
	vp_tramp_set(w, VP_FLOW_CONST, n);
}

/** Why that is no number. */
OT_MUST_CHECK struct ot_err *vp_tramp_no_number(const struct vp_flow_value *v);
/** The virtual register with the number of DIF's register @p reg; UNSUPPORTED: it has none. */
OT_MUST_CHECK struct ot_err *vp_tramp_number(struct vp_tramp_walk *w, uint32_t reg, uint8_t *ret);
/** As a second operand: *ret_value with VP_TRAMP_IMM, where it is a constant that fits. */
OT_MUST_CHECK struct ot_err *vp_tramp_second(struct vp_tramp_walk *w, uint32_t reg, uint8_t *ret_b,
					     uint64_t *ret_value);
/** or to mul; sll, srl, sra; the divisions; mov and not. */
OT_MUST_CHECK struct ot_err *vp_tramp_arithmetic(struct vp_tramp_walk *w);
OT_MUST_CHECK struct ot_err *vp_tramp_shift(struct vp_tramp_walk *w);
OT_MUST_CHECK struct ot_err *vp_tramp_divide(struct vp_tramp_walk *w);
OT_MUST_CHECK struct ot_err *vp_tramp_unary(struct vp_tramp_walk *w, enum vp_tramp_kind kind);
/** A load by the address in r1. */
OT_MUST_CHECK struct ot_err *vp_tramp_load(struct vp_tramp_walk *w, uint8_t size, bool sign);
/** ldgs of a built-in variable; ldga; any use of a variable of the program's, which is refused. */
OT_MUST_CHECK struct ot_err *vp_tramp_builtin(struct vp_tramp_walk *w, uint32_t id);
OT_MUST_CHECK struct ot_err *vp_tramp_array(struct vp_tramp_walk *w);
OT_MUST_CHECK struct ot_err *vp_tramp_variable(const struct vp_tramp_walk *w);

#endif
