/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm keep LIBRARY       maps the library, prints "ready", and waits
 * storm N CALLS LIBRARY    at each SIGUSR1: N children, eight at a time
 * storm CALLS LIBRARY      what a child becomes
 *
 * A child calls work() so often, loads the library, calls that's leaf() so often, and unloads it. Every
 * second one calls exec() first. For each child the parent calls turns(), and passes a static probe twice:
 * once in any case, and once if its semaphore is raised. Afterwards it prints "wrong COUNT" (of children that
 * did not end well), "semaphore VALUE" and "done". At SIGUSR2 it prints "semaphore VALUE"; one that comes
 * during a storm ends it early. It prints "ready" before the first.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "note.h"

#define AT_A_TIME 8

__attribute__((section(".probes"))) volatile uint16_t storm_semaphore;

__attribute__((noipa)) long work(long i);
__attribute__((noipa)) void turns(long i);

long work(long i)
{
	return i > 1 ? i / 3 : i;
}

void turns(long i)
{
	NOTE("storm", "turn", "0", "8@%%rdi", "D"(i));
	if (storm_semaphore)
		NOTE("storm", "guarded", "storm_semaphore", "8@%%rdi", "D"(i));
}

static int child(long calls, const char *library)
{
	volatile long sum = 0;
	long (*leaf)(long);

	for (long i = 0; i < calls; i++)
		sum += work(i);
	void *handle = dlopen(library, RTLD_NOW);
	*(void **)&leaf = handle ? dlsym(handle, "leaf") : NULL;
	if (!leaf)
		return 1;
	for (long i = 0; i < calls; i++)
		sum += leaf(i);
	return dlclose(handle) || sum < 0;
}

static long ended(long *running)
{
	int status;

	if (wait(&status) < 0)
		_exit(1);
	--*running;
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static void begin(long nth, char **argv)
{
	char *args[] = { argv[0], argv[2], argv[3], NULL };

	if (fork())
		return;
	if (nth % 2) {
		execv("/proc/self/exe", args);
		_exit(1);
	}
	_exit(child(atol(argv[2]), argv[3]));
}

static int is_to_end(void)
{
	sigset_t signals;

	return !sigpending(&signals) && sigismember(&signals, SIGUSR2);
}

static void storm(char **argv)
{
	long n = atol(argv[1]), running = 0, wrong = 0;

	for (long i = 0; i < n && !is_to_end(); i++, running++) {
		if (running == AT_A_TIME)
			wrong += ended(&running);
		turns(i);
		begin(i, argv);
	}
	while (running)
		wrong += ended(&running);
	dprintf(1, "wrong %ld\nsemaphore %d\ndone\n", wrong, storm_semaphore);
}

static int keep(const char *library)
{
	if (!dlopen(library, RTLD_NOW))
		return 1;
	dprintf(1, "ready\n");
	return pause();
}

int main(int argc, char **argv)
{
	sigset_t signals;
	int signal;

	if (argc == 3)
		return strcmp(argv[1], "keep") != 0 ? child(atol(argv[1]), argv[2]) : keep(argv[2]);
	if (argc != 4)
		return 1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	dprintf(1, "ready\n");
	while (!sigwait(&signals, &signal)) {
		if (signal == SIGUSR1)
			storm(argv);
		else
			dprintf(1, "semaphore %d\n", storm_semaphore);
	}
	return 1;
}
