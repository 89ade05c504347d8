/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Built-in variables and the subroutines that need a guest: the D virtual machine's world. */
#include <time.h>

#include "vmm-probe/engine/hit/args.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/hit/speculation.h"
#include "vmm-probe/engine/hit/stand_in.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/unwind.h"
#include "vmm-probe/engine/hit/walk.h"

static uint64_t system_errno(struct vp_vcpu_session *v)
{
	int64_t value;

	if (vp_place_args(v) != VP_ARGS_SYSCALL_RETURN || (v->fired_args && !v->event) || v->in_error)
		return 0;
	value = (int64_t)(v->event && v->fired_args ? v->fired_args[1] : vp_reg(v, VP_REG_RESULT));
	return value >= -4095 && value <= -1 ? (uint64_t)-value : 0;
}

/* --- scalars ------------------------------------------------------------------------------- */

static uint64_t wall_time(struct vp_vcpu_session *v)
{
	struct timespec ts;

	if (!v->wall_ns) {
		clock_gettime(CLOCK_REALTIME, &ts);
		v->wall_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
		if (v->event)
			v->wall_ns -= vp_now() - v->event_ns;
	}
	return v->wall_ns;
}

static uint64_t stack_depth(struct vp_vcpu_session *v)
{
	if (!v->depth_known) {
		v->depth = vp_unwind_kernel(v, NULL, VP_FRAMES_MAX);
		v->depth_known = true;
	}
	return v->depth;
}

static uint64_t caller(struct vp_vcpu_session *v)
{
	if (!v->caller_known) {
		v->caller = vp_caller(v);
		v->caller_known = true;
	}
	return v->caller;
}

static uint64_t user_caller(struct vp_vcpu_session *v)
{
	uint64_t pcs[2];

	return vp_unwind_user(v, &(struct vp_user_unwound){ .pcs = pcs }, 2) == 2 ? pcs[1] : 0;
}

/* 0 faults: the caller adds an offset to it, and must not read at address 0. */
static uint64_t percpu_base(struct vp_vcpu_session *v, enum dif_fault *fault)
{
	uint64_t base = v->es->engine->host ? 0 : v->es->facts.percpu_base[v->vcpu];

	if (!base)
		*fault = DIF_FAULT_KPRIV;
	return base;
}

static uint64_t op_scalar(void *env, uint32_t id, enum dif_fault *fault)
{
	struct vp_vcpu_session *v = env;

	if (id >= DIF_VAR_arg0 && id <= DIF_VAR_arg9)
		return vp_arg(v, id - DIF_VAR_arg0, fault);
	switch (id) {
	case DIF_VAR_curthread:
		return vp_task(v);
	case DIF_VAR_timestamp:
		return vp_clause_time(v);
	case DIF_VAR_vtimestamp:
		return vp_vtimestamp(v, fault);
	case DIF_VAR_walltimestamp:
		return wall_time(v);
	case DIF_VAR_ipl:
		return vp_interrupt_level(v);
	case DIF_VAR_epid:
		return v->ecb->epid;
	case DIF_VAR_id:
		return v->ecb->probe->id;
	case DIF_VAR_stackdepth:
		return stack_depth(v);
	case DIF_VAR_caller:
		return caller(v);
	case DIF_VAR_ustackdepth:
		return vp_unwind_user(v, &(struct vp_user_unwound){ 0 }, VP_FRAMES_MAX);
	case DIF_VAR_ucaller:
		return user_caller(v);
	case DIF_VAR_pid:
	case DIF_VAR_tid:
	case DIF_VAR_ppid:
	case DIF_VAR_uid:
	case DIF_VAR_gid:
		return vp_task_id(v, id, fault);
	case DIF_VAR_errno:
		return system_errno(v);
	case DIF_VAR_cpu:
	case DIF_VAR_vcpu:
		return v->vcpu;
	case DIF_VAR_percpubase:
		return percpu_base(v, fault);
	case DIF_VAR_guestid:
		return v->es->facts.guest_id;
	case DIF_VAR_jid:
		return 0;
	default:
		*fault = DIF_FAULT_ILLOP;
		return 0;
	}
}

static uint64_t read_reg(struct vp_vcpu_session *v, uint32_t id, enum vp_reg reg, enum dif_fault *fault)
{
	uint64_t saved;

	if (id == DIF_VAR_uregs && !vp_runs_user(v)) {
		if (vp_saved_user_reg(v, reg, &saved))
			return saved;
		*fault = DIF_FAULT_ILLOP;
		return 0;
	}
	/* At a site its own address is exact; a translator's instruction pointer may lag. */
	return reg == VP_REG_PC && v->site_gva ? v->site_gva : vp_reg(v, reg);
}

static uint64_t op_array(void *env, uint32_t id, uint64_t index, enum dif_fault *fault)
{
	struct vp_vcpu_session *v = env;

	if (id == DIF_VAR_args)
		return index < 10 ? vp_arg(v, (unsigned)index, fault) : 0;
	/* BEGIN and tick run in the operator's process, from user mode. */
	if (v->es->engine->host && id == DIF_VAR_uregs && index < VP_NREGS)
		return v->es->engine->ops->reg(v->es->engine->backend, NULL, (enum vp_reg)index);
	if (id != DIF_VAR_vmregs && index < VP_NREGS && v->ctx)
		return read_reg(v, id, (enum vp_reg)index, fault);
	*fault = DIF_FAULT_ILLOP;
	return 0;
}

