#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscount: system calls by name, or those of one program
 *
 * Use:
 *   outsight tool syscount [-g GUEST] [SECONDS [COUNT [PROGRAM]]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *   CALL                      CALLS
 *   arch_prctl                    1
 *   exit_group                    1
 *   ...
 *   lseek                      5000
 *   read                       5000
 *
 * Caveats:
 *   A 32-bit program's calls are counted with the others of that name. The 20 most frequent are printed.
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

syscall:::entry
/$$3 == "" || execname == $$3/
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
	printf("%-22s %8s\n", "CALL", "CALLS");
	trunc(@calls, 20);
	printa("%-22s %@8d\n", @calls);
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
	printf("%-22s %8s\n", "CALL", "CALLS");
	printa("%-22s %@8d\n", @calls);
}
