#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fileslower: reads and writes of files that take longer than a limit
 *
 * Use:
 *   outsight tool fileslower [-g GUEST] [MS]
 *   MS         the limit in milliseconds; 10 without it
 *
 * Example:
 *       PID PROGRAM          DIR     BYTES        us FILE
 *       228 reads            W       65536      6183 reads.dat
 *       228 reads            R       10373       756 reads.dat
 *   ...
 *       228 reads            R        4703       219 reads.dat
 *       228 reads            R           2        14 reads.dat
 *
 * Caveats:
 *   Regular files only. The time is that of the call in the kernel, a disk or not.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	limit = ($$1 == "" ? 10 : $1) * 1000000;
	printf("%7s %-16s %-3s %9s %9s %s\n", "PID", "PROGRAM", "DIR", "BYTES", "us", "FILE");
}

/* 0100000 of a mode is a regular file. */
fbt::vfs_read:entry, fbt::vfs_readv:entry, fbt::vfs_write:entry, fbt::vfs_writev:entry
/(((struct file *)arg0)->f_inode->i_mode & 0170000) == 0100000/
{
	self->file = (struct file *)arg0;
	self->began = timestamp;
}

fbt::vfs_read:return, fbt::vfs_readv:return, fbt::vfs_write:return, fbt::vfs_writev:return
/self->began && timestamp - self->began >= limit/
{
	printf("%7d %-16s %-3s %9d %9d %s\n", pid, execname, strstr(probefunc, "read") != 0 ? "R" : "W",
	    (int64_t)arg1, (timestamp - self->began) / 1000, stringof(self->file->f_path.dentry->d_name.name));
}

fbt::vfs_read:return, fbt::vfs_readv:return, fbt::vfs_write:return, fbt::vfs_writev:return
/self->began/
{
	self->file = 0;
	self->began = 0;
}
