/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting threads that take no signals, and children that take all. */
#include "base/thread.h"

#include <signal.h>

struct ot_err *ot_thread_start(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg,
			       const char *what)
{
	sigset_t all, old;

	/* a thread inherits its creator's mask */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(ret, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err ? ot_err_os(err, "%s", what) : NULL;
}

void ot_signals_unblock(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
