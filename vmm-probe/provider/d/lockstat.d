/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockstat: arg0 is the lock. adaptive-* are mutexes, spin-* spinlocks, rw-* semaphores of readers and
 * writers (struct rw_semaphore), which sleep as Solaris's do; rw-spin is rwlock_t. Of a -block or -spin
 * probe arg1 is the time in ns.
 *
 * A lock is known where a function is entered, and taken where it returns.
 */
provider lockstat;

inline int RW_WRITER = 0;
inline int RW_READER = 1;

/* Of sched_switch's prev: it does not go on. The state is called __state since 5.14. */
inline int lock_sleeps[struct task_struct *T] =
	(__has_member(struct task_struct, __state) ? T->__state : T->state) != 0;

self uint64_t mutex_block, mutex_block_lock, mutex_spin, mutex_spin_lock, rw_block, rw_block_lock;

probe adaptive-acquire(struct mutex *) {
	at {
		fbt::mutex_lock:return,
		fbt::mutex_lock_io:return
		/ self->mutex / { trace((uint64_t)self->mutex); }
		fbt::mutex_lock_interruptible:return,
		fbt::mutex_lock_killable:return
		/ self->mutex && (int)arg1 == 0 / { trace((uint64_t)self->mutex); }
		fbt::mutex_trylock:return
		/ self->mutex && (int)arg1 == 1 / { trace((uint64_t)self->mutex); }
	}
	with {
		fbt::mutex_lock:entry,
		fbt::mutex_lock_io:entry,
		fbt::mutex_lock_interruptible:entry,
		fbt::mutex_lock_killable:entry,
		fbt::mutex_trylock:entry
		{ self->mutex = arg0; }
	}
	after {
		fbt::mutex_lock:return,
		fbt::mutex_lock_io:return,
		fbt::mutex_lock_interruptible:return,
		fbt::mutex_lock_killable:return,
		fbt::mutex_trylock:return
		{ self->mutex = 0; }
	}
}

probe adaptive-release(struct mutex *) {
	at { fbt::mutex_unlock:entry { trace(arg0); } }
}

/* From the first contention_begin(lock, flags) that sleeps to contention_end(lock, result), since 5.19; the
 * thread may spin in between. Before, from the first sleep in the slow path to its return. With PREEMPT_RT a
 * mutex has an rt_mutex, as spinlocks have, and those begin as it does: it is the one that the task locks. */
probe adaptive-block(struct mutex *, uint64_t) {
	at {
		sdt:lock::contention_end
		/ self->mutex_block && self->mutex_block_lock == arg0 && (int)arg1 == 0 /
		{
			trace(arg0);
			trace(timestamp - self->mutex_block);
		}
	}
	with {
		fbt::mutex_lock:entry,
		fbt::mutex_lock_io:entry,
		fbt::mutex_lock_interruptible:entry,
		fbt::mutex_lock_killable:entry
		{ self->mutex_rt = (uint64_t)&((struct mutex *)arg0)->rtmutex; }
		sdt:lock::contention_begin / (int)arg1 == 8 && self->mutex_rt == arg0 /
		{
			self->mutex_block = timestamp;
			self->mutex_block_lock = arg0;
		}
	}
	after {
		sdt:lock::contention_end / self->mutex_block_lock == arg0 / { self->mutex_block = 0; self->mutex_block_lock = 0; }
		fbt::mutex_lock:return,
		fbt::mutex_lock_io:return,
		fbt::mutex_lock_interruptible:return,
		fbt::mutex_lock_killable:return
		{ self->mutex_rt = 0; }
	}
	or {
		sdt:lock::contention_end
		/ self->mutex_block && self->mutex_block_lock == arg0 && (int)arg1 == 0 /
		{
			trace(arg0);
			trace(timestamp - self->mutex_block);
		}
	}
	with {
		sdt:lock::contention_begin / (int)arg1 == 32 /
		{
			self->mutex_block = self->mutex_block && self->mutex_block_lock == arg0 ? self->mutex_block : timestamp;
			self->mutex_block_lock = arg0;
		}
	}
	after { sdt:lock::contention_end / self->mutex_block_lock == arg0 / { self->mutex_block = 0; self->mutex_block_lock = 0; } }
	or {
		fbt::__mutex_lock:return / self->mutex_slept && (int)arg1 == 0 /
		{ trace(self->mutex_slow_lock); trace(timestamp - self->mutex_slept); }
	}
	with {
		fbt::__mutex_lock:entry { self->mutex_slow_lock = arg0; }
		sdt:sched::sched_switch
		/ self->mutex_slow_lock && !self->mutex_slept && lock_sleeps[args[1]] / { self->mutex_slept = timestamp; }
	}
	after { fbt::__mutex_lock:return { self->mutex_slept = 0; self->mutex_slow_lock = 0; } }
}

