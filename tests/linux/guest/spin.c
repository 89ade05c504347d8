/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spin SECONDS [THREADS]
 *
 * Burns CPU in user mode: after the start no system call but one clock reading (in the
 * vDSO) every few million rounds.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "common.h"

static long seconds;

static void *burn(void *arg)
{
	struct timespec now;
	volatile uint64_t rounds = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	time_t end = now.tv_sec + seconds;
	while (now.tv_sec < end) {
		for (int i = 0; i < 4000000; i++)
			rounds++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	*(uint64_t *)arg = rounds;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	uint64_t rounds[64], sum = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: spin SECONDS [THREADS]\n");
		return 2;
	}
	seconds = number_arg(argv[1], 100000);
	long n = argc > 2 ? number_arg(argv[2], 64) : 1;
	for (long i = 0; i < n; i++) {
		if (pthread_create(&threads[i], NULL, burn, &rounds[i]))
			die("pthread_create");
	}
	for (long i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		sum += rounds[i];
	}
	printf("rounds %llu\n", (unsigned long long)sum);
	return 0;
}
