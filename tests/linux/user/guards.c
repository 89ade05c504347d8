/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guards N [LIBRARY]
 *
 * Goes N times past guarding.c's probe, of the program itself, of a library that it is linked with, or of one
 * that it loads now, prints the semaphore's value, and ends. With N 0 it prints "ready" and waits.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((weak)) long guard(long n);

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	long (*passes)(long) = guard;

	if (argc > 2) {
		void *library = dlopen(argv[2], RTLD_NOW);

		*(void **)&passes = library ? dlsym(library, "guard") : NULL;
	}
	if (!passes)
		return 1;
	printf("%ld\n", passes(n));
	if (n)
		return 0;
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
