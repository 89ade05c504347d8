/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting threads with all signals blocked but the one for lost memory, and children with none blocked. */
#include "base/thread.h"

#include <signal.h>

struct ot_err *ot_thread_start(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg,
			       const char *what)
{
	sigset_t all, old;

	/* A thread inherits its creator's mask. A fault whose signal is blocked ends the process. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
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
