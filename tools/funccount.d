#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * funccount: how often kernel functions are called
 *
 * Use:
 *   outsight tool funccount [-g GUEST] FUNCTION [SECONDS]
 *   FUNCTION   a kernel function; * and ? match several: 'vfs_*'
 *   SECONDS    then the end; without it until Ctrl-C
 *
 * Example:
 *   FUNCTION                                    CALLS
 *   ksys_write                                      3
 *   ksys_dup3                                      11
 *   ksys_lseek                                    500
 *   ksys_read                                     514
 *
 * Caveats:
 *   A pattern of many functions that are called often slows the guest: probes that cost too much are removed, see
 *   maxcost in outsight(1).
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	left = $2;
}

fbt::$1:entry
{
	@calls[probefunc] = count();
}

tick-1s
/$2 && !--left/
{
	exit(0);
}

END
{
	printf("%-40s %8s\n", "FUNCTION", "CALLS");
	printa("%-40s %@8d\n", @calls);
}
