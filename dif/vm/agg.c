/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data words of aggregations: initial value, update, merge. */
#include "dif/vm/agg.h"

#include <string.h>

/* --- buckets ------------------------------------------------------------------------ */

#define QUANTIZE_ZERO 63

unsigned dif_quantize_bucket(int64_t value)
{
	if (value == 0)
		return QUANTIZE_ZERO;
	if (value > 0)
		return QUANTIZE_ZERO + 1 + (63 - (unsigned)__builtin_clzll((uint64_t)value));
	unsigned log = 63 - (unsigned)__builtin_clzll(-(uint64_t)value);
	return log > 62 ? 0 : 62 - log; /* INT64_MIN shares the bucket of -2^62 */
}

int64_t dif_quantize_bucket_value(unsigned bucket)
{
	if (bucket == QUANTIZE_ZERO)
		return 0;
	if (bucket > QUANTIZE_ZERO)
		return (int64_t)(1ull << (bucket - QUANTIZE_ZERO - 1));
	return -(int64_t)(1ull << (62 - bucket));
}

static unsigned lquantize_bucket(uint64_t arg, int64_t value)
{
	int32_t base = (int32_t)(uint32_t)arg;
	uint32_t levels = arg >> 32 & 0xffff, step = arg >> 48;
	int64_t v = (int32_t)value;

	if (v < base)
		return 0;
	uint64_t level = (uint64_t)(v - base) / step;
	return level >= levels ? levels + 1 : (unsigned)level + 1;
}

/* An order of magnitude of llquantize(), for walking all of them. */
struct ll_order {
	uint64_t factor, high, nsteps;
	uint64_t order;
	uint64_t from, to; /* values [from, to) */
	uint64_t width;    /* of a bucket */
	uint32_t first;    /* number of the bucket that starts at from */
};

static void ll_measure(struct ll_order *o)
{
	o->to = o->from * o->factor;
	o->width = o->to / (o->to > o->nsteps ? o->nsteps : o->to);
}

static struct ll_order ll_begin(uint64_t arg)
{
	struct ll_order o = { .factor = arg >> 48, .high = arg >> 16 & 0xffff, .nsteps = arg & 0xffff };

	o.order = arg >> 32 & 0xffff;
	o.from = 1;
	for (uint64_t i = 0; i < o.order; i++)
		o.from *= o.factor;
	o.first = 1;
	ll_measure(&o);
	return o;
}

/* Go to the next order. False: there is none; first is then the overflow bucket, and from its lowest
 * value. */
static bool ll_next(struct ll_order *o)
{
	o->first += (uint32_t)((o->to - o->from) / o->width);
	o->from = o->to;
	if (o->order++ == o->high)
		return false;
	ll_measure(o);
	return true;
}

static unsigned llquantize_bucket(uint64_t arg, int64_t value)
{
	struct ll_order o = ll_begin(arg);
	uint64_t v = (uint64_t)value;

	if (value < 0 || v < o.from)
		return 0;
	do {
		if (v < o.to)
			return o.first + (uint32_t)((v - o.from) / o.width);
	} while (ll_next(&o));
	return o.first;
}

bool dif_llquantize_bucket_value(uint64_t arg, uint32_t bucket, uint64_t *ret)
{
	struct ll_order o = ll_begin(arg);

	if (!bucket)
		return false;
	do {
		uint32_t n = (uint32_t)((o.to - o.from) / o.width);
		if (bucket < o.first + n) {
			*ret = o.from + (bucket - o.first) * o.width;
			return true;
		}
	} while (ll_next(&o));
	*ret = o.from;
	return bucket == o.first;
}

/* --- words ------------------------------------------------------------------------------ */

void dif_agg_init(enum dif_agg_kind kind, uint64_t arg, uint64_t *words)
{
	memset(words, 0, (size_t)dif_agg_words(kind, arg) * sizeof(*words));
	switch (kind) {
	case DIF_AGG_min:
		words[0] = INT64_MAX;
		break;
	case DIF_AGG_max:
		words[0] = (uint64_t)INT64_MIN;
		break;
	case DIF_AGG_lquantize:
	case DIF_AGG_llquantize:
		words[0] = arg;
		break;
	case DIF_AGG_count:
	case DIF_AGG_avg:
	case DIF_AGG_sum:
	case DIF_AGG_stddev:
	case DIF_AGG_quantize:
		break;
	}
}

static void add128(uint64_t *words, uint64_t lo, uint64_t hi)
{
	words[0] += lo;
	words[1] += hi + (words[0] < lo);
}

static void update_stddev(uint64_t *words, uint64_t value)
{
	uint64_t magnitude = (int64_t)value < 0 ? -value : value;
	unsigned __int128 square = (unsigned __int128)magnitude * magnitude;

	words[0]++;
	words[1] += value;
	add128(words + 2, (uint64_t)square, (uint64_t)(square >> 64));
}

void dif_agg_update(enum dif_agg_kind kind, uint64_t arg, uint64_t *words, uint64_t value, uint64_t incr)
{
	switch (kind) {
	case DIF_AGG_count:
		words[0]++;
		break;
	case DIF_AGG_min:
		if ((int64_t)value < (int64_t)words[0])
			words[0] = value;
		break;
	case DIF_AGG_max:
		if ((int64_t)value > (int64_t)words[0])
			words[0] = value;
		break;
	case DIF_AGG_avg:
		words[0]++;
		words[1] += value;
		break;
	case DIF_AGG_sum:
		words[0] += value;
		break;
	case DIF_AGG_stddev:
		update_stddev(words, value);
		break;
	case DIF_AGG_quantize:
		words[dif_quantize_bucket((int64_t)value)] += incr;
		break;
	case DIF_AGG_lquantize:
		words[1 + lquantize_bucket(arg, (int64_t)value)] += incr;
		break;
	case DIF_AGG_llquantize:
		words[1 + llquantize_bucket(arg, (int64_t)value)] += incr;
		break;
	}
}

void dif_agg_merge(enum dif_agg_kind kind, uint64_t *into, const uint64_t *from)
{
	bool parameters = kind == DIF_AGG_lquantize || kind == DIF_AGG_llquantize;
	uint32_t n = dif_agg_words(kind, parameters ? into[0] : 0);

	switch (kind) {
	case DIF_AGG_min:
		if ((int64_t)from[0] < (int64_t)into[0])
			into[0] = from[0];
		return;
	case DIF_AGG_max:
		if ((int64_t)from[0] > (int64_t)into[0])
			into[0] = from[0];
		return;
	case DIF_AGG_stddev:
		into[0] += from[0];
		into[1] += from[1];
		add128(into + 2, from[2], from[3]);
		return;
	case DIF_AGG_count:
	case DIF_AGG_avg:
	case DIF_AGG_sum:
	case DIF_AGG_quantize:
	case DIF_AGG_lquantize:
	case DIF_AGG_llquantize:
		break;
	}
	for (uint32_t i = parameters; i < n; i++)
		into[i] += from[i];
}
