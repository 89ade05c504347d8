#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * errsnoop: system calls that fail, one line each
 *
 * Use:
 *   outsight tool errsnoop [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *       PID PROGRAM            ERR CALL
 *       223 cat                  2 openat
 *
 * Caveats:
 *   ERR is the number that errno(3) has. Some programs live with many failures: EAGAIN (11) is often none.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %5s %s\n", "PID", "PROGRAM", "ERR", "CALL");
}

syscall:::return
/errno && ($$1 == "" || execname == $$1)/
{
	printf("%7d %-16s %5d %s\n", pid, execname, errno, probefunc);
}