/* The first time that it spins before it gets the mutex: the slow path begins so. PREEMPT_RT's mutexes, which
 * have no owner of their own, do not tell. */
probe adaptive-spin(struct mutex *, uint64_t) {
	at {
		sdt:lock::contention_end
		/ self->mutex_spin && self->mutex_spin_lock == arg0 && (int)arg1 == 0 /
		{
			trace(arg0);
			trace(timestamp - self->mutex_spin);
		}
	}
	with {
		sdt:lock::contention_begin / (int)arg1 == 33 && sizeof(((struct mutex *)arg0)->owner) /
		{
			self->mutex_spin = self->mutex_spin && self->mutex_spin_lock == arg0 ? self->mutex_spin : timestamp;
			self->mutex_spin_lock = arg0;
		}
	}
	after { sdt:lock::contention_end / self->mutex_spin_lock == arg0 / { self->mutex_spin = 0; self->mutex_spin_lock = 0; } }
	or {
		fbt::__mutex_lock:return / self->mutex_spin && (int)arg1 == 0 /
		{ trace(self->mutex_spin_lock); trace(timestamp - self->mutex_spin); }
	}
	with { fbt::__mutex_lock:entry { self->mutex_spin = timestamp; self->mutex_spin_lock = arg0; } }
	after { fbt::__mutex_lock:return { self->mutex_spin = 0; self->mutex_spin_lock = 0; } }
}

/* downgrade_write() makes a reader of a writer. */
probe rw-downgrade(struct rw_semaphore *) {
	at { fbt::downgrade_write:entry { trace(arg0); } }
}

probe rw-release(struct rw_semaphore *, int) {
	at {
		fbt::up_read:entry { trace(arg0); trace(RW_READER); }
		fbt::up_write:entry { trace(arg0); trace(RW_WRITER); }
	}
}

probe rw-acquire(struct rw_semaphore *, int) {
	at {
		fbt::down_read:return / self->rwsem / { trace((uint64_t)self->rwsem); trace(RW_READER); }
		fbt::down_read_interruptible:return, fbt::down_read_killable:return
		/ self->rwsem && (int)arg1 == 0 / { trace((uint64_t)self->rwsem); trace(RW_READER); }
		fbt::down_read_trylock:return
		/ self->rwsem && (int)arg1 == 1 / { trace((uint64_t)self->rwsem); trace(RW_READER); }
		fbt::down_write:return / self->rwsem / { trace((uint64_t)self->rwsem); trace(RW_WRITER); }
		fbt::down_write_killable:return
		/ self->rwsem && (int)arg1 == 0 / { trace((uint64_t)self->rwsem); trace(RW_WRITER); }
		fbt::down_write_trylock:return
		/ self->rwsem && (int)arg1 == 1 / { trace((uint64_t)self->rwsem); trace(RW_WRITER); }
	}
	with {
		fbt::down_read:entry, fbt::down_read_interruptible:entry, fbt::down_read_killable:entry,
		fbt::down_read_trylock:entry, fbt::down_write:entry, fbt::down_write_killable:entry,
		fbt::down_write_trylock:entry { self->rwsem = arg0; }
	}
	after {
		fbt::down_read:return, fbt::down_read_interruptible:return, fbt::down_read_killable:return,
		fbt::down_read_trylock:return, fbt::down_write:return, fbt::down_write_killable:return,
		fbt::down_write_trylock:return { self->rwsem = 0; }
	}
}

