/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running task, by the facts: one pointer in the per-CPU area, then fields at offsets. Bounded loads
 * only; with any content of guest memory the worst result is a wrong number.
 */
#include "vmm-probe/engine/hit/task.h"
#include "guest-agent/agent_abi.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/hit/walk.h"

#define BORROWERS_MAX 8u /* children by vfork() of children by vfork() */

#define ANCESTORS_MAX   1024
#define CLOCK_WINDOW_NS 1000000000ull
/* Ticks are at least this frequent while a task runs, except with nohz_full. */
#define UPDATE_MAX_NS   10000000ull
#define UNKNOWN_OFFSET  (~0ull)

_Static_assert(GA_COMM == VP_NAME_BYTES, "a name of the agent's events is one of Linux'");

static bool percpu_u64(struct vp_vcpu_session *v, uint64_t offset, uint64_t *ret)
{
	uint64_t base = v->es->facts.percpu_base[v->vcpu];

	return !v->es->engine->host && base && offset != UNKNOWN_OFFSET && vp_load_u64(v, base + offset, ret);
}

uint64_t vp_task(struct vp_vcpu_session *v)
{
	if (v->event)
		return v->event->task;
	struct vp_running *r = v->running;
	if (!(r->known & VP_RUNNING_TASK)) {
		r->known |= VP_RUNNING_TASK;
		if (!percpu_u64(v, v->es->facts.current_task, &r->task))
			r->task = 0;
	}
	return r->task;
}

uint64_t vp_task_field(struct vp_vcpu_session *v, uint64_t task, uint32_t offset, uint32_t size,
		       enum dif_fault *fault)
{
	uint64_t value = 0;

	if (offset == VP_NO_OFFSET || !task)
		return 0;
	if (!vp_load_kernel(v, task + offset, &value, size)) {
		*fault = DIF_FAULT_BADADDR;
		return 0;
	}
	return value;
}

/* 0 in a task, else the deepest kind of interrupt. Of the softirq bits only the lowest means that one is
 * being served; the others count local_bh_disable() (SOFTIRQ_OFFSET, SOFTIRQ_DISABLE_OFFSET in
 * linux/preempt.h). */
uint32_t vp_interrupt_level(struct vp_vcpu_session *v)
{
	const struct vp_facts *f = &v->es->facts;
	uint64_t word;

	if (v->event)
		word = v->event->preempt;
	else if (!percpu_u64(v, f->preempt_count, &word))
		return 0;
	uint32_t count = (uint32_t)word;
	if (count & f->nmi_mask)
		return 3;
	if (count & f->hardirq_mask)
		return 2;
	return count & f->softirq_mask & -f->softirq_mask ? 1 : 0;
}

static bool is_native(struct vp_vcpu_session *v)
{
	enum dif_fault fault = DIF_FAULT_NONE;

	return !(vp_task_field(v, vp_task(v), v->es->facts.task_status, 4, &fault) & VP_TASK_COMPAT);
}

static bool is_in(const struct vp_text_range *ranges, unsigned n, uint64_t gva)
{
	for (unsigned i = 0; i < n; i++)
		if (gva >= ranges[i].start && gva < ranges[i].end)
			return true;
	return false;
}

static bool ends_syscall(struct vp_vcpu_session *v, uint32_t number, bool native)
{
	const struct vp_facts *f = &v->es->facts;
	const struct vp_text_range *callers = native ? &f->syscall_caller : f->syscall_callers_32;
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t ret, stack, current;

	if (!vp_load_u64(v, vp_reg(v, VP_REG_SP), &ret) ||
	    !is_in(callers, native ? 1 : VP_SYSCALL_CALLERS, ret) || f->ptregs_syscall == VP_NO_OFFSET)
		return false;
	stack = vp_task_field(v, vp_task(v), f->task_stack, 8, &fault);
	return stack && vp_load_u64(v, vp_user_regs(f, stack) + f->ptregs_syscall, &current) &&
	       current == number;
}

bool vp_in_syscall(struct vp_vcpu_session *v, uint32_t condition)
{
	if (condition == VP_SYSCALL_NATIVE || condition == VP_SYSCALL_COMPAT)
		return is_native(v) == (condition == VP_SYSCALL_NATIVE);
	return ends_syscall(v, (condition & ~VP_SYSCALL_32) - 1, !(condition & VP_SYSCALL_32));
}

/* exec() changes the process's mm, and an end its start time. The backend compared the page table before
 * anything was read. */
