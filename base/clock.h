/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks in nanoseconds. */
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

/** CPU time of the calling thread in ns: without time in which a busy host did not run it. */
static inline uint64_t ot_thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/** The time until then in ms, rounded up, for poll(); 0: it is past. */
static inline int ot_ms_until(uint64_t ns)
{
	uint64_t now = ot_now_ns();

	return ns > now ? (int)((ns - now + 999999u) / 1000000u) : 0;
}

/** Nanoseconds, a time of that clock or a span, as system calls want them. */
static inline struct timespec ot_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000ull),
				  .tv_nsec = (long)(ns % 1000000000ull) };
}

#endif