/* arg2 is RW_READER or RW_WRITER, arg3 whether a writer held it when the wait began, arg4 by how many
 * readers. A semaphore's count has the writer in bit 0, and the readers from bit 8 on; with PREEMPT_RT the writer
 * in bit 30, and the readers below, and an rwlock_t is such a lock too. Before 5.19 the wait is that from the first
 * sleep in a slow path, which returns an error as a pointer. */
probe rw-block(struct rw_semaphore *, uint64_t, int, int, int) {
	at {
		sdt:lock::contention_end
		/ self->rw_block && self->rw_block_lock == arg0 && (int)arg1 == 0 /
		{
			trace(arg0);
			trace(timestamp - self->rw_block);
			trace(self->rw_block_kind);
			trace((int)(self->rw_block_count & 1));
			trace((int)(self->rw_block_count >> 8));
		}
	}
	with {
		sdt:lock::contention_begin / (int)arg1 == 2 || (int)arg1 == 4 /
		{
			self->rw_block = self->rw_block && self->rw_block_lock == arg0 ? self->rw_block : timestamp;
			self->rw_block_lock = arg0;
			self->rw_block_kind = (int)arg1 == 2 ? RW_READER : RW_WRITER;
			self->rw_block_count = ((struct rw_semaphore *)arg0)->count.counter;
		}
	}
	after { sdt:lock::contention_end / self->rw_block_lock == arg0 / { self->rw_block = 0; self->rw_block_lock = 0; } }
	or {
		sdt:lock::contention_end
		/ self->rw_block && self->rw_block_lock == arg0 && (int)arg1 == 0 /
		{
			trace(arg0);
			trace(timestamp - self->rw_block);
			trace(self->rw_block_kind);
			trace((int)(self->rw_block_count >> 30 & 1));
			trace((int)(self->rw_block_count & 0x3fffffff));
		}
	}
	with {
		sdt:lock::contention_begin / (int)arg1 == 10 || (int)arg1 == 12 /
		{
			self->rw_block = timestamp;
			self->rw_block_lock = arg0;
			self->rw_block_kind = (int)arg1 == 10 ? RW_READER : RW_WRITER;
			self->rw_block_count = ((struct rwbase_rt *)arg0)->readers.counter;
		}
	}
	after { sdt:lock::contention_end / self->rw_block_lock == arg0 / { self->rw_block = 0; self->rw_block_lock = 0; } }
	or {
		fbt::rwsem_down_read_slowpath:return, fbt::rwsem_down_write_slowpath:return
		/ self->rw_block && (int64_t)arg1 < -4095 /
		{
			trace(self->rw_block_lock);
			trace(timestamp - self->rw_block);
			trace(self->rw_block_kind);
			trace((int)(self->rw_block_count & 1));
			trace((int)(self->rw_block_count >> 8));
		}
	}
	with {
		fbt::rwsem_down_read_slowpath:entry { self->rw_block_lock = arg0; self->rw_block_kind = RW_READER; }
		fbt::rwsem_down_write_slowpath:entry { self->rw_block_lock = arg0; self->rw_block_kind = RW_WRITER; }
		sdt:sched::sched_switch / self->rw_block_lock && !self->rw_block && lock_sleeps[args[1]] /
		{
			self->rw_block = timestamp;
			self->rw_block_count = ((struct rw_semaphore *)self->rw_block_lock)->count.counter;
		}
	}
	after {
		fbt::rwsem_down_read_slowpath:return, fbt::rwsem_down_write_slowpath:return
		{ self->rw_block = 0; self->rw_block_lock = 0; }
	}
}

