/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gated MODES ROUNDS CALLS: times CALLS getppid system calls in each of bench/gate.c's modes in turn, ROUNDS
 * times over, on one CPU. Between two slices it makes the system call that changes the mode. Prints
 * nanoseconds a call: a line for each mode, in the order of the rounds.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WARM 20 /* calls before the first that is timed */

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void call(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static double slice(long calls)
{
	call(WARM);
	double start = now_ns();
	call(calls);
	double took = now_ns() - start;
	syscall(SYS_sched_get_priority_max, SCHED_OTHER);
	return took / (double)calls;
}

int main(int argc, char **argv)
{
	cpu_set_t cpu;

	if (argc != 4)
		return 2;
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) < 0)
		return 1;
	long modes = atol(argv[1]), rounds = atol(argv[2]), calls = atol(argv[3]);
	double *ns = calloc((size_t)(modes * rounds), sizeof(*ns));
	if (!ns)
		return 1;
	for (long r = 0; r < rounds; r++)
		for (long m = 0; m < modes; m++)
			ns[m * rounds + r] = slice(calls);
	for (long m = 0; m < modes; m++)
		for (long r = 0; r < rounds; r++)
			printf("%.1f%c", ns[m * rounds + r], r + 1 < rounds ? ' ' : '\n');
	free(ns);
	return 0;
}
