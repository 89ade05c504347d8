/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thrower N [later]
 *
 * At each SIGUSR1 it throws N exceptions of C++'s library, which has a static probe for that as its
 * distribution has built it, and prints how many in all, and the sum of the probe's arguments:
 *
 *     throw COUNT SUM0 SUM1
 *     done
 *
 * It prints "ready" before the first. The library is loaded as it runs, so that no C++ compiler is needed;
 * with "later" at a SIGUSR1 before those, which it waits for with "waits".
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

/* What it uses of the library. */
static struct {
	void *(*allocate)(size_t);
	void (*release)(void *);
	void (*throw)(void *, void *, void *);
	void *type;
} cxx;

static void load(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW);

	if (!library)
		exit(1);
	cxx.allocate = dlsym(library, "__cxa_allocate_exception");
	cxx.release = dlsym(library, "__cxa_free_exception");
	cxx.throw = dlsym(library, "__cxa_throw");
	cxx.type = dlsym(library, "_ZTIi");
	if (!cxx.allocate || !cxx.release || !cxx.throw || !cxx.type)
		exit(1);
}

int main(int argc, char **argv)
{
	volatile long count = 0, objects = 0, types = 0, i;
	long n = argc > 1 ? atol(argv[1]) : 1;
	void *volatile object;
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (argc > 2) {
		dprintf(1, "waits\n");
		sigwait(&signals, &signal);
	}
	load();
	dprintf(1, "ready\n");
	for (;;) {
		if (sigwait(&signals, &signal))
			return 1;
		for (i = 0; i < n; i++) {
			object = cxx.allocate(sizeof(int));
			if (!setjmp(back))
				throw(cxx.throw, object, cxx.type);
			cxx.release(object);
			count++;
			objects += (long)object;
			types += (long)cxx.type;
		}
		dprintf(1, "throw %ld %ld %ld\ndone\n", count, objects, types);
	}
}
