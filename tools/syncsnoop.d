#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syncsnoop: writes to disk that programs wait for: sync and its kin, with their duration
 *
 * Use:
 *   outsight tool syncsnoop [-g GUEST]
 *
 * Example:
 *       PID PROGRAM          CALL                  us  ERR FILE
 *       178 dd               fsync              74167    0 /mnt/tool
 *
 * Caveats:
 *   A file opened with O_SYNC waits in write(2) itself, which is not listed.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %-16s %7s %4s %s\n", "PID", "PROGRAM", "CALL", "us", "ERR", "FILE");
}

syscall::sync:entry, syscall::msync:entry
{
	self->began = timestamp;
	self->file = "-";
}

syscall::fsync:entry, syscall::fdatasync:entry, syscall::syncfs:entry, syscall::sync_file_range:entry
{
	self->began = timestamp;
	self->file = fds[(int)arg0].fi_pathname;
}

syscall::sync:return, syscall::msync:return, syscall::fsync:return, syscall::fdatasync:return,
syscall::syncfs:return, syscall::sync_file_range:return
/self->began/
{
	printf("%7d %-16s %-16s %7d %4d %s\n", pid, execname, probefunc, (timestamp - self->began) / 1000, errno,
	    self->file);
	self->began = 0;
	self->file = 0;
}
