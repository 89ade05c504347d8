#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfscount: how often each function of the file system layer is called
 *
 * Use:
 *   outsight tool vfscount [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *   FUNCTION                          CALLS
 *   vfs_unlink                            1
 *   vfs_readlink                          2
 *   ...
 *   vfs_statx                             4
 *   vfs_read                            514
 *
 * Caveats:
 *   The kernel's functions whose names begin with vfs_: what they are differs from kernel to kernel, and one that the
 *   compiler inlined into all its callers counts nothing.
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

fbt::vfs_*:entry
{
	@calls[probefunc] = count();
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%-30s %8s\n", "FUNCTION", "CALLS");
	printa("%-30s %@8d\n", @calls);
	trunc(@calls);
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
	printf("%-30s %8s\n", "FUNCTION", "CALLS");
	printa("%-30s %@8d\n", @calls);
}
