/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The handler of SIGBUS that makes an access of guarded.c return false, chained with the process's own. It
 * reads two words that are written before it is installed, and changes nothing but the registers that it was
 * given: it may run on any thread, at any time.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/guarded.h"
#include "base/guarded_internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static struct sigaction before; /* our handler's; valid as long as that may run, which is for ever */

/* The default action ends a process that a handler can't help. A fault happens again on return, and ends it
 * with the registers of the fault; a signal that was sent is sent again. */
static void take_default(int sig, const siginfo_t *info)
{
	const struct sigaction dies = { .sa_handler = SIG_DFL };

	sigaction(sig, &dies, NULL);
	if (info->si_code <= 0)
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, info, context);
	else if (before.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
		take_default(sig, info);
	else
		before.sa_handler(sig);
}

/* During an access a signal may arrive that is not its fault: one that was sent (si_code <= 0), or a report
 * of a bad page that no instruction has accessed (BUS_MCEERR_AO). */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	uintptr_t at = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];

	if (info->si_code > 0 && info->si_code != BUS_MCEERR_AO && at >= (uintptr_t)ot_guarded_first &&
	    at < (uintptr_t)ot_guarded_end)
		c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)ot_guarded_failed;
	else
		pass_on(sig, info, context);
}

static bool is_ours(const struct sigaction *sa)
{
	return sa->sa_flags & SA_SIGINFO && sa->sa_sigaction == on_bus_error;
}

/* The old handler keeps its mask and flags when it is called by ours. It may still be ours: another handler
 * that replaced it meanwhile may have restored it. */
static void install(void)
{
	struct sigaction now;

	if (sigaction(SIGBUS, NULL, &now) || is_ours(&now))
		return;
	before = now;
	now.sa_sigaction = on_bus_error;
	now.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & (SA_NODEFER | SA_RESTART));
	sigaction(SIGBUS, &now, NULL);
}

void ot_guarded_on(void)
{
	pthread_mutex_lock(&lock);
	if (!users++)
		install();
	pthread_mutex_unlock(&lock);
}

void ot_guarded_off(void)
{
	struct sigaction now;

	pthread_mutex_lock(&lock);
	if (!--users && !sigaction(SIGBUS, NULL, &now) && is_ours(&now))
		sigaction(SIGBUS, &before, NULL);
	pthread_mutex_unlock(&lock);
}

void ot_guarded_this_thread(void)
{
	sigset_t bus;

	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
}