/* --- strings ---------------------------------------------------------------------------------- */

static int copy_string(const char *s, char *dst, uint32_t cap)
{
	size_t len = cap ? strnlen(s, cap - 1) : 0;

	if (cap) {
		memcpy(dst, s, len);
		dst[len] = 0;
	}
	return (int)len;
}

/* For a kernel with longer names than Linux's. */
static int long_name(struct vp_vcpu_session *v, char *dst, uint32_t cap)
{
	const struct vp_facts *f = &v->es->facts;
	char comm[64];
	uint32_t size = f->task_comm_size < sizeof(comm) ? f->task_comm_size : sizeof(comm) - 1;
	uint64_t task = vp_task(v);

	if (!task || f->task_comm == VP_NO_OFFSET || !vp_load_kernel(v, task + f->task_comm, comm, size))
		size = 0;
	comm[size] = 0;
	return copy_string(comm, dst, cap);
}

static int task_name(struct vp_vcpu_session *v, char *dst, uint32_t cap)
{
	const struct vp_engine *e = v->es->engine;
	uint64_t name[VP_NAME_WORDS + 1] = { 0 };
	char comm[64];

	if (e->host) {
		int len = e->ops->host->string(e->backend, DIF_VAR_execname, comm, sizeof(comm));
		return copy_string(len > 0 ? comm : "", dst, cap);
	}
	if (!v->event && v->es->facts.task_comm_size > VP_NAME_BYTES)
		return long_name(v, dst, cap);
	vp_task_name(v, name);
	if (cap <= VP_NAME_BYTES)
		return copy_string((const char *)name, dst, cap);
	for (unsigned i = 0; i < VP_NAME_WORDS; i++)
		memcpy(dst + i * sizeof(name[0]), &name[i], sizeof(name[0]));
	uint32_t len = vp_name_length(name);
	dst[len] = 0;
	return (int)len;
}

/* The probe that faulted, for an ERROR clause; elsewhere there is none, and the names are empty. */
static int faulting_probe(struct vp_vcpu_session *v, uint32_t id, char *dst, uint32_t cap)
{
	const struct vp_enabled_probe *probe = v->in_error ? v->error_probe : NULL;
	char room[VP_PROVIDER_MAX];

	if (!probe)
		return copy_string("", dst, cap);
	return copy_string(id == DIF_VAR_errprov   ? vp_provider_of(v, probe, room)
			   : id == DIF_VAR_errmod  ? probe->module
			   : id == DIF_VAR_errfunc ? probe->function
						   : probe->name,
			   dst, cap);
}

static int op_string(void *env, uint32_t id, char *dst, uint32_t cap)
{
	struct vp_vcpu_session *v = env;
	char room[VP_PROVIDER_MAX];

	switch (id) {
	case DIF_VAR_probeprov:
		return copy_string(vp_provider_of(v, v->ecb->probe, room), dst, cap);
	case DIF_VAR_probemod:
	case DIF_VAR_probefunc:
	case DIF_VAR_probename:
		return copy_string(vp_probe_text(v->ecb->probe, id), dst, cap);
	case DIF_VAR_execname:
		return task_name(v, dst, cap);
	case DIF_VAR_guest:
		return copy_string(v->es->facts.guest_name, dst, cap);
	case DIF_VAR_view:
		return copy_string(vp_seen_inside(v) ? "inside" : "outside", dst, cap);
	case DIF_VAR_errprov:
	case DIF_VAR_errmod:
	case DIF_VAR_errfunc:
	case DIF_VAR_errname:
		return faulting_probe(v, id, dst, cap);
	case DIF_VAR_zonename:
		return copy_string("global", dst, cap);
	case DIF_VAR_execargs:
	case DIF_VAR_jailname:
		return copy_string("", dst, cap);
	default:
		return -1;
	}
}

/* --- the rest ----------------------------------------------------------------------------------- */

static bool op_load(void *env, uint64_t addr, void *dst, uint32_t len, bool user)
{
	return user ? vp_load_user(env, addr, dst, len) : vp_load_kernel(env, addr, dst, len);
}

static void op_thread_key(void *env, struct dif_thread_key *ret)
{
	vp_thread_key(env, ret);
}

static uint64_t op_subr(void *env, uint32_t subr, const uint64_t *args, unsigned nargs, char *str,
			uint32_t cap, enum dif_fault *fault)
{
	struct vp_vcpu_session *v = env;

	(void)str;
	(void)cap;
	if (subr == DIF_SUBR_speculation)
		return vp_spec_new(v);
	if (subr == DIF_SUBR_progenyof && nargs == 1)
		return vp_progenyof(v, args[0]);
	/* a chain of message blocks may be empty */
	if ((subr == DIF_SUBR_msgsize || subr == DIF_SUBR_msgdsize) && nargs && !args[0])
		return 0;
	/* Other kernels' structures, or this kernel's where its types are unknown: such an address has
	 * nothing to read. */
	*fault = DIF_FAULT_BADADDR;
	return 0;
}

/* Nothing is written outside the program's own memory; a store elsewhere faults. */
static bool op_store_user(void *env, uint64_t addr, const void *src, uint32_t len)
{
	(void)env;
	(void)addr;
	(void)src;
	(void)len;
	return false;
}

const struct dif_vm_ops vp_dif_ops = {
	.load = op_load,
	.scalar = op_scalar,
	.array = op_array,
	.string = op_string,
	.thread_key = op_thread_key,
	.subr = op_subr,
	.store_user = op_store_user,
};
