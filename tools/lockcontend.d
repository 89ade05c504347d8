#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockcontend: where the kernel waits for locks: time by kind of lock and stack
 *
 * Use:
 *   outsight tool lockcontend [-g GUEST]
 *
 * Example:
 *     native_queued_spin_lock_slowpath
 *   vmlinux`native_queued_spin_lock_slowpath+0x29
 *   vmlinux`_raw_spin_lock_irqsave+0x39
 *   vmlinux`prepare_to_swait_event+0x20
 *   vmlinux`rcu_gp_fqs_loop+0x15a
 *   vmlinux`rcu_gp_kthread+0xd8
 *   vmlinux`kthread+0xda
 *   vmlinux`ret_from_fork+0x22
 *              99092 us
 *
 * Caveats:
 *   Spinning locks, mutexes and read-write semaphores on their slow paths; a slow path may find the lock free after all.
 *   Stacks begin in the slow path. Ctrl-C prints the 30 longest.
 *   How often a lock is contended depends on the host: its test shows that waits are seen, not how many there were.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

/* A spinning lock may be taken in an interrupt while the thread is in the slow path of a sleeping one. */
fbt::native_queued_spin_lock_slowpath:entry, fbt::__pv_queued_spin_lock_slowpath:entry,
fbt::queued_read_lock_slowpath:entry, fbt::queued_write_lock_slowpath:entry
{
	self->spins = timestamp;
}

fbt::native_queued_spin_lock_slowpath:return, fbt::__pv_queued_spin_lock_slowpath:return,
fbt::queued_read_lock_slowpath:return, fbt::queued_write_lock_slowpath:return
/self->spins/
{
	@us[probefunc, stack()] = sum(timestamp - self->spins);
	self->spins = 0;
}

fbt::__mutex_lock:entry, fbt::__mutex_lock.constprop.0:entry, fbt::rwsem_down_read_slowpath:entry,
fbt::rwsem_down_write_slowpath:entry
{
	self->sleeps = timestamp;
}

fbt::__mutex_lock:return, fbt::__mutex_lock.constprop.0:return, fbt::rwsem_down_read_slowpath:return,
fbt::rwsem_down_write_slowpath:return
/self->sleeps/
{
	@us[probefunc, stack()] = sum(timestamp - self->sleeps);
	self->sleeps = 0;
}

END
{
	normalize(@us, 1000);
	trunc(@us, 30);
	printa("\n  %s%k%@16d us\n", @us);
}
