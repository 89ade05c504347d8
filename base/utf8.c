/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Validating and decoding UTF-8 (RFC 3629). */
#include "base/utf8.h"

#include <string.h>

#include "base/buf.h"

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

static bool is_bidi(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

bool ot_utf8_is_text(uint32_t c)
{
	return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && !is_bidi(c) && c != 0x2028 && c != 0x2029;
}

size_t ot_utf8_tame(char *s, size_t n)
{
	size_t len = 0, at = 0;

	while (at < n) {
		const uint8_t *from = (const uint8_t *)s + at;
		int length = ot_utf8_length(from, n - at);
		size_t size = length > 0 ? (size_t)length : 1;
		bool good = length > 0 && ot_utf8_is_text(ot_utf8_char(from, length));
		if (good)
			memmove(s + len, from, size);
		else
			s[len] = '?';
		len += good ? size : 1;
		at += size;
	}
	return len;
}

void ot_utf8_tame_string(char *s)
{
	s[ot_utf8_tame(s, strlen(s))] = '\0';
}

void ot_utf8_append(struct ot_buf *out, const void *s, size_t n)
{
	const uint8_t *from = s;

	while (n) {
		int length = ot_utf8_length(from, n);
		size_t size = length > 0 ? (size_t)length : 1;

		if (length > 0)
			ot_buf_append(out, from, size);
		else
			ot_buf_puts(out, "\xef\xbf\xbd");
		from += size;
		n -= size;
	}
}
