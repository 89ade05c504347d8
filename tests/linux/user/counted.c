/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counted N [once]
 *
 * At each SIGUSR1 main() calls work() and libc's getppid() N times each, and then prints how often it has
 * called work() in all, and "called". It prints "ready" before the first. At SIGUSR2 it becomes a new
 * program: the same one, with its count at 0. At SIGHUP a child by vfork(), which has its memory, calls
 * work() N times and ends, and it prints as before. With "once" it does a round at once and ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long called;

__attribute__((noinline)) long work(const char *text, long b, long c, long d, long e, long f, long g, long h);

long work(const char *text, long b, long c, long d, long e, long f, long g, long h)
{
	called++;
	return *text + b + c + d + e + f + g + h;
}

static inline __attribute__((always_inline)) void calls(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++) {
		sum += work("a text of the program", i, 3, 4, 5, 6, 7, 8);
		sum += getppid();
	}
	dprintf(1, "called %ld\ncalled\n", called);
}

__attribute__((noinline)) static void have_called(long n)
{
	volatile long sum = 0;

	if (vfork())
		return;
	for (long i = 0; i < n; i++)
		sum += work("a text of the child", i, 3, 4, 5, 6, 7, 8);
	_exit(0);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	sigset_t signals;
	int signal;

	if (argc > 2) {
		calls(n);
		return 0;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	dprintf(1, "ready\n");
	for (;;) {
		if (sigwait(&signals, &signal))
			return 1;
		if (signal == SIGUSR2) {
			execv("/proc/self/exe", argv);
			return 1;
		}
		if (signal == SIGHUP)
			have_called(n);
		calls(signal == SIGHUP ? 0 : n);
	}
}
