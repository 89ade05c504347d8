/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads and children, and which signals reach them. */
#ifndef OT_BASE_THREAD_H
#define OT_BASE_THREAD_H

#include <pthread.h>

/** pthread_create() of a thread with every signal blocked, so that the process's own threads handle them. @p
 * attr may be NULL. Returns 0 or what pthread_create() returns. */
int ot_thread_start(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg);

/** In a child between fork() and exec(): unblock every signal, as a program expects it. */
void ot_signals_unblock(void);

#endif
