#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads: threads as they are made, with their process
 *
 * Use:
 *   outsight tool threads [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *       TID     PID PROGRAM
 *       302     301 getppid_loop
 *       303     301 getppid_loop
 *       304     301 getppid_loop
 *
 * Caveats:
 *   The first thread of a process is its own, see forks.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %7s %s\n", "TID", "PID", "PROGRAM");
}

fbt::wake_up_new_task:entry
/((struct task_struct *)arg0)->tgid != ((struct task_struct *)arg0)->pid && ($$1 == "" || execname == $$1)/
{
	printf("%7d %7d %s\n", ((struct task_struct *)arg0)->pid, ((struct task_struct *)arg0)->tgid, execname);
}
