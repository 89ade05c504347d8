/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel stacks: by the unwind table where it has a rule, else by frame pointers. Hit path. The table is from
 * the operator's process and the stack from the guest; neither is trusted: the number of frames is bounded,
 * each load is checked, and a return address outside kernel text ends the walk.
 */
#include "vmm-probe/engine/hit/unwind.h"
#include "base/search.h"
#include "vmm-probe/engine/hit/args.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

/* Of the code that an interrupt runs before it has saved the registers on the task's stack. */
#define ENTRY_FRAMES 4

struct frame {
	uint64_t ip, sp, bp;
	bool exact;    /* ip is the instruction that runs next, not a return address */
	bool is_user;  /* the walk reached user space, with these registers … */
	uint64_t regs; /* … all of which the kernel saved at this address; 0: not saved */
};

static bool is_text(const struct vp_facts *f, uint64_t ip)
{
	return (ip >= f->text_start && ip < f->text_end) || (ip >= f->modules_start && ip < f->modules_end);
}

/* The rule of the last entry at or below @ip. */
static bool find_rule(const struct vp_engine_session *es, uint64_t ip, struct vp_orc_rule *ret)
{
	size_t n = OT_COUNT_BEFORE(es->norc, i, es->orc_addrs[i] <= ip);

	if (!n)
		return false;
	*ret = es->orc_rules[n - 1];
	return ret->sp_base != VP_ORC_UNDEFINED;
}

/* The stack pointer before the call: the frame's CFA. */
static bool find_cfa(struct vp_vcpu_session *v, const struct frame *f, const struct vp_orc_rule *rule,
		     bool first, uint64_t *ret)
{
	uint64_t offset = (uint64_t)(int64_t)rule->sp_offset;

	switch (rule->sp_base) {
	case VP_ORC_SP:
		*ret = f->sp + offset;
		return true;
	case VP_ORC_BP:
		*ret = f->bp + offset;
		return true;
	case VP_ORC_SP_INDIRECT:
		if (!vp_load_u64(v, f->sp, ret))
			return false;
		*ret += offset;
		return true;
	case VP_ORC_BP_INDIRECT:
		return vp_load_u64(v, f->bp + offset, ret);
	case VP_ORC_R10:
	case VP_ORC_R13:
	case VP_ORC_DI:
	case VP_ORC_DX: {
		/* Live registers: known of the innermost frame only. */
		static const uint8_t reg[] = { VP_REGS_UNWIND };
		*ret = vp_reg(v, (enum vp_reg)reg[rule->sp_base - VP_ORC_R10]);
		return first;
	}
	default:
		return false;
	}
}

static bool find_bp(struct vp_vcpu_session *v, struct frame *f, const struct vp_orc_rule *rule, uint64_t cfa)
{
	uint64_t offset = (uint64_t)(int64_t)rule->bp_offset;

	if (rule->bp_base == VP_ORC_SP)
		return vp_load_u64(v, cfa + offset, &f->bp);
	if (rule->bp_base == VP_ORC_BP)
		return vp_load_u64(v, f->bp + offset, &f->bp);
	return true;
}

/* An interrupt's or exception's frame: continue with the interrupted code, unless that is user space. Before
 * the first instruction that saves it, the frame pointer is the interrupted code's. */
static bool step_regs(struct vp_vcpu_session *v, struct frame *f, uint64_t regs)
{
	const struct vp_facts *k = &v->es->facts;
	uint64_t mode;

	if (!vp_load_u64(v, regs + k->ptregs_mode, &mode) || !vp_load_u64(v, regs + k->ptregs_pc, &f->ip) ||
	    !vp_load_u64(v, regs + k->ptregs_fp, &f->bp) || !vp_load_u64(v, regs + k->ptregs_sp, &f->sp))
		return false;
	f->exact = true;
	f->is_user = vp_mode_is_user(mode);
	f->regs = regs;
	return !f->is_user;
}

