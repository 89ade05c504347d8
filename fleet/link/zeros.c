/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaving zeros out, and putting them back. */
#include "fleet/link/zeros.h"

#include <stdint.h>
#include <string.h>

#define MOST 255u
/* Two bytes say that there is a run of zeros: a shorter one is not worth it. */
#define RUN  3u

/* The number of zeros at @p p, up to @p most. */
static size_t zeros(const uint8_t *p, size_t most)
{
	size_t n = 0;
	uint64_t word;

	for (; n + sizeof(word) <= most; n += sizeof(word)) {
		memcpy(&word, p + n, sizeof(word));
		if (word)
			break;
	}
	while (n < most && !p[n])
		n++;
	return n;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The number of bytes before the next run of zeros. */
static size_t others(const uint8_t *p, size_t len)
{
	const size_t most = least(len, MOST);

	for (size_t n = 0; n < most; n++)
		if (!p[n] && zeros(p + n, least(len - n, RUN)) == RUN)
			return n;
	return most;
}

bool fl_zeros_pack(const void *data, size_t len, struct ot_buf *out)
{
	if (!len)
		return false; /* data may be NULL then */
	const uint8_t *from = data, *end = from + len;

	ot_buf_clear(out);
	ot_buf_zero(out, len);
	if (out->failed)
		return false;
	uint8_t *at = (uint8_t *)out->data, *limit = at + len;

	while (from < end) {
		const size_t n = others(from, (size_t)(end - from));
		const size_t z = zeros(from + n, least((size_t)(end - from) - n, MOST));

		if ((size_t)(limit - at) < n + 3) /* and one byte shorter */
			return false;
		*at++ = (uint8_t)n;
		memcpy(at, from, n);
		at += n;
		*at++ = (uint8_t)z;
		from += n + z;
	}
	out->len = (size_t)(at - (uint8_t *)out->data);
	return true;
}

/* The unpacked size; SIZE_MAX: malformed. */
static size_t unpacked_size(const uint8_t *p, size_t len, size_t max)
{
	size_t size = 0;

	while (len) {
		const size_t n = p[0];

		if (len < n + 2 || (size += n + p[n + 1]) > max)
			return SIZE_MAX;
		p += n + 2;
		len -= n + 2;
	}
	return size;
}

bool fl_zeros_unpack(const void *data, size_t len, size_t max, struct ot_buf *out)
{
	const uint8_t *from = data, *end = from + len;
	const size_t size = unpacked_size(from, len, max);

	ot_buf_clear(out);
	if (size == SIZE_MAX)
		return false;
	ot_buf_zero(out, size);
	if (out->failed)
		return false;
	for (uint8_t *at = (uint8_t *)out->data; from < end; from += 2 + from[0]) {
		memcpy(at, from + 1, from[0]);
		at += from[0] + from[1 + from[0]];
	}
	return true;
}
