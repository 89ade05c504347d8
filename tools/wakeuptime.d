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
 *     cat woken by sh
 *   vmlinux`try_to_wake_up
 *   vmlinux`__wake_up_common+0x7a
 *   vmlinux`pipe_write+0x1b8
 *                2012 ms
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
