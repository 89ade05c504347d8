#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakeuptime: who ends the waits of a program: time asleep, by sleeper, waker and the waker's stack
 *
 * Use:
 *   outsight tool wakeuptime [-g GUEST] [PROGRAM]
 *   PROGRAM    only sleepers of this name; all without it
 *
 * Example:
 *     sleep woken by swapper/2
 *   vmlinux`try_to_wake_up
 *   vmlinux`hrtimer_wakeup+0x1e
 *   vmlinux`__hrtimer_run_queues+0x10d
 *   vmlinux`hrtimer_interrupt+0xf4
 *   vmlinux`__sysvec_apic_timer_interrupt+0x5d
 *   vmlinux`sysvec_apic_timer_interrupt+0x69
 *   vmlinux`asm_sysvec_apic_timer_interrupt+0x16
 *   vmlinux`native_safe_halt+0xb
 *   vmlinux`default_idle+0xa
 *   vmlinux`default_idle_call+0x38
 *   vmlinux`do_idle+0x206
 *   vmlinux`cpu_startup_entry+0x26
 *   vmlinux`start_secondary+0x12a
 *   vmlinux`secondary_startup_64_no_verify+0xe4
 *                300 ms
 *
 * Caveats:
 *   A waker swapper is an interrupt on an idle CPU. Waits that end while the tool runs. Ctrl-C prints the 30 longest.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

fbt::finish_task_switch*:entry
{
	off[arg0] = timestamp;
	off[(uint64_t)curthread] = 0;
}

fbt::wake_up_new_task:entry
{
	off[arg0] = 0;
}

fbt::try_to_wake_up:entry
/off[arg0] && ($$1 == "" || stringof(((struct task_struct *)arg0)->comm) == $$1)/
{
	@ms[stringof(((struct task_struct *)arg0)->comm), execname, stack()] = sum(timestamp - off[arg0]);
	off[arg0] = 0;
}

END
{
	normalize(@ms, 1000000);
	trunc(@ms, 30);
	printa("\n  %s woken by %s%k%@16d ms\n", @ms);
}
