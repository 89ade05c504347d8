/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user N: at each SIGUSR1 it calls a function N times that does nothing, at each SIGUSR2 it goes N times past
 * a static probe; then it prints "done". It prints "ready" before the first.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../tests/linux/user/note.h"

__attribute__((noipa)) void called(long i);

void called(long i)
{
	__asm__ volatile("" : : "r"(i));
}

__attribute__((noipa)) static void passed(long i)
{
	NOTE("bench", "passed", "0", "8@%%rdi", "D"(i));
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;) {
		if (sigwait(&signals, &signal))
			return 1;
		for (long i = 0; i < n; i++)
			signal == SIGUSR1 ? called(i) : passed(i);
		if (write(1, "done\n", 5) != 5)
			return 1;
	}
}
