/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search, for any type and without a call: the hit path uses it too. */
#ifndef OT_BASE_SEARCH_H
#define OT_BASE_SEARCH_H

#include <stddef.h>

/* How many of the @p n elements of a sorted array come before a boundary: @p before is an expression of the
 * index @p i, true for the elements up to the boundary and false for all from there on. So "a[i] < x" gives
 * the lower bound of x, "a[i] <= x" the upper. */
#define OT_COUNT_BEFORE(n, i, before)                                  \
	({                                                             \
		size_t ot_low_ = 0, ot_high_ = (n);                    \
		while (ot_low_ < ot_high_) {                           \
			size_t i = ot_low_ + (ot_high_ - ot_low_) / 2; \
			if (before)                                    \
				ot_low_ = i + 1;                       \
			else                                           \
				ot_high_ = i;                          \
		}                                                      \
		ot_low_;                                               \
	})

#endif
