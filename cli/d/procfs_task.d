/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc(4)'s structs of any task of a guest. Members that Linux does not have are 0. Offsets are those of the
 * guest's types; where kernels differ, the expression for the members that this one has is taken.
 */
#pragma D depends_on library procfs.d
#pragma D depends_on module vmlinux
#pragma D depends_on module btf
#pragma D depends_on struct task_struct

/* --- what several members need --------------------------------------------------------------- */

/* BEGIN, END, ERROR and ticks run in no task of the guest: there the current thread is outsight's own. */
inline int __outside[kthread_t *T] = T == NULL && curthread == NULL;

/* enum pid_type: PIDTYPE_PGID, PIDTYPE_SID. A task that is being released has none. */
inline pid_t __task_id[kthread_t *T, int type] =
	T->signal->pids[type] != NULL ? T->signal->pids[type]->numbers[0].nr : 0;

/* __state since 5.14; its bits are those of the interface that user space sees, and stay (sched.h) */
inline unsigned int __task_state[kthread_t *T] =
	(unsigned int)(__has_member(struct task_struct, __state) ? T->__state : T->state);

/* in struct thread_info since 5.16 */
inline int __task_cpu[kthread_t *T] =
	(int)(__has_member(struct thread_info, cpu) ? T->thread_info.cpu : T->cpu);

inline int __task_on_cpu[kthread_t *T] =
	__has_member(struct task_struct, on_cpu) ? T->on_cpu : T == curthread;

/* PF_KTHREAD */
inline int __task_is_kernel[kthread_t *T] = (T->flags & 0x00200000) != 0;

/* MM_CONTEXT_UPROBE_IA32: exec() of a 32-bit program sets it */
inline int __task_is_ilp32[kthread_t *T] =
	__has_member(mm_context_t, flags) ? T->mm != NULL && (T->mm->context.flags & 1) != 0 :
	__has_member(mm_context_t, ia32_compat) ? T->mm != NULL && T->mm->context.ia32_compat != 0 : 0;

/*
 * The address of the registers that a process had when it entered the kernel: at the end of its stack, or 16
 * bytes below that with FRED. They are the right ones if their code segment is user space's.
 */
inline uintptr_t __stack_end[kthread_t *T] = (uintptr_t)T->stack +
	(__has_member(union thread_union, stack) ? sizeof(union thread_union) : 16384) - sizeof(struct pt_regs);
inline int __is_user_regs[uintptr_t regs] = (((struct pt_regs *)regs)->cs & 3) == 3;
inline long __syscall_number[uintptr_t regs] = (long)((struct pt_regs *)regs)->orig_ax;
inline long __task_syscall[kthread_t *T] =
	__task_is_kernel[T] ? 0 :
	__is_user_regs[__stack_end[T]] ? __syscall_number[__stack_end[T]] :
	__is_user_regs[__stack_end[T] - 16] ? __syscall_number[__stack_end[T] - 16] : 0;

/*
 * exec() leaves the address of argc, which argv[] and envp[] follow, in start_stack. That and the arguments
 * themselves are in the process's own memory, so only the current one's can be read.
 */
inline int __has_args[kthread_t *T] =
	T != NULL && T == curthread && T->mm != NULL && T->mm->arg_end > T->mm->arg_start;
inline uint64_t __args_size[kthread_t *T] =
	T->mm->arg_end - T->mm->arg_start < 2048 ? T->mm->arg_end - T->mm->arg_start : 2048;
inline int __task_argc[kthread_t *T] =
	!__has_args[T] || T->mm->start_stack == 0 ? 0 : *(int *)copyin(T->mm->start_stack, sizeof(int));
inline int __word_size[kthread_t *T] = __task_is_ilp32[T] ? 4 : 8;

/* --- psinfo_t --------------------------------------------------------------------------------- */

translator psinfo_t < kthread_t *T > {
	pr_nlwp = __outside[T] ? 1 : T->signal->nr_threads;
	pr_pid = __outside[T] ? pid : T->tgid;
	pr_ppid = __outside[T] ? ppid : T->real_parent->tgid;
	pr_pgid = __outside[T] ? $pgid : __task_id[T, 2];
	pr_sid = __outside[T] ? $sid : __task_id[T, 3];
	pr_uid = __outside[T] ? uid : T->cred->uid.val;
	pr_euid = __outside[T] ? $euid : T->cred->euid.val;
	pr_gid = __outside[T] ? gid : T->cred->gid.val;
	pr_egid = __outside[T] ? $egid : T->cred->egid.val;
	pr_addr = (uintptr_t)T;
	pr_ttydev = __outside[T] ? PRNODEV : T->signal->tty == NULL ? PRNODEV :
	    ((uint64_t)T->signal->tty->driver->major << 20 |
	    (uint64_t)(T->signal->tty->driver->minor_start + T->signal->tty->index));
	pr_fname = __outside[T] ? execname : stringof(T->comm);
	pr_psargs = __has_args[T] ?
	    memstr(copyin(T->mm->arg_start, __args_size[T]), ' ', __args_size[T]) :
	    __outside[T] ? execname : stringof(T->comm);
	pr_wstat = 0;
	pr_argc = __task_argc[T];
	pr_argv = __has_args[T] ? T->mm->start_stack + __word_size[T] : 0;
	pr_envp = __has_args[T] ? T->mm->start_stack + __word_size[T] * (__task_argc[T] + 2) : 0;
	pr_dmodel = __outside[T] ? PR_MODEL_LP64 : __task_is_ilp32[T] ? PR_MODEL_ILP32 : PR_MODEL_LP64;
	pr_taskid = 0;
	pr_projid = 0;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_contract = 0;
	pr_jailid = 0;
	pr_arglen = __has_args[T] ? __args_size[T] : 0;
};

