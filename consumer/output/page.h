/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages in HTML that need nothing else: the text of each is in the program, and its data is put into it as
 * JSON. */
#ifndef CONSUMER_OUTPUT_PAGE_H
#define CONSUMER_OUTPUT_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* flame.html and heatmap.html as the build has put them into the program, NUL-terminated. Each has "@ROWS@"
 * once, in a <script type="application/json">. */
extern const char con_flame_page[];
extern const char con_heatmap_page[];

/** Write @p page to @p fp with the @p len bytes of JSON at @p json for its data. Names in it may be a
 * guest's: no '<' is written as it is, so that none ends the element. Errors of writing stay in @p fp. */
void con_page_write(FILE *fp, const char *page, const char *json, size_t len);

#endif
