/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of words of each kind of aggregation. Used on the hit path. */
#include "dif/obj/layout.h"

/* Largest number of buckets of one llquantize. */
#define AGG_WORDS_MAX (1u << 18)

static uint32_t lquantize_words(uint64_t arg)
{
	uint32_t levels = arg >> 32 & 0xffff, step = arg >> 48;

	return levels && step ? 1 + levels + 2 : 0;
}

/* One bucket for underflow, the buckets of each order of magnitude, one for overflow. 0: the parameters
 * violate the constraints of llquantize() (factor at least 2, low below high, nsteps a multiple of factor and
 * a divisor of each order that it subdivides, no overflow). */
static uint32_t llquantize_words(uint64_t arg)
{
	uint64_t factor = arg >> 48, low = arg >> 32 & 0xffff, high = arg >> 16 & 0xffff;
	uint64_t nsteps = arg & 0xffff, next = 1, buckets = 0;

	if (factor < 2 || low >= high || nsteps < factor || nsteps % factor)
		return 0;
	for (uint64_t order = 0; order <= high; order++) {
		if (__builtin_mul_overflow(next, factor, &next))
			return 0;
		uint64_t n = next > nsteps ? nsteps : next;
		if (order < low)
			continue;
		if (next % n)
			return 0;
		buckets += n - n / factor;
		if (buckets > AGG_WORDS_MAX)
			return 0;
	}
	return 1 + 1 + (uint32_t)buckets + 1;
}

uint32_t dif_agg_words(enum dif_agg_kind kind, uint64_t arg)
{
	switch (kind) {
	case DIF_AGG_count:
	case DIF_AGG_min:
	case DIF_AGG_max:
	case DIF_AGG_sum:
		return 1;
	case DIF_AGG_avg:
		return 2;
	case DIF_AGG_stddev:
		return 4;
	case DIF_AGG_quantize:
		return 127;
	case DIF_AGG_lquantize:
		return lquantize_words(arg);
	case DIF_AGG_llquantize:
		return llquantize_words(arg);
	}
	return 0;
}