static bool has_begun(struct vp_vcpu_session *v, uint64_t task, uint64_t since_ns)
{
	const struct vp_facts *f = &v->es->facts;
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t leader = vp_task_field(v, task, f->task_group_leader, 8, &fault);

	return vp_task_field(v, leader, f->task_start_time, 8, &fault) == since_ns;
}

/* A child that has borrowed its parent's memory is the parent, as in DTrace, until it has its own. */
bool vp_in_process(struct vp_vcpu_session *v, const struct vp_batch_process *process)
{
	const struct vp_facts *f = &v->es->facts;
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t task = vp_task(v);

	if (vp_task_field(v, task, f->task_mm, 8, &fault) != process->mm)
		return false;
	for (unsigned i = 0; i < BORROWERS_MAX && task && fault == DIF_FAULT_NONE; i++) {
		if (vp_task_field(v, task, f->task_tgid, 4, &fault) == process->pid)
			return has_begun(v, task, process->since_ns);
		task = vp_task_field(v, task, f->task_real_parent, 8, &fault);
	}
	return false;
}

/* For a site, its address is the vCPU's program counter; for a sample, the registers have it. */
bool vp_runs_user(struct vp_vcpu_session *v)
{
	return v->ctx && (!v->site_gva || (v->at && vp_site_is_user(v->at))) &&
	       vp_mode_is_user(vp_reg(v, VP_REG_MODE));
}

void vp_cut_name(uint64_t name[VP_NAME_WORDS])
{
	const uint64_t ones = 0x0101010101010101ull, tops = 0x8080808080808080ull;
	bool ended = false;

	for (unsigned i = 0; i < VP_NAME_WORDS; i++) {
		/* The lowest bit that is set is the top one of the first byte that is 0. */
		uint64_t zeros = (name[i] - ones) & ~name[i] & tops;
		if (ended)
			name[i] = 0;
		else if (zeros)
			name[i] &= ((zeros & -zeros) >> 7) - 1;
		ended |= zeros != 0;
	}
}

static void read_name(struct vp_vcpu_session *v, uint64_t name[VP_NAME_WORDS])
{
	const struct vp_facts *f = &v->es->facts;
	uint32_t size = f->task_comm_size < VP_NAME_BYTES ? f->task_comm_size : VP_NAME_BYTES;
	uint64_t task = vp_task(v);

	memset(name, 0, VP_NAME_BYTES);
	if (!task || f->task_comm == VP_NO_OFFSET || !vp_load_kernel(v, task + f->task_comm, name, size))
		memset(name, 0, VP_NAME_BYTES);
	vp_cut_name(name);
}

void vp_task_name(struct vp_vcpu_session *v, uint64_t name[VP_NAME_WORDS])
{
	struct vp_running *r = v->running;

	if (v->event) {
		memcpy(name, v->event->comm, VP_NAME_BYTES);
		vp_cut_name(name);
		return;
	}
	if (!(r->known & VP_RUNNING_NAME)) {
		read_name(v, r->name);
		r->known |= VP_RUNNING_NAME;
	}
	/* By words, as written: a longer load stalls until the stores are in the cache. */
	for (unsigned i = 0; i < VP_NAME_WORDS; i++)
		name[i] = __atomic_load_n(&r->name[i], __ATOMIC_RELAXED);
}

/* uid and gid, from the task's credentials. */
static uint64_t credential(struct vp_vcpu_session *v, uint64_t task, uint32_t offset, enum dif_fault *fault)
{
	uint64_t cred = vp_task_field(v, task, v->es->facts.task_cred, 8, fault);

	return vp_task_field(v, cred, offset, 4, fault);
}

/* A number of the running task's, which is valid from the first successful read on. */
static uint64_t own_number(struct vp_vcpu_session *v, uint32_t which, uint32_t offset, uint32_t *known,
			   enum dif_fault *fault)
{
	enum dif_fault failed = DIF_FAULT_NONE;

	if (v->running->known & which)
		return *known;
	uint64_t value = vp_task_field(v, vp_task(v), offset, sizeof(*known), &failed);
	if (failed != DIF_FAULT_NONE) {
		*fault = failed;
		return 0;
	}
	v->running->known |= which;
	*known = (uint32_t)value;
	return value;
}

