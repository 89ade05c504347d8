/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * getppid_loop THREADS CALLS [wait]
 *
 * Each thread, pinned to a CPU of its own while there are enough, makes exactly CALLS
 * getppid system calls; nothing else in the program calls it. With "wait" it prints
 * "waiting" and starts at a line on stdin. The sum of all answers must be a multiple of
 * the number of calls, so a call that went wrong shows.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

#define THREADS_MAX 64

struct worker {
	pthread_t thread;
	int index;
	long calls;
	uint64_t sum; /* of all answers */
};

static pthread_barrier_t start;

static void pin(int index)
{
	cpu_set_t set;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	CPU_ZERO(&set);
	CPU_SET((size_t)(index % cpus), &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("sched_setaffinity");
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t sum = 0;

	pin(w->index);
	pthread_barrier_wait(&start);
	for (long i = 0; i < w->calls; i++)
		sum += (uint64_t)syscall(SYS_getppid);
	w->sum = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];
	uint64_t sum = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: getppid_loop THREADS CALLS [wait]\n");
		return 2;
	}
	int threads = (int)number_arg(argv[1], THREADS_MAX);
	long calls = number_arg(argv[2], 1000000000);
	if (argc > 3) {
		puts("waiting");
		fflush(stdout);
		if (getchar() == EOF)
			die("stdin");
	}

	pthread_barrier_init(&start, NULL, (unsigned int)threads);
	for (int i = 0; i < threads; i++) {
		workers[i] = (struct worker){ .index = i, .calls = calls };
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("pthread_create");
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		sum += workers[i].sum;
	}
	if (sum % (uint64_t)(calls * threads)) {
		fprintf(stderr, "wrong answers: sum %llu\n", (unsigned long long)sum);
		return 1;
	}
	printf("calls %ld parent %llu\n", calls * threads,
	       (unsigned long long)(sum / (uint64_t)(calls * threads)));
	return 0;
}
