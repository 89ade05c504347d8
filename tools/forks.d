#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forks: processes as they are made, with their parents
 *
 * Use:
 *   outsight tool forks [-g GUEST]
 *
 * Example:
 *       PID    PPID PARENT
 *       173       1 init
 *       174     173 sh
 *
 * Caveats:
 *   Threads are no processes, see threads. A process that starts a program is named as before: see execsnoop.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %7s %s\n", "PID", "PPID", "PARENT");
}

fbt::wake_up_new_task:entry
/((struct task_struct *)arg0)->tgid == ((struct task_struct *)arg0)->pid/
{
	printf("%7d %7d %s\n", ((struct task_struct *)arg0)->tgid, pid, execname);
}