uint64_t vp_task_id(struct vp_vcpu_session *v, uint32_t var, enum dif_fault *fault)
{
	const struct vp_facts *f = &v->es->facts;
	const struct vp_engine *e = v->es->engine;
	uint64_t task, value = 0;

	if (e->host)
		return e->ops->host->scalar(e->backend, var, &value) ? value : 0;
	switch (var) {
	case DIF_VAR_pid:
		if (v->event)
			return v->event->tgid;
		return own_number(v, VP_RUNNING_PID, f->task_tgid, &v->running->pid, fault);
	case DIF_VAR_tid:
		if (v->event)
			return v->event->pid;
		return own_number(v, VP_RUNNING_TID, f->task_pid, &v->running->tid, fault);
	case DIF_VAR_ppid:
		task = vp_task_field(v, vp_task(v), f->task_real_parent, 8, fault);
		return vp_task_field(v, task, f->task_tgid, 4, fault);
	case DIF_VAR_uid:
		return credential(v, vp_task(v), f->cred_uid, fault);
	case DIF_VAR_gid:
		return credential(v, vp_task(v), f->cred_gid, fault);
	default:
		return 0;
	}
}

/*
 * A run queue's clock stands still between two updates (a tick, a wake-up, a switch), so it can't measure the
 * microseconds of a system call. The host's clock is least ahead of it right after an update: that distance,
 * the smallest of the last one to two seconds (a guest can be paused), gives the guest's present time.
 */
static uint64_t since_update(struct vp_vcpu_session *v, uint64_t rq_clock)
{
	struct vp_guest_clock *c = &v->clock;
	uint64_t now = vp_clause_time(v), ahead = now - rq_clock;

	if (now - c->since_ns > CLOCK_WINDOW_NS) {
		bool fresh = now - c->since_ns > 2 * CLOCK_WINDOW_NS;
		c->least[1] = fresh ? ahead : c->least[0];
		c->least[0] = ahead;
		c->since_ns = now;
	}
	if ((int64_t)(ahead - c->least[0]) < 0)
		c->least[0] = ahead;
	uint64_t least = (int64_t)(c->least[1] - c->least[0]) < 0 ? c->least[1] : c->least[0];
	if ((int64_t)(ahead - least) < 0)
		return 0;
	return ahead - least < UPDATE_MAX_NS ? ahead - least : UPDATE_MAX_NS;
}

/* The task's run time when it was last accounted for, plus the time since then on its run queue's clock. */
uint64_t vp_vtimestamp(struct vp_vcpu_session *v, enum dif_fault *fault)
{
	const struct vp_facts *f = &v->es->facts;
	uint64_t task = vp_task(v), clock;

	if (v->es->engine->host)
		return vp_clause_time(v);
	uint64_t ran = vp_task_field(v, task, f->task_sum_exec_runtime, 8, fault);
	uint64_t start = vp_task_field(v, task, f->task_exec_start, 8, fault);
	if (f->runqueues == UNKNOWN_OFFSET || f->rq_clock_task == VP_NO_OFFSET ||
	    !percpu_u64(v, f->runqueues + f->rq_clock_task, &clock) || clock < start)
		return ran;
	return ran + (clock - start) + since_update(v, clock);
}

bool vp_progenyof(struct vp_vcpu_session *v, uint64_t pid)
{
	const struct vp_facts *f = &v->es->facts;
	enum dif_fault fault = DIF_FAULT_NONE;
	const struct vp_engine *e = v->es->engine;
	uint64_t task = vp_task(v);

	if (e->host)
		return e->ops->host->progenyof(e->backend, pid);
	for (unsigned i = 0; i < ANCESTORS_MAX && task && fault == DIF_FAULT_NONE; i++) {
		uint64_t id = vp_task_field(v, task, f->task_tgid, 4, &fault);
		if (id == pid)
			return true;
		if (id == 0)
			return false;
		task = vp_task_field(v, task, f->task_real_parent, 8, &fault);
	}
	return false;
}

void vp_thread_key(struct vp_vcpu_session *v, struct dif_thread_key *ret)
{
	const struct vp_facts *f = &v->es->facts;
	enum dif_fault fault = DIF_FAULT_NONE;

	*ret = (struct dif_thread_key){ .guest = f->guest_id };
	if (v->es->engine->host) {
		ret->guest = ~0u;
		ret->pid = vp_task_id(v, DIF_VAR_tid, &fault);
		return;
	}
	ret->task = vp_task(v);
	ret->interrupt_level = vp_interrupt_level(v);
	ret->pid = vp_task_id(v, DIF_VAR_tid, &fault);
	ret->start_time = vp_task_field(v, ret->task, f->task_start_time, 8, &fault);
}
