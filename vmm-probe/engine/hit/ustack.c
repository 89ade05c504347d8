/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks, by frame pointers: the kernel left the process's registers in the struct pt_regs at the top
 * of the task's kernel stack. Code without frame pointers gives short stacks. Hit path.
 */
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
	if (v->site_gva || !vp_mode_is_user(vp_reg(v, VP_REG_MODE)))
		return false;
	*ret = (struct user_regs){ vp_reg(v, VP_REG_PC), vp_reg(v, VP_REG_SP), vp_reg(v, VP_REG_FP) };
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

uint32_t vp_unwind_user(struct vp_vcpu_session *v, uint64_t *pcs, uint32_t max)
{
	struct user_regs r;
	uint64_t pair[2];
	uint32_t n = 0;

	if (!v->ctx || !max || (!from_vcpu(v, &r) && !from_task(v, &r)))
		return 0;
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
