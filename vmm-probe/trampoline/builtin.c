/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loads of a DIF object: memory that is certain to be mapped. This is the running task's own structure,
 * which is not freed while it runs, and the part of each CPU's per-CPU area that the kernel's image laid out;
 * nothing behind a pointer read there.
 */
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/trampoline/walk.h"

struct ot_err *vp_tramp_load(struct vp_tramp_walk *w, uint8_t size, bool sign)
{
	const struct vp_tramp_guest *g = w->m->guest;
	struct vp_flow_value from = *vp_tramp_r1(w);
	bool task = from.kind == VP_FLOW_TASK;
	uint64_t bytes = task ? g->task_size : g->percpu_size;
	int64_t first = task ? 0 : g->percpu;

	if (!task && from.kind != VP_FLOW_PERCPU)
		return VP_TRAMP_REFUSED(
		    "a load from an address that is neither in the running task nor in the per-CPU area");
	uint64_t within = from.n - (uint64_t)first;
	if (within > bytes || size > bytes - within || (int64_t)from.n != (int32_t)from.n)
		return VP_TRAMP_REFUSED("a load beyond the end of %s",
					task ? "the running task" : "the per-CPU area");
	struct vp_tramp_op *o = vp_tramp_add_rd(w, task ? VP_TRAMP_LOAD_TASK : VP_TRAMP_LOAD_PERCPU);
	o->disp = (int32_t)from.n;
	o->size = size;
	o->sign = sign;
	vp_tramp_set(w, VP_FLOW_ANY, 0);
	return NULL;
}

/* At a return: where that is, the function's result, and nothing else. */
static void argument_of_return(struct vp_tramp_walk *w, uint64_t n)
{
	if (n != 1) {
		vp_tramp_set_const(w, n ? 0 : w->m->site->offset);
		return;
	}
	vp_tramp_add_rd(w, VP_TRAMP_RETURNED);
	vp_tramp_set(w, VP_FLOW_ANY, 0);
}

static struct ot_err *argument(struct vp_tramp_walk *w, uint64_t n)
{
	if (vp_tramp_place_of(w->m->site) == VP_TRAMP_AT_RETURN) {
		argument_of_return(w, n);
		return NULL;
	}
	if (n >= VP_NREGS_ARGS)
		return VP_TRAMP_REFUSED("arg%llu, which is on the stack", (unsigned long long)n);
	if (w->m->site->args != VP_ARGS_FBT_ENTRY)
		return VP_TRAMP_REFUSED("arg%llu, which is no register here", (unsigned long long)n);
	vp_tramp_add_rd(w, VP_TRAMP_ARG)->a = (uint8_t)n;
	vp_tramp_set(w, VP_FLOW_ANY, 0);
	return NULL;
}

/* A 32-bit number of the running task's; 0 where the kernel has none. */
static struct ot_err *task_number(struct vp_tramp_walk *w, uint32_t offset)
{
	if (offset == VP_NO_OFFSET) {
		vp_tramp_set_const(w, 0);
		return NULL;
	}
	if (offset > INT32_MAX)
		return VP_TRAMP_REFUSED("a load beyond the end of the running task");
	struct vp_tramp_op *o = vp_tramp_add_rd(w, VP_TRAMP_LOAD_TASK);
	o->disp = (int32_t)offset;
	o->size = 4;
	vp_tramp_set(w, VP_FLOW_ANY, 0);
	return NULL;
}

struct ot_err *vp_tramp_builtin(struct vp_tramp_walk *w, uint32_t id)
{
	const struct vp_facts *facts = w->m->guest->facts;

	if (id >= DIF_VAR_arg0 && id <= DIF_VAR_arg9)
		return argument(w, id - DIF_VAR_arg0);
	switch (id) {
	case DIF_VAR_pid:
		return task_number(w, facts->task_tgid);
	case DIF_VAR_tid:
		return task_number(w, facts->task_pid);
	case DIF_VAR_curthread:
		vp_tramp_add_rd(w, VP_TRAMP_CURRENT);
		vp_tramp_set(w, VP_FLOW_TASK, 0);
		return NULL;
	case DIF_VAR_percpubase:
		vp_tramp_set(w, VP_FLOW_PERCPU, 0);
		return NULL;
	case DIF_VAR_execname:
		vp_tramp_set(w, VP_FLOW_EXECNAME, 0);
		return NULL;
	case DIF_VAR_epid:
		vp_tramp_set_const(w, w->m->clause->epid);
		return NULL;
	case DIF_VAR_id:
		vp_tramp_set_const(w, w->m->clause->probe);
		return NULL;
	case DIF_VAR_guestid:
		vp_tramp_set_const(w, facts->guest_id);
		return NULL;
	case DIF_VAR_ppid:
	case DIF_VAR_uid:
	case DIF_VAR_gid:
		return VP_TRAMP_REFUSED("%s, which is behind a pointer", dif_var_name(id));
	default:
		return VP_TRAMP_REFUSED("%s, which only the VMM knows", dif_var_name(id));
	}
}

static uint8_t scope_of(uint32_t op)
{
	switch (op) {
	case DIF_OP_ldls:
	case DIF_OP_stls:
		return DIF_SCOPE_LOCAL;
	case DIF_OP_ldts:
	case DIF_OP_stts:
	case DIF_OP_ldtaa:
	case DIF_OP_sttaa:
		return DIF_SCOPE_THREAD;
	default:
		return DIF_SCOPE_GLOBAL;
	}
}

struct ot_err *vp_tramp_variable(const struct vp_tramp_walk *w)
{
	uint32_t id = dif_insn_idx(w->insn);
	uint8_t scope = scope_of(dif_insn_op(w->insn));

	for (uint32_t i = 0; i < w->obj->var_len; i++)
		if (w->obj->vars[i].id == id && w->obj->vars[i].scope == scope)
			return VP_TRAMP_REFUSED("the variable %s", w->obj->strs + w->obj->vars[i].name);
	return VP_TRAMP_REFUSED("a variable");
}

struct ot_err *vp_tramp_array(struct vp_tramp_walk *w)
{
	uint32_t id = dif_insn_r1(w->insn);

	if (id != DIF_VAR_args)
		return VP_TRAMP_REFUSED("%s[]", dif_var_name(id) ? dif_var_name(id) : "an array");
	if (vp_tramp_r2(w)->kind != VP_FLOW_CONST)
		return VP_TRAMP_REFUSED("args[] by an index that is not constant");
	if (vp_tramp_r2(w)->n < 10)
		return argument(w, vp_tramp_r2(w)->n);
	vp_tramp_set_const(w, 0);
	return NULL;
}
