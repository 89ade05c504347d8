/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc: processes and threads come to be, run programs, get signals, and end. The kernel's functions below
 * are called once for each such event, in 5.10 to 7.2; where one has another name or other parameters there
 * is an alternative. In Linux a process and its first thread are one task, the leader of a thread group.
 */
provider proc;

inline int PF_KTHREAD = 0x200000;

/* wait(2)'s reason for an exit code of the kernel: killed and with a dump of memory, killed, or exited. */
inline int reason[int code] = code & 0x80 ? 3 : code & 0x7f ? 2 : 1;

/* The numbers that signal.d of the D libraries gives to scripts. */
inline int FLTILL = 1;
inline int FLTPRIV = 2;
inline int FLTBPT = 3;
inline int FLTTRACE = 4;
inline int FLTACCESS = 5;
inline int FLTBOUNDS = 6;
inline int FLTIOVF = 7;
inline int FLTIZDIV = 8;
inline int FLTFPE = 9;
inline int FLTWATCH = 12;

/* si_code of SIGILL 5 and 6: a privileged instruction, register; SIGTRAP 2 and 4: a step, a debug register;
 * SIGFPE 1 and 2: integer division, overflow; SIGSEGV 1 and 0x80: no mapping, a general protection fault. */
inline int fault_of[int signo, int cause] =
	signo == 4 ? (cause == 5 || cause == 6 ? FLTPRIV : FLTILL) :
	signo == 5 ? (cause == 2 ? FLTTRACE : cause == 4 ? FLTWATCH : FLTBPT) :
	signo == 8 ? (cause == 1 ? FLTIZDIV : cause == 2 ? FLTIOVF : FLTFPE) :
	signo == 11 && (cause == 1 || cause == 0x80) ? FLTBOUNDS : FLTACCESS;

/* wake_up_new_task(p), in the parent: the new task is complete and about to run. */
probe create(struct task_struct * : psinfo_t *) {
	at { fbt::wake_up_new_task:entry / args[0]->tgid == args[0]->pid / { trace(arg0); } }
}

probe lwp-create(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *) {
	at { fbt::wake_up_new_task:entry { trace(arg0); trace(arg0); } }
}

/* schedule_tail(prev), the first thing that a new task does. */
probe start() {
	at {
		fbt::schedule_tail:entry
		/ !(curthread->flags & PF_KTHREAD) && curthread->pid == curthread->tgid / { }
	}
}

probe lwp-start() {
	at { fbt::schedule_tail:entry / !(curthread->flags & PF_KTHREAD) / { } }
}

probe exec(char * : string) {
	at {
		syscall::execve:entry { trace(copyinstr(arg0)); }
		syscall::execveat:entry { trace(copyinstr(arg1)); }
	}
}

probe exec-success() {
	at { syscall::execve:return, syscall::execveat:return / (int)arg1 == 0 / { } }
}

probe exec-failure(int) {
	at { syscall::execve:return, syscall::execveat:return / (int)arg1 < 0 / { trace(-(int)arg1); } }
}

/* taskstats_exit(tsk, group_dead) and acct_collect(code, group_dead), from do_exit(): tsk->exit_code is set;
 * group_dead in the process's last thread. A kernel without accounting has neither: disassociate_ctty(on_exit), called for
 * the last thread then. */
probe exit(int) {
	at { fbt::taskstats_exit:entry / (int)arg1 / { trace(reason[args[0]->exit_code]); } }
	or { fbt::acct_collect:entry / (int)arg1 / { trace(reason[(int)arg0]); } }
	or { fbt::disassociate_ctty:entry / (int)arg0 / { trace(reason[curthread->exit_code]); } }
}

probe lwp-exit() {
	at { fbt::taskstats_exit:entry { } }
	or { fbt::do_exit:entry { } }
}

/* complete_signal(sig, p, type): the signal is pending, a thread is chosen. */
probe signal-send(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *, int) {
	at { fbt::complete_signal:entry { trace(arg1); trace(arg1); trace((int)arg0); } }
}

/* signal_generate(sig, info, task, group, result): 1 is ignored. */
probe signal-discard(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *, int) {
	at { sdt:signal::signal_generate / (int)arg4 == 1 / { trace(arg2); trace(arg2); trace((int)arg0); } }
}

/* signal_deliver(sig, info, ka) */
probe signal-handle(int, struct kernel_siginfo *, void *) {
	at { sdt:signal::signal_deliver { trace((int)arg0); trace(arg1); trace(args[2]->sa.sa_handler); } }
}

/* rt_sigtimedwait(2) has taken a pending signal. */
probe signal-clear(int) {
	at {
		syscall::rt_sigtimedwait:return, syscall::rt_sigtimedwait_time32:return
		/ (int)arg1 > 0 / { trace((int)arg1); }
	}
	or { syscall::rt_sigtimedwait:return / (int)arg1 > 0 / { trace((int)arg1); } }
}

/* force_sig_info_to_task(info, t, handler): what the processor found wrong; not seccomp's SIGSYS. */
probe fault(int, struct kernel_siginfo *) {
	at {
		fbt::force_sig_info_to_task:entry
		/ args[0]->si_signo == 4 || args[0]->si_signo == 5 || args[0]->si_signo == 7 ||
		  args[0]->si_signo == 8 || args[0]->si_signo == 11 /
		{ trace(fault_of[args[0]->si_signo, args[0]->si_code]); trace(arg0); }
	}
}
