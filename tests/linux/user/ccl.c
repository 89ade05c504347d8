/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ccl N
 *
 * A stand-in for Clozure CL's kernel: its static probes of garbage collection and of threads. At each SIGUSR1
 * it collects N times, begins N threads, and prints what it has done:
 *
 *     gc|BYTES IN USE|BYTES FREED
 *     egc|BYTES IN USE|BYTES FREED|GENERATION
 *     thread|THREAD
 *     done
 */
#define _GNU_SOURCE /* gettid() */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "note.h"
#include "rounds.h"

#define GC_MICROSECONDS 2000 /* that one takes at least */

__attribute__((noipa)) static void collect(unsigned long used, unsigned long freed)
{
	NOTE("ccl", "gc__start", "0", "8@%%rdi", "D"(used));
	usleep(GC_MICROSECONDS);
	NOTE("ccl", "gc__finish", "0", "8@%%rdi", "D"(freed));
	printf("gc|%lu|%lu\n", used, freed);
}

__attribute__((noipa)) static void collect_generation(unsigned long used, unsigned long freed,
						      unsigned generation)
{
	NOTE("ccl", "egc__start", "0", "8@%%rdi 4@%%esi", "D"(used), "S"(generation));
	NOTE("ccl", "egc__finish", "0", "8@%%rdi 4@%%esi", "D"(freed), "S"(generation));
	printf("egc|%lu|%lu|%u\n", used, freed, generation);
}

static void *thread(void *arg)
{
	unsigned long self = (unsigned long)gettid();

	NOTE("ccl", "create__thread", "0", "8@%%rdi", "D"(self));
	printf("thread|%lu\n", self);
	return arg;
}

static void work(long n)
{
	pthread_t one;

	for (long i = 0; i < n; i++) {
		collect(123456789ul * (unsigned long)(i + 1), 1000ul * (unsigned long)i);
		collect_generation(5000000000ul + (unsigned long)i, (unsigned long)i, (unsigned)(i % 3));
		if (!pthread_create(&one, NULL, thread, NULL))
			pthread_join(one, NULL);
	}
}

int main(int argc, char **argv)
{
	do_rounds(work, argc > 1 ? atol(argv[1]) : 1);
	return 1;
}
