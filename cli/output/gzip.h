/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes compressed into a stream as gzip does. */
#ifndef CLI_OUTPUT_GZIP_H
#define CLI_OUTPUT_GZIP_H

#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

#include "base/err.h"

struct cli_gzip {
	z_stream z;
	FILE *fp; /* borrowed; errors of writing stay in it */
};

/** To be ended, unless it failed. */
OT_MUST_CHECK struct ot_err *cli_gzip_begin(struct cli_gzip *g, FILE *fp);
/** @p last: nothing follows. At most 4 GiB at a time. */
OT_MUST_CHECK struct ot_err *cli_gzip_write(struct cli_gzip *g, const void *data, size_t len, bool last);
void cli_gzip_end(struct cli_gzip *g);

#endif
