#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfsstat: operations on files per second: reads, writes, opens, syncs, creations, removals
 *
 * Use:
 *   outsight tool vfsstat [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *      READS  WRITES   OPENS   SYNCS CREATES REMOVES
 *        514       3       4       0       1       1
 *
 * Caveats:
 *   All file systems, pipes and devices together. A count is of the interval, not of a second.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	every = $1 > 0 ? $1 : 1;
	left = every;
	tables = $2 > 0 ? $2 : -1;
}

BEGIN
{
	@reads = sum(0);
	@writes = sum(0);
	@opens = sum(0);
	@syncs = sum(0);
	@creates = sum(0);
	@removes = sum(0);
	printf("%8s%8s%8s%8s%8s%8s\n", "READS", "WRITES", "OPENS", "SYNCS", "CREATES", "REMOVES");
}

fbt::vfs_read:entry, fbt::vfs_readv:entry
{
	@reads = sum(1);
}

fbt::vfs_write:entry, fbt::vfs_writev:entry
{
	@writes = sum(1);
}

fbt::do_dentry_open:entry
{
	@opens = sum(1);
}

fbt::do_dentry_open:entry
/((struct file *)arg0)->f_mode & 0x100000/
{
	@creates = sum(1);
}

fbt::vfs_fsync_range:entry
{
	@syncs = sum(1);
}

fbt::vfs_unlink:entry
{
	@removes = sum(1);
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printa("%@8d%@8d%@8d%@8d%@8d%@8d\n", @reads, @writes, @opens, @syncs, @creates, @removes);
	clear(@reads);
	clear(@writes);
	clear(@opens);
	clear(@syncs);
	clear(@creates);
	clear(@removes);
	left = every;
	tables--;
}

tick-1s
/tables == 0/
{
	exit(0);
}

END
{
	printa("%@8d%@8d%@8d%@8d%@8d%@8d\n", @reads, @writes, @opens, @syncs, @creates, @removes);
}
