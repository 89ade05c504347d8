/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks: from the vCPU's registers where it is in user mode; else the kernel left the process's in the
 * struct pt_regs at the top of the task's kernel stack, or is about to. From frame to frame by the rules that
 * the operator's process has sent for this process (user_frames.h), in code that its runtime has made as that
 * keeps its frames (hotspot.h), and elsewhere by frame pointers: code without them then gives short stacks.
 * Hit path. Rules and stack are not trusted: each load
 * is checked, the number of frames bounded.
 */
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/args.h"
#include "vmm-probe/engine/hit/hotspot.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/unwind.h"
#include "vmm-probe/engine/hit/user_frames.h"
#include "vmm-probe/engine/hit/walk.h"

/* Frames of one chain are rarely farther apart; a larger step means that the chain is broken. */
#define FRAME_MAX (1u << 20)

static bool from_vcpu(struct vp_vcpu_session *v, struct vp_user_frame *ret)
{
	if (!vp_runs_user(v))
		return false;
	/* At a site its own address is exact; a translator's instruction pointer may lag. */
	*ret = (struct vp_user_frame){ v->site_gva ? v->site_gva : vp_reg(v, VP_REG_PC), vp_reg(v, VP_REG_SP),
				       vp_reg(v, VP_REG_FP), true, 0 };
	return true;
}

static bool from_task(struct vp_vcpu_session *v, struct vp_user_frame *ret)
{
	const struct vp_facts *f = &v->es->facts;
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t task = vp_task(v), mode;
	uint64_t stack = vp_task_field(v, task, f->task_stack, 8, &fault);
	uint64_t mm = vp_task_field(v, task, f->task_mm, 8, &fault);

	if (!stack || !mm || fault != DIF_FAULT_NONE || f->ptregs_size > f->stack_size)
		return false;
	/* The registers at the top of the stack are of this entry into the kernel once the kernel runs on it,
	 * or on another one that it switched to from there. */
	uint64_t sp = vp_reg(v, VP_REG_SP);
	if (sp - stack >= f->stack_size && vp_interrupted_user(v, ret))
		return true;
	if (!vp_is_in_half(&vp_native_paging, f->levels, sp, 8, true))
		return false; /* a system call that has not switched stacks yet */
	uint64_t regs = vp_user_regs(f, stack);
	ret->exact = true;
	ret->regs = regs;
	return vp_load_u64(v, regs + f->ptregs_mode, &mode) && vp_mode_is_user(mode) &&
	       vp_load_u64(v, regs + f->ptregs_pc, &ret->ip) &&
	       vp_load_u64(v, regs + f->ptregs_sp, &ret->sp) && vp_load_u64(v, regs + f->ptregs_fp, &ret->bp);
}

static uint32_t saved_at(const struct vp_facts *f, enum vp_reg reg)
{
	if (reg == VP_REG_PC)
		return f->ptregs_pc;
	if (reg == VP_REG_MODE)
		return f->ptregs_mode;
	return reg < VP_NREGS_GENERAL ? f->ptregs_general[reg] : VP_NO_OFFSET;
}

bool vp_load_saved_reg(struct vp_vcpu_session *v, uint64_t regs, enum vp_reg reg, uint64_t *ret)
{
	uint32_t at = saved_at(&v->es->facts, reg);

	return regs && at != VP_NO_OFFSET && vp_load_u64(v, regs + at, ret);
}

bool vp_saved_user_reg(struct vp_vcpu_session *v, enum vp_reg reg, uint64_t *ret)
{
	struct vp_user_frame top;

	return from_task(v, &top) && vp_load_saved_reg(v, top.regs, reg, ret);
}

/* At a function's first or last instruction the frame pointer is its caller's, and the return address on top
 * of the stack. */
static bool is_on_top(const struct vp_vcpu_session *v)
{
	enum vp_args args = v->at && vp_site_is_user(v->at) ? vp_place_args(v) : VP_ARGS_NONE;

	return args == VP_ARGS_FBT_ENTRY || args == VP_ARGS_FBT_RETURN;
}

static bool load_u64(struct vp_vcpu_session *v, uint64_t gva, uint64_t *ret)
{
	return vp_load_user(v, gva, ret, sizeof(*ret));
}

static bool step_on_top(struct vp_vcpu_session *v, struct vp_user_frame *f)
{
	if (!load_u64(v, f->sp, &f->ip))
		return false;
	f->sp += 8;
	f->exact = false;
	return true;
}

