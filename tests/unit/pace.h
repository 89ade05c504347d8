/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much a test repeats: less by default than with `scripts/test --full`, which sets OUTSIGHT_FULL=1. */
#ifndef OUTSIGHT_TESTS_UNIT_PACE_H
#define OUTSIGHT_TESTS_UNIT_PACE_H

#include <stdlib.h>
#include <string.h>

/* How often something random or repeated is done. Any thread. */
static inline unsigned long pace_rounds(unsigned long by_default, unsigned long full)
{
	const char *value = getenv("OUTSIGHT_FULL");

	return value && strcmp(value, "1") == 0 ? full : by_default;
}

#endif
