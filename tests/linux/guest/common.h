/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the workload programs share: they run in the guest, static, with nothing of Outsight. */
#ifndef WORKLOAD_COMMON_H
#define WORKLOAD_COMMON_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* A whole decimal number from 1 to max, or the end of the program. */
static inline long number_arg(const char *s, long max)
{
	char *end;

	errno = 0;
	long n = strtol(s, &end, 10);
	if (errno || end == s || *end || n < 1 || n > max) {
		fprintf(stderr, "not a number from 1 to %ld: %s\n", max, s);
		exit(2);
	}
	return n;
}

/* The same pseudo-random sequence on every run. */
static inline unsigned int next_random(unsigned int *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

#endif
