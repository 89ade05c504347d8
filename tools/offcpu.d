#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offcpu: where threads wait: the time off a CPU, by program and kernel stack
 *
 * Use:
 *   outsight tool offcpu [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *     sleep
 *   vmlinux`finish_task_switch.isra.0
 *   vmlinux`__schedule+0x355
 *   vmlinux`schedule+0x5a
 *   vmlinux`do_nanosleep+0x7b
 *   vmlinux`hrtimer_nanosleep+0x9e
 *   vmlinux`common_nsleep+0x3f
 *   vmlinux`__x64_sys_clock_nanosleep+0xdb
 *   vmlinux`do_syscall_64+0x5d
 *   vmlinux`entry_SYSCALL_64_after_hwframe+0x6e
 *                301 ms
 *
 * Caveats:
 *   Waits that end while the tool runs; those of idle threads too, which are long and mean nothing by themselves.
 *   The time waiting for a CPU is included, see runqlat. Ctrl-C prints the 30 longest.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

uint64_t off[uint64_t];

/* This runs on the stack of the thread that begins to run; arg0 is the one that left. */
fbt::finish_task_switch*:entry
/off[(uint64_t)curthread] && pid && ($$1 == "" || execname == $$1)/
{
	@ms[execname, stack()] = sum(timestamp - off[(uint64_t)curthread]);
}

fbt::finish_task_switch*:entry
{
	off[(uint64_t)curthread] = 0;
	off[arg0] = timestamp;
}

/* A new thread's structure may be that of one that ended. */
fbt::wake_up_new_task:entry
{
	off[arg0] = 0;
}

END
{
	normalize(@ms, 1000000);
	trunc(@ms, 30);
	printa("\n  %s%k%@16d ms\n", @ms);
}
