/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OT_BASE_CLOCK_H
#define OT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** CLOCK_MONOTONIC in ns, without a system call where the host has a usable TSC. */
static inline uint64_t ot_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

#endif
