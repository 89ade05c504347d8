#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oomkill: processes that are killed because memory is short, and whose request it was
 *
 * Use:
 *   outsight tool oomkill [-g GUEST]
 *
 * Example:
 *    VICTIM PROGRAM              PID ASKED BY                PAGES
 *
 * Caveats:
 *   PAGES are those that the machine, or the memory cgroup, has at most.
 *   Its test shows only that the probe is placed: no test exhausts the memory of its guest, so the example has no row.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %7s %-16s %12s\n", "VICTIM", "PROGRAM", "PID", "ASKED BY", "PAGES");
}

fbt::oom_kill_process:entry
{
	printf("%7d %-16s %7d %-16s %12d\n", ((struct oom_control *)arg0)->chosen->tgid,
	    stringof(((struct oom_control *)arg0)->chosen->comm), pid, execname,
	    ((struct oom_control *)arg0)->totalpages);
}
