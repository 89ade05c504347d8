/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access to memory that may be gone: a guest's RAM can be a mapped file, which others can truncate, or whose
 * file system can be full when a hole of it is touched. A plain load there ends the process by SIGBUS.
 *
 * These functions return false instead. They take no lock, make no system call and use no thread-local
 * storage: a handler of SIGBUS compares the instruction that faulted with the few that they consist of, and
 * continues behind them. Any other fault is passed to the previous handler (docs/design/012-memory-gone.md).
 */
#ifndef OT_BASE_GUARDED_H
#define OT_BASE_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Put the handler in place; calls nest, each needs an ot_guarded_off(). The process's own handlers must be
 * installed before: a handler that is installed later, and passes nothing on, disables the guard. Any
 * thread. */
void ot_guarded_on(void);
/** The last call restores the previous handler, unless another has replaced ours meanwhile. Any
 * thread. */
void ot_guarded_off(void);

/** Let SIGBUS reach this thread: if it is blocked, the kernel ends the process for a fault without asking a
 * handler. */
void ot_guarded_this_thread(void);

/** Copy @p len bytes from memory that may be gone; aligned words of 1, 2, 4 and 8 bytes are read at once, in
 * order with what precedes and follows. False: it is gone, and @p dst holds an unspecified part of it. Any
 * thread; hit path, as all below. */
bool ot_guarded_read(void *dst, const void *src, size_t len);

/** Copy @p len bytes to memory that may be gone, as ot_guarded_read(). False: a part of it is gone, and only
 * the part before that may be written. */
bool ot_guarded_write(void *dst, const void *src, size_t len);

/** Replace @p old by @p new, atomically. False: it has another value, or is gone. */
bool ot_guarded_exchange(void *at, uint64_t old, uint64_t new);

static inline bool ot_guarded_load32(const void *at, uint32_t *ret)
{
	return ot_guarded_read(ret, at, sizeof(*ret));
}

static inline bool ot_guarded_load64(const void *at, uint64_t *ret)
{
	return ot_guarded_read(ret, at, sizeof(*ret));
}

static inline bool ot_guarded_store32(void *at, uint32_t value)
{
	return ot_guarded_write(at, &value, sizeof(value));
}

static inline bool ot_guarded_store64(void *at, uint64_t value)
{
	return ot_guarded_write(at, &value, sizeof(value));
}

#endif
