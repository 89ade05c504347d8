/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thrower N
 *
 * At each SIGUSR1 it throws N exceptions of C++'s library, which has a static probe for that as its
 * distribution has built it, and prints how many in all, and the sum of the probe's arguments:
 *
 *     throw COUNT SUM0 SUM1
 *     done
 *
 * It prints "ready" before the first. The library is loaded as it runs, so that no C++ compiler is needed.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static jmp_buf back;

/* The unwinder asks who catches: this does. */
int caught(void);

int caught(void)
{
	longjmp(back, 1);
}

__attribute__((noipa)) static void throw(void (*cxa_throw)(void *, void *, void *), void *object, void *type)
{
	__asm__ volatile(".cfi_personality 0x1b, caught");
	cxa_throw(object, type, NULL);
	abort();
}

int main(int argc, char **argv)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW);
	void *(*allocate)(size_t) = library ? dlsym(library, "__cxa_allocate_exception") : NULL;
	void (*release)(void *) = library ? dlsym(library, "__cxa_free_exception") : NULL;
	void (*cxa_throw)(void *, void *, void *) = library ? dlsym(library, "__cxa_throw") : NULL;
	void *type = library ? dlsym(library, "_ZTIi") : NULL, *volatile object;
	volatile long count = 0, objects = 0, types = 0, i;
	long n = argc > 1 ? atol(argv[1]) : 1;
	sigset_t signals;
	int signal;

	if (!allocate || !release || !cxa_throw || !type)
		return 1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	dprintf(1, "ready\n");
	for (;;) {
		if (sigwait(&signals, &signal))
			return 1;
		for (i = 0; i < n; i++) {
			object = allocate(sizeof(int));
			if (!setjmp(back))
				throw(cxa_throw, object, type);
			release(object);
			count++;
			objects += (long)object;
			types += (long)type;
		}
		dprintf(1, "throw %ld %ld %ld\ndone\n", count, objects, types);
	}
}
