#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swapin: pages that are brought back from swap, by program, with the time that this takes
 *
 * Use:
 *   outsight tool swapin [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *       PID PROGRAM              PAGES        us
 *
 * Caveats:
 *   Faults on pages that were swapped out; a page may still be in the swap cache, or several may come at once.
 *   Its test shows only that the probes are placed: the tests' guests have no swap, hence the example has no row.
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

fbt::do_swap_page:entry
{
	self->began = timestamp;
}

fbt::do_swap_page:return
/self->began/
{
	@pages[pid, execname] = count();
	@us[pid, execname] = sum(timestamp - self->began);
	self->began = 0;
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%7s %-16s %9s %9s\n", "PID", "PROGRAM", "PAGES", "us");
	normalize(@us, 1000);
	printa("%7d %-16s %@9d %@9d\n", @pages, @us);
	trunc(@pages);
	trunc(@us);
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
	printf("%7s %-16s %9s %9s\n", "PID", "PROGRAM", "PAGES", "us");
	normalize(@us, 1000);
	printa("%7d %-16s %@9d %@9d\n", @pages, @us);
}
