/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number that is printed for an aggregation's value. */
#include "consumer/output/print.h"

static uint64_t square_root(unsigned __int128 n)
{
	unsigned __int128 bit = (unsigned __int128)1 << 126, root = 0;

	while (bit > n)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (n >= root + bit) {
			n -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint64_t)root;
}

/* The root of (the average of the squares - the square of the average), all in integers. */
static uint64_t stddev(const uint64_t *words, uint64_t normal)
{
	unsigned __int128 squares = (unsigned __int128)words[3] << 64 | words[2];
	int64_t avg;
	uint64_t magnitude;

	if (!words[0])
		return 0;
	squares = squares / normal / normal / words[0];
	avg = (int64_t)words[1] / (int64_t)normal / (int64_t)words[0];
	magnitude = avg < 0 ? -(uint64_t)avg : (uint64_t)avg;
	return square_root(squares - (unsigned __int128)magnitude * magnitude);
}

int64_t con_aggval_number(const struct con_aggval *val)
{
	/* a divisor of 0 or -1 would trap: the one is refused by normalize(), the other is a negation */
	int64_t normal = val->normal ? (int64_t)val->normal : 1;

	switch (val->kind) {
	case DIF_AGG_quantize:
	case DIF_AGG_lquantize:
	case DIF_AGG_llquantize:
		return 0;
	case DIF_AGG_stddev:
		return (int64_t)stddev(val->words, (uint64_t)normal);
	case DIF_AGG_avg:
		if (!val->words[0] || val->words[0] == UINT64_MAX)
			return 0;
		if (normal == -1)
			return (int64_t) - ((uint64_t)((int64_t)val->words[1] / (int64_t)val->words[0]));
		return (int64_t)val->words[1] / normal / (int64_t)val->words[0];
	default:
		if (normal == -1)
			return (int64_t)-val->words[0];
		return (int64_t)val->words[0] / normal;
	}
}
