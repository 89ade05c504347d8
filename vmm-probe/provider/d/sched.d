/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sched: threads get and lose processors, and the queues in which they wait for one. */
provider sched;

/*
 * Whether a thread that gives up its processor goes on waiting for one. At sched_switch the queue's lock is held,
 * so on_rq is exact, where the state is not: a thread with a signal does not sleep, whatever its state. EEVDF leaves
 * one that sleeps in the queue for a while (sched_delayed, since 6.12).
 */
inline int is_delayed[struct task_struct *T] =
	__has_member(struct sched_entity, sched_delayed) ? T->se.sched_delayed != 0 : 0;
inline int waits[struct task_struct *T] = T->pid != 0 && T->on_rq == 1 && !is_delayed[T];

/* TASK_DEAD; the state is called __state since 5.14 */
inline int is_dead[struct task_struct *T] =
	((__has_member(struct task_struct, __state) ? T->__state : T->state) & 0x80) != 0;

/* pr_pri: the higher, the sooner */
inline int pri_of[int prio] = 139 - prio;

/* SCHED_FIFO and SCHED_RR, SCHED_DEADLINE; -1 keeps the policy */
inline int pri_of_policy[int policy, int priority, int nice] =
	policy == 1 || policy == 2 ? pri_of[99 - priority] : policy == 6 ? pri_of[-1] : pri_of[120 + nice];

/* sched_switch(preempt, prev, next, …), in prev */
probe off-cpu(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *) {
	at { sdt:sched::sched_switch { trace(arg2); trace(arg2); } }
	or { fbt::__switch_to:entry { trace(arg1); trace(arg1); } }
}

/* finish_task_switch(prev), the first thing after a switch: in next, on its stack. */
probe on-cpu() {
	at { fbt::finish_task_switch:entry { } }
}

/* sched_waking(task), in the thread that wakes */
probe wakeup(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *) {
	at { sdt:sched::sched_waking { trace(arg0); trace(arg0); } }
}

/* __schedule() has returned, and no sched_switch was on this processor since it was entered. */
probe remain-cpu() {
	at { fbt::__schedule:return / !this->switched / { } }
	with {
		fbt::__schedule:entry { this->switched = 0; }
		sdt:sched::sched_switch { this->switched = 1; }
	}
	or { fbt::__schedule:return / !this->switched / { } }
	with {
		fbt::__schedule:entry { this->switched = 0; }
		fbt::__switch_to:entry { this->switched = 1; }
	}
}

/*
 * enqueue_task_CLASS(rq, p, flags) and dequeue_task_CLASS(rq, p, flags), called by pointers, so never inlined. A
 * thread that has a processor is on no queue for DTrace, but is for Linux: so the one that is switched to is
 * dequeued, and the one that is switched from is enqueued unless it sleeps. Bit 1 of flags (SAVE, RESTORE) takes a
 * thread off and puts it back to change it; bit 0 ends the sleep of a delayed one. HEAD is bit 4, then bit 16.
 */
probe enqueue(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *, int : cpuinfo_t *, int) {
	at {
		fbt::enqueue_task_fair:entry,
		fbt::enqueue_task_rt:entry,
		fbt::enqueue_task_dl:entry,
		fbt::enqueue_task_stop:entry,
		fbt::enqueue_task_scx:entry
		/ !(arg2 & 2) /
		{
			trace(arg1);
			trace(arg1);
			trace(((struct rq *)arg0)->cpu);
			trace((arg2 & 0x10010) != 0);
		}
		sdt:sched::sched_switch
		/ waits[args[1]] /
		{ trace(arg1); trace(arg1); trace((int)cpu); trace(0); }
	}
	or {
		fbt::enqueue_task_fair:entry,
		fbt::enqueue_task_rt:entry,
		fbt::enqueue_task_dl:entry,
		fbt::enqueue_task_stop:entry
		/ !(arg2 & 2) /
		{
			trace(arg1);
			trace(arg1);
			trace(((struct rq *)arg0)->cpu);
			trace((arg2 & 0x10010) != 0);
		}
		sdt:sched::sched_switch
		/ waits[args[1]] /
		{ trace(arg1); trace(arg1); trace((int)cpu); trace(0); }
	}
}

