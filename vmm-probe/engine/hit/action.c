/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out each kind of action. Hit path. */
#include <signal.h>

#include "vmm-probe/engine/hit/aggregate.h"
#include "vmm-probe/engine/hit/buffer.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/hit/helper.h"
#include "vmm-probe/engine/hit/speculation.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/unwind.h"

#define CHILL_INTERVAL_NS 1000000000ull
#define CHILL_MAX_NS      500000000ull /* in each interval, on each vCPU */

static enum dif_fault store_value(struct vp_vcpu_session *v, const struct vp_step *step, uint8_t *dst)
{
	const struct dif_object *obj = step->action->object;
	uint64_t value;
	enum dif_fault f = dif_vm_eval(&v->vm, obj, &value);

	if (f != DIF_FAULT_NONE)
		return f;
	if (obj->ret.flags & (DIF_TF_BYREF | DIF_TF_BYUREF))
		return dif_vm_copy(&v->vm, &obj->ret, value, dst, step->size);
	/* Little-endian, as the guest and this host are: the low bytes are the value. */
	memcpy(dst, &value, step->size < sizeof(value) ? step->size : sizeof(value));
	if (step->size > sizeof(value))
		memset(dst + sizeof(value), 0, step->size - sizeof(value));
	return DIF_FAULT_NONE;
}

static void store_stack(struct vp_vcpu_session *v, const struct vp_step *step, uint8_t *dst)
{
	/* On the vCPU's stack: the record is in shared memory, aligned to 8. */
	uint64_t pcs[VP_FRAMES_MAX];
	uint32_t max = step->size / 8,
		 n = vp_unwind_kernel(v, pcs, max < VP_FRAMES_MAX ? max : VP_FRAMES_MAX);

	memcpy(dst, pcs, n * sizeof(*pcs));
	memset(dst + n * sizeof(*pcs), 0, step->size - n * sizeof(*pcs));
}

/* The number of frames that fit into a user stack. */
static uint32_t ustack_frames(const struct vp_vcpu_session *v, const struct vp_step *step)
{
	uint64_t frames = step->action->arg & 0xffffffff;

	if (!frames)
		frames = step->action->kind == DIF_ACT_jstack ? v->es->open.jstackframes
							      : v->es->open.ustackframes;
	if (frames > VP_FRAMES_MAX)
		frames = VP_FRAMES_MAX;
	return (uint32_t)(frames > step->size / 8 - 1 ? step->size / 8 - 1 : frames);
}

/* pid, frames, then space for texts: of jstack(), and of a ustack() with a size */
static enum dif_fault store_ustack(struct vp_vcpu_session *v, const struct vp_step *step, uint8_t *dst)
{
	/* On the vCPU's stack: the record is in shared memory, aligned to 8. */
	struct vp_user_stack stack;
	enum dif_fault f = DIF_FAULT_NONE;
	uint64_t pid = vp_task_id(v, DIF_VAR_pid, &f);

	if (f != DIF_FAULT_NONE)
		return f;
	stack.max = ustack_frames(v, step);
	uint64_t head = (stack.max + 1) * sizeof(pid);
	struct vp_texts texts = { .at = (char *)dst + head, .size = step->size - head };

	memset(dst, 0, step->size);
	stack.n = vp_unwind_user(
	    v, &(struct vp_user_unwound){ stack.pcs, stack.ends, texts.size ? &texts : NULL, &stack.regs },
	    stack.max);
	if (texts.size)
		vp_helper_texts(v, &stack, &texts);
	if (texts.full)
		VP_COUNT(v, stkstr_overflows);
	memcpy(dst, &pid, sizeof(pid));
	memcpy(dst + sizeof(pid), stack.pcs, stack.n * sizeof(*stack.pcs));
	return DIF_FAULT_NONE;
}

static enum dif_fault store_user_address(struct vp_vcpu_session *v, const struct vp_step *step, uint8_t *dst)
{
	uint64_t pair[2] = { 0, 0 };
	enum dif_fault f = dif_vm_eval(&v->vm, step->action->object, &pair[1]);

	if (f == DIF_FAULT_NONE)
		pair[0] = vp_task_id(v, DIF_VAR_pid, &f);
	memcpy(dst, pair, sizeof(pair));
	return f;
}

enum dif_fault vp_store_datum(struct vp_vcpu_session *v, const struct vp_step *step, uint8_t *base)
{
	uint8_t *dst = base + step->offset;

	memset(dst - step->gap, 0, step->gap);
	switch (step->action->kind) {
	case DIF_ACT_stack:
		store_stack(v, step, dst);
		return DIF_FAULT_NONE;
	case DIF_ACT_ustack:
	case DIF_ACT_jstack:
		return store_ustack(v, step, dst);
	case DIF_ACT_usym:
	case DIF_ACT_umod:
	case DIF_ACT_uaddr:
		return store_user_address(v, step, dst);
	default:
		if (step->action->object)
			return store_value(v, step, dst);
		memset(dst, 0, step->size);
		return DIF_FAULT_NONE;
	}
}

/* The first status wins, except in END, whose status overrides. A vCPU that comes second leaves no record.
 * This is not a drop, because its clause would not have run a moment later. */
