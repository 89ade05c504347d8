/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callout_execute: FreeBSD's probes around the function of a timer, under both spellings of their names.
 * hrtimer-* are the same of high-resolution timers, which FreeBSD has not.
 */
provider callout_execute;

probe callout-start(struct timer_list *) {
	at { sdt:timer::timer_expire_entry { trace(arg0); } }
	or { fbt::call_timer_fn:entry { trace(arg0); } }
}

probe callout_start(struct timer_list *) {
	at { sdt:timer::timer_expire_entry { trace(arg0); } }
	or { fbt::call_timer_fn:entry { trace(arg0); } }
}

probe callout-end(struct timer_list *) {
	at { sdt:timer::timer_expire_exit { trace(arg0); } }
	or { fbt::call_timer_fn:return / this->timer / { trace((uint64_t)this->timer); } }
	with { fbt::call_timer_fn:entry { this->timer = arg0; } }
	after { fbt::call_timer_fn:return { this->timer = 0; } }
}

probe callout_end(struct timer_list *) {
	at { sdt:timer::timer_expire_exit { trace(arg0); } }
	or { fbt::call_timer_fn:return / this->timer / { trace((uint64_t)this->timer); } }
	with { fbt::call_timer_fn:entry { this->timer = arg0; } }
	after { fbt::call_timer_fn:return { this->timer = 0; } }
}

probe hrtimer-start(struct hrtimer *) {
	at { sdt:timer::hrtimer_expire_entry { trace(arg0); } }
}

probe hrtimer-end(struct hrtimer *) {
	at { sdt:timer::hrtimer_expire_exit { trace(arg0); } }
}