probe dequeue(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *, int : cpuinfo_t *) {
	at {
		fbt::dequeue_task_fair:entry,
		fbt::dequeue_task_rt:entry,
		fbt::dequeue_task_dl:entry,
		fbt::dequeue_task_stop:entry,
		fbt::dequeue_task_scx:entry
		/ arg1 != (uint64_t)curthread && !(arg2 & 3) /
		{
			trace(arg1);
			trace(arg1);
			trace(((struct rq *)arg0)->cpu);
		}
		sdt:sched::sched_switch
		/ args[2]->pid != 0 /
		{ trace(arg2); trace(arg2); trace((int)cpu); }
	}
	or {
		fbt::dequeue_task_fair:entry,
		fbt::dequeue_task_rt:entry,
		fbt::dequeue_task_dl:entry,
		fbt::dequeue_task_stop:entry
		/ arg1 != (uint64_t)curthread && !(arg2 & 3) /
		{
			trace(arg1);
			trace(arg1);
			trace(((struct rq *)arg0)->cpu);
		}
		sdt:sched::sched_switch
		/ args[2]->pid != 0 /
		{ trace(arg2); trace(arg2); trace((int)cpu); }
	}
}

/* In prev, which waits for something else than a processor. */
probe sleep() {
	at {
		sdt:sched::sched_switch
		/ args[1]->pid != 0 && !waits[args[1]] && !is_dead[args[1]] / { }
	}
}

/* In prev, which would go on, and did not ask to give way. */
probe preempt() {
	at { sdt:sched::sched_switch / waits[args[1]] && !self->yields / { } }
	with { fbt::do_sched_yield:entry { self->yields = 1; } }
	after { fbt::do_sched_yield:return { self->yields = 0; } }
	or { sdt:sched::sched_switch / waits[args[1]] && !self->yields / { } }
	with { syscall::sched_yield:entry { self->yields = 1; } }
	after { syscall::sched_yield:return { self->yields = 0; } }
}

/* resched_curr(rq), by another processor, where TIF_NEED_RESCHED (bit 3) is not set yet. Later kernels have moved
 * the bit; those have a tracepoint behind the test: (task, cpu, tif). */
probe surrender(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *) {
	at { sdt:sched::sched_set_need_resched_tp / (int)arg1 != cpu / { trace(arg0); trace(arg0); } }
	or {
		fbt::resched_curr:entry
		/ args[0]->cpu != cpu && !(args[0]->curr->thread_info.flags & 8) /
		{ trace((uint64_t)args[0]->curr); trace((uint64_t)args[0]->curr); }
	}
}

/* set_user_nice(p, nice), __sched_setscheduler(p, attr, …), and a lock's owner that takes a waiter's priority:
 * sched_pi_setprio(task, waiter), in rt_mutex_setprio(). */
probe change-pri(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *, int) {
	at {
		fbt::set_user_nice:entry
		{ trace(arg0); trace(arg0); trace(pri_of[120 + (int)arg1]); }
		fbt::__sched_setscheduler:entry
		{
			trace(arg0);
			trace(arg0);
			trace(pri_of_policy[(int)args[1]->sched_policy == -1 ? (int)args[0]->policy :
				(int)args[1]->sched_policy, (int)args[1]->sched_priority,
				args[1]->sched_nice]);
		}
		sdt:sched::sched_pi_setprio
		{
			trace(arg0);
			trace(arg0);
			trace(pri_of[args[1] != NULL && args[1]->prio < args[0]->normal_prio ?
				args[1]->prio : args[0]->normal_prio]);
		}
	}
	or {
		fbt::set_user_nice:entry
		{ trace(arg0); trace(arg0); trace(pri_of[120 + (int)arg1]); }
		fbt::__sched_setscheduler:entry
		{
			trace(arg0);
			trace(arg0);
			trace(pri_of_policy[(int)args[1]->sched_policy == -1 ? (int)args[0]->policy :
				(int)args[1]->sched_policy, (int)args[1]->sched_priority,
				args[1]->sched_nice]);
		}
		fbt::rt_mutex_setprio:entry
		{
			trace(arg0);
			trace(arg0);
			trace(pri_of[args[1] != NULL && args[1]->prio < args[0]->normal_prio ?
				args[1]->prio : args[0]->normal_prio]);
		}
	}
	or {
		fbt::set_user_nice:entry
		{ trace(arg0); trace(arg0); trace(pri_of[120 + (int)arg1]); }
		fbt::__sched_setscheduler:entry
		{
			trace(arg0);
			trace(arg0);
			trace(pri_of_policy[(int)args[1]->sched_policy == -1 ? (int)args[0]->policy :
				(int)args[1]->sched_policy, (int)args[1]->sched_priority,
				args[1]->sched_nice]);
		}
	}
}

probe tick(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *) {
	at { fbt::sched_tick:entry { trace((uint64_t)curthread); trace((uint64_t)curthread); } }
	or { fbt::scheduler_tick:entry { trace((uint64_t)curthread); trace((uint64_t)curthread); } }
}
