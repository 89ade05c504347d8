/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing byte buffers. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ot_buf_init(struct ot_buf *buf)
{
	*buf = (struct ot_buf){ 0 };
}

void ot_buf_init_fixed(struct ot_buf *buf, void *mem, size_t cap)
{
	*buf = (struct ot_buf){ .data = mem, .cap = cap, .is_fixed = true };
}

void ot_buf_deinit(struct ot_buf *buf)
{
	if (!buf->is_fixed)
		free(buf->data);
	*buf = (struct ot_buf){ 0 };
}

/* Room for len more bytes and a NUL. */
static bool reserve(struct ot_buf *buf, size_t len)
{
	if (buf->failed)
		return false;
	if (len > SIZE_MAX / 4 - buf->len || (buf->is_fixed && buf->len + len + 1 > buf->cap) ||
	    !ot_grow(&buf->data, &buf->cap, buf->len + len + 1, 1)) {
		buf->failed = true;
		return false;
	}
	return true;
}

void ot_buf_append(struct ot_buf *buf, const void *data, size_t len)
{
	if (!reserve(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void ot_buf_puts(struct ot_buf *buf, const char *s)
{
	ot_buf_append(buf, s, strlen(s));
}

void ot_buf_putc(struct ot_buf *buf, char c)
{
	ot_buf_append(buf, &c, 1);
}

void ot_buf_printf(struct ot_buf *buf, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0 && reserve(buf, (size_t)n)) {
		vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, again);
		buf->len += (size_t)n;
	}
	va_end(again);
}

void ot_buf_zero(struct ot_buf *buf, size_t len)
{
	if (!reserve(buf, len))
		return;
	memset(buf->data + buf->len, 0, len + 1);
	buf->len += len;
}

void ot_buf_align(struct ot_buf *buf, size_t align)
{
	ot_buf_zero(buf, -buf->len & (align - 1));
}

void ot_buf_clear(struct ot_buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

const char *ot_buf_str(const struct ot_buf *buf)
{
	return buf->data ? buf->data : "";
}

char *ot_buf_take(struct ot_buf *buf)
{
	char *data = buf->failed ? NULL : buf->data ? buf->data : calloc(1, 1);

	if (buf->failed)
		free(buf->data);
	*buf = (struct ot_buf){ 0 };
	return data;
}

bool ot_grow(void *array, size_t *cap, size_t need, size_t elem)
{
	if (need <= *cap)
		return true;

	size_t grown = *cap ? *cap : 16;
	while (grown < need) {
		if (grown > SIZE_MAX / 2)
			return false;
		grown *= 2;
	}
	if (grown > SIZE_MAX / elem)
		return false;

	void *p;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, grown * elem);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*cap = grown;
	return true;
}
