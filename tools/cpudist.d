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
 *   spin, us
 *              value  ------------- Distribution ------------- count
 *                128 |                                         0
 *                256 |@@                                       3
 *                512 |@                                        1
 *               1024 |                                         0
 *               2048 |@                                        2
 *               4096 |@@                                       4
 *               8192 |@@@@@@@@@@@@@@@@@@@@@@@@                 43
 *              16384 |@@@@@@@                                  13
 *              32768 |@                                        2
 *              65536 |@@                                       3
 *             131072 |@                                        1
 *             262144 |                                         0
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
