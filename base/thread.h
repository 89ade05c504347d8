/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads and children, and which signals reach them. */
#ifndef OT_BASE_THREAD_H
#define OT_BASE_THREAD_H

#include <pthread.h>

#include "base/err.h"

/** pthread_create() of a thread with every signal blocked, so that the process's own threads handle them, but
 * SIGBUS, which a thread gets for its own accesses (base/guarded.h). @p attr may be NULL. OS: it could not be
 * created; the message begins with @p what ("starting the profile timer"). */
OT_MUST_CHECK struct ot_err *ot_thread_start(pthread_t *ret, const pthread_attr_t *attr,
					     void *(*run)(void *arg), void *arg, const char *what);

/** In a child between fork() and exec(): unblock every signal, as a program expects it. */
void ot_signals_unblock(void);

#endif
