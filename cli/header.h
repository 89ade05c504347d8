/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -h: the C header of the providers that a program declares. */
#ifndef CLI_HEADER_H
#define CLI_HEADER_H

#include <stdio.h>

#include "cli/options.h"

/** -o's file, or that of the one script named *.d with .h for .d, in the working directory; owned by the
 * caller. NULL: there is none, and the reason has been reported. */
char *cli_header_name(const struct cli_invocation *inv);

/** Write the header of all providers that were compiled; @p name is its file's name, from which the guard is
 * made. */
void cli_header_write(struct dif_compiler *comp, const char *name, FILE *fp);

#endif
