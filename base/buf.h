/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing byte buffer, also used as a string builder. After a failed
 * allocation every further append does nothing and `failed` stays set, so a
 * caller checks once, at the end.
 */
#ifndef OT_BASE_BUF_H
#define OT_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct ot_buf {
	char *data; /* NUL behind the last byte once anything was appended */
	size_t len;
	size_t cap;
	bool failed;
	bool is_fixed; /* the memory is the caller's */
};

void ot_buf_init(struct ot_buf *buf);

/** A buffer in @p cap bytes at @p mem, which outlive it: it never grows, and an append that does not fit,
 * with a NUL behind it, fails. Not for ot_buf_take(). */
void ot_buf_init_fixed(struct ot_buf *buf, void *mem, size_t cap);
void ot_buf_deinit(struct ot_buf *buf);

void ot_buf_append(struct ot_buf *buf, const void *data, size_t len);
void ot_buf_puts(struct ot_buf *buf, const char *s);
void ot_buf_putc(struct ot_buf *buf, char c);
void ot_buf_printf(struct ot_buf *buf, const char *fmt, ...) OT_PRINTF(2, 3);
void ot_buf_zero(struct ot_buf *buf, size_t len);

/** Pad with zeros until len is a multiple of @p align (a power of two). */
void ot_buf_align(struct ot_buf *buf, size_t align);

/** Forget the contents, keep the memory. */
void ot_buf_clear(struct ot_buf *buf);

/** The contents as a string, never NULL; owned by the buffer. */
const char *ot_buf_str(const struct ot_buf *buf);

/** Take the memory out as a NUL-terminated string, owned by the caller; the
 * buffer is empty again. NULL when any append failed. */
OT_MUST_CHECK char *ot_buf_take(struct ot_buf *buf);

/** Make room for @p need elements of @p elem bytes in the array *@p array whose
 * capacity is *@p cap, doubling. False without memory (array unchanged). */
OT_MUST_CHECK bool ot_grow(void *array, size_t *cap, size_t need, size_t elem);

#endif
