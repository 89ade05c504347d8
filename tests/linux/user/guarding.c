/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A static probe with a semaphore: in a program, or in a library of its own. */
#include <stdint.h>

#include "note.h"

__attribute__((section(".probes"))) volatile uint16_t guarding_semaphore;
/* Its rest of the page is zeroed, by the kernel or the loader, as in most files. */
static volatile char zeros[64];

long guard(long n);

/* What it returns is the semaphore's value. */
__attribute__((noipa)) long guard(long n)
{
	for (long i = 0; i < n; i++)
		if (guarding_semaphore)
			NOTE("guarding", "passed", "guarding_semaphore", "8@%%rdi", "D"(i));
	return guarding_semaphore + zeros[n % 64];
}
