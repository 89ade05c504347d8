/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/json.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

void cli_json_string(FILE *fp, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', fp);
	while (*s) {
		int n = cli_utf8_length(s, strnlen((const char *)s, 4));

		if (n <= 0) {
			fputs("\\ufffd", fp);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(fp, "\\%c", *s);
		} else if (*s < ' ' || *s == 0x7f) {
			fprintf(fp, "\\u%04x", *s);
		} else {
			fwrite(s, 1, (size_t)n, fp);
		}
		s += n;
	}
	putc('"', fp);
}
