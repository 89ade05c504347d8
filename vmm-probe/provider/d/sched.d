/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sched: threads get and lose processors, and the queues in which they wait for one. */
provider sched;

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

probe change-pri(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *, int) {
	at { fbt::set_user_nice:entry { trace(arg0); trace(arg0); trace((int)arg1 + 120); } }
}

probe tick(struct task_struct * : lwpsinfo_t *, struct task_struct * : psinfo_t *) {
	at { fbt::sched_tick:entry { trace((uint64_t)curthread); trace((uint64_t)curthread); } }
	or { fbt::scheduler_tick:entry { trace((uint64_t)curthread); trace((uint64_t)curthread); } }
}
