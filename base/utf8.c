/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

#include <stdbool.h>

static int length_by_first(uint8_t c)
{
	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c < 0xe0)
		return 2;
	if ((c & 0xf0) == 0xe0)
		return 3;
	return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/* What may follow a first byte; the others are 0x80 to 0xbf. */
static bool second_is_good(uint8_t first, uint8_t second)
{
	uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

	return second >= low && second <= high;
}

int ot_utf8_length(const uint8_t *s, size_t n)
{
	int length = length_by_first(s[0]);

	if (length > 1 && n > 1 && !second_is_good(s[0], s[1]))
		return 0;
	for (size_t i = 2; (int)i < length && i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return (size_t)length > n ? -1 : length;
}

uint32_t ot_utf8_char(const uint8_t *s, int length)
{
	uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);

	for (int i = 1; i < length; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}
