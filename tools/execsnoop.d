#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execsnoop: programs as they are started, with their arguments
 *
 * Use:
 *   outsight tool execsnoop [-g GUEST]
 *
 * Example:
 *       PID    PPID    UID  ERR PROGRAM AND ARGUMENTS
 *       148       1      0    0 sh -c env one two=2; /bin/true a b
 *       149     148      0    2 /bin/one
 *       148       1      0    0 /bin/true a b
 *
 * Caveats:
 *   Of a program that could not be started the path is printed, without arguments.
 *   Arguments are cut at 255 bytes; -x strsize=2k shows more.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %7s %6s %4s %s\n", "PID", "PPID", "UID", "ERR", "PROGRAM AND ARGUMENTS");
}

syscall::execve:entry
{
	self->path = arg0;
}

syscall::execveat:entry
{
	self->path = arg1;
}

syscall::execve:return, syscall::execveat:return
/self->path && errno/
{
	printf("%7d %7d %6d %4d %s\n", pid, ppid, uid, errno, copyinstr(self->path));
	self->path = 0;
}

syscall::execve:return, syscall::execveat:return
/self->path/
{
	printf("%7d %7d %6d %4d %s\n", pid, ppid, uid, 0, curpsinfo->pr_psargs);
	self->path = 0;
}
