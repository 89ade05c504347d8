#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * killsnoop: signals that processes send by system calls, with the result
 *
 * Use:
 *   outsight tool killsnoop [-g GUEST] [PROGRAM]
 *   PROGRAM    only senders of this name; all without it
 *
 * Example:
 *       PID PROGRAM           CALL      TARGET  SIG  ERR
 *       176 sh                kill       99999   15    3
 *
 * Caveats:
 *   Signals that the kernel sends by itself (a fault, a terminal, a timer) are no system calls and are not seen.
 *   TARGET is a negative number for a process group, -1 for all.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s  %-8s %7s %4s %4s\n", "PID", "PROGRAM", "CALL", "TARGET", "SIG", "ERR");
}

syscall::kill:entry, syscall::tkill:entry, syscall::rt_sigqueueinfo:entry
/$$1 == "" || execname == $$1/
{
	self->sending = 1;
	self->target = (int)arg0;
	self->sig = (int)arg1;
}

syscall::tgkill:entry, syscall::rt_tgsigqueueinfo:entry
/$$1 == "" || execname == $$1/
{
	self->sending = 1;
	self->target = (int)arg1;
	self->sig = (int)arg2;
}

syscall::pidfd_send_signal:entry
/$$1 == "" || execname == $$1/
{
	self->sending = 1;
	self->target = 0;
	self->sig = (int)arg1;
}

syscall::kill:return, syscall::tkill:return, syscall::tgkill:return, syscall::rt_sigqueueinfo:return,
syscall::rt_tgsigqueueinfo:return, syscall::pidfd_send_signal:return
/self->sending/
{
	printf("%7d %-16s  %-8s %7d %4d %4d\n", pid, execname, probefunc, self->target, self->sig, errno);
	self->sending = 0;
	self->target = 0;
	self->sig = 0;
}
