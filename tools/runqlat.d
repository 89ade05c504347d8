#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runqlat: how long runnable threads wait for a CPU, as a distribution
 *
 * Use:
 *   outsight tool runqlat [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *   waiting for a CPU, us
 *              value  ------------- Distribution ------------- count
 *                  8 |                                         0
 *                 16 |@                                        5
 *                 32 |@@                                       13
 *                 64 |@@@@                                     25
 *                128 |@@@                                      19
 *                256 |@                                        8
 *                512 |                                         2
 *               1024 |@                                        7
 *               2048 |@@                                       12
 *               4096 |@                                        9
 *               8192 |@@@@@@@@@@@@@                            83
 *              16384 |@@@@@@@                                  44
 *              32768 |@@                                       14
 *              65536 |                                         3
 *             131072 |                                         2
 *             262144 |                                         0
 *
 * Caveats:
 *   From wake-up, or from losing the CPU while runnable, to running. Ctrl-C prints the distribution.
 *   A host that does not run the guest's CPU adds to it: the thread runs for the guest, and waits for the host.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

/* Queues are of classes, whose functions are called by pointer. 2: put back in the same place. */
fbt::enqueue_task_fair:entry, fbt::enqueue_task_rt:entry, fbt::enqueue_task_dl:entry,
fbt::enqueue_task_stop:entry, fbt::enqueue_task_scx:entry
/!(arg2 & 2)/
{
	queued[arg1] = timestamp;
}

/* The thread that left the CPU, where it could have gone on. A sleeper whose dequeueing was put off could not. */
fbt::finish_task_switch*:entry
/((struct task_struct *)arg0)->on_rq == 1 && ((struct task_struct *)arg0)->pid != 0/
{
	queued[arg0] = timestamp;
}

fbt::finish_task_switch*:entry
/__has_member(struct sched_entity, sched_delayed) ? ((struct task_struct *)arg0)->se.sched_delayed : 0/
{
	queued[arg0] = 0;
}

fbt::finish_task_switch*:entry
/queued[(uint64_t)curthread] && ($$1 == "" || execname == $$1)/
{
	@us["waiting for a CPU"] = quantize((timestamp - queued[(uint64_t)curthread]) / 1000);
}

fbt::finish_task_switch*:entry
{
	queued[(uint64_t)curthread] = 0;
}

END
{
	printa("%s, us%@d", @us);
}
