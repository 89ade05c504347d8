/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * getppid_bench CALLS ROUNDS [wait]
 *
 * Times rounds of CALLS getppid system calls, after one that does not count: "ns X" per call and round. With
 * "wait" it starts at a line on stdin.
 */
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static double round_ns(long calls)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	       (double)calls;
}

int main(int argc, char **argv)
{
	cpu_set_t set;

	if (argc < 3) {
		fprintf(stderr, "usage: getppid_bench CALLS ROUNDS [wait]\n");
		return 2;
	}
	long calls = number_arg(argv[1], 1000000000), rounds = number_arg(argv[2], 1000);
	if (argc > 3 && getchar() == EOF)
		die("stdin");
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("sched_setaffinity");
	round_ns(calls);
	for (long i = 0; i < rounds; i++)
		printf("ns %.1f\n", round_ns(calls));
	return 0;
}
