/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers with units: sizes and times. */
#include "base/units.h"

#include <stddef.h>
#include <strings.h>

#include "base/compiler.h"

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },
	{ "nsec", 1 },
	{ "us", 1000 },
	{ "usec", 1000 },
	{ "ms", 1000000 },
	{ "msec", 1000000 },
	{ "s", OT_NS_PER_SEC },
	{ "sec", OT_NS_PER_SEC },
	{ "m", 60 * OT_NS_PER_SEC },
	{ "min", 60 * OT_NS_PER_SEC },
	{ "h", 3600 * OT_NS_PER_SEC },
	{ "hour", 3600 * OT_NS_PER_SEC },
	{ "d", 86400 * OT_NS_PER_SEC },
	{ "day", 86400 * OT_NS_PER_SEC },
};

bool ot_time_ns(uint64_t n, const char *unit, const char *bare, uint64_t *ret_ns)
{
	uint64_t ns;

	if (!*unit)
		unit = bare;
	if (!strcasecmp(unit, "hz")) {
		if (n == 0)
			return false;
		*ret_ns = OT_NS_PER_SEC / n;
		return true;
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(units); i++) {
		if (strcasecmp(units[i].name, unit) != 0)
			continue;
		if (__builtin_mul_overflow(n, units[i].ns, &ns) || ns > INT64_MAX)
			return false;
		*ret_ns = ns;
		return true;
	}
	return false;
}
