/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks, by frame pointers: from the vCPU's registers where it is in user mode; else the kernel left
 * the process's in the struct pt_regs at the top of the task's kernel stack. Code without frame pointers
 * gives short stacks. Hit path.
 */
#include "vmm-probe/engine/hit/args.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/unwind.h"
#include "vmm-probe/engine/hit/walk.h"

/* Frames of one chain are rarely farther apart; a larger step means that the chain is broken. */
#define FRAME_MAX (1u << 20)

struct user_regs {
	uint64_t ip, sp, bp;
};

static bool from_vcpu(struct vp_vcpu_session *v, struct user_regs *ret)
{
	if (!vp_runs_user(v))
		return false;
	/* At a site its own address is exact; a translator's instruction pointer may lag. */
	*ret = (struct user_regs){ v->site_gva ? v->site_gva : vp_reg(v, VP_REG_PC), vp_reg(v, VP_REG_SP),
				   vp_reg(v, VP_REG_FP) };
	return true;
}

static bool from_task(struct vp_vcpu_session *v, struct user_regs *ret)
{
	const struct vp_facts *f = &v->es->facts;
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t task = vp_task(v), mode;
	uint64_t stack = vp_task_field(v, task, f->task_stack, 8, &fault);
	uint64_t mm = vp_task_field(v, task, f->task_mm, 8, &fault);

	if (!stack || !mm || fault != DIF_FAULT_NONE || f->ptregs_size > f->stack_size)
		return false;
	uint64_t regs = vp_user_regs(f, stack);
	return vp_load_u64(v, regs + f->ptregs_mode, &mode) && vp_mode_is_user(mode) &&
	       vp_load_u64(v, regs + f->ptregs_pc, &ret->ip) &&
	       vp_load_u64(v, regs + f->ptregs_sp, &ret->sp) && vp_load_u64(v, regs + f->ptregs_fp, &ret->bp);
}

/* At a function's first or last instruction the frame pointer is its caller's, and the return address on top
 * of the stack. */
static bool is_on_top(const struct vp_vcpu_session *v)
{
	enum vp_args args = v->at && vp_site_is_user(v->at) ? vp_place_args(v) : VP_ARGS_NONE;

	return args == VP_ARGS_FBT_ENTRY || args == VP_ARGS_FBT_RETURN;
}

uint32_t vp_unwind_user(struct vp_vcpu_session *v, uint64_t *pcs, uint32_t max)
{
	struct user_regs r;
	uint64_t pair[2];
	uint32_t n = 0;

	if (!v->ctx || !max || (!from_vcpu(v, &r) && !from_task(v, &r)))
		return 0;
	if (is_on_top(v) && max > 1 && vp_load_user(v, r.sp, &pair[0], sizeof(pair[0]))) {
		if (pcs)
			pcs[n] = r.ip;
		n++;
		r.ip = pair[0];
		r.sp += 8;
	}
	for (;;) {
		if (pcs)
			pcs[n] = r.ip;
		if (++n == max || r.bp < r.sp || r.bp - r.sp > FRAME_MAX || r.bp % 8 ||
		    !vp_load_user(v, r.bp, pair, sizeof(pair)) || !pair[1])
			return n;
		r.sp = r.bp + 16;
		r.bp = pair[0];
		r.ip = pair[1];
	}
}
