/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of the live view: see text.h. */
#include "cli/top/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/compiler.h"
#include "base/utf8.h"

/* The length of a character that is printed unchanged; 0: it is escaped. */
static int plain_length(const char *s, size_t n)
{
	int len = ot_utf8_length((const uint8_t *)s, n);

	if (len <= 0)
		return 0;
	uint32_t c = ot_utf8_char((const uint8_t *)s, len);
	return ot_utf8_is_text(c) && wcwidth((wchar_t)c) == 1 ? len : 0;
}

void cli_top_escape(struct ot_buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		int len = plain_length(s + i, n - i);
		if (len)
			ot_buf_append(out, s + i, (size_t)len);
		else
			ot_buf_printf(out, "\\x%02x", (unsigned char)s[i]);
		i += len ? (size_t)len : 1;
	}
}

/* The byte of an escape sequence after its backslash, and its length. 0: not an escape sequence. */
static size_t escaped_byte(const char *s, size_t n, char *ret)
{
	static const char from[] = "abfnrtv\\\"", to[] = "\a\b\f\n\r\t\v\\\"";
	const char *at = n && *s ? strchr(from, *s) : NULL;
	unsigned value = 0;
	size_t i = 0;

	if (at) {
		*ret = to[at - from];
		return 1;
	}
	for (; i < 3 && i < n && s[i] >= '0' && s[i] <= '7'; i++)
		value = value * 8 + (unsigned)(s[i] - '0');
	*ret = (char)value;
	return i == 3 ? 3 : 0;
}

void cli_top_unescape(struct ot_buf *out, const char *s, size_t n)
{
	char byte;

	if (n >= 2 && !memcmp(s + n - 2, "\\0", 2))
		n -= 2;
	for (size_t i = 0; i < n; i++) {
		size_t len = s[i] == '\\' ? escaped_byte(s + i + 1, n - i - 1, &byte) : 0;

		ot_buf_putc(out, len ? byte : s[i]);
		i += len;
	}
}

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

void cli_top_fit(struct ot_buf *out, const char *text, unsigned width, bool right)
{
	unsigned columns = 0;
	size_t cut = 0, i = 0;

	/* @cut: the beginning of the last column */
	for (; text[i]; i++)
		if (begins_character(text[i]) && ++columns == width)
			cut = i;
	if (columns > width) {
		ot_buf_append(out, text, cut);
		if (width)
			ot_buf_putc(out, '+');
		return;
	}
	ot_buf_printf(out, "%*s", right ? (int)(width - columns) : 0, "");
	ot_buf_append(out, text, i);
	ot_buf_printf(out, "%*s", right ? 0 : (int)(width - columns), "");
}

void cli_top_number(double value, enum cli_top_form form, char buf[CLI_TOP_NUMBER])
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	if (!isfinite(value)) {
		strcpy(buf, "-");
		return;
	}
	if (form == CLI_TOP_INTEGER) {
		snprintf(buf, CLI_TOP_NUMBER, "%.0f", value);
		return;
	}
	if (form == CLI_TOP_PERCENT) {
		snprintf(buf, CLI_TOP_NUMBER, value < 9999.95 ? "%.1f" : "%.0f", value);
		return;
	}
	for (; value >= 999.5 && unit + 2 < sizeof(units); unit++)
		value /= 1000;
	if (!unit)
		snprintf(buf, CLI_TOP_NUMBER, "%.0f", value);
	else
		snprintf(buf, CLI_TOP_NUMBER, value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}