/* The chain must go up, and stay on one stack. */
static bool step_fp(struct vp_vcpu_session *v, struct vp_user_frame *f)
{
	uint64_t pair[2];

	if (f->bp < f->sp || f->bp - f->sp > FRAME_MAX || f->bp % 8 ||
	    !vp_load_user(v, f->bp, pair, sizeof(pair)))
		return false;
	*f = (struct vp_user_frame){ .ip = pair[1], .sp = f->bp + 16, .bp = pair[0] };
	return true;
}

/* A signal's handler returns to code that restores the interrupted context, maybe on another stack. */
static bool step_signal(struct vp_vcpu_session *v, struct vp_user_frame *f)
{
	uint64_t at = f->sp;

	f->exact = true;
	return load_u64(v, at + VP_SIGNAL_FRAME_PC, &f->ip) && load_u64(v, at + VP_SIGNAL_FRAME_FP, &f->bp) &&
	       load_u64(v, at + VP_SIGNAL_FRAME_SP, &f->sp);
}

/* Go to the frame below @cfa, which must be above this one. */
static bool step_cfa(struct vp_vcpu_session *v, struct vp_user_frame *f, uint64_t cfa,
		     const struct vp_frame_row *row)
{
	int64_t fp = row->fp & ~VP_FRAME_KIND;

	if (cfa <= f->sp || !load_u64(v, cfa - 8, &f->ip) || (fp && !load_u64(v, cfa + (uint64_t)fp, &f->bp)))
		return false;
	f->sp = cfa;
	f->exact = false;
	return true;
}

static bool step_row(struct vp_vcpu_session *v, struct vp_user_frame *f, const struct vp_frame_row *row)
{
	uint64_t words = (uint64_t)(int64_t)row->cfa;

	switch (vp_frame_kind(row)) {
	case VP_FRAME_NONE:
		return step_fp(v, f);
	case VP_FRAME_SP:
		return step_cfa(v, f, f->sp + 8 * words, row);
	case VP_FRAME_FP:
		return step_cfa(v, f, f->bp + 8 * words, row);
	case VP_FRAME_PLT:
		return step_cfa(v, f, f->sp + 8 + vp_native_plt_pushed(f->ip, words), row);
	case VP_FRAME_SIGNAL:
		return step_signal(v, f);
	case VP_FRAME_STOP:
	default:
		return false;
	}
}

static bool step(struct vp_vcpu_session *v, struct vp_user_frame *f, const struct vp_process_frames *frames)
{
	struct vp_frame_row row;

	if (frames && vp_frames_row(v, frames, f->exact ? f->ip : f->ip - 1, &row))
		return step_row(v, f, &row);
	return step_fp(v, f);
}

/* The rest after the last note is zero, so empty strings before a note are stored with it. Completely or not
 * at all, with space for its NUL. */
static void put_note(const struct vp_hotspot_walk *w, struct vp_texts *texts, uint32_t *empty)
{
	size_t used = texts->used;

	for (uint32_t i = 0; i < *empty; i++)
		vp_texts_byte(texts, '\0');
	size_t begin = texts->used;

	vp_hotspot_note(w, texts);
	if (texts->used == texts->size)
		texts->full = true;
	if (!texts->full && texts->used > begin) {
		*empty = 1;
		return;
	}
	vp_texts_back(texts, used);
	++*empty;
}

static bool step_any(struct vp_vcpu_session *v, struct vp_user_frame *f,
		     const struct vp_process_frames *frames, struct vp_hotspot_walk *w)
{
	if (w->first && is_on_top(v))
		return step_on_top(v, f);
	return w->frame == VP_HOTSPOT_OTHER ? step(v, f, frames) : vp_hotspot_step(w, f);
}

uint32_t vp_unwind_user(struct vp_vcpu_session *v, const struct vp_user_unwound *to, uint32_t max)
{
	struct vp_process_frames of_process;
	const struct vp_process_frames *frames;
	struct vp_hotspot_walk w;
	struct vp_user_frame f;
	uint32_t n = 0, empty = 0;

	if (!v->ctx || !max || (!from_vcpu(v, &f) && !from_task(v, &f)))
		return 0;
	if (to->regs)
		*to->regs = f.regs;
	frames = vp_frames_of_process(v, &of_process) ? &of_process : NULL;
	vp_hotspot_begin(&w, v, frames);
	bool more = true;

	while (n < max && more && (!n || f.ip)) {
		bool made = vp_hotspot_enter(&w, &f, !n);

		if (to->pcs)
			to->pcs[n] = f.ip;
		if (to->notes && made)
			put_note(&w, to->notes, &empty);
		else
			empty++;
		more = step_any(v, &f, frames, &w);
		if (to->ends)
			to->ends[n] = more ? f.sp : 0;
		n++;
	}
	return n;
}
