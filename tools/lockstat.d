#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockstat: how often the kernel takes mutexes, and how long that takes, by caller
 *
 * Use:
 *   outsight tool lockstat [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *   CALLER                                  TIMES        us
 *   vmlinux`pipe_write                          1         7
 *   vmlinux`psi_avgs_work                       1         9
 *   ...
 *   vmlinux`kcompactd                           5        83
 *   vmlinux`uprobe_clear_state                  7        30
 *
 * Caveats:
 *   From mutex_lock to having the mutex; lockcontend has the stacks of those that had to wait, and other locks.
 *   mutex_trylock is left out. The 20 longest are printed.
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

fbt::mutex_lock:entry, fbt::mutex_lock_interruptible:entry, fbt::mutex_lock_killable:entry
{
	self->from = caller;
	self->began = timestamp;
}

fbt::mutex_lock:return, fbt::mutex_lock_interruptible:return, fbt::mutex_lock_killable:return
/self->began/
{
	@times[sym(self->from)] = count();
	@us[sym(self->from)] = sum(timestamp - self->began);
	self->began = 0;
	self->from = 0;
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%-36s %8s %9s\n", "CALLER", "TIMES", "us");
	normalize(@us, 1000);
	setopt("aggsortpos", "1");
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
	printf("%-36s %8s %9s\n", "CALLER", "TIMES", "us");
	normalize(@us, 1000);
	printa("%-36a %@8d %@9d\n", @times, @us);
}
