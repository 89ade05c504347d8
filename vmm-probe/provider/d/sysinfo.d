/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysinfo: what Solaris counts by processor. arg0 is by how much, arg1 is 0: Linux keeps no such counters.
 */
provider sysinfo;

inline int CLONE_VM = 0x100;
inline int CLONE_VFORK = 0x4000;

probe sysread(int, uint64_t *) {
	at {
		syscall::read:entry, syscall::readv:entry, syscall::pread64:entry, syscall::preadv:entry
		{ trace(1); trace(0); }
	}
}

probe syswrite(int, uint64_t *) {
	at {
		syscall::write:entry, syscall::writev:entry, syscall::pwrite64:entry,
		syscall::pwritev:entry
		{ trace(1); trace(0); }
	}
}

probe readch(int, uint64_t *) {
	at {
		syscall::read:return, syscall::readv:return, syscall::pread64:return,
		syscall::preadv:return
		/ (int64_t)arg1 > 0 / { trace((int)arg1); trace(0); }
	}
}

probe writech(int, uint64_t *) {
	at {
		syscall::write:return, syscall::writev:return, syscall::pwrite64:return,
		syscall::pwritev:return
		/ (int64_t)arg1 > 0 / { trace((int)arg1); trace(0); }
	}
}

/* kernel_clone(struct kernel_clone_args): the kernel's own threads and threads of a process share memory. */
probe sysfork(int, uint64_t *) {
	at {
		fbt::kernel_clone:entry
		/ !(args[0]->flags & (CLONE_VM | CLONE_VFORK)) / { trace(1); trace(0); }
	}
}

probe sysvfork(int, uint64_t *) {
	at { fbt::kernel_clone:entry / args[0]->flags & CLONE_VFORK / { trace(1); trace(0); } }
}

probe sysexec(int, uint64_t *) {
	at { syscall::execve:entry, syscall::execveat:entry { trace(1); trace(0); } }
}

probe nthreads(int, uint64_t *) {
	at { fbt::wake_up_new_task:entry { trace(1); trace(0); } }
}

probe msg(int, uint64_t *) {
	at { syscall::msgsnd:entry, syscall::msgrcv:entry { trace(1); trace(0); } }
}

probe sema(int, uint64_t *) {
	at { syscall::semop:entry, syscall::semtimedop:entry { trace(1); trace(0); } }
}

/* Each path once: one that is opened (do_filp_open(), later do_file_open()), one whose last name is made or removed,
 * and all others. */
probe namei(int, uint64_t *) {
	at {
		fbt::filename_lookup:entry, fbt::do_fil?_open:entry, fbt::__filename_parentat:entry
		{ trace(1); trace(0); }
	}
	or {
		fbt::filename_lookup:entry, fbt::do_fil?_open:entry, fbt::filename_parentat:entry
		{ trace(1); trace(0); }
	}
	or { fbt::filename_lookup:entry, fbt::do_fil?_open:entry { trace(1); trace(0); } }
}

/* sched_switch(preempt, prev, …), __switch_to(prev, next) */
probe pswitch(int, uint64_t *) {
	at { sdt:sched::sched_switch { trace(1); trace(0); } }
	or { fbt::__switch_to:entry { trace(1); trace(0); } }
}

/* … of a thread that could go on running */
probe inv_swtch(int, uint64_t *) {
	at {
		sdt:sched::sched_switch
		/ args[1]->pid && (arg0 || !args[1]->__state) / { trace(1); trace(0); }
	}
	or {
		sdt:sched::sched_switch
		/ args[1]->pid && (arg0 || !args[1]->state) / { trace(1); trace(0); }
	}
	or { fbt::__switch_to:entry / args[0]->pid && !args[0]->__state / { trace(1); trace(0); } }
	or { fbt::__switch_to:entry / args[0]->pid && !args[0]->state / { trace(1); trace(0); } }
}

/* A processor has nothing to run, and its idle thread begins to wait: behind that thread's sched:::on-cpu. */
probe idlethread(int, uint64_t *) {
	at { fbt::tick_nohz_idle_enter:entry { trace(1); trace(0); } }
}

probe cpumigrate(int, uint64_t *) {
	at { sdt:sched::sched_migrate_task { trace(1); trace(0); } }
	or { fbt::set_task_cpu:entry { trace(1); trace(0); } }
}

/* A call of functions on other processors, of how many of them ever. */
probe xcalls(int, uint64_t *) {
	at {
		fbt::smp_call_function_many_cond:entry, fbt::smp_call_function_single:entry
		{ trace(1); trace(0); }
	}
}

/* Interrupts of devices: the timer's and those between processors have no handler of this kind. */
probe intr(int, uint64_t *) {
	at { fbt::__handle_irq_event_percpu:entry { trace(1); trace(0); } }
}

/* The processor's exceptions, but Xen's; the kernel lets none of them be trapped on KVM. */
probe trap(int, uint64_t *) {
	at { fbt::exc_[!x]*:entry { trace(1); trace(0); } }
}

/* contention_begin(lock, flags), since 5.19: a mutex, not spinning; a semaphore's reader; its writer. Before, the first
 * sleep in the slow path. */
inline int blocks[struct task_struct *T] = (__has_member(struct task_struct, __state) ? T->__state : T->state) != 0;

probe mutex_adenters(int, uint64_t *) {
	at { sdt:lock::contention_begin / (int)arg1 == 32 / { trace(1); trace(0); } }
	or { sdt:sched::sched_switch / self->adenters && blocks[args[1]] / { trace(1); trace(0); } }
	with { fbt::__mutex_lock:entry { self->adenters = 1; } }
	after {
		sdt:sched::sched_switch / self->adenters && blocks[args[1]] / { self->adenters = 0; }
		fbt::__mutex_lock:return { self->adenters = 0; }
	}
}

probe rw_rdfails(int, uint64_t *) {
	at { sdt:lock::contention_begin / (int)arg1 == 2 / { trace(1); trace(0); } }
	or { sdt:sched::sched_switch / self->rdfails && blocks[args[1]] / { trace(1); trace(0); } }
	with { fbt::rwsem_down_read_slowpath:entry { self->rdfails = 1; } }
	after {
		sdt:sched::sched_switch / self->rdfails && blocks[args[1]] / { self->rdfails = 0; }
		fbt::rwsem_down_read_slowpath:return { self->rdfails = 0; }
	}
}

probe rw_wrfails(int, uint64_t *) {
	at { sdt:lock::contention_begin / (int)arg1 == 4 / { trace(1); trace(0); } }
	or { sdt:sched::sched_switch / self->wrfails && blocks[args[1]] / { trace(1); trace(0); } }
	with { fbt::rwsem_down_write_slowpath:entry { self->wrfails = 1; } }
	after {
		sdt:sched::sched_switch / self->wrfails && blocks[args[1]] / { self->wrfails = 0; }
		fbt::rwsem_down_write_slowpath:return { self->wrfails = 0; }
	}
}

probe modload(int, uint64_t *) {
	at { fbt::do_init_module:entry { trace(1); trace(0); } }
}

probe modunload(int, uint64_t *) {
	at { fbt::free_module:entry { trace(1); trace(0); } }
}
