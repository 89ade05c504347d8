#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ext4slower: operations on ext4 files that take longer than a limit
 *
 * Use:
 *   outsight tool ext4slower [-g GUEST] [MS]
 *   MS         the limit in milliseconds; 10 without it
 *
 * Example:
 *       PID PROGRAM          OPERATION                 us FILE
 *       230 dd               ext4_file_open           650 tool
 *       230 dd               ext4_file_write_iter      59 tool
 *   ...
 *       231 dd               ext4_file_read_iter        1 tool
 *       231 dd               ext4_file_read_iter        1 tool
 *
 * Caveats:
 *   Reads, writes, opens and syncs of ext4, and of ext2 and ext3 where the ext4 driver serves them.
 *   The guest must have the driver: a tool that finds none of its functions says so and ends.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	limit = ($$1 == "" ? 10 : $1) * 1000000;
	printf("%7s %-16s %-20s %7s %s\n", "PID", "PROGRAM", "OPERATION", "us", "FILE");
}

fbt::ext4_file_read_iter:entry, fbt::ext4_file_write_iter:entry
{
	self->file = ((struct kiocb *)arg0)->ki_filp;
	self->began = timestamp;
}

fbt::ext4_sync_file:entry
{
	self->file = (struct file *)arg0;
	self->began = timestamp;
}

fbt::ext4_file_open:entry
{
	self->file = (struct file *)arg1;
	self->began = timestamp;
}

fbt::ext4_file_read_iter:return, fbt::ext4_file_write_iter:return, fbt::ext4_sync_file:return,
fbt::ext4_file_open:return
/self->began && timestamp - self->began >= limit/
{
	printf("%7d %-16s %-20s %7d %s\n", pid, execname, probefunc, (timestamp - self->began) / 1000,
	    stringof(self->file->f_path.dentry->d_name.name));
}

fbt::ext4_file_read_iter:return, fbt::ext4_file_write_iter:return, fbt::ext4_sync_file:return,
fbt::ext4_file_open:return
/self->began/
{
	self->file = 0;
	self->began = 0;
}
