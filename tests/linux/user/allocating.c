/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allocating N SIZE: at each SIGUSR1 it allocates memory of so many bytes N times. It prints "ready" and
 * "done". */
#include <stdlib.h>

#include "rounds.h"

static size_t size;

static void allocate(long n)
{
	for (long i = 0; i < n; i++) {
		void *volatile memory = malloc(size);

		free(memory);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	size = (size_t)atol(argv[2]);
	do_rounds(allocate, atol(argv[1]));
}
