/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the interpreter sees of the machine that executes trampolines: the same registers, tasks and per-CPU
 * areas. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/trampoline_fixture.h"
#include "vmm-probe/arch/regs.h"

static bool within(uint64_t addr, uint32_t len, const uint8_t *base, uint64_t size)
{
	uint64_t at = addr - (uint64_t)(uintptr_t)base;

	return at <= size && len <= size - at;
}

static bool op_load(void *env, uint64_t addr, void *dst, uint32_t len, bool user)
{
	const struct tf_machine *m = env;

	if (user || (!within(addr, len, tf_task(m, m->cpu), TF_TASK_SIZE) &&
		     !within(addr, len, m->percpu + (size_t)m->cpu * TF_SPACING, TF_PERCPU_SIZE)))
		return false;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
	return true;
}

static uint64_t task_u32(const struct tf_machine *m, uint32_t offset)
{
	uint32_t value;

	memcpy(&value, tf_task(m, m->cpu) + offset, sizeof(value));
	return value;
}

static uint64_t op_scalar(void *env, uint32_t id, enum dif_fault *fault)
{
	static const uint8_t regs[] = { VP_REGS_ARGS };
	const struct tf_machine *m = env;

	if (m->site_args == VP_ARGS_FBT_RETURN && id >= DIF_VAR_arg0 && id <= DIF_VAR_arg9)
		return id == DIF_VAR_arg0 ? TF_OFFSET : id == DIF_VAR_arg0 + 1 ? m->args[VP_RAX] : 0;
	if (id >= DIF_VAR_arg0 && id <= DIF_VAR_arg5)
		return m->args[regs[id - DIF_VAR_arg0]];
	switch (id) {
	case DIF_VAR_pid:
		return task_u32(m, TF_TASK_TGID);
	case DIF_VAR_tid:
		return task_u32(m, TF_TASK_PID);
	case DIF_VAR_curthread:
		return (uint64_t)(uintptr_t)tf_task(m, m->cpu);
	case DIF_VAR_percpubase:
		return (uint64_t)(uintptr_t)(m->percpu + (size_t)m->cpu * TF_SPACING);
	case DIF_VAR_epid:
		return m->epid;
	case DIF_VAR_id:
		return m->probe;
	case DIF_VAR_guestid:
		return m->facts.guest_id;
	default:
		*fault = DIF_FAULT_ILLOP;
		return 0;
	}
}

static uint64_t op_array(void *env, uint32_t id, uint64_t index, enum dif_fault *fault)
{
	if (id == DIF_VAR_args)
		return index < 10 ? op_scalar(env, DIF_VAR_arg0 + (uint32_t)index, fault) : 0;
	*fault = DIF_FAULT_ILLOP;
	return 0;
}

static int op_string(void *env, uint32_t id, char *dst, uint32_t cap)
{
	const struct tf_machine *m = env;

	if (id != DIF_VAR_execname)
		return -1;
	return snprintf(dst, cap, "%.*s", GA_COMM, (const char *)tf_task(m, m->cpu) + TF_TASK_COMM);
}

static void op_thread_key(void *env, struct dif_thread_key *ret)
{
	(void)env;
	*ret = (struct dif_thread_key){ 0 };
}

static const struct dif_vm_ops ops = {
	.load = op_load,
	.scalar = op_scalar,
	.array = op_array,
	.string = op_string,
	.thread_key = op_thread_key,
};

bool tf_start_interpreter(struct tf_machine *m)
{
	struct dif_layout_opts opts = { TF_STRSIZE, 20, 20, 50, 512 };
	struct dif_program none = { .nclauses = 0 };
	struct dif_vm_config config = { .ops = &ops,
					.env = m,
					.vars = &m->vars,
					.globals = m->tasks,
					.strsize = TF_STRSIZE,
					.scratch_size = 4096 };

	ot_arena_init(&m->arena);
	return !dif_var_layout(&none, &opts, &m->arena, &m->vars) && !dif_vm_init(&m->vm, &config);
}

enum dif_fault tf_eval(struct tf_machine *m, const struct tf_regs *regs, const struct dif_object *obj,
		       uint64_t *ret)
{
	m->args = regs->r;
	dif_vm_begin(&m->vm, DIF_FUEL_DEFAULT);
	return dif_vm_eval(&m->vm, obj, ret);
}
