#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filetop: files that are read and written most, by program
 *
 * Use:
 *   outsight tool filetop [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *   PROGRAM          FILE                           DIR          BYTES
 *   init             vport0p1                       R               13
 *   reads            vport0p1                       W              261
 *   reads            reads.dat                      W            65536
 *   reads            reads.dat                      R          4187778
 *
 * Caveats:
 *   FILE is the last component of the name. Bytes that a call returned; from the page cache or a disk alike.
 *   Mapped files and io_uring are not counted. The 20 largest are printed.
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

fbt::vfs_read:entry, fbt::vfs_readv:entry, fbt::vfs_write:entry, fbt::vfs_writev:entry
{
	self->file = (struct file *)arg0;
}

fbt::vfs_read:return, fbt::vfs_readv:return, fbt::vfs_write:return, fbt::vfs_writev:return
/self->file && (int64_t)arg1 > 0/
{
	@bytes[execname, stringof(self->file->f_path.dentry->d_name.name),
	    strstr(probefunc, "read") != 0 ? "R" : "W"] = sum(arg1);
}

fbt::vfs_read:return, fbt::vfs_readv:return, fbt::vfs_write:return, fbt::vfs_writev:return
{
	self->file = 0;
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%-16s %-30s %-3s %14s\n", "PROGRAM", "FILE", "DIR", "BYTES");
	trunc(@bytes, 20);
	printa("%-16s %-30s %-3s %@14d\n", @bytes);
	trunc(@bytes);
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
	printf("%-16s %-30s %-3s %14s\n", "PROGRAM", "FILE", "DIR", "BYTES");
	printa("%-16s %-30s %-3s %@14d\n", @bytes);
}
