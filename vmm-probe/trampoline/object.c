/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A DIF object as a trampoline's operations, instruction by instruction. What could fault, wait or take
 * unbounded time has no operation, so it is refused by name: a division, a load from anywhere but the running
 * task itself and the per-CPU area, a subroutine, a variable.
 */
#include <string.h>

#include "vmm-probe/trampoline/walk.h"

#define END_OF(obj) ((obj)->text_len) /* as a label: behind the last instruction */

/* --- comparisons, branches, the end ---------------------------------------------------------- */

static struct ot_err *compare(struct vp_tramp_walk *w)
{
	struct vp_flow_value a = *vp_tramp_r1(w), b = *vp_tramp_r2(w);
	uint8_t from = 0, with = 0;
	uint64_t imm = 0;

	if (a.kind == VP_FLOW_CONST && b.kind == VP_FLOW_CONST) {
		w->now.codes = VP_FLOW_KNOWN;
		w->now.negative = (int64_t)(a.n - b.n) < 0;
		w->now.zero = a.n == b.n;
		w->now.carry = a.n < b.n;
		return NULL;
	}
	OT_TRY(vp_tramp_number(w, dif_insn_r1(w->insn), &from));
	OT_TRY(vp_tramp_second(w, dif_insn_r2(w->insn), &with, &imm));
	struct vp_tramp_op *o = vp_tramp_add(w->m, VP_TRAMP_COMPARE);
	o->a = from;
	o->b = with;
	o->value = imm;
	w->now.codes = VP_FLOW_COMPARED;
	return NULL;
}

static struct ot_err *test(struct vp_tramp_walk *w)
{
	uint8_t from = 0;

	if (vp_tramp_r1(w)->kind == VP_FLOW_CONST) {
		w->now.codes = VP_FLOW_KNOWN;
		w->now.negative = w->now.carry = false;
		w->now.zero = !vp_tramp_r1(w)->n;
		return NULL;
	}
	OT_TRY(vp_tramp_number(w, dif_insn_r1(w->insn), &from));
	vp_tramp_add(w->m, VP_TRAMP_TEST)->a = from;
	w->now.codes = VP_FLOW_TESTED;
	return NULL;
}

/* The text that execname is compared with; NULL: something else. A NULL string counts as the empty one. */
static const char *literal(const struct vp_tramp_walk *w, const struct vp_flow_value *v)
{
	if (v->kind == VP_FLOW_STRING)
		return w->obj->strs + v->n;
	return v->kind == VP_FLOW_CONST && !v->n ? "" : NULL;
}

/* A name ends with its NUL, unless it fills its field. What is behind the NUL may be anything, and isn't
 * compared. */
static struct ot_err *compare_strings(struct vp_tramp_walk *w)
{
	const struct vp_tramp_guest *g = w->m->guest;
	bool first = vp_tramp_r1(w)->kind == VP_FLOW_EXECNAME;
	const char *text = literal(w, first ? vp_tramp_r2(w) : vp_tramp_r1(w));

	if ((!first && vp_tramp_r2(w)->kind != VP_FLOW_EXECNAME) || !text)
		return VP_TRAMP_REFUSED(
		    "a comparison of strings that is not one of execname with a constant");
	if (g->facts->task_comm > INT32_MAX || g->facts->task_comm_size > VP_TRAMP_TEXT ||
	    g->strsize <= VP_TRAMP_TEXT)
		return VP_TRAMP_REFUSED("execname, whose place or size is not as expected");
	size_t len = strlen(text);
	if (len > g->facts->task_comm_size)
		return VP_TRAMP_REFUSED("a name that is longer than a task's can be");
	struct vp_tramp_op *o = vp_tramp_add(w->m, VP_TRAMP_NAMED);
	o->disp = (int32_t)g->facts->task_comm;
	o->size = (uint8_t)(len < g->facts->task_comm_size ? len + 1 : len);
	memcpy(o->text, text, o->size);
	w->now.codes = VP_FLOW_EQUALED;
	return NULL;
}

static void jump(struct vp_tramp_walk *w, uint32_t label, enum vp_tramp_cond cond)
{
	struct vp_tramp_op *o = vp_tramp_add(w->m, VP_TRAMP_JUMP);

	o->cond = (uint8_t)cond;
	o->target = (uint16_t)label;
}

static struct ot_err *branch(struct vp_tramp_walk *w)
{
	uint32_t label = dif_insn_label(w->insn);
	enum vp_tramp_cond cond = VP_TRAMP_ALWAYS;
	enum vp_flow_taken taken = vp_flow_branch(&w->now, dif_insn_op(w->insn), &cond);

	if (taken == VP_FLOW_UNKNOWN)
		return VP_TRAMP_REFUSED(
		    w->now.codes == VP_FLOW_EQUALED
			? "the order of strings"
			: "a branch whose comparison other instructions follow, or differs by the way");
	if (taken == VP_FLOW_NEVER)
		return NULL;
	jump(w, label, cond);
	vp_flow_join(&w->at[label], &w->now);
	w->now.reached = taken == VP_FLOW_IF;
	return NULL;
}

static struct ot_err *give(struct vp_tramp_walk *w)
{
	const struct vp_flow_value *v = vp_tramp_value(w, dif_insn_rd(w->insn));
	struct vp_tramp_op *o;

