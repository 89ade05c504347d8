#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpudist: how long threads run before they leave a CPU, as distributions by program
 *
 * Use:
 *   outsight tool cpudist [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *   mixed, us
 *              value  ------------- Distribution ------------- count
 *                 64 |                                         0
 *                128 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           77
 *                256 |@@@@@@@@@@                               25
 *
 * Caveats:
 *   Interrupts in between count as the program's. Under a busy host the time without the host's CPU counts too.
 *   Ctrl-C prints the distributions.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

uint64_t on[uint64_t];

fbt::finish_task_switch*:entry
/on[arg0] && ((struct task_struct *)arg0)->pid &&
    ($$1 == "" || stringof(((struct task_struct *)arg0)->comm) == $$1)/
{
	@us[stringof(((struct task_struct *)arg0)->comm)] = quantize((timestamp - on[arg0]) / 1000);
}

fbt::finish_task_switch*:entry
{
	on[arg0] = 0;
	on[(uint64_t)curthread] = timestamp;
}

END
{
	printa("\n%s, us%@d", @us);
}
