/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/json.h"

#include <stdint.h>

/* Length of the UTF-8 sequence at @p s, by RFC 3629: no surrogates, nothing overlong. 0: there is none. */
static unsigned utf8_length(const unsigned char *s)
{
	unsigned n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 4;

	if (n == 4 && (s[0] < 0xf0 || s[0] > 0xf4))
		return 0;
	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80) /* the NUL at the end too */
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void cli_json_string(FILE *fp, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', fp);
	while (*s) {
		unsigned n = utf8_length(s);

		if (!n) {
			fputs("\\ufffd", fp);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(fp, "\\%c", *s);
		} else if (*s < ' ' || *s == 0x7f) {
			fprintf(fp, "\\u%04x", *s);
		} else {
			fwrite(s, 1, n, fp);
		}
		s += n;
	}
	putc('"', fp);
}
