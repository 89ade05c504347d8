#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * opensnoop: files as they are opened, with the result
 *
 * Use:
 *   outsight tool opensnoop [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *       PID PROGRAM            FD  ERR PATH
 *       147 cat                 3    0 /proc/version
 *       147 cat                -1    2 /nosuch
 *
 * Caveats:
 *   PATH is what the program gave, so it may be relative to the process's directory.
 *   io_uring's opens are not system calls and are not seen.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %4s %4s %s\n", "PID", "PROGRAM", "FD", "ERR", "PATH");
}

syscall::open:entry, syscall::creat:entry
/$$1 == "" || execname == $$1/
{
	self->path = arg0;
}

syscall::openat:entry, syscall::openat2:entry
/$$1 == "" || execname == $$1/
{
	self->path = arg1;
}

syscall::open:return, syscall::creat:return, syscall::openat:return, syscall::openat2:return
/self->path/
{
	printf("%7d %-16s %4d %4d %s\n", pid, execname, errno ? -1 : (int)arg1, errno, copyinstr(self->path));
	self->path = 0;
}