/* A spinlock is one word; unlocking is a function of its own only where the kernel was built so. */
probe spin-acquire(struct raw_spinlock *) {
	at {
		fbt::_raw_spin_lock:return, fbt::_raw_spin_lock_bh:return, fbt::_raw_spin_lock_irq:return,
		fbt::_raw_spin_lock_irqsave:return / self->spin / { trace((uint64_t)self->spin); }
		fbt::_raw_spin_trylock:return, fbt::_raw_spin_trylock_bh:return
		/ self->spin && (int)arg1 == 1 / { trace((uint64_t)self->spin); }
	}
	with {
		fbt::_raw_spin_lock:entry, fbt::_raw_spin_lock_bh:entry, fbt::_raw_spin_lock_irq:entry,
		fbt::_raw_spin_lock_irqsave:entry, fbt::_raw_spin_trylock:entry,
		fbt::_raw_spin_trylock_bh:entry { self->spin = arg0; }
	}
	after {
		fbt::_raw_spin_lock:return, fbt::_raw_spin_lock_bh:return, fbt::_raw_spin_lock_irq:return,
		fbt::_raw_spin_lock_irqsave:return, fbt::_raw_spin_trylock:return,
		fbt::_raw_spin_trylock_bh:return { self->spin = 0; }
	}
}

probe spin-release(struct raw_spinlock *) {
	at {
		fbt::_raw_spin_unlock:entry, fbt::_raw_spin_unlock_bh:entry, fbt::_raw_spin_unlock_irq:entry,
		fbt::_raw_spin_unlock_irqrestore:entry { trace(arg0); }
	}
}

/* The slow path of queued spinlocks: arg0 at entry is the lock. A kernel on a hypervisor may have its own. */
probe spin-spin(struct raw_spinlock *, uint64_t) {
	at {
		fbt::native_queued_spin_lock_slowpath:return,
		fbt::__pv_queued_spin_lock_slowpath:return / self->spin_slow /
		{ trace(self->spin_slow_lock); trace(timestamp - self->spin_slow); }
	}
	with {
		fbt::native_queued_spin_lock_slowpath:entry,
		fbt::__pv_queued_spin_lock_slowpath:entry
		{ self->spin_slow = timestamp; self->spin_slow_lock = arg0; }
	}
	after {
		fbt::native_queued_spin_lock_slowpath:return,
		fbt::__pv_queued_spin_lock_slowpath:return
		{ self->spin_slow = 0; self->spin_slow_lock = 0; }
	}
	or {
		fbt::native_queued_spin_lock_slowpath:return / self->spin_slow /
		{ trace(self->spin_slow_lock); trace(timestamp - self->spin_slow); }
	}
	with {
		fbt::native_queued_spin_lock_slowpath:entry
		{ self->spin_slow = timestamp; self->spin_slow_lock = arg0; }
	}
	after {
		fbt::native_queued_spin_lock_slowpath:return
		{ self->spin_slow = 0; self->spin_slow_lock = 0; }
	}
}

/* The slow paths of rwlock_t; arg2 is RW_READER or RW_WRITER. */
probe rw-spin(struct qrwlock *, uint64_t, int) {
	at {
		fbt::queued_read_lock_slowpath:return / self->rw_slow /
		{ trace(self->rw_slow_lock); trace(timestamp - self->rw_slow); trace(RW_READER); }
		fbt::queued_write_lock_slowpath:return / self->rw_slow /
		{ trace(self->rw_slow_lock); trace(timestamp - self->rw_slow); trace(RW_WRITER); }
	}
	with {
		fbt::queued_read_lock_slowpath:entry, fbt::queued_write_lock_slowpath:entry
		{ self->rw_slow = timestamp; self->rw_slow_lock = arg0; }
	}
	after {
		fbt::queued_read_lock_slowpath:return, fbt::queued_write_lock_slowpath:return
		{ self->rw_slow = 0; self->rw_slow_lock = 0; }
	}
}
