/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inserts data into a page: see page.h. */
#include "consumer/output/page.h"

#include <string.h>

#define ROWS "@ROWS@"

/* "</script>" in a name must not end the page's script. */
static void write_json(FILE *fp, const char *json, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (json[i] == '<')
			fputs("\\u003c", fp);
		else
			putc(json[i], fp);
}

void con_page_write(FILE *fp, const char *page, const char *json, size_t len)
{
	const char *at = strstr(page, ROWS);

	fwrite(page, 1, (size_t)(at - page), fp);
	write_json(fp, json, len);
	fputs(at + strlen(ROWS), fp);
}