/* --- lwpsinfo_t ------------------------------------------------------------------------------- */

/* TASK_NEW 0x800; __TASK_STOPPED 4, __TASK_TRACED 8; TASK_WAKING 0x200; TASK_DEAD 0x80. The rest are sleeps. */
inline char __state_of[unsigned int state, int exited, int running] =
	exited || (state & 0x80) ? SZOMB :
	state & 0x800 ? SIDL :
	state & 0xc ? SSTOP :
	state == 0x200 ? SRUN :
	state ? SSLEEP :
	running ? SONPROC : SRUN;
inline char __task_lwp_state[kthread_t *T] =
	__state_of[__task_state[T], T->exit_state != 0, __task_on_cpu[T]];

inline char __state_name[char state] =
	state == SONPROC ? 'O' : state == SRUN ? 'R' : state == SSLEEP ? 'S' : state == SSTOP ? 'T' :
	state == SZOMB ? 'Z' : 'I';

/* SCHED_NORMAL and so on: the numbers of sched_setscheduler(2) */
inline string __class_name[unsigned int policy] =
	policy == 0 ? "TS" : policy == 1 ? "FIFO" : policy == 2 ? "RR" : policy == 3 ? "BATCH" :
	policy == 5 ? "IDLE" : policy == 6 ? "DL" : policy == 7 ? "EXT" : "";

translator lwpsinfo_t < kthread_t *T > {
	pr_flag = __outside[T] ? 0 : (__task_lwp_state[T] == SSTOP ? PR_STOPPED | PR_ISTOP : 0) |
	    (__task_lwp_state[T] == SSLEEP ? PR_ASLEEP : 0) | (__task_is_kernel[T] ? PR_ISSYS : 0) |
	    (T->ptrace ? PR_PTRACE : 0) | (T->pid == 0 ? PR_IDLE : 0);
	pr_lwpid = __outside[T] ? tid : T->pid;
	pr_addr = (uintptr_t)T;
	pr_wchan = 0;
	pr_stype = 0;
	pr_state = __outside[T] ? SONPROC : __task_lwp_state[T];
	pr_sname = __outside[T] ? 'O' : __state_name[__task_lwp_state[T]];
	pr_nice = __outside[T] ? 0 : T->static_prio - 120;
	pr_syscall = __outside[T] ? 0 : __task_syscall[T] < 0 ? 0 : __task_syscall[T];
	pr_pri = __outside[T] ? 0 : 139 - T->prio;
	pr_clname = __outside[T] ? "" : __class_name[T->policy];
	pr_onpro = __outside[T] ? cpu : __task_cpu[T];
	pr_bindpro = __outside[T] ? -1 : T->nr_cpus_allowed == 1 ? __task_cpu[T] : -1;
	pr_bindpset = -1;
	pr_name = __outside[T] ? execname : stringof(T->comm);
};

/* --- cpuinfo_t -------------------------------------------------------------------------------- */

/* struct cpuinfo_x86 of a CPU; topo since 6.6 */
inline struct cpuinfo_x86 *__cpu_facts[int id] =
	(struct cpuinfo_x86 *)(__has_symbol(`cpu_info) && __has_symbol(`__per_cpu_offset) ?
	*(uint64_t *)((uintptr_t)&`__per_cpu_offset + 8 * (uint64_t)id) + ((uintptr_t)&`cpu_info - percpubase) : 0);

inline int __cpu_chip[struct cpuinfo_x86 *C] = C == NULL ? 0 :
	(int)(__has_member(struct cpuinfo_x86, topo) ? C->topo.pkg_id : C->phys_proc_id);

translator processor_info_t < struct cpuinfo_x86 *C > {
	pi_state = P_ONLINE;
	pi_processor_type = C == NULL ? "x86_64" : stringof(C->x86_model_id);
	pi_fputypes = "";
	pi_clock = __has_symbol(`cpu_khz) ? `cpu_khz / 1000 : 0;
};

translator cpuinfo_t < int id > {
	cpu_id = id;
	cpu_pset = -1;
	cpu_chip = __cpu_chip[__cpu_facts[id]];
	cpu_lgrp = 0;
	cpu_info = xlate <processor_info_t> (__cpu_facts[id]);
};

/* the CPU on which a task runs, or ran last */
translator cpuinfo_t < kthread_t *T > {
	cpu_id = __task_cpu[T];
	cpu_pset = -1;
	cpu_chip = __cpu_chip[__cpu_facts[__task_cpu[T]]];
	cpu_lgrp = 0;
	cpu_info = xlate <processor_info_t> (__cpu_facts[__task_cpu[T]]);
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (curthread);
inline string execargs = curpsinfo->pr_psargs;
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (curthread);
inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> ((int)cpu);
inline int pset = curcpu->cpu_pset;
inline int chip = curcpu->cpu_chip;
inline int lgrp = curcpu->cpu_lgrp;
