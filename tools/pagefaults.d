#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagefaults: page faults by program, with the major ones apart
 *
 * Use:
 *   outsight tool pagefaults [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *   PROGRAM            FAULTS     MAJOR
 *   sh                      6         0
 *   exe                    34         0
 *   init                   34         0
 *   true                   38         0
 *
 * Caveats:
 *   A major fault waits for a disk. Faults that the kernel resolves by retrying are counted once; those that end in a
 *   signal before a mapping is found are not.
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

/* 4 is VM_FAULT_MAJOR, 0x400 VM_FAULT_RETRY. */
fbt::handle_mm_fault:return
/!(arg1 & 0x400)/
{
	@faults[execname] = sum(1);
	@major[execname] = sum(arg1 & 4 ? 1 : 0);
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%-16s %8s %9s\n", "PROGRAM", "FAULTS", "MAJOR");
	printa("%-16s %@8d %@9d\n", @faults, @major);
	trunc(@faults);
	trunc(@major);
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
	printf("%-16s %8s %9s\n", "PROGRAM", "FAULTS", "MAJOR");
	printa("%-16s %@8d %@9d\n", @faults, @major);
}
