/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execs RATE N: at each SIGUSR1 it executes itself N times, RATE a second, and each of these programs ends at
 * once. It prints "ready" before the first signal, and "done" after each N. Each program passes the static
 * probe execs:::begun, if that is enabled, so that a session that follows programs has work with each.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../tests/linux/user/note.h"

#define SECOND_NS 1000000000L

__attribute__((section(".probes"))) volatile uint16_t execs_begun_semaphore;

static int be_one(void)
{
	if (__builtin_expect(execs_begun_semaphore, 0))
		NOTE("execs", "begun", "execs_begun_semaphore", "-4@$1");
	return 0;
}

static void run_one(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/proc/self/exe", "execs", NULL);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		exit(1);
}

/* Each at its time, however long the one before took. */
static void run_all(long n, long rate)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	for (long i = 0; i < n; i++) {
		run_one();
		at.tv_nsec += SECOND_NS / rate;
		at.tv_sec += at.tv_nsec / SECOND_NS;
		at.tv_nsec %= SECOND_NS;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
}

int main(int argc, char **argv)
{
	sigset_t signals;
	int signal;

	if (argc != 3)
		return be_one();
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;) {
		if (sigwait(&signals, &signal))
			return 1;
		run_all(atol(argv[2]), atol(argv[1]));
		if (write(1, "done\n", 5) != 5)
			return 1;
	}
}
