/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that print "ready", do a round of work at each SIGUSR1, and print "done" after it. */
#ifndef TESTS_LINUX_USER_ROUNDS_H
#define TESTS_LINUX_USER_ROUNDS_H

#include <signal.h>
#include <stdio.h>

static inline void say(const char *line)
{
	puts(line);
	fflush(stdout);
}

/* Does not return. @round is called in the process's only thread, with SIGUSR1 blocked. */
static inline void do_rounds(void (*round)(long n), long n)
{
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	say("ready");
	while (!sigwait(&signals, &signal)) {
		round(n);
		say("done");
	}
}

#endif