static enum vp_step_result do_exit(struct vp_vcpu_session *v, const struct vp_step *step, enum dif_fault *f)
{
	struct vp_engine_session *es = v->es;
	uint32_t active = VP_ACTIVE;
	uint64_t status, none = 0;

	*f = dif_vm_eval(&v->vm, step->action->object, &status);
	if (*f != DIF_FAULT_NONE)
		return VP_STEP_FAULT;
	__atomic_compare_exchange_n(&es->exited_ns, &none, vp_clause_time(v), false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	bool won = __atomic_compare_exchange_n(&es->activity, &active, VP_DRAINING, false, __ATOMIC_ACQ_REL,
					       __ATOMIC_ACQUIRE);
	if (!won && v->ctx && !v->exited)
		return VP_STEP_DROP;
	uint8_t *dst = v->record + step->offset;
	memset(dst - step->gap, 0, step->gap);
	memcpy(dst, &status, sizeof(uint32_t));
	if (!won && v->ctx)
		return VP_STEP_DONE; /* a second exit() in one clause: its record is kept */
	v->exited = true;
	__atomic_store_n(&es->exit_pending, (uint64_t)(uint32_t)status + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&v->status->exit_pending, (uint64_t)(uint32_t)status + 1, __ATOMIC_RELEASE);
	return VP_STEP_DONE;
}

static enum vp_step_result speculative(struct vp_vcpu_session *v, const struct vp_step *step,
				       enum dif_fault *f)
{
	uint64_t id;

	*f = dif_vm_eval(&v->vm, step->action->object, &id);
	if (*f != DIF_FAULT_NONE)
		return VP_STEP_FAULT;
	switch (step->action->kind) {
	case DIF_ACT_speculate:
		return vp_spec_speculate(v, id);
	case DIF_ACT_commit:
		return vp_spec_commit(v, id, f);
	default:
		return vp_spec_discard(v, id, f);
	}
}

/*
 * chill(): the vCPU waits here. It spins, because a probe may not block; at most half of each second, as in
 * DTrace, so that a guest stays alive with any program.
 */
static enum vp_step_result chill(struct vp_vcpu_session *v, const struct vp_step *step, enum dif_fault *f)
{
	uint64_t ns, now = vp_now();

	*f = dif_vm_eval(&v->vm, step->action->object, &ns);
	if (*f != DIF_FAULT_NONE)
		return VP_STEP_FAULT;
	if (now - v->chill_since_ns >= CHILL_INTERVAL_NS) {
		v->chill_since_ns = now;
		v->chilled_ns = 0;
	}
	if (ns > CHILL_MAX_NS || v->chilled_ns + ns > CHILL_MAX_NS) {
		*f = DIF_FAULT_ILLOP;
		return VP_STEP_FAULT;
	}
	v->chilled_ns += ns;
	uint64_t until = now + ns, at;
	while ((at = vp_now()) < until)
		;
	v->waited_ns += at - now;
	return VP_STEP_DONE;
}

/* raise() and stop(); only if the backend supports it (vp_clause_compile()). */
static enum vp_step_result raise_signal(struct vp_vcpu_session *v, const struct vp_step *step,
					enum dif_fault *f)
{
	const struct vp_engine *e = v->es->engine;
	uint64_t signal = SIGSTOP;

	if (step->action->kind == DIF_ACT_raise) {
		*f = dif_vm_eval(&v->vm, step->action->object, &signal);
		if (*f != DIF_FAULT_NONE)
			return VP_STEP_FAULT;
	}
	e->ops->host->raise(e->backend, (int)signal);
	return VP_STEP_DONE;
}

/* An expression for its side effects, or quantize()'s increment. */
static enum vp_step_result evaluate(struct vp_vcpu_session *v, const struct vp_step *step, enum dif_fault *f)
{
	uint64_t value;

	if (!step->action->object)
		return VP_STEP_DONE;
	*f = dif_vm_eval(&v->vm, step->action->object, &value);
	if (*f != DIF_FAULT_NONE)
		return VP_STEP_FAULT;
	if (step->dest == VP_TO_INCREMENT)
		v->increment = value;
	return VP_STEP_DONE;
}

enum vp_step_result vp_run_step(struct vp_vcpu_session *v, const struct vp_step *step, enum dif_fault *f)
{
	if (step->agg)
		return vp_aggregate(v, step, f);
	switch (step->action->kind) {
	case DIF_ACT_exit:
		return do_exit(v, step, f);
	case DIF_ACT_speculate:
	case DIF_ACT_commit:
	case DIF_ACT_discard:
		return speculative(v, step, f);
	case DIF_ACT_chill:
		return chill(v, step, f);
	case DIF_ACT_raise:
	case DIF_ACT_stop:
		return raise_signal(v, step, f);
	default:
		break;
	}
	if (step->dest == VP_TO_KEY)
		*f = vp_key_evaluate(v, step);
	else if (step->dest == VP_TO_TUPLE)
		*f = vp_store_datum(v, step, v->tuple);
	else if (step->dest == VP_TO_RECORD)
		*f = vp_store_datum(v, step, v->record);
	else
		return evaluate(v, step, f);
	return *f == DIF_FAULT_NONE ? VP_STEP_DONE : VP_STEP_FAULT;
}
