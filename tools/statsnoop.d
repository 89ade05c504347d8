#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statsnoop: files whose attributes programs query, with the result
 *
 * Use:
 *   outsight tool statsnoop [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *       PID PROGRAM            ERR CALL         PATH
 *       175 stat                 2 newfstatat   /nosuch
 *
 * Caveats:
 *   Calls on an open file (fstat) have no path and are left out.
 *   CALL is the kernel's name: newstat is stat(2).
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %5s %-12s %s\n", "PID", "PROGRAM", "ERR", "CALL", "PATH");
}

syscall::newstat:entry, syscall::newlstat:entry, syscall::stat:entry, syscall::lstat:entry
/$$1 == "" || execname == $$1/
{
	self->path = arg0;
}

syscall::newfstatat:entry, syscall::statx:entry
/$$1 == "" || execname == $$1/
{
	self->path = arg1;
}

syscall::newstat:return, syscall::newlstat:return, syscall::stat:return, syscall::lstat:return,
syscall::newfstatat:return, syscall::statx:return
/self->path/
{
	printf("%7d %-16s %5d %-12s %s\n", pid, execname, errno, probefunc, copyinstr(self->path));
	self->path = 0;
}
