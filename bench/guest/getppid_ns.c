/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * getppid_ns ROUNDS CALLS: time CALLS getppid system calls, ROUNDS times over, on one CPU; prints
 * nanoseconds a call, a line a round.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	cpu_set_t cpu;

	if (argc != 3)
		return 2;
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) < 0)
		return 1;
	long rounds = atol(argv[1]), calls = atol(argv[2]);
	for (long r = 0; r < rounds; r++) {
		double start = now_ns();
		for (long i = 0; i < calls; i++)
			syscall(SYS_getppid);
		printf("%.2f\n", (now_ns() - start) / (double)calls);
	}
	return 0;
}
