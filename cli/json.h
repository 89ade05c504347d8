/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON for machines. Only writing, and only to a FILE, whose errors stay in it. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdio.h>

/** A string with its quotes. Whatever the bytes are (a guest's may be any), what comes out is valid JSON in
 * UTF-8: bytes that are no UTF-8 become U+FFFD. */
void cli_json_string(FILE *fp, const char *s);

#endif
