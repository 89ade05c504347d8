/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressing into a stream, by zlib. */
#include "consumer/output/gzip.h"

#include <stdint.h>

struct ot_err *con_gzip_begin(struct con_gzip *g, FILE *fp)
{
	*g = (struct con_gzip){ .fp = fp };
	/* 15 bits of window; 16 more: gzip's header and checksum */
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return ot_err_nomem();
	return NULL;
}

struct ot_err *con_gzip_write(struct con_gzip *g, const void *data, size_t len, bool last)
{
	uint8_t room[16384];

	g->z.next_in = (uint8_t *)(uintptr_t)data;
	g->z.avail_in = (unsigned)len;
	do {
		g->z.next_out = room;
		g->z.avail_out = sizeof(room);
		if (deflate(&g->z, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
			return ot_err_new(OT_ERR_INTERNAL, "zlib: deflate");
		fwrite(room, 1, sizeof(room) - g->z.avail_out, g->fp);
	} while (!g->z.avail_out);
	return NULL;
}

void con_gzip_end(struct con_gzip *g)
{
	deflateEnd(&g->z);
}
