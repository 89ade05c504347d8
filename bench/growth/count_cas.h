/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Included before dif/vm/dynvar.c, of which growth_bench has a copy of its own: counts the
 * compare-and-exchange operations that failed, because another vCPU had been there first. The product counts
 * nothing.
 */
#ifndef BENCH_GROWTH_COUNT_CAS_H
#define BENCH_GROWTH_COUNT_CAS_H

#include <stdbool.h>
#include <stdint.h>

extern _Thread_local uint64_t growth_cas_failed;

#define __atomic_compare_exchange_n(word, expected, value, weak, success, failure)                       \
	({                                                                                               \
		bool done_ = __atomic_compare_exchange_n(word, expected, value, weak, success, failure); \
		if (__builtin_expect(!done_, 0))                                                         \
			growth_cas_failed++;                                                             \
		done_;                                                                                   \
	})

#endif
