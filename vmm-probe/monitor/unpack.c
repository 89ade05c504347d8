/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decompressing Linux kernels: the format is recognised by its magic number and decoded by its library. */
#include <limits.h>
#include <lz4.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "vmm-probe/monitor/internal.h"

/* Each decompresses @len bytes at @in to @out, at most *@out_len bytes, and sets *@out_len to their number.
 * False: the data is invalid or too large. */
static bool unpack_gzip(const uint8_t *in, size_t len, uint8_t *out, size_t *out_len)
{
	/* zlib counts in 32 bits: longer data ends early, and is invalid. */
	z_stream z = { .next_in = (Bytef *)in,
		       .avail_in = len < UINT_MAX ? (uInt)len : UINT_MAX,
		       .next_out = out,
		       .avail_out = *out_len < UINT_MAX ? (uInt)*out_len : UINT_MAX };

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return false;
	int rc = inflate(&z, Z_FINISH);
	*out_len = z.total_out;
	inflateEnd(&z);
	return rc == Z_STREAM_END;
}

static bool unpack_xz(const uint8_t *in, size_t len, uint8_t *out, size_t *out_len)
{
	lzma_stream s = LZMA_STREAM_INIT;

	if (lzma_stream_decoder(&s, UINT64_MAX, 0) != LZMA_OK)
		return false;
	s.next_in = in;
	s.avail_in = len;
	s.next_out = out;
	s.avail_out = *out_len;
	lzma_ret rc = lzma_code(&s, LZMA_FINISH);
	*out_len = (size_t)s.total_out;
	lzma_end(&s);
	return rc == LZMA_STREAM_END;
}

static bool unpack_zstd(const uint8_t *in, size_t len, uint8_t *out, size_t *out_len)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer from = { in, len, 0 };
	ZSTD_outBuffer to = { out, *out_len, 0 };
	size_t left = 1;

	/* As a stream, because the kernel's build appends the uncompressed length after the frame. */
	while (z && left && from.pos < from.size && to.pos < to.size) {
		left = ZSTD_decompressStream(z, &to, &from);
		if (ZSTD_isError(left))
			break;
	}
	ZSTD_freeDStream(z);
	*out_len = to.pos;
	return !left;
}

/* The "legacy" format of lz4, which the kernel's build uses (scripts/Makefile.lib): blocks of at most 8 MiB,
 * each preceded by its length; then the uncompressed length, which belongs to no block and shows that the
 * data is complete.
 */
static bool unpack_lz4(const uint8_t *in, size_t len, uint8_t *out, size_t *out_len)
{
	size_t at = 4, made = 0, block = 8u << 20;
	uint32_t n;

	while (len - at > sizeof(n)) {
		memcpy(&n, in + at, sizeof(n));
		at += sizeof(n);
		if (!n || n > len - at)
			return false;
		size_t room = *out_len - made < block ? *out_len - made : block;
		int got = LZ4_decompress_safe((const char *)in + at, (char *)out + made, (int)n, (int)room);
		if (got < 0)
			return false;
		made += (size_t)got;
		at += n;
	}
	if (len - at < sizeof(n))
		return false;
	memcpy(&n, in + at, sizeof(n));
	*out_len = made;
	return made > 0 && n == (uint32_t)made;
}

static const struct {
	const char *name;
	uint8_t magic[6];
	size_t magic_len;
	bool (*unpack)(const uint8_t *in, size_t len, uint8_t *out, size_t *out_len);
} methods[] = {
	{ "gzip", { 0x1f, 0x8b }, 2, unpack_gzip },
	{ "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, unpack_xz },
	{ "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4, unpack_zstd },
	{ "lz4", { 0x02, 0x21, 0x4c, 0x18 }, 4, unpack_lz4 },
	{ "bzip2", { 'B', 'Z', 'h' }, 3, NULL },
	{ "lzop", { 0x89, 'L', 'Z', 'O' }, 4, NULL },
	{ "lzma", { 0x5d, 0, 0 }, 3, NULL },
};

struct ot_err *vp_mon_unpack(const uint8_t *in, size_t len, size_t max, uint8_t **ret, size_t *ret_len)
{
	ot_auto_free uint8_t *out = NULL;
	size_t i = 0, got = max;

	while (i < OT_ARRAY_SIZE(methods) &&
	       (len < methods[i].magic_len || memcmp(in, methods[i].magic, methods[i].magic_len) != 0))
		i++;
	if (i == OT_ARRAY_SIZE(methods))
		return ot_err_new(OT_ERR_BAD_DATA, "unknown compression");
	if (!methods[i].unpack)
		return ot_err_new(OT_ERR_UNSUPPORTED, "compressed with %s: unpack it first (extract-vmlinux)",
				  methods[i].name);
	out = malloc(max);
	if (!out)
		return ot_err_nomem();
	if (!methods[i].unpack(in, len, out, &got))
		return ot_err_new(OT_ERR_BAD_DATA, "its %s data is invalid, or more than %zu MiB",
				  methods[i].name, max >> 20);
	*ret = ot_move(out);
	*ret_len = got;
	return NULL;
}
