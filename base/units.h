/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units of time as D spells them, in options (aggrate=50ms) and in probe names (tick-50ms). */
#ifndef OT_BASE_UNITS_H
#define OT_BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#define OT_NS_PER_SEC 1000000000ull

/** @p n of a unit (any case; "" stands for @p bare) as nanoseconds; "hz" makes it the time between two of
 * @p n in a second. False: no such unit, 0 hz, or it does not fit in an int64_t. */
bool ot_time_ns(uint64_t n, const char *unit, const char *bare, uint64_t *ret_ns);

#endif
