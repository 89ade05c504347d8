#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exitsnoop: processes as they end, with exit status or signal
 *
 * Use:
 *   outsight tool exitsnoop [-g GUEST]
 *
 * Example:
 *       PID    PPID PROGRAM             AGE ms REASON
 *       151     150 sh                      31 exit 3
 *       150       1 sh                     257 exit 0
 *
 * Caveats:
 *   AGE is known of processes that were started while the tool runs; of others it is -1.
 *   A process ends when its last thread does.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %7s %-16s %9s %s\n", "PID", "PPID", "PROGRAM", "AGE ms", "REASON");
}

fbt::wake_up_new_task:entry
{
	born[((struct task_struct *)arg0)->tgid] = timestamp;
}

fbt::taskstats_exit:entry
/arg1/
{
	self->last = 1;
}

/* A kernel without taskstats: the thread that finds no other one alive. */
fbt::do_exit:entry
/!__has_symbol(`taskstats_exit) && curthread->signal->live.counter == 1/
{
	self->last = 1;
}

fbt::taskstats_exit:entry, fbt::do_exit:entry
/self->last/
{
	this->code = probefunc == "do_exit" ? (int)arg0 : curthread->exit_code;
	this->age = born[pid] ? (timestamp - born[pid]) / 1000000 : -1;
	printf("%7d %7d %-16s %9d %s %d\n", pid, ppid, execname, this->age,
	    this->code & 0x7f ? "signal" : "exit", this->code & 0x7f ? this->code & 0x7f : this->code >> 8);
	born[pid] = 0;
	self->last = 0;
}
