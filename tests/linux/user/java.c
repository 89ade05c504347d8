/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * java N
 *
 * Loads libjvm.so as it runs, as Java's launcher does. At each SIGUSR1 that works N times, and prints what it
 * has done:
 *
 *     gc|KIND
 *     class|NAME|LOADER
 *     thread|NAME|ID|THREAD OF THE SYSTEM|DAEMON
 *     done
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "rounds.h"

int main(int argc, char **argv)
{
	void *library = dlopen("libjvm.so", RTLD_NOW);
	void (*work)(long) = library ? dlsym(library, "jvm_work") : NULL;

	if (!work) {
		say(dlerror());
		return 1;
	}
	do_rounds(work, argc > 1 ? atol(argv[1]) : 1);
	return 1;
}
