/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user N: at each signal it calls a function N times that does nothing, and then prints "done":
 *
 *     USR1    with a number
 *     USR2    past a static probe instead
 *     HUP     from DEEP calls deep
 *     ALRM    with the address of memory that it has touched
 *     TERM    with that of a page of a file that it has mapped, and has not touched
 *     PIPE    with that of nothing
 *     VTALRM  makes a system call instead
 *
 * It prints "ready" before the first.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../tests/linux/user/note.h"

#define DEEP    30
#define NOWHERE 8

__attribute__((noipa)) void called(long i);

void called(long i)
{
	__asm__ volatile("" : : "r"(i));
}

__attribute__((noipa)) static void passed(long i)
{
	NOTE("bench", "passed", "0", "8@%%rdi", "D"(i));
}

__attribute__((noipa)) static long deep(long levels, long n)
{
	for (long i = 0; !levels && i < n; i++)
		called(i);
	long below = levels ? deep(levels - 1, n) : 0;

	__asm__ volatile("" : "+r"(below)); /* a call that is not the last thing, or there would be a loop */
	return below;
}

static void call_with(const void *address, long n)
{
	for (long i = 0; i < n; i++)
		called((long)address);
}

static void call_kernel(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void work(int signal, long n, const void *untouched)
{
	static volatile long touched = 1;

	switch (signal) {
	case SIGHUP:
		deep(DEEP, n);
		return;
	case SIGALRM:
		call_with((const void *)&touched, n);
		return;
	case SIGTERM:
		call_with(untouched, n);
		return;
	case SIGVTALRM:
		call_kernel(n);
		return;
	case SIGPIPE:
		call_with((const void *)NOWHERE, n);
		return;
	default:
		for (long i = 0; i < n; i++)
			signal == SIGUSR1 ? called(i) : passed(i);
	}
}

int main(int argc, char **argv)
{
	static const int numbers[] = { SIGUSR1, SIGUSR2, SIGHUP, SIGALRM, SIGTERM, SIGPIPE, SIGVTALRM };
	long n = argc > 1 ? atol(argv[1]) : 1;
	const void *untouched = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY), 0);
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&signals, numbers[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (untouched == MAP_FAILED || write(1, "ready\n", 6) != 6)
		return 1;
	for (;;) {
		if (sigwait(&signals, &signal))
			return 1;
		work(signal, n, untouched);
		if (write(1, "done\n", 5) != 5)
			return 1;
	}
}
