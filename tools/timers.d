#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timers: kernel timers that expire, by function, with their time
 *
 * Use:
 *   outsight tool timers [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *   FUNCTION                                TIMES        us
 *   vmlinux`mix_interrupt_randomness            1       225
 *   vmlinux`tcp_orphan_update                   7       274
 *   vmlinux`delayed_work_timer_fn              10     13782
 *   vmlinux`process_timeout                    13       790
 *
 * Caveats:
 *   Timers of the timer wheel: time-outs, mostly. High-resolution timers (nanosleep, the scheduler's tick) are not.
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

fbt::call_timer_fn*:entry
{
	self->fn = arg1;
	self->began = timestamp;
}

fbt::call_timer_fn*:return
/self->began/
{
	@times[func(self->fn)] = count();
	@us[func(self->fn)] = sum(timestamp - self->began);
	self->began = 0;
	self->fn = 0;
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%-36s %8s %9s\n", "FUNCTION", "TIMES", "us");
	normalize(@us, 1000);
	printa("%-36a %@8d %@9d\n", @times, @us);
	trunc(@times);
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
	printf("%-36s %8s %9s\n", "FUNCTION", "TIMES", "us");
	normalize(@us, 1000);
	printa("%-36a %@8d %@9d\n", @times, @us);
}