/* Only the processor's own frame. */
static bool step_iret(struct vp_vcpu_session *v, struct frame *f, uint64_t at)
{
	uint64_t pushed[VP_TRAP_FRAME_WORDS];

	if (!vp_load_kernel(v, at, pushed, sizeof(pushed)))
		return false;
	f->ip = pushed[VP_TRAP_FRAME_PC];
	f->sp = pushed[VP_TRAP_FRAME_SP];
	f->exact = true;
	f->is_user = vp_mode_is_user(pushed[VP_TRAP_FRAME_MODE]);
	f->regs = 0;
	return !f->is_user;
}

static bool step_rule(struct vp_vcpu_session *v, struct frame *f, const struct vp_orc_rule *rule, bool first)
{
	uint64_t cfa;

	if (!find_cfa(v, f, rule, first, &cfa))
		return false;
	if (rule->type == VP_ORC_REGS)
		return step_regs(v, f, cfa);
	if (rule->type == VP_ORC_REGS_PARTIAL)
		return step_iret(v, f, cfa);
	if (!vp_load_u64(v, cfa - 8, &f->ip) || !find_bp(v, f, rule, cfa))
		return false;
	f->sp = cfa;
	f->exact = false;
	return true;
}

/* At a function's first or last instruction the return address is on top, even if the tables disagree. */
static bool on_top(const struct vp_vcpu_session *v, bool first)
{
	enum vp_args args = vp_place_args(v);

	return first && v->site_gva &&
	       (args == VP_ARGS_FBT_ENTRY || args == VP_ARGS_FBT_RETURN || args == VP_ARGS_SYSCALL_ENTRY ||
		args == VP_ARGS_SYSCALL32_ENTRY || args == VP_ARGS_SYSCALL_RETURN);
}

static bool step(struct vp_vcpu_session *v, struct frame *f, bool first)
{
	uint64_t pair[2];
	struct vp_orc_rule rule;

	if (on_top(v, first)) {
		f->exact = false;
		f->sp += 8;
		return vp_load_u64(v, f->sp - 8, &f->ip);
	}
	if (find_rule(v->es, f->exact ? f->ip : f->ip - 1, &rule))
		return rule.sp_base != VP_ORC_END && step_rule(v, f, &rule, first);
	/* By frame pointer: the chain must go up, and stay on one stack. */
	if (f->bp < f->sp || f->bp - f->sp > v->es->facts.stack_size || f->bp % 8 ||
	    !vp_load_kernel(v, f->bp, pair, sizeof(pair)))
		return false;
	f->sp = f->bp + 16;
	f->bp = pair[0];
	f->ip = pair[1];
	f->exact = false;
	return true;
}

/* In an ERROR clause too, the stack is that of the firing. */
static bool begin(struct vp_vcpu_session *v, struct frame *ret)
{
	if (!v->ctx || !v->es->facts.kernel_root)
		return false;
	if (vp_runs_user(v))
		return false; /* a sample of user code has no kernel stack */
	*ret = (struct frame){
		.ip = v->site_gva ? v->site_gva : vp_reg(v, VP_REG_PC),
		.sp = vp_reg(v, VP_REG_SP),
		.bp = vp_reg(v, VP_REG_FP),
		.exact = true,
	};
	return true;
}

uint32_t vp_unwind_kernel(struct vp_vcpu_session *v, uint64_t *pcs, uint32_t max)
{
	struct frame f;
	uint32_t n = 0;

	if (!begin(v, &f))
		return 0;
	while (n < max && is_text(&v->es->facts, f.ip)) {
		if (pcs)
			pcs[n] = f.ip;
		n++;
		if (!step(v, &f, n == 1))
			break;
	}
	return n;
}

bool vp_interrupted_user(struct vp_vcpu_session *v, struct vp_user_frame *ret)
{
	struct frame f;
	uint32_t n = 0;

	if (!begin(v, &f))
		return false;
	while (n < ENTRY_FRAMES && is_text(&v->es->facts, f.ip) && step(v, &f, !n))
		n++;
	*ret = (struct vp_user_frame){ f.ip, f.sp, f.bp, true, f.regs };
	return f.is_user;
}

uint64_t vp_caller(struct vp_vcpu_session *v)
{
	uint64_t pcs[2];

	return vp_unwind_kernel(v, pcs, 2) == 2 ? pcs[1] : 0;
}
