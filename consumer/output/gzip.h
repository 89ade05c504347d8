/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes compressed into a stream as gzip does. */
#ifndef CONSUMER_OUTPUT_GZIP_H
#define CONSUMER_OUTPUT_GZIP_H

#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

#include "base/err.h"

struct con_gzip {
	z_stream z;
	FILE *fp; /* borrowed; errors of writing stay in it */
};

/** To be ended, unless it failed. */
OT_MUST_CHECK struct ot_err *con_gzip_begin(struct con_gzip *g, FILE *fp);
/** @p last: nothing follows. At most 4 GiB at a time. */
OT_MUST_CHECK struct ot_err *con_gzip_write(struct con_gzip *g, const void *data, size_t len, bool last);
void con_gzip_end(struct con_gzip *g);

#endif