	if (!vp_flow_is_number(v))
		return vp_tramp_no_number(v);
	if (v->kind == VP_FLOW_CONST) {
		o = vp_tramp_add(w->m, VP_TRAMP_CONST);
		o->value = v->n;
	} else {
		o = vp_tramp_add(w->m, VP_TRAMP_MOV);
		o->a = (uint8_t)dif_insn_rd(w->insn);
	}
	o->dst = VP_TRAMP_RESULT;
	if (w->pc + 1 < END_OF(w->obj))
		jump(w, END_OF(w->obj), VP_TRAMP_ALWAYS);
	w->now.reached = false;
	return NULL;
}

/* --- an object ------------------------------------------------------------------------------- */

static struct ot_err *load_insn(struct vp_tramp_walk *w)
{
	uint32_t op = dif_insn_op(w->insn);
	static const struct {
		uint8_t size;
		bool sign;
	} loads[] = { { 1, true },  { 2, true },  { 4, true }, { 1, false },
		      { 2, false }, { 4, false }, { 8, false } };
	unsigned i = op >= DIF_OP_rldsb ? op - DIF_OP_rldsb : op - DIF_OP_ldsb;

	return vp_tramp_load(w, loads[i].size, loads[i].sign);
}

/* Instructions that no trampoline has, by kind. */
static struct ot_err *refuse(const struct vp_tramp_walk *w)
{
	uint32_t op = dif_insn_op(w->insn);

	switch (dif_op_class(op)) {
	case DIF_CLASS_LDV:
	case DIF_CLASS_STV:
		return vp_tramp_variable(w);
	case DIF_CLASS_CALL:
		return VP_TRAMP_REFUSED("%s()", dif_subr_name(dif_insn_idx(w->insn)));
	default:
		if (op >= DIF_OP_uldsb && op <= DIF_OP_uldx)
			return VP_TRAMP_REFUSED("memory of a process");
		return VP_TRAMP_REFUSED("the instruction %s", dif_op_name(op));
	}
}

static struct ot_err *by_class(struct vp_tramp_walk *w)
{
	uint32_t op = dif_insn_op(w->insn), id = dif_insn_idx(w->insn);

	switch (dif_op_class(op)) {
	case DIF_CLASS_BR:
		return branch(w);
	case DIF_CLASS_TST:
		return test(w);
	case DIF_CLASS_CMP:
		return op == DIF_OP_cmp ? compare(w) : compare_strings(w);
	case DIF_CLASS_RET:
		return give(w);
	case DIF_CLASS_IDX: /* verified objects have setx and sets only */
		if (op == DIF_OP_setx)
			vp_tramp_set_const(w, w->obj->ints[id]);
		else
			vp_tramp_set(w, VP_FLOW_STRING, id);
		return NULL;
	case DIF_CLASS_ARR:
		return op == DIF_OP_ldga ? vp_tramp_array(w) : refuse(w);
	case DIF_CLASS_LDV:
		return op == DIF_OP_ldgs && id < DIF_VAR_USER_MIN ? vp_tramp_builtin(w, id) : refuse(w);
	default:
		return op == DIF_OP_nop ? NULL : refuse(w);
	}
}

static struct ot_err *instruction(struct vp_tramp_walk *w)
{
	uint32_t op = dif_insn_op(w->insn);

	switch (op) {
	case DIF_OP_or:
	case DIF_OP_xor:
	case DIF_OP_and:
	case DIF_OP_sub:
	case DIF_OP_add:
	case DIF_OP_mul:
		return vp_tramp_arithmetic(w);
	case DIF_OP_sll:
	case DIF_OP_srl:
	case DIF_OP_sra:
		return vp_tramp_shift(w);
	case DIF_OP_sdiv:
	case DIF_OP_udiv:
	case DIF_OP_srem:
	case DIF_OP_urem:
		return vp_tramp_divide(w);
	case DIF_OP_not:
		return vp_tramp_unary(w, VP_TRAMP_NOT);
	case DIF_OP_mov:
		return vp_tramp_unary(w, VP_TRAMP_MOV);
	default:
		if ((op >= DIF_OP_ldsb && op <= DIF_OP_ldx) || (op >= DIF_OP_rldsb && op <= DIF_OP_rldx))
			return load_insn(w);
		return by_class(w);
	}
}

/* Jumps named instructions; from now on they name operations. */
static void resolve(const struct vp_tramp_walk *w, uint32_t first)
{
	struct vp_trampoline *out = w->m->out;

	for (uint32_t i = first; i < out->nops; i++) {
		struct vp_tramp_op *op = &out->ops[i];
		if (op->kind == VP_TRAMP_JUMP)
			op->target =
			    op->target == END_OF(w->obj) ? (uint16_t)out->nops : w->start[op->target];
	}
}

struct ot_err *vp_tramp_object(struct vp_tramp_maker *m, const struct dif_object *obj)
{
	struct vp_tramp_walk w = { .m = m, .obj = obj, .now = vp_flow_begin() };
	uint32_t first = m->out->nops;

	if (obj->text_len > VP_TRAMP_OBJECT_MAX)
		return ot_err_new(OT_ERR_LIMIT, "an expression of more than %u instructions",
				  VP_TRAMP_OBJECT_MAX);
	for (; w.pc < obj->text_len; w.pc++) {
		w.insn = obj->text[w.pc];
		w.start[w.pc] = (uint16_t)m->out->nops;
		if (w.at[w.pc].reached && w.now.reached)
			vp_flow_join(&w.now, &w.at[w.pc]);
		else if (w.at[w.pc].reached)
			w.now = w.at[w.pc];
		if (w.now.reached)
			OT_TRY(instruction(&w));
	}
	resolve(&w, first);
	return NULL;
}
